// SPDX-License-Identifier: GPL-2.0-only
/*
 * fastpath.c - the fast ways of a bio: a read that hits, a plain write, a FLUSH;
 * and xs_map() and xs_end_io(), which choose the way. io.h says which bio takes
 * which way, and when a way hands its bio on to the general one (io.c).
 *
 * A hit makes no call but those to the core, to the clock of the histograms and
 * to memory.c: what it needs of the rest is inline.
 */
#include "io.h"
#include "kernel.h"

/* --------------------------------------------------------------- end ---- */

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

	xs_count_hit(cache, io->req.nr_blocks, xs_between(io->begun, now), xs_between(io->sent, now));
}

/*
 * map_hit() has set only a part of struct xs_io. The rest follows here, and the bio
 * goes on as any other read. True: it has nothing left to do.
 */
static noinline bool hit_failed(struct xs_cache *cache, struct xs_io *io, struct bio *bio, int err)
{
	struct xp_todo todo;
	bool over;

	io_init_state(io, bio);
	io->iter.bi_sector = io->req.sector;
	io->iter.bi_size = io->req.nr_sectors << SECTOR_SHIFT;
	io->act = XP_FAST;
	bio->bi_opf &= ~(REQ_NOWAIT | REQ_POLLED);	/* the submitter will not retry */
	xs_fast_error(cache, "read", io->req.target, err);
	xp_todo_init(&todo);
	rcu_read_lock();	/* as in xs_io_below_ended() */
	over = xp_end(cache->core, &io->req, err, &todo) == XP_DONE;
	if (over)
		xs_io_count(cache, io, XP_CLASS_FAST_READ, 0);
	xs_post(cache, &todo);
	rcu_read_unlock();
	return over;
}

/*
 * A REQ_NOWAIT bio is sent as a whole or not at all. Its submitter retries only if it
 * is refused in xs_map(); a part that was sent ends later, in an interrupt.
 */
static noinline bool give_hit_back(struct xs_cache *cache, struct xs_io *io)
{
	if (xp_hit_end(cache->core, &io->req))
		free_hit_slots(cache, io);
	return false;
}

/* AGAIN: the device's queue is full. The submitter of a REQ_NOWAIT bio retries. */
static noinline bool hit_not_read(struct xs_cache *cache, struct xs_io *io, struct bio *bio,
				  blk_status_t status)
{
	if (status == BLK_STS_AGAIN)
		return !give_hit_back(cache, io);
	return hit_failed(cache, io, bio, blk_status_to_errno(status));
}

/* A part of a request; or latencies are not recorded. */
static noinline void hit_counted(struct xs_cache *cache, const struct xs_io *io)
{
	xs_count_hit_blocks(cache, io->req.nr_blocks);
	if (io->whole)
		xs_timed(cache, XP_CLASS_FAST_READ, xs_since(io->sent));
	xs_io_ended(cache, io, XP_CLASS_READ_HIT, false);
}

static bool hit_ended(struct xs_cache *cache, struct xs_io *io, struct bio *bio,
		      blk_status_t status)
{
	if (unlikely(status))
		return hit_not_read(cache, io, bio, status);
	if (likely(io->begun))
		hit_timed(cache, io);
	else
		hit_counted(cache, io);
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
		if (!xs_io_below_ended(ti->private, io, *error ? blk_status_to_errno(*error) : 0))
			return DM_ENDIO_INCOMPLETE;
		*error = io->req.err ? errno_to_blk_status(io->req.err) : BLK_STS_OK;
	} else if (!io->counted && *error != BLK_STS_AGAIN) {
		xs_io_ended(ti->private, io, io->req.class, *error);
	}
	return DM_ENDIO_DONE;
}

/* --------------------------------------------------------------- hit ---- */

/*
 * A hit is sent to the fast device as it is: no sum is compared, and the device takes
 * its pages.
 */
static noinline bool is_plain_read(const struct xs_cache *cache, struct bio *bio, u64 sector)
{
	struct bvec_iter part = bio->bi_iter;

	part.bi_sector = sector;
	return !cache->options.verify && !xs_io_is_private(bio, part);
}

/*
 * Loads the hit, or remaps the bio. A load ends the bio here: dm keeps its own
 * reference until xs_map() has returned.
 */
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

/*
 * The bio is a new clone of dm's, and dm splits off what is not of this hit: .iter is
 * all of the hit, and none of the state of later parts is needed.
 */
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
		xs_whole_split(cache, io, bio, sector, asked);
	}
	io->hit = true;
	io->iter = bio->bi_iter;	/* for hit_failed() */
	io->bi_flags = bio->bi_flags;
	if (likely(io->begun))
		io->sent = xs_ticks();
	else if (io->whole)
		io->sent = xs_time(cache);
	return true;
}

/* ------------------------------------------------------ FLUSH, write ---- */

