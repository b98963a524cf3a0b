// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.c - a caller's bio: its parts, its remapping, its end.
 *
 * A bio belongs to exactly one of: a queue of the backend, the core (after
 * XP_WAIT), a device below, or the function that holds it. After XP_WAIT it
 * may end on another processor at once, so nothing touches it then.
 *
 * A remapped bio comes back through xs_end_io() with .below set; when it ends
 * for good it passes there once more, with .below clear (as bio_endio() of a
 * bio that dm gave us always does), and is let through.
 */
#include <linux/delay.h>

#include "backend.h"

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
		    xs_slow(cache), what, sector, err);
}

static void io_error(struct xs_cache *cache, const struct xs_io *io, int err)
{
	/* A caller may try what a device need not be able to do, and fall back. */
	if (err == -EOPNOTSUPP &&
	    (io->req.op == XP_DISCARD || io->req.op == XP_ZEROES))
		return;
	if (io->act == XP_FAST)
		xs_fast_error(cache, xp_op_name[io->req.op], io->req.target, err);
	else
		xs_slow_error(cache, xp_op_name[io->req.op], io->req.sector, err);
}

/* -------------------------------------------------------- slow reads ---- */

void xs_slow_read_begin(struct xs_cache *cache)
{
	atomic_inc(&cache->slow_reads);
}

void xs_slow_read_end(struct xs_cache *cache)
{
	if (atomic_dec_and_test(&cache->slow_reads) &&
	    wq_has_sleeper(&cache->slow_read_wait))
		wake_up(&cache->slow_read_wait);
}

static bool io_is_slow_read(const struct xs_io *io)
{
	return io->req.op == XP_READ && io->act != XP_FAST;
}

/* --------------------------------------------------------------- end ---- */

/* Moves on to the next part; false if there is none, or no point in it. */
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

/* A device has ended the bio. True: the bio has nothing left to do. */
static noinline bool io_below_ended(struct xs_cache *cache, struct xs_io *io, int err)
{
	enum xp_class leg = xp_leg_class(io->req.op, io->act == XP_FAST);
	u64 took = err || leg == XP_CLASSES ? 0 : xs_since(io->sent);
	struct xp_todo todo;
	bool over = false;

	/* The core may let others end this bio, and so the last one: the cache stays
	 * until xs_drain() has seen that nobody is in here. */
	rcu_read_lock();
	io->below = false;
	if (unlikely(err))
		io_error(cache, io, err);
	if (io_is_slow_read(io))
		xs_slow_read_end(cache);
	xp_todo_init(&todo);
	if (xp_end(cache->core, &io->req, err, &todo) == XP_DONE) {
		over = !io_next_part(io);
		if (unlikely(!over))
			xs_queue_io(cache, &cache->todo.ready, io);
	}
	if (over && !io->req.err)
		xs_timed_both(cache, io->req.class, xs_since(io->begun), leg, took);
	else
		xs_timed(cache, leg, took);
	if (unlikely(!xp_todo_empty(&todo)))
		xs_post(cache, &todo);
	rcu_read_unlock();
	return over;
}

static noinline void free_hit_slots(struct xs_cache *cache, struct xs_io *io)
{
	struct xp_todo todo;

	xp_todo_init(&todo);
	xp_hit_free(cache->core, &io->req, &todo);
	xs_post(cache, &todo);
}

static void hit_timed(struct xs_cache *cache, const struct xs_io *io)
{
	u64 now = xs_ticks();

	xs_record_both(cache, XP_CLASS_READ_HIT, xs_between(io->begun, now),
		       XP_CLASS_FAST_READ, xs_between(io->sent, now));
}

/* The rest of what io_init() says: from here on it is a read as any other. True: it has
 * nothing left to do. */
