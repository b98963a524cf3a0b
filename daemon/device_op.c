// SPDX-License-Identifier: GPL-2.0-only
/* device_op.c - a device's operations, from submission to end, and what a flush may say. */
#include "engine.h"

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
 * of both, and the other's success be seen first, by another loop. So a durable write is to the
 * slow device a write, and then a flush that takes its turn with the others. That one speaks for
 * its write alone: what it hears of the others' its consumer has yet to hear.
 *
 * On the fast device a sync that fails is the end: what data it has lost nobody can tell, so no
 * journal block that may name it can be believed. A write that fails has lost its own data only.
 */

static bool owes(const struct xd_writes *w, u64 mark)
{
	return min(mark, w->lost) > w->told;
}

/* The next three with the lock held. */
static void lose(struct xd_device *d)
{
	xd_set(d->losses, d->losses + 1);
	for (u32 i = 0; i < XD_CONSUMERS; i++)
		if (d->writes[i].ended > d->writes[i].told)
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
	op->stage = 0;
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

static void flush_end(struct xd_op *op, int err)
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
	over(op, err);
}

static void count_write(struct xd_op *op)
{
	struct xd_device *d = op->dev;
	struct xd_writes *w = &d->writes[op->consumer];

	pthread_mutex_lock(&d->lock);
	w->ended++;
	if (op->losses != d->losses)
		w->lost = w->ended;
	if (op->fua)
		op->own = w->ended;
	pthread_mutex_unlock(&d->lock);
}

static void write_end(struct xd_op *op, int err)
{
	bool claims = op->fua || op->preflush;
	struct xd_device *d = op->dev;

	if (d->slow && !err)
		count_write(op);
	else if (!d->slow && claims && !err && xd_get(d->losses))
		err = -EIO;
	if (op->own && d->volatile_cache) {
		op->kind = XD_FLUSH;
		flush_submit(d, op);
	} else {
		over(op, err);
	}
}

void xd_device_submit(struct xd_device *d, struct xd_loop *loop, struct xd_op *op)
{
	struct xd_pulse *p = &d->pulse[loop->index];

	op->dev = d;
	op->loop = loop;
	op->own = 0;
	xd_op_begin(op);
	xd_set(p->under_way, p->under_way + 1);
	loop->ops++;
	if (op->kind == XD_FLUSH)
		flush_submit(d, op);
	else
		d->ops->submit(op);
}

void xd_op_end(struct xd_op *op, int err)
{
	if (op->kind == XD_FLUSH)
		flush_end(op, err);
	else if (op->kind == XD_READ)
		over(op, err);
	else
		write_end(op, err);
}
