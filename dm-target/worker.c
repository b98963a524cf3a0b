// SPDX-License-Identifier: GPL-2.0-only
/*
 * worker.c - writes dirty blocks back, a batch of the core's at a time. (The worker that
 * xs_wake_worker() wakes is another one: todo.c.)
 *
 * One work leads: it begins a batch, works on it as the first of several
 * workers, waits for the others, flushes the slow device and commits. Each
 * worker takes runs until there are none, reads a run's slots into its own
 * pages and writes them to the slow device in one piece, or in smaller ones
 * when memory for all of it cannot be had: a single page, which each worker
 * always has, is enough. The leader needs no other worker to get anywhere, so
 * it works on the workqueue's rescuer alone.
 */
#include <linux/delay.h>
#include <linux/highmem.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "timing.h"
#include "statistics.h"
#include "verify.h"

#define BACK_OFF	HZ			/* a step of a pause after errors */
#define ERRORS_MAX	8u			/* of a batch: then the device, not a sector, is bad */

#define ALONE_MIN	(HZ / 2)	/* the leader is, before it calls the others again */
#define FINISH_MAX	(5 * HZ)	/* so long a suspend may take for a flush that is under way */

#define PAGE_GFP	(GFP_NOIO | __GFP_NORETRY | __GFP_NOWARN | __GFP_NOMEMALLOC)

/* Until one has been measured: a guess at the time to write a block back. */
#define BLOCK_NS_ROTATIONAL	(2 * NSEC_PER_MSEC)
#define BLOCK_NS_FLASH		(50 * NSEC_PER_USEC)

#define WORKERS_ROTATIONAL	4u
#define WORKERS_FLASH		16u

/* ------------------------------------------------------- waiting for I/O ---- */

/* Several bios and their first error. */
struct wait_io {
	struct xs_cache *cache;
	u64 sent;		/* xs_time() of the first, about */
	atomic_t left;
	int err;
	struct completion done;
};

static void wait_io_init(struct wait_io *w, struct xs_cache *cache)
{
	w->cache = cache;
	w->sent = xs_time(cache);
	atomic_set(&w->left, 1);
	w->err = 0;
	w->done = COMPLETION_INITIALIZER_ONSTACK(w->done);
}

static void wait_io_put(struct wait_io *w)
{
	if (atomic_dec_and_test(&w->left))
		complete(&w->done);
}

static void wait_io_end(struct bio *bio)
{
	struct wait_io *w = bio->bi_private;

	if (!bio->bi_status && bio_op(bio) == REQ_OP_READ)
		xs_timed(w->cache, XP_CLASS_FAST_READ, xs_since(w->sent));
	else if (!bio->bi_status && bio_op(bio) == REQ_OP_WRITE)
		xs_timed(w->cache, XP_CLASS_SLOW_WRITE, xs_since(w->sent));
	if (bio->bi_status)
		cmpxchg(&w->err, 0, blk_status_to_errno(bio->bi_status));
	bio_put(bio);
	wait_io_put(w);
}

static void wait_io_submit(struct wait_io *w, struct bio *bio)
{
	atomic_inc(&w->left);
	bio->bi_private = w;
	bio->bi_end_io = wait_io_end;
	submit_bio(bio);
}

static int wait_io_finish(struct wait_io *w)
{
	wait_io_put(w);
	wait_for_completion_io(&w->done);
	return w->err;
}

/* --------------------------------------------------------------- a run ---- */

static struct bio *run_bio(struct xs_cache *cache, struct block_device *bdev,
			   u64 sector, u32 nr_pages, blk_opf_t opf)
{
	struct bio *bio = bio_alloc_bioset(bdev, nr_pages, opf, GFP_NOIO,
					   &cache->writeback.bios);

	bio->bi_iter.bi_sector = sector;
	return bio;
}

