// SPDX-License-Identifier: GPL-2.0-only
/*
 * The core's blocking access to metadata, over a file descriptor.
 *
 * O_DIRECT, so that what is read is what the device holds and not what some
 * page cache remembers; a file system that has none is read through its cache.
 * Everything goes through one aligned buffer: the core's need not be.
 */
#include "lib/media.h"
#include "core/block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define BOUNCE_BLOCKS	64u

static int read_all(int fd, char *buf, size_t len, off_t at)
{
	while (len) {
		ssize_t n = pread(fd, buf, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		buf += n;
		at += n;
		len -= n;
	}
	return 0;
}

static int write_all(int fd, const char *buf, size_t len, off_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, buf, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		buf += n;
		at += n;
		len -= n;
	}
	return 0;
}

static int media_read(void *ctx, u64 block, u32 nr_blocks, void *buf)
{
	struct media *m = ctx;
	char *to = buf;

	while (nr_blocks) {
		u32 n = min(nr_blocks, BOUNCE_BLOCKS);
		size_t len = (size_t)n << XP_BLOCK_SHIFT;
		int err = read_all(m->fd, m->bounce, len, block << XP_BLOCK_SHIFT);

		if (err)
			return err;
		memcpy(to, m->bounce, len);
		to += len;
		block += n;
		nr_blocks -= n;
	}
	return 0;
}

/*
 * What was read is durable before what is written because of it can be: it may be an earlier
 * life's that was killed. A read sees what is in a page cache, in a disk's, or, of a DAX file that
 * xpcached has mapped, in the processor's: a file system that is asked to sync writes back the lines
 * of all pages that were stored to through a mapping, whoever did that and whether he lives.
 */
static int media_write(void *ctx, u64 block, u32 nr_blocks, const void *buf)
{
	struct media *m = ctx;
	const char *from = buf;

	if (fdatasync(m->fd))
		return -errno;
	while (nr_blocks) {
		u32 n = min(nr_blocks, BOUNCE_BLOCKS);
		size_t len = (size_t)n << XP_BLOCK_SHIFT;
		int err;

		memcpy(m->bounce, from, len);
		err = write_all(m->fd, m->bounce, len, block << XP_BLOCK_SHIFT);
		if (err)
			return err;
		from += len;
		block += n;
		nr_blocks -= n;
	}
	return fdatasync(m->fd) ? -errno : 0;
}

int media_read_sectors(struct media *m, u64 sector, u32 nr, void *to)
{
	size_t len = (size_t)nr << XP_SECTOR_SHIFT;
	int err = read_all(m->fd, m->bounce, len, (off_t)(sector << XP_SECTOR_SHIFT));

	if (!err)
		memcpy(to, m->bounce, len);
	return err;
}

static void set_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags >= 0)
		fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
}

int media_init(struct media *m, int fd)
{
	m->fd = fd;
	m->io = (struct xp_media){ .ctx = m, .read = media_read, .write = media_write };
	if (posix_memalign(&m->bounce, XP_BLOCK_SIZE, BOUNCE_BLOCKS << XP_BLOCK_SHIFT))
		return -ENOMEM;
	set_direct(fd, true);
	return 0;
}

void media_done(struct media *m)
{
	if (!m->bounce)
		return;
	set_direct(m->fd, false);
	free(m->bounce);
	m->bounce = NULL;
}
