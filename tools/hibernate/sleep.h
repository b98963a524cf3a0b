/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sleep.h - a machine that hibernates: its caches, and the image of its memory.
 *
 *   sleep.c      hibernate --begin and --end, of all caches
 *   asleep.c     one falls asleep
 *   awake.c      one wakes
 *   turn.c       their device, led elsewhere
 *   sleep_note.c what is on the fast device of one that sleeps
 *   image.c      where the image goes, whether one is there, erased
 *   looked.c     what the initramfs of this boot has looked for
 *   next_boot.c  would what is written now be restored?
 *   restore.c    hibernate --resume
 */
#ifndef XP_SLEEP_H
#define XP_SLEEP_H

#include "tools/tool.h"

/* --------------------------------------------------------------- image.c ---- */

#define SWAP_UUID	16u

/* Where the kernel puts an image. */
struct image_place {
	dev_t dev;		/* 0: nowhere */
	u64 at;			/* byte of it where the signature's page is */
	u8 uuid[SWAP_UUID];	/* of the swap, as that page says */
};

/* As /sys/power says; if that says nothing the first swap there is. */
void image_place_next(struct image_place *p);
/* The signature's place on a device, as the kernel's command line gives it. */
u64 image_offset(void);
/* What the kernel was told by resume=, and could find by itself; 0: nothing. */
dev_t image_of_kernel(void);
/* Learns p->uuid. 1: an image is there; 0: swap without; -ENOENT: no swap; other -errno. */
int image_look(struct image_place *p);
/* Of the swap with this UUID, its page at that byte of some device that is here. -ENOENT: not here. */
int image_find(const u8 uuid[SWAP_UUID], u64 at, struct image_place *p);
int image_erase(const struct image_place *p);	/* -errno */
/* hibernate --resume: returns if no memory was restored. @spec: where the system's image is, or NULL. */
enum xc image_resume(const char *spec);
/* The device that @spec names, as resume= does; 0: none that is here. */
dev_t image_named(const char *spec);
/* Returns if the kernel could not restore it. */
void image_restore(const struct image_place *p);
/* As sector 0 of the disk: where a partition begins that the kernel shows. */
u64 image_sector(dev_t part);
/* A hibernation would fail from now on, for want of a swap; as it was. */
bool image_nowhere(void);	/* false: it cannot be made so */
void image_place_back(void);
/* Of a swap that the next boot does not see when it looks: complains if no memory will be restored from there. */
enum xc image_not_seen(const char *spec);

/* ---------------------------------------------------------- sleep_note.c ---- */

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

/* -------------------------------------------------------------- looked.c ---- */

/* For the system that comes up: this initramfs looks at @spec, and knows these caches. */
void looked_write(const char *spec);
bool looked_at(char *spec, size_t len);	/* false: it has not looked */
dev_t looked_kernel(void);		/* where the kernel looked before it */
bool looked_knows(const char *uuid);

/* ----------------------------------------------------------- next_boot.c ---- */

/* Will what is there be seen when an image is looked for? */
bool next_boot_sees(dev_t dev);
/* Where the image goes: @place; *@owner: the cache whose device that is on, from the sector *@start of it,
 * NULL: none's. Complains if it would certainly not be restored. @list: the caches that run. */
enum xc next_boot_check(const struct running *list, size_t n, struct image_place *place,
			const struct running **owner, u64 *start);

/* ---------------------------------------------------------------- turn.c ---- */

/* Between them all of this program is in memory, and what it calls finds some: a device that it may need
 * is suspended. -errno. */
int memory_stay(void);
void memory_leave(void);
/* A disk that does not answer is not waited for: then it is as it was, and this fails. */
int turn_suspend(const char *name);
/* With no other table loaded for it; -errno: it stays suspended. */
int turn_resume_as_it_is(const char *name);
/* Leading to the slow device alone. */
int turn_resume_alone(const struct running *r);
/* In /run, which is as long as the machine's memory: a hibernate has begun with it, and what limits it had. */
int begun_keep(const struct running *r);
bool begun_is(const struct running *r);
void begun_forget(const struct running *r);
void begun_tunables(const struct running *r, struct xp_tunables *t);	/* stay, if it is not known */

/* -------------------------------------------------------------- asleep.c ---- */

/* One that falls asleep. */
struct drowsy {
	struct running r;
	struct media fast;
	u64 blocks;		/* of the fast device */
	struct xp_sb sb;
	struct xp_sleep note;	/* but for where its journal will end, */
	u32 place;		/* and which of them it is */
	bool turned;		/* by us */
};

/* Gives up when it is @end, by seconds_now(). Complains. */
enum xc fall_asleep(struct drowsy *d, double end);

/* --------------------------------------------------------------- awake.c ---- */

/* Complains. */
enum xc wake(const struct running *r, const struct options *opt);
enum xc say_not_awake(const struct running *r, const struct cache *c, int err);
/* What a killed hibernate has left, with the lock. One that is suspended still keeps whoever looks for a
 * disk waiting: then none is woken. */
enum xc mend_all(struct running *list, size_t n);
/* The end of the journal of a cache that has nothing. -ESTALE: it has. */
int end_of_empty(const struct device *fast, struct xp_end *end);

#endif /* XP_SLEEP_H */