static noinline bool hit_failed(struct xs_cache *cache, struct xs_io *io, struct bio *bio, int err)
{
	struct xp_todo todo;
	bool over;

	io->req.fua = io->req.ordered = io->req.fast_failed = false;
	io->req.tries = 0;
	io->req.class = 0;
	io->hit = io->below = io->own = false;
	io->bio = bio;
	io->iter.bi_sector = io->req.sector;
	io->iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	io->act = XP_FAST;
	bio->bi_opf &= ~(REQ_NOWAIT | REQ_POLLED);	/* nobody comes again */
	xs_fast_error(cache, "read", io->req.target, err);
	xp_todo_init(&todo);
	rcu_read_lock();	/* as in io_below_ended() */
	over = xp_end(cache->core, &io->req, err, &todo) == XP_DONE;
	xs_post(cache, &todo);
	rcu_read_unlock();
	return over;
}

static bool hit_ended(struct xs_cache *cache, struct xs_io *io, struct bio *bio, blk_status_t status)
{
	if (unlikely(status && status != BLK_STS_AGAIN))
		return hit_failed(cache, io, bio, blk_status_to_errno(status));
	/* AGAIN: no room in the device's queue; who would not wait for it comes again. */
	if (io->begun && likely(!status))
		hit_timed(cache, io);
	if (unlikely(xp_hit_end(cache->core, &io->req)))
		free_hit_slots(cache, io);
	return true;
}

int xs_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct xs_io *io = dm_per_bio_data(bio, sizeof(*io));

	if (io->hit) {
		if (!hit_ended(ti->private, io, bio, *error))
			return DM_ENDIO_INCOMPLETE;
	} else if (io->below) {
		if (!io_below_ended(ti->private, io, *error ? blk_status_to_errno(*error) : 0))
			return DM_ENDIO_INCOMPLETE;
		*error = io->req.err ? errno_to_blk_status(io->req.err) : BLK_STS_OK;
	} else if (!*error) {
		xs_timed(ti->private, io->req.class, xs_since(io->begun));
	}
	return DM_ENDIO_DONE;
}

/* ------------------------------------------------------------- begin ---- */