/* The core answers XP_DONE if nothing has to be written, or memory has it already. */
static int map_flush(struct xs_cache *cache, struct xs_io *io, struct bio *bio)
{
	struct xp_todo todo;
	bool remapped = false;
	enum xp_act act;

	io->req.op = XP_FLUSH;
	xp_todo_init(&todo);
	act = xs_io_ask(cache, io, &todo);
	if (likely(act == XP_DONE && !io->req.err))
		bio_endio(bio);
	else
		remapped = xs_io_follow(cache, io, act, &todo, true);
	if (unlikely(!xp_todo_empty(&todo)))
		xs_perform(cache, &todo);
	return remapped ? submit_remapped(cache, io) : DM_MAPIO_SUBMITTED;
}

/*
 * Stores all of a write, and ends the bio unless the core keeps it. Both of its times
 * end here, and are recorded together. False: the driver of the memory refuses.
 */
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

		xs_count_both(cache, io->req.class, xs_between(io->begun, now),
			      XP_CLASS_FAST_WRITE, xs_between(io->sent, now));
		io->counted = true;
	} else if (io->whole) {
		xs_timed(cache, XP_CLASS_FAST_WRITE, xs_since(io->sent));
	}
	bio->bi_status = unlikely(io->req.err) ? errno_to_blk_status(io->req.err) : BLK_STS_OK;
	bio_endio(bio);
	return true;
}

/*
 * A write without an order and, except to memory, without a promise: what has been
 * stored in memory is durable anyway.
 */
static int map_write(struct xs_cache *cache, struct xs_io *io, struct bio *bio, u64 sector)
{
	u32 asked = bio_sectors(bio);
	struct xp_todo todo;
	enum xp_act act;
	bool remapped = true;

	io->iter.bi_sector = sector;
	io->req.op = XP_WRITE;
	io->req.fua = bio->bi_opf & REQ_FUA;
	io->req.ordered = io->req.fua;
	xp_todo_init(&todo);
	act = xs_io_ask(cache, io, &todo);
	if (unlikely(act != XP_FAST || io->req.nr_sectors != asked)) {
		remapped = xs_io_follow(cache, io, act, &todo, true);
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
 * REQ_NOWAIT comes from io_uring, and no hit has been found. Such a read may wait
 * for the slow device's queue or for memory: it is refused, and io_uring retries
 * from a thread that may sleep. A write is sent from here, without the flag. Its
 * journal block may wait for a place in the fast device's queue; the thread would
 * cost more. False: the bio has ended.
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

/* ---------------------------------------------------------- the ways ---- */

static __always_inline bool is_plain_write(const struct xs_cache *cache, const struct bio *bio)
{
	blk_opf_t opf = bio->bi_opf & (REQ_OP_MASK | REQ_PREFLUSH | REQ_FUA | REQ_META | REQ_PRIO);

	return opf == REQ_OP_WRITE || (opf == (REQ_OP_WRITE | REQ_FUA) && cache->dax);
}

/* dm sends a FLUSH without the data that came with it. */
static __always_inline bool is_flush(const struct bio *bio)
{
	return (bio->bi_opf & (REQ_OP_MASK | REQ_PREFLUSH)) == (REQ_OP_WRITE | REQ_PREFLUSH);
}

/*
 * Of a bio that its caller has sent, the first byte is the first of its pages. Of the rest of one
 * it is not.
 */
static __always_inline bool may_be_rest(const struct bio *bio)
{
	return bio->bi_iter.bi_idx | xs_bvec_done(&bio->bi_iter);
}

static __always_inline void count_begin(struct xs_cache *cache, struct xs_io *io, struct bio *bio,
					u64 sector)
{
	io->begun = xs_time(cache);
	io->whole = NULL;
	if (unlikely(may_be_rest(bio)))
		xs_whole_join(cache, io, bio, sector);
}

int xs_map(struct dm_target *ti, struct bio *bio)
{
	struct xs_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct xs_cache *cache = ti->private;
	u64 sector = dm_target_offset(ti, bio->bi_iter.bi_sector) + cache->pad;

	count_begin(cache, io, bio, sector);
	xs_clock_request(cache);
	if (bio_op(bio) == REQ_OP_READ &&
	    (likely(!cache->hit_asks) || is_plain_read(cache, bio, sector)) &&
	    map_hit(cache, io, bio, sector))
		return hit_follow(cache, io, bio);
	io_init(io, bio);
	if (unlikely(bio->bi_opf & REQ_NOWAIT) && !begin_nowait(bio))
		return DM_MAPIO_SUBMITTED;
	if (is_plain_write(cache, bio) && !xs_throttles(cache))
		return map_write(cache, io, bio, sector);
	if (is_flush(bio))
		return map_flush(cache, io, bio);
	return xs_map_any(cache, io, sector);
}