/* How many of the run's slots are adjacent, from @i on. */
static u32 side_by_side(const struct xp_run *run, u32 i, u32 end)
{
	u32 n = 1;

	while (i + n < end &&
	       xp_slot_n(run->slot[i + n]) == xp_slot_n(run->slot[i]) + n)
		n++;
	return n;
}

/* Of a slot: where what is read begins, and its bytes. What it lacks may be unreadable. */
static u32 read_skip(const struct xs_worker *h)
{
	return h->cache->fast_whole ? 0 : h->run.skip;
}

static u32 read_bytes(const struct xs_worker *h)
{
	return h->run.nr_sectors && !h->cache->fast_whole ? h->run.nr_sectors << SECTOR_SHIFT : XP_BLOCK_SIZE;
}

static int load_slots(struct xs_worker *h, u32 first, u32 nr)
{
	struct xs_cache *cache = h->cache;
	u64 begun = xs_time(cache);
	int err = 0;
	u32 i;

	for (i = 0; i < nr && !err; i++) {
		void *to = kmap_local_page(h->page[i]);

		err = xs_memory_load(cache, xp_slot_sector(cache->core, h->run.slot[first + i]) + read_skip(h),
				     to + (read_skip(h) << SECTOR_SHIFT), read_bytes(h));
		kunmap_local(to);
	}
	if (!err)
		xs_timed(cache, XP_CLASS_FAST_READ, xs_since(begun));
	return err;
}

static int send_reads(struct xs_worker *h, u32 first, u32 nr)
{
	struct xs_cache *cache = h->cache;
	const struct xp_run *run = &h->run;
	struct blk_plug plug;
	struct wait_io wait;
	u32 i, n, k;

	wait_io_init(&wait, cache);
	blk_start_plug(&plug);
	for (i = 0; i < nr; i += n) {
		xp_slot_t slot = run->slot[first + i];
		struct bio *bio;

		n = side_by_side(run, first + i, first + nr);
		bio = run_bio(cache, xs_fast(cache), xp_slot_sector(cache->core, slot) + read_skip(h),
			      n, REQ_OP_READ);
		for (k = 0; k < n; k++)
			__bio_add_page(bio, h->page[i + k], read_bytes(h), read_skip(h) << SECTOR_SHIFT);
		wait_io_submit(&wait, bio);
	}
	blk_finish_plug(&plug);
	return wait_io_finish(&wait);
}

static int read_slots(struct xs_worker *h, u32 first, u32 nr)
{
	struct xs_cache *cache = h->cache;
	int err = cache->dax ? load_slots(h, first, nr) : -ENXIO;

	if (err == -ENXIO)
		err = send_reads(h, first, nr);
	if (err)
		xs_fast_error(cache, "read of dirty blocks",
			      xp_slot_sector(cache->core, h->run.slot[first]), err);
	return err;
}

/* Compares blocks with their sums. One that does not match is read once more. */
static int check_slots(struct xs_worker *h, u32 first, u32 nr)
{
	struct xs_cache *cache = h->cache;
	struct xp_rot rot;
	int err = 0;
	u32 i;

	for (i = 0; i < nr && !err; i++) {
		err = xp_writeback_checked(cache->core, &h->run, first + i,
					   xs_hash_page(h->page[i]), &rot);
		if (err != -EAGAIN)
			continue;
		swap(h->page[0], h->page[i]);
		err = read_slots(h, first + i, 1);
		swap(h->page[0], h->page[i]);
		if (!err)
			err = xp_writeback_checked(cache->core, &h->run, first + i,
						   xs_hash_page(h->page[i]), &rot);
	}
	if (err)
		xs_rot_tell(cache, &rot);
	return err;
}

