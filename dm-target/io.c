// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.c - the general way of a bio: its parts, its remapping, its end. The fast
 * ways are in fastpath.c; io.h says which bio takes which.
 *
 * A bio belongs to exactly one of: a queue of the backend, the core (after
 * XP_WAIT), a device below, or the function that holds it. After XP_WAIT it
 * may end on another processor at once, so nothing touches it then.
 *
 * A remapped bio returns through xs_end_io() with .below set. When it ends for
 * good it passes there once more, with .below clear, and is let through: so does
 * each bio of dm's that bio_endio() ends.
 */
#include <linux/delay.h>

#include "io.h"
#include "accounting.h"

/* ------------------------------------------------------------ errors ---- */

void xs_fast_error(struct xs_cache *cache, const char *what, u64 sector, int err)
{
	atomic64_inc(&cache->counts.fast_errors);
	DMERR_LIMIT("%pg: fast device: %s failed at sector %llu, error %d",
		    xs_fast(cache), what, sector, err);
}

void xs_slow_error(struct xs_cache *cache, const char *what, u64 sector, int err)
{
	atomic64_inc(&cache->counts.slow_errors);
	DMERR_LIMIT("%pg: slow device: %s failed at sector %llu, error %d",
		    xs_slow(cache), what, sector - min_t(u64, sector, cache->pad), err);
}

static void io_error(struct xs_cache *cache, const struct xs_io *io, int err)
{
	enum xp_op op = xp_op_below(&io->req, io->act);

	/* Not every device can do these: a caller tries, and falls back. */
	if (err == -EOPNOTSUPP && (op == XP_DISCARD || op == XP_ZEROES))
		return;
	if (io->act == XP_FAST)
		xs_fast_error(cache, xp_op_name[op], io->req.target, err);
	else
		xs_slow_error(cache, xp_op_name[op], io->req.sector, err);
}

static bool io_is_slow_read(const struct xs_io *io)
{
	return io->req.op == XP_READ && io->act != XP_FAST;
}

/* --------------------------------------------------------------- end ---- */

/* Moves on to the next part. False: there is none, or this one has failed. */
static bool io_next_part(struct xs_io *io)
{
	u32 bytes = io->req.nr_sectors << SECTOR_SHIFT;

	if (io->req.err || bytes >= io->iter.bi_size)
		return false;
	bio_advance_iter(io->bio, &io->iter, bytes);
	return true;
}

void xs_io_done(struct xs_cache *cache, struct xs_io *io)
{
	if (io_next_part(io)) {
		xs_queue_io(cache, &cache->todo.ready, io);
		return;
	}
	io->bio->bi_status = io->req.err ? errno_to_blk_status(io->req.err) : BLK_STS_OK;
	bio_endio(io->bio);
}

noinline bool xs_io_below_ended(struct xs_cache *cache, struct xs_io *io, int err)
{
	enum xp_class leg = xp_leg_class(xp_op_below(&io->req, io->act), io->act == XP_FAST);
	u64 took = err || leg == XP_CLASSES ? 0 : xs_since(io->sent);
	struct xp_todo todo;
	bool over = false;

	/*
	 * xp_end() may hand this bio to another processor, which ends it: the last one
	 * of a cache that is being suspended. xs_drain() waits for RCU readers before
	 * the cache may be freed.
	 */
	rcu_read_lock();
	io->below = false;
	if (unlikely(err))
		io_error(cache, io, err);
	if (io_is_slow_read(io))
		xs_slow_took(cache, &io->req, io->req.nr_sectors, took);
	xp_todo_init(&todo);
	if (xp_end(cache->core, &io->req, err, &todo) == XP_DONE) {
		over = !io_next_part(io);
		if (unlikely(!over))
			xs_queue_io(cache, &cache->todo.ready, io);
	}
	if (over)
		xs_io_count(cache, io, leg, took);
	else
		xs_timed(cache, leg, took);
	if (unlikely(!xp_todo_empty(&todo)))
		xs_post(cache, &todo);
	rcu_read_unlock();
	return over;
}

/* ------------------------------------------------------------ perform ---- */

/* The slow device is sent a write, and then a bio without data, where that is what the block layer makes of FUA. */
static void io_set_fua(struct xs_cache *cache, struct xs_io *io)
{
	struct bio *bio = io->bio;

	bio->bi_opf &= ~(REQ_FUA | REQ_PREFLUSH);
	if (io->act == XP_SLOW_FLUSH) {
		bio->bi_iter.bi_size = 0;
		bio->bi_opf |= REQ_PREFLUSH;
	} else if (io->act == XP_FAST || cache->slow_fua) {
		bio->bi_opf |= REQ_FUA;
	}
}

