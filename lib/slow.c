// SPDX-License-Identifier: GPL-2.0-only
/* The slow device of a cache that does not run, to be read and written: a disk, a file, or a server's export. */
#include "lib/slow.h"
#include "lib/device.h"
#include "lib/nbd.h"
#include "lib/remote.h"
#include "core/block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int open_local(struct slow *s, const char *path)
{
	s->fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (s->fd < 0 && errno == EINVAL)	/* a file system that has none */
		s->fd = open(path, O_RDONLY | O_CLOEXEC);
	return s->fd < 0 ? -errno : device_bytes(s->fd, &s->bytes);
}

static int open_remote(struct slow *s, const char *uri)
{
	int64_t bytes;
	int err = nbd_load();

	if (err)
		return err;
	s->nbd = remote_new();
	if (!s->nbd)
		return -ENOMEM;
	if (libnbd.connect_uri(s->nbd, uri) || (bytes = libnbd.get_size(s->nbd)) < 0)
		return nbd_failure();
	s->bytes = (u64)bytes;
	return 0;
}

int slow_open(struct slow *s, const char *path)
{
	memset(s, 0, sizeof(*s));
	s->fd = s->own = -1;
	s->path = path;
	if (posix_memalign((void **)&s->block, XP_BLOCK_SIZE, XP_BLOCK_SIZE))
		return -ENOMEM;
	return is_remote(path) ? open_remote(s, path) : open_local(s, path);
}

static void set_direct(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (fd >= 0 && flags >= 0)
		fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT);
}

void slow_set_direct(struct slow *s, bool on)
{
	set_direct(s->fd, on);
}

u64 slow_lba(const struct slow *s, u64 sector)
{
	return (sector + s->pad) / XP_BLOCK_SECTORS;
}

u32 slow_at(const struct slow *s, u64 sector)
{
	return (u32)((sector + s->pad) % XP_BLOCK_SECTORS) << XP_SECTOR_SHIFT;
}

u64 slow_sector(const struct slow *s, u64 lba)
{
	return lba ? lba * XP_BLOCK_SECTORS - s->pad : 0;
}

u64 slow_blocks(const struct slow *s)
{
	return (s->bytes + ((u64)s->pad << XP_SECTOR_SHIFT) + XP_BLOCK_SIZE - 1) / XP_BLOCK_SIZE;
}

static int read_remote(struct slow *s, u8 *to, size_t want, u64 at)
{
	if (!want || !libnbd.pread(s->nbd, to, want, at, 0))
		return 0;
	return nbd_failure();
}

/* A file system may open a file for direct I/O, and then not like a place. */
static int read_local(struct slow *s, u8 *to, size_t want, u64 at)
{
	bool direct = true;
	size_t have = 0;
	ssize_t n = 1;

	while (have < want && n) {
		n = pread(s->fd, to + have, want - have, (off_t)(at + have));
		if (n >= 0) {
			have += (size_t)n;
		} else if (errno == EINVAL && direct) {
			direct = false;
			slow_set_direct(s, false);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return have == want ? 0 : -EIO;
}

int slow_read(struct slow *s, u64 lba)
{
	u32 before = lba ? 0 : s->pad << XP_SECTOR_SHIFT;
	u64 at = slow_sector(s, lba) << XP_SECTOR_SHIFT;
	size_t want = (size_t)min((u64)XP_BLOCK_SIZE - before, at < s->bytes ? s->bytes - at : 0);
	int err;

	if (s->bad > SLOW_BAD_MAX)
		return -EIO;
	memset(s->block, 0, XP_BLOCK_SIZE);
	err = s->nbd ? read_remote(s, s->block + before, want, at) : read_local(s, s->block + before, want, at);
	s->bad += !!err;
	return err;
}

bool slow_is_all(const struct slow *s, u8 byte)
{
	return s->block[0] == byte && !memcmp(s->block, s->block + 1, XP_BLOCK_SIZE - 1);
}

int slow_sync(struct slow *s)
{
	if (!s->nbd)
		return fdatasync(s->own >= 0 ? s->own : s->fd) ? -errno : 0;
	if (libnbd.can_flush(s->nbd) > 0 && libnbd.flush(s->nbd, 0))
		return nbd_failure();
	return 0;
}

/* Of a file the last sectors may be no place for direct I/O: then *direct is false. */
static int write_all(int fd, const u8 *data, size_t len, u64 at, bool *direct)
{
	int err = 0;

	while (len && !err) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);

		if (n > 0) {
			data += n;
			len -= (size_t)n;
			at += (u64)n;
		} else if (n < 0 && errno == EINVAL && *direct) {
			*direct = false;
			set_direct(fd, false);
		} else if (!n || errno != EINTR) {
			err = n ? -errno : -EIO;
		}
	}
	return err;
}

/* Past the page cache: it would write the rest of its pages, too, and may have what is old there. */
static int write_local(const struct slow *s, u64 at)
{
	int fd = open(s->path, O_WRONLY | O_DIRECT | O_CLOEXEC), err;
	bool direct = fd >= 0;

	if (fd < 0 && errno == EINVAL)
		fd = open(s->path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = write_all(fd, s->block, XP_BLOCK_SIZE, at, &direct);
	if (!err && fdatasync(fd))
		err = -errno;
	close(fd);
	return err;
}

int slow_write(struct slow *s, u64 lba)
{
	u64 at = slow_sector(s, lba) << XP_SECTOR_SHIFT;

	if (!s->nbd)
		return write_local(s, at);
	if (libnbd.pwrite(s->nbd, s->block, XP_BLOCK_SIZE, at, 0))
		return nbd_failure();
	return slow_sync(s);
}

/* Past the page cache: what it takes it may lose later, when nobody can tell which blocks those were. */
void slow_own(struct slow *s, int fd)
{
	s->own = fd;
	set_direct(fd, true);
}

static int put_local(const struct slow *s, const u8 *data, size_t len, u64 at)
{
	bool direct = true;
	int err = write_all(s->own, data, len, at, &direct);

	if (direct)
		return err;
	if (!err && s->own >= 0 && fdatasync(s->own))
		err = -errno;
	set_direct(s->own, true);
	return err;
}

int slow_put_sectors(struct slow *s, u64 sector, u64 nr, const u8 *data)
{
	u64 at = (sector - s->pad) << XP_SECTOR_SHIFT, end = s->bytes >> XP_SECTOR_SHIFT << XP_SECTOR_SHIFT;
	size_t len = (size_t)min(nr << XP_SECTOR_SHIFT, at < end ? end - at : 0);

	if (!len)
		return -ENOSPC;
	if (!s->nbd)
		return put_local(s, data, len, at);
	return libnbd.pwrite(s->nbd, data, len, at, 0) ? nbd_failure() : 0;
}

int slow_put(struct slow *s, u64 lba, u32 nr, const u8 *data)
{
	return slow_put_sectors(s, lba * XP_BLOCK_SECTORS, (u64)nr * XP_BLOCK_SECTORS, data);
}

void slow_close(struct slow *s)
{
	if (s->nbd) {
		libnbd.shutdown(s->nbd, 0);
		libnbd.close(s->nbd);
	}
	if (s->fd >= 0)
		close(s->fd);
	free(s->block);
	memset(s, 0, sizeof(*s));
	s->fd = s->own = -1;
}
