// SPDX-License-Identifier: GPL-2.0-only
/* device_op.c - a device's operations, from submission to end, and what a flush may say. */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "platform.h"

#include <errno.h>

/* ------------------------------------------------------------------- lost ---- */

/*
 * Whether a flush may say that all is well. A consumer's writes are numbered as they end. A flush
 * speaks for those up to its mark: the number of the last that had ended when it was submitted.
 * Of a loss (a flush that failed, a connection that broke) every consumer is to hear whose last
 * write is beyond .told: up to that write (.lost) any may be gone, and one that is under way
 * just now is taken for one of them, since its answer may be older than the loss. A flush whose
 * mark is beyond .told while .lost is fails, whatever the device says of it: that it began before
 * the loss and ended after it makes no difference. It moves .told up to its mark, not to .lost:
 * writes that ended since it began are another flush's to tell. Only a flush that ended well moves
 * .told of the others, and of none that has yet to hear of a loss: a batch that is home tells no
 * client that what it wrote around the cache is.
 *
 * One flush is under way at a time. Of two that are together in the kernel one may take the error
 * of both, and the other's success be seen first, by another loop. So a durable write is a write,
 * and then a flush that takes its turn with the others, unless the device (.fua) makes that one
 * write durable without a word about the rest. Its flush speaks for its write alone: what it
 * hears of the others' its consumer has yet to hear.
 *
 * On the fast device a sync that fails is the end: what data it has lost nobody can tell, so no
 * journal block that may name it can be believed. A write that fails has lost its own data only.
 */

/* A write's way: [preflush] --> data --> [sync]. */
enum step { STEP_NONE, STEP_PREFLUSH, STEP_DATA, STEP_SYNC };

static bool owes(const struct xd_writes *w, u64 mark)
{
	return min(mark, w->lost) > w->told;
}

/* The next three with the lock held. */
static void lose(struct xd_device *d)
{
	xd_set(d->losses, d->losses + 1);
	for (u32 i = 0; i < XD_CONSUMERS; i++)
		d->writes[i].lost = d->writes[i].ended;
}

static int tell(struct xd_writes *w, u64 mark, int err, bool aside)
{
	if (!err && !owes(w, mark))
		return 0;
	if (!aside)
		w->told = max(w->told, mark);
	return err ? err : -EIO;
}

static void all_durable(struct xd_device *d, const u64 *mark)
{
	for (u32 i = 0; i < XD_CONSUMERS; i++)
		if (d->writes[i].lost <= d->writes[i].told)
			d->writes[i].told = max(d->writes[i].told, mark[i]);
}

/* What a flush may say. */
static int verdict(struct xd_device *d, struct xd_op *op, int err)
{
	struct xd_writes *w = &d->writes[op->consumer];

	if (!op->own)
		return tell(w, op->mark[op->consumer], err, op->aside);
	return !err && w->lost >= op->own ? -EIO : err;
}

void xd_device_lost(struct xd_device *d)
{
	pthread_mutex_lock(&d->lock);
	lose(d);
	pthread_mutex_unlock(&d->lock);
	if (d->on_loss)
		d->on_loss(d->owner);
}

u64 xd_device_mark(struct xd_device *d, enum xd_consumer consumer)
{
	u64 mark;

	pthread_mutex_lock(&d->lock);
	mark = d->writes[consumer].ended;
	pthread_mutex_unlock(&d->lock);
	return mark;
}

int xd_device_tell(struct xd_device *d, enum xd_consumer consumer, u64 mark, bool aside)
{
	int err;

	pthread_mutex_lock(&d->lock);
	err = tell(&d->writes[consumer], mark, 0, aside);
	pthread_mutex_unlock(&d->lock);
	return err;
}

/* ------------------------------------------------------------- operations ---- */

void xd_op_begin(struct xd_op *op)
{
	op->done = 0;
	op->losses = xd_get(op->dev->losses);
}

static void flush_turn(struct xd_call *call)
{
	struct xd_op *op = container_of(call, struct xd_op, call);

	op->dev->ops->submit(op);
}

