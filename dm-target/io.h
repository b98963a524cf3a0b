/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * io.h - how a bio gets into the cache; shared by io.c and fastpath.c alone.
 *
 * Five ways lead in. xs_map() tries the first three from the top; each does the
 * part of the general way that its bios need, and no more. The columns say which
 * bios may take a way, and when it hands its bio on.
 *
 *	way           bios                                  hands on to
 *	------------  ------------------------------------  ---------------------------
 *	map_hit       a read. If the core decides per hit   no hit: map_any. REQ_NOWAIT:
 *	              (hit_asks): only one whose blocks     unless all of it is one hit
 *	              are not compared with sums, and
 *	              that the fast device takes as it is
 *	map_write     a write without PREFLUSH, META, PRIO  the core's answer is not
 *	              and FUA (memory: FUA too), while no   XP_FAST, or not about all of
 *	              write is throttled                    it: xs_io_follow()
 *	map_flush     a FLUSH: it never has data, the       the core has not answered
 *	              device mapper sends that later        XP_DONE: xs_io_follow()
 *	xs_map_any    any bio of dm's that comes first;     -
 *	              the only one that is throttled
 *	xs_io_submit  a bio that the cache has kept: for    -
 *	              the throttle, the core, a buffer, or
 *	              its next part; and xs_commit()'s
 *
 * What each may rely on:
 *
 *	way           lock of the core   the bio                     struct xs_io
 *	------------  -----------------  --------------------------  --------------------
 *	map_hit       none               dm splits off what is not   .hit, what .hit lists,
 *	                                 of this hit                 and nothing else
 *	map_write     xp_submit()        all of it, or the general   all, by io_init()
 *	                                 way
 *	map_flush     none, with         empty                       all
 *	              nothing to do
 *	xs_map_any    xp_submit()        dm splits off what is not   all
 *	                                 of this part
 *	xs_io_submit  xp_submit()        .iter has what is left;     all
 *	                                 nothing is split off
 *
 * Two ways lead out, both through xs_end_io(): hit_ended() for map_hit, without
 * the core's lock, and xs_io_below_ended() for the others.
 */
#ifndef XS_IO_H
#define XS_IO_H

#include "timing.h"

/* io.c, for fastpath.c */
/* The general way of a new bio. Returns as xs_map(). */
int xs_map_any(struct xs_cache *cache, struct xs_io *io, u64 sector);
/* Asks the core for the present part and what follows. */
enum xp_act xs_io_ask(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo);
/*
 * Performs @act, the core's answer. @mapping: in xs_map(), where dm can split the bio.
 * True: the bio is remapped, and the caller submits it.
 */
bool xs_io_follow(struct xs_cache *cache, struct xs_io *io, enum xp_act act,
		  struct xp_todo *todo, bool mapping);
/* A device has ended the bio. True: the bio has nothing left to do. Any context. */
bool xs_io_below_ended(struct xs_cache *cache, struct xs_io *io, int err);
/* Nothing of @part can be sent to a fast device that takes whole blocks alone. */
bool xs_io_is_private(struct bio *bio, struct bvec_iter part);

/* All that map_hit() leaves out. */
static __always_inline void io_init_state(struct xs_io *io, struct bio *bio)
{
	io->req.fua = false;
	io->req.aside = false;
	io->req.written = false;
	io->req.ordered = false;
	io->req.fast_failed = false;
	io->req.alone = false;
	io->req.tries = 0;
	io->req.stream = 0;
	io->req.class = 0;
	io->hit = false;
	io->below = false;
	io->own = false;
	io->counted = false;
	io->bio = bio;
}

static __always_inline void io_init(struct xs_io *io, struct bio *bio)
{
	io_init_state(io, bio);
	io->iter = bio->bi_iter;
	io->bi_flags = bio->bi_flags;
}

/* In xs_map(): the device mapper submits the bio when it has returned. */
static inline int submit_remapped(struct xs_cache *cache, struct xs_io *io)
{
	io->sent = xs_time(cache);
	return DM_MAPIO_REMAPPED;
}

#endif /* XS_IO_H */
