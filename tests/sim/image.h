/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image.h - the image that a cut may leave, and its recovery; shared by crash.c,
 * which tries every one, and life.c, which goes on with one.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "sim.h"

struct xp_message;
struct xp_witness;

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
	bool truth;		/* sectors that cannot be read are read all the same */
};

/* Of the image that is looked at, not of the run. */
extern struct xp *state_core;
extern void *state_memory;

void recover_new_run(void);
/* A stop of the live core. */
int recover_close(u64 *rng);
int recover(const struct xp_media *fast, const struct xp_media *slow, void *memory, struct xp **c,
	    bool restating, u32 accept, struct xp_message *msg);
/* The image, only looked at; 0, or the error, with a message. */
int look_as(void *memory, struct xp **c, u32 accept, bool truth, const struct xp_witness *w,
	    struct xp_message *msg);
bool image_is_losing(void);
/* Do records say UNREAD? */
bool image_has_unread(void);
/* Of the slow device, as its superblock has it. */
u64 image_sectors(void);
/* A start of the image that refuses it: with which error. It must not have written. */
int refused_image_writes(void *memory);
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
/* Without a witness and with one: the same is found, or it is refused. @accept: XP_ACCEPT_*. */
void look_twice(u32 accept);

/* ---------------------------------------------------------------- bad.c ---- */

/* Some sectors of the image become unreadable; or none, where nothing could be recovered then.
 * @lasting: the run goes on with it. */
void bad_spoil_image(struct arena *a, bool lasting, u64 *rng);
bool bad_in_image(void);
/* They can be read again as they were, but for what @c believes; all of them, or (@rng) some. NULL: nobody has
 * looked yet, and no slot can. */
void bad_return(u64 *rng);

/* ---------------------------------------------------------------- ask.c ---- */

/* Of a new image. The user accepts that without being asked. */
void ask_anew(u32 accept);
/* What has to be accepted for a recovery of the image, as it is by now; told of it is in struct told. It
 * is right to ask, or the run ends. */
u32 ask(void *memory);
/* A recovery has ended: it need not ask for the same again. */
void ask_settled(void);
/* The chain cannot be read at all. */
bool ask_is_hopeless(void);

/* -------------------------------------------------------------- crash.c ---- */

/* One of the images that a cut may leave now. */
void crash_choose(u64 *rng);

#endif /* IMAGE_H */
