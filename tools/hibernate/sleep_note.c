// SPDX-License-Identifier: GPL-2.0-only
/* What is noted on the fast device of a cache that sleeps in a hibernation: struct xp_sleep. */
#include "tools/hibernate/sleep_note.h"
#include "lib/caches.h"
#include "lib/media.h"
#include "tools/hibernate/image.h"
#include "core/rest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static u64 checksum(const struct xp_sleep *note)
{
	return xp_xxh64(note, offsetof(struct xp_sleep, checksum));
}

/* I10: a superblock of another layout verifies too. */
static bool has_room(const struct xp_sb *sb)
{
	const u64 end = XP_SLEEP_BLOCK + XP_SLEEP_NOTES;

	return le64_to_cpu(sb->journal_start) >= end && (!sb->scratch_blocks || le64_to_cpu(sb->scratch_start) >= end);
}

int sleep_note_read(const struct xp_media *m, const struct xp_sb *sb, u32 i, struct xp_sleep *note)
{
	int err;

	if (!has_room(sb))
		return 0;
	err = m->read(m->ctx, XP_SLEEP_BLOCK + i, 1, note);
	if (err)
		return err;
	if (memcmp(note->magic, XP_SLEEP_MAGIC, sizeof(note->magic)) != 0)
		return 0;
	if (le64_to_cpu(note->checksum) != checksum(note))
		return -EUCLEAN;
	return !memcmp(note->uuid, sb->uuid, sizeof(note->uuid));
}

int sleep_note_write(const struct xp_media *m, const struct xp_sb *sb, u32 i, struct xp_sleep *note)
{
	if (!has_room(sb))
		return -ENOSPC;
	memcpy(note->magic, XP_SLEEP_MAGIC, sizeof(note->magic));
	memcpy(note->uuid, sb->uuid, sizeof(note->uuid));
	note->checksum = cpu_to_le64(checksum(note));
	return m->write(m->ctx, XP_SLEEP_BLOCK + i, 1, note);
}

static bool names(const struct xp_sleep *note, const u8 swap[SWAP_UUID])
{
	return !memcmp(note->swap_uuid, swap, sizeof(note->swap_uuid));
}

struct opened {
	struct media m;
	int fd;
};

static bool open_fast(const struct cache *c, int flags, struct opened *o)
{
	bool ok;

	memset(o, 0, sizeof(*o));
	o->fd = open(c->fast.path, flags | O_CLOEXEC);
	if (o->fd < 0)
		return false;
	ok = !media_init(&o->m, o->fd);
	if (!ok)
		close(o->fd);
	return ok;
}

static void close_fast(struct opened *o)
{
	media_done(&o->m);
	close(o->fd);
}

u32 sleep_notes(const struct cache *c, struct xp_sleep notes[XP_SLEEP_NOTES])
{
	struct opened o;
	u32 n = 0;

	if (!open_fast(c, O_RDONLY, &o))
		return 0;
	for (u32 i = 0; i < XP_SLEEP_NOTES; i++)
		n += sleep_note_read(&o.m.io, &c->sb, i, &notes[n]) > 0;
	close_fast(&o);
	return n;
}

static int forget(const struct cache *c, const u8 swap[SWAP_UUID], bool torn)
{
	static const struct xp_sleep none;
	struct xp_sleep note;
	struct opened o;
	int ret = 0;

	if (!open_fast(c, O_RDWR, &o))
		return -EIO;
	for (u32 i = 0; i < XP_SLEEP_NOTES; i++) {
		int err = sleep_note_read(&o.m.io, &c->sb, i, &note);

		if ((err > 0 && names(&note, swap)) || (err == -EUCLEAN && torn))
			err = o.m.io.write(o.m.io.ctx, XP_SLEEP_BLOCK + i, 1, &none);
		if (err < 0)
			ret = err;
	}
	close_fast(&o);
	return ret;
}

void sleep_note_forget(const struct cache *c, const u8 swap[SWAP_UUID])
{
	forget(c, swap, false);
}

/* A torn one is of a --begin that was cut off, and made no image. */
int sleep_note_none(const struct cache *c, const u8 swap[SWAP_UUID])
{
	return forget(c, swap, true);
}

/* The note of this swap, or one that may go. */
static int find_place(const struct xp_media *m, const struct cache *c, dev_t slow, const u8 swap[SWAP_UUID])
{
	int place = -ENOSPC, same = -ENOENT;
	struct image_place p;
	struct xp_sleep note;

	for (u32 i = 0; i < XP_SLEEP_NOTES; i++) {
		int has = sleep_note_read(m, &c->sb, i, &note);

		if (has < 0)		/* as above */
			return has == -EUCLEAN ? (int)i : has;
		if (has && names(&note, swap))
			same = (int)i;
		else if (place < 0 && (!has || !sleep_note_image(&note, slow, &p)))
			place = (int)i;
	}
	return same >= 0 ? same : place;
}

int sleep_note_place(const struct cache *c, dev_t slow, const u8 swap[SWAP_UUID])
{
	struct opened o;
	int place;

	if (!open_fast(c, O_RDONLY, &o))
		return -EIO;
	place = find_place(&o.m.io, c, slow, swap);
	close_fast(&o);
	return place;
}

int sleep_note_image(const struct xp_sleep *note, dev_t slow, struct image_place *p)
{
	u64 swap = le64_to_cpu(note->swap), at = le64_to_cpu(note->image);
	bool another = false;
	int image = -ENOENT, found;

	if (slow && swap != XP_SLEEP_ELSEWHERE) {	/* the kernel may not show that partition */
		*p = (struct image_place){ .dev = slow, .at = (swap << XP_SECTOR_SHIFT) + at };
		image = image_look(p);
		another = image >= 0 && !names(note, p->uuid);
		if (another)
			image = -ENOENT;
	}
	if (image > 0)
		return image;
	found = image_find(note->swap_uuid, at, p);
	return another && found < 0 ? 0 : max(image, found);
}

void sleep_notes_settle(const struct cache *c, dev_t slow)
{
	struct xp_sleep notes[XP_SLEEP_NOTES];
	struct image_place p;
	u32 n = sleep_notes(c, notes);

	for (u32 i = 0; i < n; i++)
		if (!sleep_note_image(&notes[i], slow, &p))
			sleep_note_forget(c, notes[i].swap_uuid);
}

/* A start writes two blocks at least (core/recovery.c, restate). */
bool sleep_note_holds(const struct xp_media *m, const struct xp_sb *sb, const struct xp_sleep *note)
{
	struct xp_jblock block;
	struct xp_end end;

	return !xp_follow(m, sb, le64_to_cpu(note->seq), &block, &end) &&
	       end.seq == le64_to_cpu(note->seq) && end.incarnation == le64_to_cpu(note->incarnation);
}
