// SPDX-License-Identifier: GPL-2.0-only
/* device.c - opening a device by what it is; blocking access for metadata. */
#include "engine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define FREE_PATIENCE_MS	2000u
#define FREE_PAUSE_MS		10u

void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op)
{
	op->dev = d;
	op->loop = loop;
	op->done = 0;
	op->stage = 0;
	loop->ops++;
	d->ops->submit(op);
}

void xd_op_end(struct xd_op *op, int err)
{
	op->loop->ops--;
	op->end(op, err);
}

/* ------------------------------------------------------------------ media ---- */

static int media_read(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	struct xd_device *d = ctx;

	return d->ops->pread(d, buf, nr_blocks << XP_BLOCK_SHIFT, block << XP_BLOCK_SHIFT);
}

static int media_write(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct xd_device *d = ctx;

	return d->ops->pwrite(d, buf, nr_blocks << XP_BLOCK_SHIFT, block << XP_BLOCK_SHIFT);
}

void xd_device_media(struct xd_device *d, struct xp_media *m)
{
	*m = (struct xp_media){ .ctx = d, .read = media_read, .write = media_write };
}

/* ------------------------------------------------------------------- open ---- */

/* A file's size and offsets must suit O_DIRECT, where there is any. */
static void choose_direct(struct xd_device *d)
{
	if (device_direct_align(&d->dev) > 1u << XP_SECTOR_SHIFT)
		return;	/* through the page cache */
	fcntl(d->dev.fd, F_SETFL, fcntl(d->dev.fd, F_GETFL) | O_DIRECT);
}

/* Of a block device as its queue says; of a file nobody knows. */
static void learn_cache(struct xd_device *d)
{
	char text[64];

	d->volatile_cache = true;
	d->can_discard = true;
	d->many_loops = true;
	if (!d->dev.is_block)
		return;
	if (sysfs_read(d->dev.kname, "queue/write_cache", text, sizeof(text)))
		d->volatile_cache = !strcmp(text, "write back");
	if (sysfs_read(d->dev.kname, "queue/rotational", text, sizeof(text)))
		d->rotational = !strcmp(text, "1");
	d->can_discard = false;	/* no call of io_uring's does it before 6.12, and fallocate() zeroes */
}

static bool is_free(const struct xd_device *d)
{
	int fd;

	if (!d->dev.is_block)
		return true;	/* device_reopen() waits for its lock */
	fd = open(d->dev.path, O_RDONLY | O_EXCL | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || errno != EBUSY;
}

/* A daemon that was killed holds it until the kernel has ended what it had handed over; who
 * starts it again at once is not to be told that it runs. */
static void wait_until_free(const struct xd_device *d)
{
	const struct timespec pause = { .tv_nsec = FREE_PAUSE_MS * 1000000 };

	for (u32 ms = 0; !is_free(d) && ms < FREE_PATIENCE_MS; ms += FREE_PAUSE_MS)
		nanosleep(&pause, NULL);
}

static enum xc open_local(struct xd_device *d, const char *path)
{
	enum xc ret = device_open(&d->dev, path, true);

	if (!ret)
		wait_until_free(d);
	if (!ret)
		ret = claim_check(&d->dev);
	if (!ret)
		ret = device_reopen(&d->dev, DEVICE_OWN);
	if (ret)
		return ret;
	learn_cache(d);
	if (!strcmp(d->what, "fast") && !xd_memory_open(d))
		return XC_OK;
	choose_direct(d);
	d->ops = &xd_uring_ops;
	return XC_OK;
}

enum xc xd_device_open(struct xd_device **dev, const char *path, const char *what)
{
	struct xd_device *d = calloc(1, sizeof(*d));
	struct xp_message msg = { "" };
	enum xc ret;

	*dev = d;
	if (!d)
		return complain_errno(ENOMEM, path, "cannot open it");
	d->what = what;
	d->dev.fd = -1;
	if (!is_remote(path))
		return open_local(d, path);
	if (!strcmp(what, "fast"))
		return complain(XC_USAGE, path, "take a device of this machine", "the fast device is remote");
	ret = xd_nbd_open(d, path, &msg) ? XC_FAILED : XC_OK;
	return ret ? complain(ret, path, "is its server running?", "%s", msg.text) : XC_OK;
}

void xd_device_close(struct xd_device *d)
{
	if (!d)
		return;
	if (d->ops && d->ops->close)
		d->ops->close(d);
	device_close(&d->dev);
	free(d);
}
