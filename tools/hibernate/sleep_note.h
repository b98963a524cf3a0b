/* SPDX-License-Identifier: GPL-2.0-only */
/* sleep_note.h - what is noted on the fast device of a cache that sleeps in a hibernation: struct xp_sleep. */
#ifndef XP_TOOLS_HIBERNATE_SLEEP_NOTE_H
#define XP_TOOLS_HIBERNATE_SLEEP_NOTE_H

#include "tools/hibernate/image.h"
#include "core/format.h"

#include <sys/types.h>

struct xp_media;
struct cache;

/* The @i-th. 1: it is this cache's; 0: there is none; -errno: nobody can tell, -EUCLEAN: it is torn. */
int sleep_note_read(const struct xp_media *m, const struct xp_sb *sb, u32 i, struct xp_sleep *note);
/* @note->id, caches, incarnation, seq, swap, image and swap_uuid are set. -errno. */
int sleep_note_write(const struct xp_media *m, const struct xp_sb *sb, u32 i, struct xp_sleep *note);
/* All that @c has. */
u32 sleep_notes(const struct cache *c, struct xp_sleep notes[XP_SLEEP_NOTES]);
/* Those that name this swap are no memory's any more. If that cannot be written, they hold no more
 * once the cache starts. */
void sleep_note_forget(const struct cache *c, const u8 swap[SWAP_UUID]);
/* Of who does not sleep now: the same, and what is torn goes. -errno: it cannot be told, or written. */
int sleep_note_none(const struct cache *c, const u8 swap[SWAP_UUID]);
/* Where one for this swap goes; -ENOSPC: systems that sleep elsewhere need all. */
int sleep_note_place(const struct cache *c, dev_t slow, const u8 swap[SWAP_UUID]);
/* Is the image of its sleep here? As image_find(), and 0 if another swap was made in its place; @slow: the
 * cache's slow device, or 0. */
int sleep_note_image(const struct xp_sleep *note, dev_t slow, struct image_place *p);
/* Those whose image is here no more are forgotten. */
void sleep_notes_settle(const struct cache *c, dev_t slow);
/* Has nobody started the cache since? */
bool sleep_note_holds(const struct xp_media *m, const struct xp_sb *sb, const struct xp_sleep *note);

#endif
