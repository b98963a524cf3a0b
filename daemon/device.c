// SPDX-License-Identifier: GPL-2.0-only
/* device.c - opening a device by what it is; blocking access for metadata. */
#include "daemon/device.h"
#include "daemon/log.h"
#include "daemon/loop.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/remote.h"
#include "lib/sysfs.h"
#include "core/block.h"
#include "core/media.h"
#include "core/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_NS		2000000000u	/* that a device may take without a word */
#define FREE_PATIENCE_MS	2000u
#define FREE_PAUSE_MS		10u

/* ---------------------------------------------------------------- patience ---- */

void xd_device_hurry(struct xd_device *d)
{
	if (!__atomic_exchange_n(&d->hurried, true, __ATOMIC_SEQ_CST) && d->ops->hurry)
		d->ops->hurry(d);
}

static struct xd_pulse sum(const struct xd_device *d)
{
	struct xd_pulse sum = { 0, 0 };

	for (u32 i = 0; i < XD_LOOPS_MAX; i++) {
		sum.under_way += xd_get(d->pulse[i].under_way);
		sum.over += xd_get(d->pulse[i].over);
	}
	return sum;
}

void xd_device_watch(struct xd_device *d)
{
	struct xd_pulse now = sum(d);

	if (d->ops->watch)
		d->ops->watch(d);
	if (now.under_way && now.over == d->seen_over)
		return;
	d->seen_over = now.over;
	xd_set(d->answered, xd_now());
}

