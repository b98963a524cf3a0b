/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image.h - the image that a cut may leave, and its recovery; shared by crash.c,
 * which tries every one, and life.c, which goes on with one.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "sim.h"

/* -------------------------------------------------------------- image.c ---- */

extern struct image image;

void image_new_run(void);
/* What survives for certain: what images are made from. */
void image_of_floor(void);
/* What a process finds that starts now. */
void image_of_seen(void);
void image_put(bool slow, u64 sector, const struct content *k);
/* Takes back what was put since the mark. */
u32 image_mark(void);
void image_rewind(u32 mark);
/* True: looked at, and nothing that was allowed then has ceased to be. */
bool image_seen_before(void);
void image_forget_seen(void);

/* ------------------------------------------------------------ recover.c ---- */

/* An image, a power that may go again, and a read that may fail. */
struct medium {
	struct arena *arena;
	u32 writes_left;	/* until the power goes again */
	u32 reads_left;		/* until one fails */
	u64 *rng;
	u32 writes, reads;
};

/* Of the image that is looked at, not of the run. */
extern struct xp *state_core;
extern void *state_memory;

void recover_new_run(void);
int recover(const struct xp_media *fast, const struct xp_media *slow, void *memory, struct xp **c,
	    bool restating, struct xp_message *msg);
/* On the image, with @cuts further cuts, the first at write @first_cut. Returns
 * what the last attempt took. */
struct medium recover_image(struct arena *arena, void *memory, struct xp **c, u32 cuts,
			    u32 first_cut, u64 *rng);
/* Of the device itself, after a kill: cuts on the way are looked at, and it may be killed again,
 * which is -ENODEV. NULL: neither. */
void recover_under_fire(u64 *rng);
/* Only looks at the image, and changes nothing; or one of its reads fails, and
 * that is said. */
void look_at_image(u32 failing_read);

/* -------------------------------------------------------------- crash.c ---- */

/* One of the images that a cut may leave now. */
void crash_choose(u64 *rng);

#endif /* IMAGE_H */
