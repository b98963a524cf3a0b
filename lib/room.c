// SPDX-License-Identifier: GPL-2.0-only
/*
 * The room of a fast device that is a file: every block of it is there from create on.
 *
 * A hole is a write that fails when the file system is full, and what fails first may be the journal: then the cache is
 * over, and its dirty blocks cannot be written back. So the holes are allocated before anything is written, and only they
 * are: what the file holds stays. Their list is kept, to give back what was taken if no cache comes of it.
 */
#include "lib/room.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/mounts.h"
#include "lib/progress.h"
#include "lib/signals.h"
#include "core/block.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CHUNK_BYTES	(256ull << 20)	/* at a time: between two, Ctrl-C is looked at */
#define PATIENCE	2.0		/* seconds without a progress bar, */
#define PACE		0.2		/* and between two looks of it */
#define EXTENTS		64u

#define ZFS_MAGIC	0x2fc12fc1
#define BCACHEFS_MAGIC	0xca451a4e

/* ------------------------------------------------------------------ holes ---- */

static int add_hole(struct room *r, u64 from, u64 to)
{
	struct room_hole *grown;

	if (to <= from)
		return 0;
	grown = realloc(r->hole, (r->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->hole = grown;
	r->hole[r->n++] = (struct room_hole){ from, to };
	r->missing += to - from;
	return 0;
}

/* What was allocated and not yet written is no hole here, unlike to lseek(). */
static int holes_by_extents(struct room *r)
{
	struct fiemap *map = calloc(1, sizeof(*map) + EXTENTS * sizeof(map->fm_extents[0]));
	const struct fiemap_extent *e;
	u64 at = 0;
	int err = map ? 0 : -ENOMEM;

	while (!err && at < r->bytes) {
		*map = (struct fiemap){ .fm_start = at, .fm_length = r->bytes - at, .fm_flags = FIEMAP_FLAG_SYNC,
					.fm_extent_count = EXTENTS };
		err = ioctl(r->fd, FS_IOC_FIEMAP, map) ? -errno : 0;
		for (u32 i = 0; !err && i < map->fm_mapped_extents; i++) {
			e = &map->fm_extents[i];
			err = add_hole(r, at, min((u64)e->fe_logical, r->bytes));
			at = max(at, (u64)(e->fe_logical + e->fe_length));
			r->moves |= e->fe_flags & (FIEMAP_EXTENT_SHARED | FIEMAP_EXTENT_ENCODED);
		}
		if (!err && !map->fm_mapped_extents) {
			err = add_hole(r, at, r->bytes);
			at = r->bytes;
		}
	}
	free(map);
	return err;
}

static int holes_by_seek(struct room *r)
{
	off_t from, to = 0;
	int err = 0;

	while (!err && (u64)to < r->bytes) {
		from = lseek(r->fd, to, SEEK_HOLE);
		if (from < 0)
			return errno == ENXIO ? 0 : -errno;
		to = lseek(r->fd, from, SEEK_DATA);
		if (to < 0)
			to = (off_t)r->bytes;
		err = add_hole(r, (u64)from, min((u64)to, r->bytes));
	}
	return err;
}

static void forget_holes(struct room *r)
{
	free(r->hole);
	r->hole = NULL;
	r->n = 0;
	r->missing = 0;
}

static int find_holes(struct room *r)
{
	int err = holes_by_extents(r);

	if (err != -EOPNOTSUPP && err != -ENOTTY)
		return err;
	forget_holes(r);
	err = holes_by_seek(r);
	if (err == -EINVAL || err == -EOPNOTSUPP) {	/* nobody can tell: all of it may be */
		forget_holes(r);
		r->blind = true;
		return add_hole(r, 0, r->bytes);
	}
	return err;
}

/* ------------------------------------------------------------- file system ---- */

static const char *file_system(const struct room *r, char text[ROOM_TEXT])
{
	char full[PATH_MAX];
	struct mount m;

	if (realpath(r->path, full) && mount_of(NULL, full, &m))
		snprintf(text, ROOM_TEXT, "%.3000s (%s)", m.point, m.type);
	else
		snprintf(text, ROOM_TEXT, "its file system");
	return text;
}

static enum xc no_room(const struct room *r, u64 free_bytes)
{
	char fs[ROOM_TEXT];
	u64 lacks = r->missing > free_bytes ? r->missing - free_bytes : 0;

	file_system(r, fs);
	if (!lacks)
		return complain(XC_REFUSED, r->path, r->todo, "%s, its file system, cannot give the file all of its room, %s: it is full, or a quota is",
				fs, text_bytes(r->missing));
	return complain(XC_REFUSED, r->path, r->todo, "%s of the file are holes, and %s, its file system, has %s free: %" PRIu64 " bytes are missing",
			text_bytes(r->missing), fs, text_bytes(free_bytes), lacks);
}

/* Before any of it is taken. A file system that does not say is asked by taking it. */
static u64 free_room(const struct room *r)
{
	struct statvfs fs;

	if (fstatvfs(r->fd, &fs) || !fs.f_blocks)
		return ~0ull;
	return (u64)(geteuid() ? fs.f_bavail : fs.f_bfree) * fs.f_frsize;
}

/* It writes elsewhere than where something was: what is allocated is no promise for the second write of a block. */
static bool moves_blocks(const struct room *r)
{
	struct statfs fs;
	long flags = 0;

	if (r->moves || fstatfs(r->fd, &fs))
		return r->moves;
	if (fs.f_type == BTRFS_SUPER_MAGIC)
		return ioctl(r->fd, FS_IOC_GETFLAGS, &flags) || !(flags & FS_NOCOW_FL);
	return fs.f_type == ZFS_MAGIC || fs.f_type == (__typeof__(fs.f_type))BCACHEFS_MAGIC || fs.f_type == NILFS_SUPER_MAGIC;
}

bool room_is_memory(int fd)
{
	struct statx stx;
	struct statfs fs;

	if (!fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC))
		return true;
	return !statx(fd, "", AT_EMPTY_PATH, 0, &stx) && stx.stx_attributes & STATX_ATTR_DAX;
}

/* ------------------------------------------------------------------- take ---- */

static int take_chunk(const struct room *r, u64 from, u64 to)
{
	int err;

	do
		err = fallocate(r->fd, 0, (off_t)from, (off_t)(to - from)) ? -errno : 0;
	while (err == -EINTR && !signals_came());
	return err;
}

static void show(struct room *r, u64 left)
{
	double now = seconds_now();

	if (now - r->begun < PATIENCE || now - r->shown < PACE)
		return;
	r->shown = now;
	progress_show(&r->bar, left >> XP_BLOCK_SHIFT);
}

static int take_holes(struct room *r)
{
	u64 left = r->missing, to;
	int err = 0;

	r->begun = seconds_now();
	progress_begin(&r->bar, left >> XP_BLOCK_SHIFT);
	for (size_t i = 0; !err && i < r->n; i++)
		for (u64 at = r->hole[i].from; !err && at < r->hole[i].to; at = to) {
			to = min(at + CHUNK_BYTES, r->hole[i].to);
			r->taken = to;	/* of one that fails a part may be there */
			err = signals_came() ? -EINTR : take_chunk(r, at, to);
			left -= to - at;
			show(r, left);
		}
	progress_end();
	return err;
}

void room_give_back(struct room *r)
{
	for (size_t i = 0; r->fd >= 0 && !r->blind && i < r->n && r->hole[i].from < r->taken; i++) {
		u64 to = min(r->hole[i].to, r->taken), block = (to + XP_BLOCK_SIZE - 1) & ~(u64)(XP_BLOCK_SIZE - 1);

		if (fallocate(r->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)r->hole[i].from,
			      (off_t)(block - r->hole[i].from))) {
			complain_errno(errno, r->path, "what was allocated cannot be given back");
			break;
		}
	}
	r->taken = 0;
}