/* Points the bio at a device, for the present part. */
static __always_inline void io_remap(struct xs_cache *cache, struct xs_io *io, bool mapping)
{
	struct bio *bio = io->bio;

	bio->bi_iter = io->iter;
	bio->bi_iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	if (!mapping) {
		/* A part of it may have been with a device, which merged or split the bio. */
		bio->bi_next = NULL;
		bio->bi_status = BLK_STS_OK;
		bio->bi_flags = io->bi_flags;
		atomic_set(&bio->__bi_remaining, 1);
	}
	if (io->act == XP_FAST && io->req.op == XP_WRITE)
		bio->bi_opf |= xs_fast_opf(cache);
	/* The block layer strips both for a device without a volatile cache. */
	if (io->req.fua)
		io_set_fua(cache, io);
	if (io->req.op == XP_FLUSH)
		bio->bi_opf |= REQ_PREFLUSH;

	if (io->act == XP_FAST) {
		bio_set_dev(bio, xs_fast(cache));
		bio->bi_iter.bi_sector = io->req.target;
		if (io->req.op == XP_WRITE)
			atomic64_add(bio->bi_iter.bi_size,
				     &cache->counts.fast_bytes_written);
	} else {
		bio_set_dev(bio, xs_slow(cache));
		if (io->req.op != XP_FLUSH)
			bio->bi_iter.bi_sector -= cache->pad;
	}
	io->below = true;
}

static void io_zero(struct xs_io *io)
{
	io->bio->bi_iter = io->iter;
	io->bio->bi_iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	zero_fill_bio(io->bio);
	io->req.err = 0;
}

/* The present part has been loaded or stored. */
static void io_memory_ended(struct xs_cache *cache, struct xs_io *io, int err, struct xp_todo *todo)
{
	if (unlikely(err))
		io_error(cache, io, err);
	else
		xs_timed(cache, xp_leg_class(io->req.op, true), xs_since(io->sent));
	if (xp_end(cache->core, &io->req, err, todo) == XP_DONE)
		xp_list_add(&todo->done, &io->req.link);
}

/* Loads or stores the present part. False: the driver of the memory refuses. */
static bool io_copy_memory(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	struct bvec_iter iter = io->iter;
	int err;

	iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	io->sent = xs_time(cache);
	if (io->req.op == XP_READ)
		err = xs_memory_read(cache, io->bio, iter, io->req.target);
	else
		err = xs_memory_write(cache, io->bio, iter, io->req.target);
	if (unlikely(err == -ENXIO))
		return false;
	if (io->req.op == XP_WRITE)
		atomic64_add(iter.bi_size, &cache->counts.fast_bytes_written);
	io_memory_ended(cache, io, err, todo);
	return true;
}

/* The core's answer may be about less than the bio. */
static void io_split(struct xs_cache *cache, struct xs_io *io)
{
	if (io->req.nr_sectors == io->iter.bi_size >> SECTOR_SHIFT)
		return;
	dm_accept_partial_bio(io->bio, io->req.nr_sectors);
	xs_whole_split(cache, io, io->bio, io->iter.bi_sector, io->iter.bi_size >> SECTOR_SHIFT);
	io->iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
}

/* False: the fill has been given back, and the bio is read as for XP_SLOW. */
static bool io_fill(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	if (xs_fill_read(cache, io, todo))
		return true;
	xp_not_filled(&io->req);
	io->act = XP_SLOW;
	return false;
}

static void io_remap_slow(struct xs_cache *cache, struct xs_io *io, bool mapping)
{
	if (io_is_slow_read(io))	/* it may want a block of a fill that waits */
		xs_fills_hurry(cache);
	io_remap(cache, io, mapping);
}

/* True: the bio is remapped. False: memory has done it. */
static bool io_follow_fast(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo,
			   bool mapping)
{
	if (cache->dax && io_copy_memory(cache, io, todo))
		return false;
	io_remap(cache, io, mapping);
	return true;
}

noinline bool xs_io_follow(struct xs_cache *cache, struct xs_io *io, enum xp_act act,
			   struct xp_todo *todo, bool mapping)
{
	if (act == XP_WAIT)
		return false;
	io->act = act;
	if (mapping)
		io_split(cache, io);

	switch (act) {
	case XP_SLOW_FILL:
		if (io_fill(cache, io, todo))
			return false;
		fallthrough;
	case XP_SLOW:
	case XP_SLOW_FLUSH:
		io_remap_slow(cache, io, mapping);
		return true;
	case XP_MIXED:
		if (!xs_fill_read(cache, io, todo))	/* it comes again, in pieces */
			xp_end(cache->core, &io->req, -ENOMEM, todo);
		return false;
	case XP_FAST:
		return io_follow_fast(cache, io, todo, mapping);
	case XP_COPY:
	case XP_CHECK:
		xs_copy_start(cache, io, todo);
		return false;
	case XP_ZERO:
		io_zero(io);
		break;
	default:
		break;
	}
	xs_io_done(cache, io);
	return false;
}

/*
 * The part begins or ends within a block, or one of its pages does. The driver
 * may have to split a bio where a page does not continue the one before, and such
 * a split need not leave whole blocks. One answer of the core is about
 * XP_RUN_MAX blocks at most: the rest is not looked at.
 */
