// SPDX-License-Identifier: GPL-2.0-only
/*
 * mode.c - write-back, write-through or write-around: of a start, or while the cache runs.
 *
 * A mode holds for each write that comes after it was set. What is dirty then, of write-back's time, goes home at once:
 * from the moment when nothing is dirty on, the slow device is never behind what was flushed (I7).
 *
 * An older version would go on in write-back without a word. So another mode has an incompat bit.
 */
#include "badblocks.h"
#include "life.h"
#include "mode.h"
#include "super.h"
#include "through.h"
#include "writeback.h"

#define MODE_TICKS	60u	/* until a write of the superblock is tried again: of a cache that is in use */

u32 xp_sb_mode(const struct xp_sb *sb)
{
	return le64_to_cpu(sb->incompat) & XP_INCOMPAT_MODE ? sb->mode : XP_MODE_WRITEBACK;
}

bool xp_sb_keep_mode(struct xp_sb *sb, u32 mode)
{
	if (xp_sb_mode(sb) == mode)
		return false;
	sb->mode = (u8)mode;
	sb->incompat |= cpu_to_le64(XP_INCOMPAT_MODE);
	if (mode == XP_MODE_WRITEBACK) {
		sb->mode = 0;
		sb->incompat &= ~cpu_to_le64(XP_INCOMPAT_MODE);
	}
	return true;
}

u32 xp_mode(const struct xp *c)
{
	return XP_READ_RACY(c->opt.mode);
}

static void begin_to_send(struct xp *c)
{
	c->settling.on = false;
	c->batch.settles = false;	/* it knows nothing of what was written since */
	if (through_is_on(c) && !cache_is_clean(c))
		writeback_settle(c);
}

void mode_set(struct xp *c, u32 mode)
{
	if (mode == XP_MODE_KEPT || mode == c->opt.mode)
		return;
	c->opt.mode = (u8)mode;
	begin_to_send(c);
}

/* What could not be written is tried again. */
void mode_note(struct xp *c, bool last, struct xp_todo *todo)
{
	struct xp_super *s = &c->super;

	if (c->failed)
		return;
	if (xp_sb_keep_mode(s->sb, c->opt.mode)) {
		s->changes++;
		s->rest_ticks = 0;
	}
	if (s->written == s->changes)
		return;
	if (c->journal.rerouting)	/* which writes it */
		return;
	if (s->rest_ticks && !last) {
		s->rest_ticks--;
		return;
	}
	s->rest_ticks = MODE_TICKS;
	super_write(c, todo);
}

int mode_begin(struct xp *c, const struct xp_media *m, void *block)
{
	int err;

	if (c->opt.mode == XP_MODE_KEPT)
		c->opt.mode = (u8)xp_sb_mode(c->super.sb);
	begin_to_send(c);
	if (!xp_sb_keep_mode(c->super.sb, c->opt.mode))
		return 0;
	c->super.changes++;
	err = super_write_now(c, m, block);
	return error_of_place(err) ? 0 : err;	/* mode_note() tries again */
}