/* With the lock held. False: another is under way, and it waits. */
static bool flush_first(struct xd_device *d, struct xd_op *op)
{
	if (!d->flushing) {
		d->flushing = op;
		return true;
	}
	op->call.fn = flush_turn;
	op->next = NULL;
	*d->flushes_tail = op;
	d->flushes_tail = &op->next;
	return false;
}

static void over(struct xd_op *op, int err)
{
	struct xd_pulse *p = &op->dev->pulse[op->loop->index];

	xd_set(p->under_way, p->under_way - 1);
	xd_set(p->over, p->over + 1);
	op->loop->ops--;
	op->end(op, err);
}

static void flush_submit(struct xd_device *d, struct xd_op *op)
{
	bool first = false;
	int err = 0;

	pthread_mutex_lock(&d->lock);
	for (u32 i = 0; i < XD_CONSUMERS; i++)
		op->mark[i] = d->writes[i].ended;
	err = verdict(d, op, 0);
	if (!err)
		first = flush_first(d, op);
	pthread_mutex_unlock(&d->lock);
	if (err)
		over(op, err);
	else if (first)
		d->ops->submit(op);
}

static int flush_end(struct xd_op *op, int err)
{
	struct xd_device *d = op->dev;
	struct xd_op *next;

	pthread_mutex_lock(&d->lock);
	if (err)
		lose(d);
	err = verdict(d, op, err);
	if (!err)
		all_durable(d, op->mark);
	next = d->flushing = d->flushes;
	if (next)
		d->flushes = next->next;
	if (!d->flushes)
		d->flushes_tail = &d->flushes;
	pthread_mutex_unlock(&d->lock);
	if (next)
		xd_loop_call(next->loop, &next->call);
	return err;
}

static void count_write(struct xd_op *op)
{
	struct xd_device *d = op->dev;
	struct xd_writes *w = &d->writes[op->consumer];

	pthread_mutex_lock(&d->lock);
	w->ended++;
	if (op->losses != d->losses)
		w->lost = w->ended;
	if (op->step == STEP_DATA && op->fua)
		op->own = w->ended;
	pthread_mutex_unlock(&d->lock);
}

/* ------------------------------------------------------------------ steps ---- */

static void go(struct xd_op *op)
{
	xd_op_begin(op);
	if (op->kind == XD_FLUSH)
		flush_submit(op->dev, op);
	else
		op->dev->ops->submit(op);
}

static void first_step(struct xd_op *op)
{
	op->own = 0;
	op->step = op->kind == XD_WRITE ? STEP_DATA : STEP_NONE;
	if (op->step == STEP_DATA && op->preflush && op->dev->volatile_cache) {
		op->step = STEP_PREFLUSH;
		op->kind = XD_FLUSH;
	}
}

/* False: that was the last. */
static bool next_step(struct xd_op *op)
{
	if (op->step == STEP_PREFLUSH) {
		op->step = STEP_DATA;
		op->kind = XD_WRITE;
		return true;
	}
	if (op->step != STEP_DATA || !op->fua || op->dev->fua || !op->dev->volatile_cache)
		return false;
	op->step = STEP_SYNC;
	op->kind = XD_FLUSH;
	return true;
}

/* A journal block, or what goes beside one, says that data before it is durable. */
static bool is_believed(const struct xd_op *op)
{
	return op->dev->slow || op->step == STEP_NONE || !(op->fua || op->preflush) ||
	       !xd_get(op->dev->losses);
}

void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op)
{
	struct xd_pulse *p = &d->pulse[loop->index];

	op->dev = d;
	op->loop = loop;
	xd_set(p->under_way, p->under_way + 1);
	loop->ops++;
	first_step(op);
	go(op);
}

void xd_op_end(struct xd_op *op, int err)
{
	if (op->kind == XD_FLUSH)
		err = flush_end(op, err);
	else if (op->kind != XD_READ && op->dev->slow && !err)
		count_write(op);
	if (!err && next_step(op))
		go(op);
	else
		over(op, !err && !is_believed(op) ? -EIO : err);
}