/* Where the file system cannot do it, nothing is promised, and nothing refused: it is so for every file there. */
static enum xc tell_unable(const struct room *r)
{
	char fs[ROOM_TEXT];

	printf("%s: %s cannot allocate a file's room: when it is full, the cache fails; keep it from getting so\n",
	       r->path, file_system(r, fs));
	return XC_OK;
}

static enum xc judge(struct room *r, int err)
{
	char fs[ROOM_TEXT];

	if (err == -EOPNOTSUPP || err == -ENOSYS)
		return tell_unable(r);
	if (err)
		room_give_back(r);
	if (err == -EINTR)
		return complain(XC_INTERRUPTED, r->path, "the same command begins again", "stopped, and what was allocated is given back");
	if (err == -ENOSPC || err == -EDQUOT)
		return no_room(r, free_room(r));
	if (err)
		return complain_errno(err, r->path, "cannot allocate its room");
	if (moves_blocks(r))
		printf("%s: %s writes a block to a new place each time: when it is full, the cache fails, though all of the file is allocated; keep it from getting so\n",
		       r->path, file_system(r, fs));
	return XC_OK;
}

static enum xc take(struct room *r)
{
	int err = find_holes(r);

	if (err)
		return complain_errno(err, r->path, "cannot tell what of it is allocated");
	if (!r->blind && r->missing > free_room(r))
		return no_room(r, free_room(r));
	return judge(r, take_holes(r));
}

enum xc room_take(struct room *r, const struct device *d, u64 bytes, const char *todo)
{
	struct sigaction was[NR_CAUGHT];
	struct stat st;
	enum xc ret;

	*r = (struct room){ .path = d->path, .todo = todo, .fd = -1 };
	if (d->is_block || d->remote)
		return XC_OK;
	r->fd = open(d->path, O_RDWR | O_CLOEXEC);
	if (r->fd < 0 || fstat(r->fd, &st))
		return complain_errno(errno, d->path, "cannot open it");
	if (st.st_dev != d->dev || st.st_ino != d->ino)
		return complain(XC_REFUSED, d->path, "nothing was changed; look what it is now", "it has become another file");
	r->bytes = min(bytes, (u64)st.st_size);
	signals_catch(was);
	ret = take(r);
	signals_let(was);
	return ret;
}

void room_done(struct room *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
	forget_holes(r);
}

enum xc room_fill(const struct device *d, u64 bytes, const char *todo)
{
	struct room room;
	enum xc ret = room_take(&room, d, bytes, todo);

	room_done(&room);
	return ret;
}