static int write_to_slow(struct xs_worker *h, u32 first, u32 nr)
{
	struct xs_cache *cache = h->cache;
	u64 sector = (xp_lba_n(h->run.lba) + first) * XP_BLOCK_SECTORS + h->run.skip;
	u32 bytes = xs_slow_bytes(cache, sector, nr), i;
	struct wait_io wait;
	struct bio *bio;
	u64 begun;
	int err;

	wait_io_init(&wait, cache);
	bio = run_bio(cache, xs_slow(cache), sector - cache->pad, nr, REQ_OP_WRITE);
	if (h->run.nr_sectors)
		__bio_add_page(bio, h->page[0], h->run.nr_sectors << SECTOR_SHIFT, h->run.skip << SECTOR_SHIFT);
	for (i = 0; !h->run.nr_sectors && i < nr; i++, bytes -= min(bytes, XP_BLOCK_SIZE))
		__bio_add_page(bio, h->page[i], min(bytes, XP_BLOCK_SIZE), 0);
	begun = ktime_get_ns();
	wait_io_submit(&wait, bio);
	err = wait_io_finish(&wait);
	h->run.took += ktime_get_ns() - begun;
	if (err)
		xs_slow_error(cache, "write of dirty blocks", sector, err);
	return err;
}

static void zero_pages(struct xs_worker *h, u32 nr)
{
	while (nr)
		clear_highpage(h->page[--nr]);
}

/*
 * By WRITE ZEROES, if the device has it. Not by blkdev_issue_zeroout(): that takes bios
 * from a shared pool, which requests that wait for this writeback may have emptied
 * (I11).
 */
static bool offload_zeroes(struct xs_worker *h)
{
	struct xs_cache *cache = h->cache;
	u64 sector = xp_lba_n(h->run.lba) * XP_BLOCK_SECTORS;
	struct wait_io wait;
	struct bio *bio;

	if (!bdev_write_zeroes_sectors(xs_slow(cache)))
		return false;
	wait_io_init(&wait, cache);
	bio = run_bio(cache, xs_slow(cache), sector - cache->pad, 0,
		      REQ_OP_WRITE_ZEROES | REQ_NOUNMAP);
	bio->bi_iter.bi_size = xs_slow_bytes(cache, sector, h->run.nr_blocks);
	wait_io_submit(&wait, bio);
	return !wait_io_finish(&wait);
}

static void get_pages(struct xs_worker *h, u32 want)
{
	while (h->nr_pages < want) {
		struct page *page = alloc_page(PAGE_GFP);

		if (!page)
			return;
		h->page[h->nr_pages++] = page;
	}
}

static void put_pages(struct xs_worker *h, u32 keep)
{
	while (h->nr_pages > keep)
		__free_page(h->page[--h->nr_pages]);
}

/* Zeroes are in the pages already; @nr pages are what the worker has. */
static int copy_slots(struct xs_worker *h, u32 first, u32 nr)
{
	int err = h->run.zeroes ? 0 : read_slots(h, first, nr);

	if (!err && !h->run.zeroes && h->cache->options.verify)
		err = check_slots(h, first, nr);
	return err ? err : write_to_slow(h, first, nr);
}

static int write_back(struct xs_worker *h)
{
	u32 first, nr;
	int err = 0;

	if (h->run.zeroes && offload_zeroes(h))
		return 0;
	get_pages(h, h->run.nr_blocks);
	if (h->run.zeroes)
		zero_pages(h, h->nr_pages);
	for (first = 0; first < h->run.nr_blocks && !err; first += nr) {
		nr = min(h->nr_pages, h->run.nr_blocks - first);
		err = copy_slots(h, first, nr);
	}
	return err;
}

/* --------------------------------------------------------------- a batch ---- */

static bool is_leader(const struct xs_worker *h)
{
	return h == &h->cache->writeback.worker[0];
}

/* Of the leader alone, who waits for them before the batch ends. */
static void start_others(struct xs_writeback *w)
{
	u32 i;

	w->alone = false;
	w->joined = true;
	for (i = 1; i < w->nr_workers; i++)
		queue_work(w->wq, &w->worker[i].work);
}