noinline bool xs_io_is_private(struct bio *bio, struct bvec_iter part)
{
	struct bvec_iter at;
	struct bio_vec bv;

	if (bio_has_data(bio))
		part.bi_size = min(part.bi_size, XP_RUN_MAX * XP_BLOCK_SIZE);
	if (xp_is_partial(part.bi_sector, part.bi_size >> SECTOR_SHIFT))
		return true;
	if (!bio_has_data(bio))
		return false;
	__bio_for_each_segment(bv, bio, at, part)
		if ((bv.bv_offset | bv.bv_len) % XP_BLOCK_SIZE)
			return true;
	return false;
}

/* -------------------------------------------------------------- begin ---- */

noinline enum xp_act xs_io_ask(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	io->req.sector = io->iter.bi_sector;
	io->req.nr_sectors = io->iter.bi_size >> SECTOR_SHIFT;
	io->req.private = unlikely(cache->fast_whole) && xs_io_is_private(io->bio, io->iter);
	return xp_submit(cache->core, &io->req, todo);
}

void xs_io_submit(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	if (!xs_io_follow(cache, io, xs_io_ask(cache, io, todo), todo, false))
		return;
	io->sent = xs_time(cache);
	if (io->own)
		submit_bio_noacct(io->bio);
	else
		dm_submit_bio_remap(io->bio, NULL);
}

static bool io_set_op(struct xs_io *io)
{
	struct bio *bio = io->bio;

	switch (bio_op(bio)) {
	case REQ_OP_READ:
		io->req.op = XP_READ;
		break;
	case REQ_OP_WRITE:
		io->req.op = XP_WRITE;
		break;
	case REQ_OP_DISCARD:
		io->req.op = XP_DISCARD;
		break;
	case REQ_OP_WRITE_ZEROES:
		io->req.op = XP_ZEROES;
		break;
	default:
		return false;
	}
	if (op_is_write(bio_op(bio))) {
		io->req.fua = bio->bi_opf & REQ_FUA;
		/* File systems, md and dm of Linux 6.12 send such writes with a PREFLUSH. */
		io->req.ordered = bio->bi_opf & (REQ_FUA | REQ_META | REQ_PRIO);
	}
	return true;
}

/*
 * A bio without data needs no memory of its sender, who may send any number: the
 * sender waits while many are queued. It does not wait while bios of its own wait
 * for this one to be sent, since the queue may need them to end; nor longer than
 * a second, whatever the slow device does.
 */
static void wait_while_crowded(struct xs_cache *cache)
{
	unsigned int turns = 50;

	if (!in_task() || !current->bio_list || !bio_list_empty(&current->bio_list[0]) ||
	    !bio_list_empty(&current->bio_list[1]))
		return;
	while (xp_crowded(cache->core) && turns-- && !READ_ONCE(cache->suspending))
		msleep(20);
}

/* Of a discard, or zeroes, nothing tells from a rest. */
static void begin_command(struct xs_cache *cache, struct xs_io *io, u64 sector)
{
	if (unlikely(xp_crowded(cache->core)) && io->req.op != XP_WRITE)
		wait_while_crowded(cache);
	xs_whole_join(cache, io, io->bio, sector);
}

noinline int xs_map_any(struct xs_cache *cache, struct xs_io *io, u64 sector)
{
	struct xp_todo todo;
	bool remapped;

	io->iter.bi_sector = sector;
	if (!io_set_op(io))
		return DM_MAPIO_KILL;
	if (!bio_has_data(io->bio))
		begin_command(cache, io, sector);
	if ((io->req.op == XP_WRITE || io->req.op == XP_ZEROES) && xs_throttle(cache, io))
		return DM_MAPIO_SUBMITTED;
	xp_todo_init(&todo);
	remapped = xs_io_follow(cache, io, xs_io_ask(cache, io, &todo), &todo, true);
	if (!xp_todo_empty(&todo))
		xs_perform(cache, &todo);
	return remapped ? submit_remapped(cache, io) : DM_MAPIO_SUBMITTED;
}

/* ------------------------------------------------------------- commit ---- */

struct own_flush {
	struct xs_io io;
	struct bio bio;
	struct xs_cache *cache;
	struct completion done;
};

static void own_flush_endio(struct bio *bio)
{
	struct own_flush *own = container_of(bio, struct own_flush, bio);

	if (own->io.below &&
	    !xs_io_below_ended(own->cache, &own->io, blk_status_to_errno(bio->bi_status)))
		return;
	complete(&own->done);
}

int xs_commit(struct xs_cache *cache)
{
	struct own_flush own;
	struct xp_todo todo;

	bio_init(&own.bio, xs_slow(cache), NULL, 0,
		 REQ_OP_WRITE | REQ_PREFLUSH | REQ_SYNC);
	own.bio.bi_end_io = own_flush_endio;
	own.cache = cache;
	own.done = COMPLETION_INITIALIZER_ONSTACK(own.done);
	io_init(&own.io, &own.bio);
	own.io.own = true;
	own.io.begun = 0;
	own.io.whole = NULL;
	own.io.req.op = XP_FLUSH;
	own.io.req.aside = true;
	xp_todo_init(&todo);
	xs_io_submit(cache, &own.io, &todo);
	xs_perform(cache, &todo);
	wait_for_completion_io(&own.done);
	return own.io.req.err;
}