bool xd_device_waits(const struct xd_device *d, char *text, size_t len)
{
	u64 answered = xd_get(d->answered), now = xd_now();
	u32 n = sum(d).under_way;

	if (!n)
		return false;
	if (!answered || now - answered < ANSWER_NS)
		snprintf(text, len, "the %s device %s: %u under way", d->what, d->dev.path, n);
	else
		snprintf(text, len, "the %s device %s: %u under way, no answer for %llu s",
			 d->what, d->dev.path, n, (unsigned long long)((now - answered) / 1000000000u));
	return true;
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

static int media_write_plain(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct xd_device *d = ctx;

	return d->ops->pwrite_plain(d, buf, nr_blocks << XP_BLOCK_SHIFT, block << XP_BLOCK_SHIFT);
}

void xd_device_media(struct xd_device *d, struct xp_media *m)
{
	*m = (struct xp_media){ .ctx = d, .read = media_read, .write = media_write,
				.write_plain = d->ops->pwrite_plain ? media_write_plain : NULL };
}

/* ------------------------------------------------------------------- open ---- */

/* A file's size and offsets must suit O_DIRECT, where there is any. */
static void choose_direct(struct xd_device *d)
{
	if (device_direct_align(&d->dev) > 1u << XP_SECTOR_SHIFT)
		return;	/* through the page cache */
	d->direct = !fcntl(d->dev.fd, F_SETFL, fcntl(d->dev.fd, F_GETFL) | O_DIRECT);
}

/* Of a block device as its queue says; of a file nobody knows. */
static void learn_cache(struct xd_device *d)
{
	char text[64];

	d->volatile_cache = true;
	d->fua = !d->slow && !d->dev.is_block;
	d->many_loops = true;
	if (!d->dev.is_block)
		return;
	if (sysfs_read(d->dev.kname, "queue/write_cache", text, sizeof(text)))
		d->volatile_cache = !strcmp(text, "write back");
	if (sysfs_read(d->dev.kname, "queue/fua", text, sizeof(text)))
		d->fua = !d->slow && !strcmp(text, "1");
	if (sysfs_read(d->dev.kname, "queue/rotational", text, sizeof(text)))
		d->rotational = !strcmp(text, "1");
}

static u64 limit_of(const char *disk, const char *attr)
{
	char text[32];

	return sysfs_read(disk, attr, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* A partition has its disk's queue. */
static u64 queue_limit(const char *kname, const char *attr)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "queue/%s", attr);
	if (sysfs_read(kname, path, text, sizeof(text)))
		return strtoull(text, NULL, 10);
	snprintf(path, sizeof(path), "../queue/%s", attr);
	return limit_of(kname, path);
}

/* "pmem0s" is sectors of persistent memory (BTT); "pmem0" takes stores of 8 bytes, whatever comes by way of its driver. */
static bool is_memory(const char *kname)
{
	return queue_limit(kname, "dax") || (!strncmp(kname, "pmem", 4) && !strchr(kname + 4, 's'));
}

/* A disk that turns writes a longer sector where it is. */
/* What is not told is taken for the worst. */
static bool disk_takes_sectors(const char *kname)
{
	u64 physical = queue_limit(kname, "physical_block_size");

	return !is_memory(kname) && physical && !(queue_limit(kname, "rotational") && physical > 1u << XP_SECTOR_SHIFT);
}

/* A file is what its disk is, where the file system tells that: one that spans disks writes elsewhere what is new. */
static bool takes_sectors(const struct xd_device *d)
{
	char kname[sizeof(d->dev.kname)];
	struct statx st;

	if (d->map || d->dev.logical > 1u << XP_SECTOR_SHIFT)
		return false;
	if (d->dev.is_block)
		return disk_takes_sectors(d->dev.kname);
	if (statx(d->dev.fd, "", AT_EMPTY_PATH, 0, &st) || st.stx_attributes & STATX_ATTR_DAX)
		return false;
	return !device_kname(makedev(st.stx_dev_major, st.stx_dev_minor), kname, sizeof(kname)) || disk_takes_sectors(kname);
}

/* Of a file that cannot be zeroed at once the engine writes the zeroes. */
static void learn_limits(struct xd_device *d)
{
	char disk[sizeof(d->dev.kname)];

	d->discard_max = d->zeroes_max = UINT64_MAX;
	if (d->dev.is_block) {
		if (!device_kname(d->dev.disk, disk, sizeof(disk)))
			snprintf(disk, sizeof(disk), "%s", d->dev.kname);
		d->discard_max = limit_of(disk, "queue/discard_max_bytes");
		d->discard_unit = (u32)limit_of(disk, "queue/discard_granularity");
		d->zeroes_max = limit_of(disk, "queue/write_zeroes_max_bytes");
	}
	if (d->discard_max && !xd_uring_can_discard(d))
		d->discard_max = 0;
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

/* What a file holds can be read all the same, so it is not refused. */
static void tell_limit(const struct xd_device *d)
{
	u64 bytes = d->dev.sectors << XP_SECTOR_SHIFT;
	struct rlimit limit;

	if (d->dev.is_block || getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= bytes)
		return;
	xd_log_event("%s: %s device: writes beyond %s will fail: it is a file of %s, and none may be larger than that here (ulimit -f)",
		     d->dev.path, d->what, text_bytes(limit.rlim_cur), text_bytes(bytes));
}

static enum xc open_local(struct xd_device *d, const char *path)
{
	enum xc ret = device_open(&d->dev, path, true);

	if (!ret)
		wait_until_free(d);
	if (!ret)
		ret = claim_kind(&d->dev);
	if (!ret)
		ret = claim_check(&d->dev);
	if (!ret)
		ret = device_reopen(&d->dev, DEVICE_OWN);
	if (ret)
		return ret;
	learn_cache(d);
	if (d->slow)
		learn_limits(d);
	tell_limit(d);
	if (!strcmp(d->what, "fast") && !xd_memory_open(d))
		return XC_OK;
	d->sectors = takes_sectors(d);
	choose_direct(d);
	d->ops = &xd_uring_ops;
	return XC_OK;
}

enum xc xd_device_open(struct xd_device **dev, const char *path, const char *what)
{
	struct xd_device *d = aligned_alloc(64, sizeof(*d));
	struct xp_message msg = { "" };
	enum xc ret;

	*dev = d;
	if (!d)
		return complain_errno(ENOMEM, path, "cannot open it");
	memset(d, 0, sizeof(*d));
	d->what = what;
	d->slow = !strcmp(what, "slow");
	d->dev.fd = -1;
	d->flushes_tail = &d->flushes;
	d->answered = xd_now();
	pthread_mutex_init(&d->lock, NULL);
	if (!is_remote(path))
		return open_local(d, path);
	if (!strcmp(what, "fast"))
		return complain(XC_USAGE, path, "take a device of this machine", "the fast device is remote");
	if (remote_check_library(path))
		return XC_FAILED;
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
	pthread_mutex_destroy(&d->lock);
	free(d);
}