/* As long as the core says: callers use the slow device, too. Others than the leader go home meanwhile. */
static void rest(struct xs_worker *h)
{
	struct xs_writeback *w = &h->cache->writeback;
	u64 begun = ktime_get_ns(), ns;
	u32 over = READ_ONCE(w->over);
	u32 kicks = (u32)atomic_read(&w->kicks);
	bool rested = false;

	while (!READ_ONCE(w->stopping) && atomic_read(&w->errors) < ERRORS_MAX &&
	       (ns = xp_writeback_turn(h->cache->core, ktime_get_ns()))) {
		rested = true;
		wait_event_idle_timeout(w->kicked, READ_ONCE(w->stopping) || READ_ONCE(w->over) != over ||
					(u32)atomic_read(&w->kicks) != kicks,
					msecs_to_jiffies((u32)div_u64(ns, NSEC_PER_MSEC) + 1));
		over = READ_ONCE(w->over);
		kicks = (u32)atomic_read(&w->kicks);
	}
	if (rested)
		w->rested_ns += ktime_get_ns() - begun;
	else if (is_leader(h) && w->alone && time_after(jiffies, w->alone_since + ALONE_MIN))
		start_others(w);
}

static bool goes_home(struct xs_worker *h)
{
	if (is_leader(h) || !xp_writeback_turn(h->cache->core, ktime_get_ns()))
		return false;
	h->cache->writeback.alone = true;
	h->cache->writeback.alone_since = jiffies;
	return true;
}

/*
 * The core may answer that records must become durable first. The todo that reports
 * this has .work set, and kicks the worker.
 */
static enum xp_next next_run(struct xs_worker *h)
{
	struct xs_writeback *w = &h->cache->writeback;
	enum xp_next next = XP_NEXT_END;

	lockdep_assert_held(&w->take);
	while (atomic_read(&w->errors) < ERRORS_MAX && !READ_ONCE(w->stopping)) {
		u32 kicks;

		rest(h);
		if (atomic_read(&w->errors) >= ERRORS_MAX || READ_ONCE(w->stopping))
			break;
		kicks = atomic_read(&w->kicks);
		next = xp_writeback_next(h->cache->core, &h->run);
		if (next != XP_NEXT_WAIT)
			return next;
		wait_event(w->kicked, atomic_read(&w->kicks) != kicks ||
			   READ_ONCE(w->stopping));
	}
	return XP_NEXT_END;
}

static bool take_run(struct xs_worker *h)
{
	struct xs_writeback *w = &h->cache->writeback;
	bool taken;

	mutex_lock(&w->take);
	taken = !goes_home(h) && next_run(h) == XP_NEXT_RUN;
	if (taken)
		w->taken += h->run.nr_blocks;
	mutex_unlock(&w->take);
	/* a batch of one run, which a write may wait for, needs nobody else */
	if (taken && h->run.more && is_leader(h) && !w->joined)
		start_others(w);
	return taken;
}

static void take_runs(struct xs_worker *h)
{
	struct xs_writeback *w = &h->cache->writeback;

	while (take_run(h)) {
		struct xp_todo todo;

		xp_todo_init(&todo);
		h->run.err = write_back(h);
		xp_writeback_end(h->cache->core, &h->run, &todo);
		xs_perform(h->cache, &todo);
		if (h->run.err)
			atomic_inc(&w->errors);
		/* Who rests with the lock may wait for just that. */
		WRITE_ONCE(w->over, READ_ONCE(w->over) + 1);
		if (wq_has_sleeper(&w->kicked))
			wake_up_all(&w->kicked);
	}
	put_pages(h, 1);
}

static void worker_run(struct work_struct *work)
{
	take_runs(container_of(work, struct xs_worker, work));
}

/* A running mean, so that one slow run does not stop writers for long. */
static void measure(struct xs_writeback *w, u64 ns)
{
	if (w->taken)
		WRITE_ONCE(w->block_ns, (w->block_ns * 3 + div_u64(ns, w->taken)) / 4);
}