/* Points the bio at a device, for the present part. */
static __always_inline void io_remap(struct xs_cache *cache, struct xs_io *io, bool mapping)
{
	struct bio *bio = io->bio;

	bio->bi_iter = io->iter;
	bio->bi_iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	if (!mapping) {
		/* As new: a part of it may have been with a device, merged or split there. */
		bio->bi_next = NULL;
		bio->bi_status = BLK_STS_OK;
		bio->bi_flags = io->bi_flags;
		atomic_set(&bio->__bi_remaining, 1);
	}
	if (io->act == XP_FAST && io->req.op == XP_WRITE)
		bio->bi_opf |= xs_fast_opf(cache);
	/* A device without a volatile cache has had them stripped by the block layer. */
	if (io->req.fua)
		bio->bi_opf |= REQ_FUA;
	if (io->req.op == XP_FLUSH)
		bio->bi_opf |= REQ_PREFLUSH;

	if (io_is_slow_read(io))
		xs_slow_read_begin(cache);
	if (io->act == XP_FAST) {
		bio_set_dev(bio, xs_fast(cache));
		bio->bi_iter.bi_sector = io->req.target;
		if (io->req.op == XP_WRITE)
			atomic64_add(bio->bi_iter.bi_size,
				     &cache->counts.fast_bytes_written);
	} else {
		bio_set_dev(bio, xs_slow(cache));
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

/* Memory has done the present part of @op, which has taken so long. */
static void io_memory_ended(struct xs_cache *cache, struct xs_io *io, int err, struct xp_todo *todo)
{
	if (unlikely(err))
		io_error(cache, io, err);
	else
		xs_timed(cache, xp_leg_class(io->req.op, true), xs_since(io->sent));
	if (xp_end(cache->core, &io->req, err, todo) == XP_DONE)
		xp_list_add(&todo->done, &io->req.link);
}

/* XP_FAST of memory. False: the driver refuses. */
static bool io_by_memory(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
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

/* Does what the core has answered. @mapping: in xs_map(), where dm can split. True:
 * the bio is remapped, and the caller submits it. */
static noinline bool io_follow(struct xs_cache *cache, struct xs_io *io, enum xp_act act,
			       struct xp_todo *todo, bool mapping)
{
	if (act == XP_WAIT)
		return false;
	io->act = act;
	if (mapping && io->req.nr_sectors < io->iter.bi_size >> SECTOR_SHIFT) {
		dm_accept_partial_bio(io->bio, io->req.nr_sectors);
		io->iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	}

	switch (act) {
	case XP_SLOW_FILL:
		if (xs_fill_read(cache, io, todo))
			return false;
		xp_not_filled(&io->req);
		io->act = XP_SLOW;
		fallthrough;
	case XP_SLOW:
		if (io_is_slow_read(io))	/* it may be of what is about to be filled */
			xs_fills_hurry(cache);
		io_remap(cache, io, mapping);
		return true;
	case XP_FAST:
		if (cache->dax && io_by_memory(cache, io, todo))
			return false;
		io_remap(cache, io, mapping);
		return true;
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
 * Nothing of it can be sent to a device that takes whole blocks: it begins or ends within one, or its pages do. A driver
 * may have to split a bio where one page does not go on where the last has ended, and then no whole block may be left.
 * Looked at is what one answer of the core can be about.
 */
static noinline bool is_private(struct bio *bio, struct bvec_iter part)
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

/* A hit of it is sent to the fast device as it is, with nothing compared. */
static noinline bool is_plain_read(const struct xs_cache *cache, struct bio *bio, u64 sector)
{
	struct bvec_iter part = bio->bi_iter;

	part.bi_sector = sector;
	return !cache->options.verify && !is_private(bio, part);
}

/* Asks the core for the present part and what follows. */
static enum xp_act io_ask(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	io->req.sector = io->iter.bi_sector;
	io->req.nr_sectors = io->iter.bi_size >> SECTOR_SHIFT;
	io->req.private = unlikely(cache->fast_whole) && is_private(io->bio, io->iter);
	return xp_submit(cache->core, &io->req, todo);
}

void xs_io_submit(struct xs_cache *cache, struct xs_io *io, struct xp_todo *todo)
{
	if (!io_follow(cache, io, io_ask(cache, io, todo), todo, false))
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
		/* What comes with a preflush in 6.12's file systems, md and dm. */
		io->req.ordered = bio->bi_opf & (REQ_FUA | REQ_META | REQ_PRIO);
	}
	return true;
}

/* Of a bio that may not wait, all or nothing is sent: its sender can come again only if
 * it hears so at once, and not when the part that was sent has ended, in an interrupt. */
static noinline bool give_hit_back(struct xs_cache *cache, struct xs_io *io)
{
	if (xp_hit_end(cache->core, &io->req))
		free_hit_slots(cache, io);
	return false;
}

/* Loads it or remaps it. The bio of a load has ended, but dm's goes on until xs_map() returns. */
static __always_inline int hit_follow(struct xs_cache *cache, struct xs_io *io, struct bio *bio)
{
	if (cache->dax) {
		int err = xs_memory_read(cache, bio, bio->bi_iter, io->req.target);

		if (likely(err != -ENXIO)) {
			bio->bi_status = unlikely(err) ? BLK_STS_IOERR : BLK_STS_OK;
			bio_endio(bio);
			return DM_MAPIO_SUBMITTED;
		}
	}
	bio_set_dev(bio, xs_fast(cache));
	bio->bi_iter.bi_sector = io->req.target;
	if (unlikely(bio->bi_opf & REQ_NOWAIT) && !bdev_nowait(xs_fast(cache)))
		bio->bi_opf &= ~REQ_NOWAIT;
	return DM_MAPIO_REMAPPED;
}

/* As io_follow() does it, with nothing that a hit has no use for: dm has just
 * made the bio, and splits off what is not of this hit, so it is all of it. */
static bool map_hit(struct xs_cache *cache, struct xs_io *io, struct bio *bio, u64 sector)
{
	u32 asked = bio_sectors(bio), hit;

	io->req.op = XP_READ;
	io->req.sector = sector;
	io->req.nr_sectors = asked;
	hit = xp_hit(cache->core, &io->req);
	if (unlikely(hit & XP_HIT_OWES))
		free_hit_slots(cache, io);
	if (!(hit & XP_HIT))
		return false;
	if (unlikely(io->req.nr_sectors < asked)) {
		if (bio->bi_opf & REQ_NOWAIT)
			return give_hit_back(cache, io);
		dm_accept_partial_bio(bio, io->req.nr_sectors);
	}
	io->hit = true;
	io->iter = bio->bi_iter;	/* in case that the device fails it */
	io->bi_flags = bio->bi_flags;
	if (io->begun)
		io->sent = xs_ticks();
	return true;
}

static __always_inline void io_init(struct xs_io *io, struct bio *bio)
{
	io->req.fua = io->req.ordered = io->req.fast_failed = false;
	io->req.tries = 0;
	io->req.class = 0;
	io->hit = io->below = io->own = false;
	io->bio = bio;
	io->iter = bio->bi_iter;
	io->bi_flags = bio->bi_flags;
}

/* By the device mapper, as soon as we are back there. */
static int submit_remapped(struct xs_cache *cache, struct xs_io *io)
{
	io->sent = xs_time(cache);
	return DM_MAPIO_REMAPPED;
}

/*
 * What carries no data costs its sender nothing, so one may send any number: with many in the queue
 * he waits. Not while bios of his own wait for this one to be sent: they may be what the queue waits
 * for. And not for ever, whatever becomes of the slow device.
 */
static void wait_with_the_crowd(struct xs_cache *cache)
{
	unsigned int turns = 50;

	if (!in_task() || !current->bio_list || !bio_list_empty(&current->bio_list[0]) ||
	    !bio_list_empty(&current->bio_list[1]))
		return;
	while (xp_crowded(cache->core) && turns-- && !READ_ONCE(cache->suspending))
		msleep(20);
}

static noinline int map_any(struct xs_cache *cache, struct xs_io *io, u64 sector)
{
	struct xp_todo todo;
	bool remapped;

	io->iter.bi_sector = sector;
	if (!io_set_op(io))
		return DM_MAPIO_KILL;
	if (unlikely(xp_crowded(cache->core)) && (io->req.op == XP_DISCARD || io->req.op == XP_ZEROES))
		wait_with_the_crowd(cache);
	if ((io->req.op == XP_WRITE || io->req.op == XP_ZEROES) && xs_throttle(cache, io))
		return DM_MAPIO_SUBMITTED;
	xp_todo_init(&todo);
	remapped = io_follow(cache, io, io_ask(cache, io, &todo), &todo, true);
	if (!xp_todo_empty(&todo))
		xs_perform(cache, &todo);
	return remapped ? submit_remapped(cache, io) : DM_MAPIO_SUBMITTED;
}

/* A FLUSH that finds nothing to do, or to be stored at once, is over. */
static int map_flush(struct xs_cache *cache, struct xs_io *io, struct bio *bio)
{
	struct xp_todo todo;
	bool remapped = false;
	enum xp_act act;

	io->req.op = XP_FLUSH;
	xp_todo_init(&todo);
	act = io_ask(cache, io, &todo);
	if (likely(act == XP_DONE && !io->req.err))
		bio_endio(bio);
	else
		remapped = io_follow(cache, io, act, &todo, true);
	if (unlikely(!xp_todo_empty(&todo)))
		xs_perform(cache, &todo);
	return remapped ? submit_remapped(cache, io) : DM_MAPIO_SUBMITTED;
}

/* As io_by_memory(), of all of a write: the bio ends here, and with it all its times. */
static __always_inline bool write_memory(struct xs_cache *cache, struct xs_io *io, struct bio *bio,
					 struct xp_todo *todo)
{
	io->act = XP_FAST;
	io->sent = xs_time(cache);
	if (unlikely(xs_memory_write(cache, bio, io->iter, io->req.target)))
		return false;
	atomic64_add(io->iter.bi_size, &cache->counts.fast_bytes_written);
	if (unlikely(xp_end(cache->core, &io->req, 0, todo) != XP_DONE))
		return true;
	if (io->begun && io->sent && !io->req.err) {
		u64 now = xs_ticks();

		xs_record_both(cache, io->req.class, xs_between(io->begun, now),
			       XP_CLASS_FAST_WRITE, xs_between(io->sent, now));
		io->begun = 0;
	}
	bio->bi_status = unlikely(io->req.err) ? errno_to_blk_status(io->req.err) : BLK_STS_OK;
	bio_endio(bio);
	return true;
}

/* As map_any(), of a write that nothing is asked of but to be written; or, by memory, that is
 * durable when it has ended. */
static int map_write(struct xs_cache *cache, struct xs_io *io, struct bio *bio, u64 sector)
{
	u32 asked = bio_sectors(bio);
	struct xp_todo todo;
	enum xp_act act;
	bool remapped = true;

	io->iter.bi_sector = sector;
	io->req.op = XP_WRITE;
	io->req.fua = io->req.ordered = bio->bi_opf & REQ_FUA;
	xp_todo_init(&todo);
	act = io_ask(cache, io, &todo);
	if (unlikely(act != XP_FAST || io->req.nr_sectors != asked)) {
		remapped = io_follow(cache, io, act, &todo, true);
	} else if (cache->dax && write_memory(cache, io, bio, &todo)) {
		remapped = false;
	} else {
		bio->bi_opf |= xs_fast_opf(cache);
		bio_set_dev(bio, xs_fast(cache));
		bio->bi_iter.bi_sector = io->req.target;
		atomic64_add(bio->bi_iter.bi_size, &cache->counts.fast_bytes_written);
		io->act = XP_FAST;
		io->below = true;
	}
	if (unlikely(!xp_todo_empty(&todo)))
		xs_perform(cache, &todo);
	return remapped ? submit_remapped(cache, io) : DM_MAPIO_SUBMITTED;
}

/*
 * Of io_uring's requests. A hit is sent at once. Any other read waits for the slow device's
 * queue, and for memory: the caller comes again from a thread that may. To send a write from
 * here is better for it than that thread, though a journal block that goes with it may have to
 * wait for its place in the fast device's queue. False: the bio has ended.
 */
static bool begin_nowait(struct bio *bio)
{
	if (bio_op(bio) == REQ_OP_READ) {
		bio_wouldblock_error(bio);
		return false;
	}
	bio->bi_opf &= ~REQ_NOWAIT;
	return true;
}

static __always_inline bool is_plain_write(const struct xs_cache *cache, const struct bio *bio)
{
	blk_opf_t opf = bio->bi_opf & (REQ_OP_MASK | REQ_PREFLUSH | REQ_FUA | REQ_META | REQ_PRIO);

	return opf == REQ_OP_WRITE || (opf == (REQ_OP_WRITE | REQ_FUA) && cache->dax);
}

/* dm sends a flush apart from the data it came with. */
static __always_inline bool is_flush(const struct bio *bio)
{
	return (bio->bi_opf & (REQ_OP_MASK | REQ_PREFLUSH)) == (REQ_OP_WRITE | REQ_PREFLUSH);
}

int xs_map(struct dm_target *ti, struct bio *bio)
{
	struct xs_io *io = dm_per_bio_data(bio, sizeof(*io));
	u64 sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	struct xs_cache *cache = ti->private;

	io->begun = xs_time(cache);
	xs_clock_request(cache);
	if (bio_op(bio) == REQ_OP_READ && (likely(!cache->hit_asks) || is_plain_read(cache, bio, sector)) &&
	    map_hit(cache, io, bio, sector))
		return hit_follow(cache, io, bio);
	io_init(io, bio);
	if (unlikely(bio->bi_opf & REQ_NOWAIT) && !begin_nowait(bio))
		return DM_MAPIO_SUBMITTED;
	if (is_plain_write(cache, bio) && !xs_throttles(cache))
		return map_write(cache, io, bio, sector);
	if (is_flush(bio))
		return map_flush(cache, io, bio);
	return map_any(cache, io, sector);
}

/* --------------------------------------------------- the backend's own ---- */

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
	    !io_below_ended(own->cache, &own->io, blk_status_to_errno(bio->bi_status)))
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
	own.io.req.op = XP_FLUSH;
	xp_todo_init(&todo);
	xs_io_submit(cache, &own.io, &todo);
	xs_perform(cache, &todo);
	wait_for_completion_io(&own.done);
	return own.io.req.err;
}
