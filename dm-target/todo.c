// SPDX-License-Identifier: GPL-2.0-only
/*
 * todo.c - performs the work that the core asks for, at once or in the worker.
 *
 * xs_perform() does all of it in the context of the caller: a FLUSH sends its
 * journal block from the thread that waits for it. xs_post() is for interrupts:
 * it ends requests, and queues the rest.
 */
#include "backend.h"

void xs_wake_worker(struct xs_cache *cache)
{
	queue_work(cache->wq, &cache->todo.work);
}

void xs_queue_io(struct xs_cache *cache, struct xp_list *list, struct xs_io *io)
{
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	xp_list_add(list, &io->req.link);
	spin_unlock_irqrestore(&cache->lock, flags);
	xs_wake_worker(cache);
}

void xs_queue_entry(struct xs_cache *cache, struct list_head *list, struct list_head *entry)
{
	unsigned long flags;

	spin_lock_irqsave(&cache->lock, flags);
	list_add_tail(entry, list);
	spin_unlock_irqrestore(&cache->lock, flags);
	xs_wake_worker(cache);
}

/* Must come last: the cache may be freed when its last bio has ended. */
static void end_requests(struct xs_cache *cache, struct xp_list *done)
{
	struct xp_link *link;

	while ((link = xp_list_pop(done)))
		xs_io_done(cache, xs_io_of(link));
}

void xs_perform(struct xs_cache *cache, struct xp_todo *todo)
{
	while (!xp_todo_empty(todo)) {
		u32 journal = todo->journal;
		struct xp_link *link;

		todo->journal = 0;
		xs_journal_write(cache, journal, todo);
		if (todo->mark) {
			todo->mark = false;
			xs_mark(cache);
		}
		if (todo->tick) {
			todo->tick = false;
			xs_clock_records(cache);
		}
		if (todo->work) {
			todo->work = false;
			xs_writeback_kick(cache);
		}
		end_requests(cache, &todo->done);
		link = xp_list_pop(&todo->ready);
		if (link)
			xs_io_submit(cache, xs_io_of(link), todo);
	}
}

void xs_post(struct xs_cache *cache, struct xp_todo *todo)
{
	if (todo->work)
		xs_writeback_kick(cache);
	if (todo->tick)
		xs_clock_records(cache);
	if (todo->mark)
		xs_mark(cache);
	if (todo->journal || !xp_list_empty(&todo->ready)) {
		bool ready = !xp_list_empty(&todo->ready);
		unsigned long flags;

		spin_lock_irqsave(&cache->lock, flags);
		cache->todo.journal |= todo->journal;
		xp_list_splice(&cache->todo.ready, &todo->ready);
		spin_unlock_irqrestore(&cache->lock, flags);
		if (todo->journal)
			queue_work(cache->wq, &cache->todo.journal_work);
		if (ready)
			xs_wake_worker(cache);
	}
	end_requests(cache, &todo->done);
}

/* -------------------------------------------------------- the worker ---- */

/* Entries that the worker has taken from the queues. */
struct taken {
	struct list_head late, based;
};

/*
 * Takes the queues as a whole; requests that are ready go into @todo. False: all were
 * empty. in_flight counts the entries before the lock is released: else xs_drain()
 * could see them neither there nor in the queues.
 */
static bool take(struct xs_cache *cache, struct taken *t, struct xp_todo *todo)
{
	struct xs_work *w = &cache->todo;
	bool any;

	INIT_LIST_HEAD(&t->late);
	INIT_LIST_HEAD(&t->based);
	spin_lock_irq(&cache->lock);
	xp_list_splice(&todo->ready, &w->ready);
	list_splice_init(&w->late, &t->late);
	list_splice_init(&w->based, &t->based);
	any = !xp_list_empty(&todo->ready) || !list_empty(&t->late) ||
	      !list_empty(&t->based);
	if (any)
		xs_own_begin(cache);
	spin_unlock_irq(&cache->lock);
	return any;
}

static void perform_taken(struct xs_cache *cache, struct taken *t, struct xp_todo *todo)
{
	struct list_head *entry, *next;

	list_for_each_safe(entry, next, &t->based)
		xs_copy_go_on(list_entry(entry, struct xs_copy, list), todo);
	list_for_each_safe(entry, next, &t->late)
		xs_fill_deliver(entry);
	xs_perform(cache, todo);
}

static void worker(struct work_struct *work)
{
	struct xs_cache *cache = container_of(work, struct xs_cache, todo.work);
	struct blk_plug plug;
	struct xp_todo todo;
	struct taken t;

	xp_todo_init(&todo);
	blk_start_plug(&plug);
	while (take(cache, &t, &todo)) {
		perform_taken(cache, &t, &todo);
		xs_own_end(cache);
	}
	xs_copy_retry(cache, &todo);
	xs_perform(cache, &todo);
	blk_finish_plug(&plug);
}

static void journal_worker(struct work_struct *work)
{
	struct xs_cache *cache = container_of(work, struct xs_cache, todo.journal_work);
	struct xs_work *w = &cache->todo;
	struct xp_todo todo;
	u32 journal, flushed;

	xp_todo_init(&todo);
	spin_lock_irq(&cache->lock);
	journal = w->journal;
	flushed = w->flushed;
	w->journal = w->flushed = 0;
	xs_own_begin(cache);	/* under the lock, as in take() */
	spin_unlock_irq(&cache->lock);
	xs_journal_write_flushed(cache, flushed);
	xs_journal_write(cache, journal, &todo);
	/* not xs_perform(): a request that is ready may wait for the slow device */
	xs_post(cache, &todo);
	xs_own_end(cache);
}

/* --------------------------------------------------------------- drain ---- */

/*
 * Work that follows has been queued before. xs_drain() waits for the RCU readers here
 * before the cache may be freed, and flushes the works.
 */
void xs_own_end(struct xs_cache *cache)
{
	rcu_read_lock();
	if (atomic_dec_and_test(&cache->in_flight) && wq_has_sleeper(&cache->drained))
		wake_up(&cache->drained);
	rcu_read_unlock();
}

static bool at_rest(struct xs_cache *cache)
{
	struct xs_work *w = &cache->todo;
	bool rest;

	spin_lock_irq(&cache->lock);
	rest = !atomic_read(&cache->in_flight) && !w->journal && xp_list_empty(&w->ready) &&
	       list_empty(&w->late) && list_empty(&w->fills) &&
	       list_empty(&w->based);
	spin_unlock_irq(&cache->lock);
	return rest;
}

void xs_drain(struct xs_cache *cache)
{
	synchronize_rcu();	/* xs_io_below_ended(), copy_end() */
	do {
		flush_work(&cache->todo.work);
		flush_work(&cache->todo.journal_work);
		flush_delayed_work(&cache->todo.fill_work);
		wait_event(cache->drained, !atomic_read(&cache->in_flight));
	} while (!at_rest(cache));
	synchronize_rcu();	/* xs_own_end() */
}

void xs_todo_setup(struct xs_cache *cache)
{
	struct xs_work *w = &cache->todo;

	spin_lock_init(&cache->lock);
	init_waitqueue_head(&cache->drained);
	xp_list_init(&w->ready);
	INIT_LIST_HEAD(&w->late);
	xp_list_init(&w->unbuffered);
	INIT_LIST_HEAD(&w->based);
	xs_fills_setup(cache);
	INIT_WORK(&w->work, worker);
	INIT_WORK(&w->journal_work, journal_worker);
}