static int flush_slow(struct xs_cache *cache)
{
	u64 sent = xs_time(cache);
	int err;

	atomic64_inc(&cache->counts.writeback_flushes);
	err = blkdev_issue_flush(xs_slow(cache));
	if (err)
		xs_slow_error(cache, "flush of dirty blocks", 0, err);
	else
		xs_timed(cache, XP_CLASS_SLOW_FLUSH, xs_since(sent));
	return err;
}

/* The todo of a caller's flush that ends has .work set, and kicks the worker. */
static bool wait_for_turn(struct xs_cache *cache)
{
	struct xs_writeback *w = &cache->writeback;
	u64 begun = ktime_get_ns();
	enum xp_flush flush;
	u32 kicks;

	while (kicks = (u32)atomic_read(&w->kicks),
	       (flush = xp_writeback_flushes(cache->core)) == XP_FLUSH_LATER)
		wait_event_idle(w->kicked, (u32)atomic_read(&w->kicks) != kicks);
	w->rested_ns += ktime_get_ns() - begun;
	return flush == XP_FLUSH_NOW;
}

/* All runs of the batch have ended: flushes the slow device, and commits. */
static void finish_batch(struct xs_cache *cache)
{
	struct xp_todo todo;
	int err = wait_for_turn(cache) ? flush_slow(cache) : 0;

	xp_todo_init(&todo);
	xp_writeback_commit(cache->core, err, ktime_get_real_seconds(), &todo);
	xs_perform(cache, &todo);
}

static void run_batch(struct xs_cache *cache)
{
	struct xs_writeback *w = &cache->writeback;
	u64 begun = ktime_get_ns();
	u32 i;

	/*
	 * No worker runs: queue_work() orders these before theirs, cancel_work_sync()
	 * theirs before what follows.
	 */
	atomic_set(&w->errors, 0);
	w->taken = 0;
	w->rested_ns = 0;
	w->alone = w->joined = false;
	take_runs(&w->worker[0]);
	/* A worker that has no thread yet is cancelled. */
	for (i = 1; i < w->nr_workers && w->joined; i++)
		cancel_work_sync(&w->worker[i].work);
	finish_batch(cache);
	measure(w, ktime_get_ns() - begun - w->rested_ns);	/* rests say nothing of the device */
	w->ended = jiffies;
}

/* In steps of BACK_OFF: a request that cannot wait ends the pause (xp_writeback_pause()). */
static bool pauses(struct xs_cache *cache)
{
	unsigned long pause = msecs_to_jiffies(xp_writeback_pause(cache->core));

	return pause && time_before(jiffies, cache->writeback.ended + pause);
}

static bool begin_batch(struct xs_cache *cache)
{
	struct xp_todo todo;
	bool begun;

	xp_todo_init(&todo);
	begun = xp_writeback_begin(cache->core, &todo);
	xs_perform(cache, &todo);
	return begun;
}

static void lead(struct work_struct *work)
{
	struct xs_cache *cache = container_of(to_delayed_work(work), struct xs_cache,
					      writeback.work);
	struct xs_writeback *w = &cache->writeback;

	for (;;) {
		if (READ_ONCE(w->stopping))
			return;
		/* A kick that comes later finds the work queued, but for one that cannot wait: it is seen there, or here. */
		WRITE_ONCE(w->pausing, true);
		smp_mb();	/* between it and who waits, as in a kick */
		if (pauses(cache)) {
			mod_delayed_work(w->wq, &w->work, BACK_OFF);
			if (!xp_writeback_pause(cache->core))
				mod_delayed_work(w->wq, &w->work, 0);
			return;
		}
		WRITE_ONCE(w->pausing, false);
		if (!xp_writeback_wanted(cache->core) || !begin_batch(cache))
			return;
		run_batch(cache);
	}
}

