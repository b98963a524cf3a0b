// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_op.c - a device's operations, from submission to end.
 *
 * One flush of a device is under way at a time. Of two that are together in the kernel one may take the error of both, and
 * the other's success be seen first, by another loop. So the next begins when whoever asked for the one before has heard
 * of its end; and a durable write is a write, and then a flush that takes its turn with the others, unless the device
 * (.fua) makes that one write durable without a word about the rest.
 *
 * What a slow device may have lost, and who is to hear of it, the core decides (core/flush.c).
 *
 * On the fast device a sync that fails is the end: what data it has lost nobody can tell, so no
 * journal block that may name it can be believed. A write that fails has lost its own data only.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "platform.h"

#include <errno.h>

/* A write's way: [preflush] --> data --> [sync]. */
enum step { STEP_NONE, STEP_PREFLUSH, STEP_DATA, STEP_SYNC };

void xd_device_lost(struct xd_device *d)
{
	__atomic_fetch_add(&d->losses, 1, __ATOMIC_RELAXED);
	if (d->on_loss)
		d->on_loss(d->owner);
}

/* ------------------------------------------------------------- operations ---- */

void xd_op_begin(struct xd_op *op)
{
	op->done = 0;
}

static void flush_turn(struct xd_call *call)
{
	struct xd_op *op = container_of(call, struct xd_op, call);

	op->dev->ops->submit(op);
}

/* False: another is under way, and it waits. */
static bool takes_turn(struct xd_device *d, struct xd_op *op)
{
	bool first;

	pthread_mutex_lock(&d->lock);
	first = !d->flushing;
	d->flushing = true;
	if (!first) {
		op->call.fn = flush_turn;
		op->next = NULL;
		*d->flushes_tail = op;
		d->flushes_tail = &op->next;
	}
	pthread_mutex_unlock(&d->lock);
	return first;
}

static void next_turn(struct xd_device *d)
{
	struct xd_op *next;

	pthread_mutex_lock(&d->lock);
	next = d->flushes;
	d->flushing = next;
	if (next)
		d->flushes = next->next;
	if (!d->flushes)
		d->flushes_tail = &d->flushes;
	pthread_mutex_unlock(&d->lock);
	if (next)
		xd_loop_call(next->loop, &next->call);
}

static void over(struct xd_op *op, int err)
{
	struct xd_pulse *p = &op->dev->pulse[op->loop->index];

	xd_set(p->under_way, p->under_way - 1);
	xd_set(p->over, p->over + 1);
	op->loop->ops--;
	op->end(op, err);
}

/* ------------------------------------------------------------------ steps ---- */

static void go(struct xd_op *op)
{
	xd_op_begin(op);
	if (op->kind != XD_FLUSH || takes_turn(op->dev, op))
		op->dev->ops->submit(op);
}

static void first_step(struct xd_op *op)
{
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
	op->offset -= op->kind == XD_FLUSH ? 0 : d->before;
	xd_set(p->under_way, p->under_way + 1);
	loop->ops++;
	first_step(op);
	go(op);
}

void xd_op_end(struct xd_op *op, int err)
{
	struct xd_device *d = op->dev;
	bool flush = op->kind == XD_FLUSH;

	if (flush && err)
		__atomic_fetch_add(&d->losses, 1, __ATOMIC_RELAXED);
	if (!err && next_step(op))
		go(op);
	else
		over(op, !err && !is_believed(op) ? -EIO : err);
	if (flush)
		next_turn(d);
}