void xs_writeback_kick(struct xs_cache *cache)
{
	struct xs_writeback *w = &cache->writeback;

	atomic_inc(&w->kicks);
	if (wq_has_sleeper(&w->kicked))
		wake_up_all(&w->kicked);
	if (READ_ONCE(w->stopping))
		return;
	if (READ_ONCE(w->pausing) && !xp_writeback_pause(cache->core))
		mod_delayed_work(w->wq, &w->work, 0);
	else
		queue_delayed_work(w->wq, &w->work, 0);
}

void xs_writeback_flush(struct xs_cache *cache, bool on)
{
	xp_write_back_all(cache->core, on);
	xs_writeback_kick(cache);
}

/* -------------------------------------------------------- start and stop ---- */

void xs_writeback_start(struct xs_cache *cache)
{
	WRITE_ONCE(cache->writeback.stopping, false);
	xs_writeback_kick(cache);
}

/*
 * Finishes a flush that was requested. Requests have stopped, and no new block
 * becomes dirty. It gives up after FINISH_MAX, or if the slow device fails.
 */
void xs_writeback_finish(struct xs_cache *cache)
{
	unsigned long end = jiffies + FINISH_MAX;
	struct xp_stats s;

	for (xp_get_stats(cache->core, &s); s.flushing && !s.failed;
	     xp_get_stats(cache->core, &s)) {
		if (xp_writeback_pause(cache->core) || time_after(jiffies, end))
			return;
		msleep(20);
	}
}

/* No request is in flight. The present batch ends early. */
void xs_writeback_stop(struct xs_cache *cache)
{
	WRITE_ONCE(cache->writeback.stopping, true);
	wake_up_all(&cache->writeback.kicked);
	cancel_delayed_work_sync(&cache->writeback.work);
}

static int workers_alloc(struct xs_cache *cache, u32 nr)
{
	struct xs_writeback *w = &cache->writeback;
	u32 i;

	w->worker = kvcalloc(nr, sizeof(*w->worker), GFP_KERNEL);
	if (!w->worker)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		struct xs_worker *h = &w->worker[i];

		h->cache = cache;
		INIT_WORK(&h->work, worker_run);
		w->nr_workers++;
		get_pages(h, 1);
		if (!h->nr_pages)
			return -ENOMEM;
	}
	return 0;
}

/*
 * More workers than the queue of the device has room for would wait for each other, and
 * callers' reads behind them.
 */
static u32 queue_room(struct block_device *bdev)
{
	return max_t(u32, bdev_get_queue(bdev)->nr_requests, 1);
}

int xs_writeback_alloc(struct xs_cache *cache)
{
	struct xs_writeback *w = &cache->writeback;
	bool flash = !xs_rotational(xs_slow(cache));
	u32 nr = min_t(u32, flash ? WORKERS_FLASH : WORKERS_ROTATIONAL, queue_room(xs_slow(cache)));
	int err;

	mutex_init(&w->take);
	init_waitqueue_head(&w->kicked);
	INIT_DELAYED_WORK(&w->work, lead);
	w->block_ns = flash ? BLOCK_NS_FLASH : BLOCK_NS_ROTATIONAL;
	w->stopping = true;
	w->wq = alloc_workqueue("xpcache_writeback", WQ_MEM_RECLAIM | WQ_UNBOUND, 0);
	if (!w->wq)
		return -ENOMEM;
	err = bioset_init(&w->bios, WORKERS_FLASH, 0, BIOSET_NEED_BVECS);
	if (err)
		return err;
	return workers_alloc(cache, nr);
}

void xs_writeback_free(struct xs_cache *cache)
{
	struct xs_writeback *w = &cache->writeback;

	if (w->wq)
		destroy_workqueue(w->wq);
	while (w->nr_workers)
		put_pages(&w->worker[--w->nr_workers], 0);
	kvfree(w->worker);
	bioset_exit(&w->bios);
}

u64 xs_writeback_bytes(const struct xs_cache *cache)
{
	return cache->writeback.nr_workers * (sizeof(struct xs_worker) + PAGE_SIZE);
}
