// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_nbd.c - a remote slow device, through libnbd: one connection for each loop, whose
 * thread alone uses it once requests come. The loop's ring polls its socket.
 *
 *	up --breaks--> away --a second, 2, 4 ... 30--> connecting --it is the same--> up
 *	                 ^---------no answer---------------'  `--it is another--> dead
 *
 * Of a short hiccup of the network those above need not hear: a read that was under way is sent
 * again, and what comes while the server is away waits, HOLD_NS from the break on, as the kernel
 * does with iSCSI (120 s), NVMe over fabrics and its own nbd: a file system that gets one error
 * stops writing for good, and writeback has nothing better to do. After that all fail at once,
 * until it is back. A write that was under way fails: whether the server has done it, or will, nobody
 * knows, and what writes there next waits (doubt.h). So does a flush fail; and after a break
 * the next flush of whoever wrote without one (device_op.c), since the server may have crashed. A
 * break of one line is one of all: else those that had nothing to do would notice it much later,
 * one by one, each time as another loss. What has requests under way is cut when they have ended:
 * it may be sound.
 *
 * A thread of its own connects again: names are looked up by calls that block.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/nbd/doubt.h"
#include "lib/device.h"
#include "lib/nbd.h"
#include "lib/remote.h"
#include "lib/uring_abi.h"
#include "core/message.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define SECOND		1000000000ull
#define HOLD_NS		(30 * SECOND)
#define PAUSE_MAX_S	30u
#define CONNECT_S	20u	/* for an answer to a new connection */
#define POLL_MS		100

struct line {
	struct nbd_handle *nbd;
	struct xd_device *dev;
	struct xd_loop *loop;
	struct xd_event readable, writable, cancelled;
	bool polls_in, polls_out;

	enum { LINE_UP, LINE_AWAY, LINE_CONNECTING, LINE_DEAD } state;
	u64 since;		/* it is not up */
	u32 pause_s;		/* to the next attempt */
	struct xd_timer retry, patience;
	struct xd_op *held, **held_tail;	/* wait for it to be up */
	struct xd_op *doubted, **doubted_tail;	/* wait for what may still land where they write */
	struct xd_timer settled;
	struct xd_call connected, hurry, cut;
	bool cutting;		/* .cut is on its way; atomic */
	bool doomed;		/* takes no more requests, and is cut when it has none */

	/* The connecting thread's, until it calls .connected. */
	pthread_t thread;
	struct nbd_handle *fresh;	/* NULL: it did not connect, */
	char unable[160];		/* for this reason */
};

struct remote {
	char uri[PATH_MAX];
	struct line line[XD_LOOPS_MAX];
	struct xd_doubt doubt;
	bool can_trim, can_zero;
	u32 not_up;		/* lines; atomic */
	bool given_up;		/* it has been said that all fails; atomic */
};

static int why(struct xp_message *msg)
{
	if (msg)
		snprintf(msg->text, sizeof(msg->text), "%s", nbd_why());
	return nbd_failure();
}

/* ------------------------------------------------------------------ polls ---- */

static void poll_line(struct line *l)
{
	unsigned int direction = libnbd.aio_get_direction(l->nbd);
	int fd = libnbd.aio_get_fd(l->nbd);

	if (fd < 0)
		return;
	if ((direction & LIBNBD_AIO_DIRECTION_READ) && !l->polls_in) {
		l->polls_in = true;
		io_uring_prep_poll_add(xd_loop_sqe(l->loop, &l->readable), fd, POLLIN);
	}
	if ((direction & LIBNBD_AIO_DIRECTION_WRITE) && !l->polls_out) {
		l->polls_out = true;
		io_uring_prep_poll_add(xd_loop_sqe(l->loop, &l->writable), fd, POLLOUT);
	}
}

static void line_gone(struct line *l);

/* Its poll finds it broken then. */
static void cut_if_idle(struct line *l)
{
	if (l->doomed && !libnbd.aio_in_flight(l->nbd))
		shutdown(libnbd.aio_get_fd(l->nbd), SHUT_RDWR);
}

/* After whatever may have changed its state. */
static void look(struct line *l)
{
	if (l->state != LINE_UP)
		return;
	cut_if_idle(l);
	if (libnbd.aio_is_dead(l->nbd) || libnbd.aio_is_closed(l->nbd))
		line_gone(l);
	else
		poll_line(l);
}

/*
 * There may be nothing to read. A poll of an io_uring ends when the sender wakes it, and what the sender had queued may
 * have been read before that; of a TLS record a part may be there. libnbd takes its word for it, finds nothing, and
 * stays at the beginning of a reply, where it sends no command that comes: with none under way nothing would ever move
 * it on. Told once more it goes back to where it can send.
 */
static void read_replies(struct line *l)
{
	if (!(libnbd.aio_get_direction(l->nbd) & LIBNBD_AIO_DIRECTION_READ))
		return;
	libnbd.aio_notify_read(l->nbd);	/* what fails is told to each command */
	if (libnbd.aio_get_direction(l->nbd) == LIBNBD_AIO_DIRECTION_READ && libnbd.aio_is_processing(l->nbd))
		libnbd.aio_notify_read(l->nbd);
}

static void readable(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, readable);

	(void)res;
	l->polls_in = false;
	read_replies(l);
	look(l);
}

static void writable(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, writable);

	(void)res;
	l->polls_out = false;
	if (libnbd.aio_get_direction(l->nbd) & LIBNBD_AIO_DIRECTION_WRITE)
		libnbd.aio_notify_write(l->nbd);
	look(l);
}

static void cancelled(struct xd_event *event, int res)
{
	(void)event;
	(void)res;
}

/* They keep the socket open that libnbd has closed, and the next line from being polled. */
static void polls_cancel(struct line *l)
{
	if (l->polls_in)
		io_uring_prep_cancel(xd_loop_sqe(l->loop, &l->cancelled), &l->readable, 0);
	if (l->polls_out)
		io_uring_prep_cancel(xd_loop_sqe(l->loop, &l->cancelled), &l->writable, 0);
}

/* -------------------------------------------------------------- operations ---- */

/* Called by libnbd, once for each command that it took. Not from here: the operation's end may
 * submit another, and libnbd holds its lock. */
static int command_ended(void *user, int *error)
{
	struct xd_op *op = user;

	op->done = (u32)*error;
	xd_loop_op(op->loop, op);
	return 1;
}

static int64_t send_command(struct xd_op *op, struct nbd_handle *nbd)
{
	const nbd_completion_callback end = { .callback = command_ended, .user_data = op };

	switch (op->kind) {
	case XD_READ:
		return libnbd.aio_pread(nbd, op->data, op->bytes, op->offset, end, 0);
	case XD_WRITE:
		return libnbd.aio_pwrite(nbd, op->data, op->bytes, op->offset, end, 0);
	case XD_FLUSH:
		return libnbd.aio_flush(nbd, end, 0);
	case XD_DISCARD:
		return libnbd.aio_trim(nbd, op->bytes, op->offset, end, 0);
	default:
		return libnbd.aio_zero(nbd, op->bytes, op->offset, end, 0);
	}
}

static struct line *line_of(const struct xd_op *op)
{
	struct remote *r = op->dev->remote;

	return &r->line[op->loop->index];
}

static bool is_patient(const struct line *l)
{
	return l->state != LINE_DEAD && !xd_get(l->dev->hurried) && xd_now() - l->since < HOLD_NS;
}

static void hold(struct line *l, struct xd_op *op)
{
	if (!is_patient(l)) {
		xd_op_end(op, -ENOTCONN);
		return;
	}
	op->next = NULL;
	*l->held_tail = op;
	l->held_tail = &op->next;
}

static struct xd_op *take(struct xd_op **first, struct xd_op ***tail)
{
	struct xd_op *ops = *first;

	*first = NULL;
	*tail = first;
	return ops;
}

static void submit_all(struct xd_op *op)
{
	struct xd_op *next;

	for (; op; op = next) {
		next = op->next;
		xd_op_begin(op);
		op->dev->ops->submit(op);
	}
}

static void fail_all(struct xd_op *op)
{
	struct xd_op *next;

	for (; op; op = next) {
		next = op->next;
		xd_op_end(op, -ENOTCONN);
	}
}

static bool changes(const struct xd_op *op)
{
	return op->kind != XD_READ && op->kind != XD_FLUSH;
}

/* False: nothing may still land there. */
static bool waits_for_doubt(struct line *l, struct xd_op *op)
{
	struct remote *r = l->dev->remote;
	u64 left = changes(op) ? xd_doubt_left(&r->doubt, op->offset, op->bytes, xd_now()) : 0;

	if (!left)
		return false;
	if (xd_get(l->dev->hurried)) {
		xd_op_end(op, -ENOTCONN);
		return true;
	}
	op->next = NULL;
	*l->doubted_tail = op;
	l->doubted_tail = &op->next;
	xd_timer_arm(l->loop, &l->settled, left);
	return true;
}

static void settled(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, settled.event);

	(void)res;
	l->settled.armed = false;
	submit_all(take(&l->doubted, &l->doubted_tail));
}

static void send_op(struct line *l, struct xd_op *op)
{
	int err = send_command(op, l->nbd) < 0 ? why(NULL) : 0;

	look(l);
	if (err && l->state != LINE_UP)
		hold(l, op);	/* it was broken before it could be sent */
	else if (err)
		xd_op_end(op, err);
}

static void nbd_ended(struct xd_op *op, int err)
{
	struct line *l = line_of(op);
	struct remote *r = op->dev->remote;
	bool broken = err && l->state != LINE_UP;

	if (broken && op->kind == XD_READ) {
		hold(l, op);
		return;
	}
	if (broken && changes(op))
		xd_doubt_add(&r->doubt, op->offset, op->bytes, xd_now());
	xd_op_end(op, err);
}

static void nbd_submit(struct xd_op *op)
{
	struct remote *r = op->dev->remote;
	struct line *l = line_of(op);

	if ((op->kind == XD_DISCARD && !r->can_trim) || (op->kind == XD_ZERO && !r->can_zero))
		xd_op_end(op, -EOPNOTSUPP);
	else if (op->kind == XD_FLUSH && !op->dev->volatile_cache)
		xd_op_end(op, 0);
	else if (l->state != LINE_UP || l->doomed)
		hold(l, op);
	else if (!waits_for_doubt(l, op))
		send_op(l, op);
}

/* --------------------------------------------------------------- connecting ---- */

/* What a process that is killed has not sent yet is not sent after its death: another may have
 * taken its place by then. A peer that is silent is gone, soon. */
static void tune(struct nbd_handle *nbd)
{
	const struct linger none = { .l_onoff = 1 };
	const int on = 1, idle_s = 10, every_s = 5, times = 4, unheard_ms = 60000;
	int fd = libnbd.aio_get_fd(nbd);

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof(times));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unheard_ms, sizeof(unheard_ms));
}

static struct nbd_handle *try_connect(struct line *l)
{
	const struct remote *r = l->dev->remote;
	u64 until = xd_now() + CONNECT_S * SECOND;
	struct nbd_handle *nbd = remote_new();

	if (nbd && !libnbd.aio_connect_uri(nbd, r->uri))
		while (libnbd.aio_is_connecting(nbd) && xd_now() < until && !xd_get(l->dev->hurried))
			libnbd.poll(nbd, POLL_MS);
	if (!nbd || !libnbd.aio_is_ready(nbd)) {
		snprintf(l->unable, sizeof(l->unable), "%s", nbd_why());
		libnbd.close(nbd);
		return NULL;
	}
	tune(nbd);
	return nbd;
}

static void *connect_main(void *arg)
{
	struct line *l = arg;

	l->fresh = try_connect(l);
	xd_loop_call(l->loop, &l->connected);
	return NULL;
}

static void try_later(struct line *l)
{
	l->state = LINE_AWAY;
	l->pause_s = min(l->pause_s * 2, PAUSE_MAX_S);
	xd_timer_arm(l->loop, &l->retry, l->pause_s * SECOND);
}

static void retry(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, retry.event);

	(void)res;
	l->retry.armed = false;
	l->state = LINE_CONNECTING;
	if (pthread_create(&l->thread, NULL, connect_main, l))
		try_later(l);
}

/* Why what answers now is not what was here; NULL: it is. */
static const char *unlike(const struct xd_device *d, struct nbd_handle *nbd)
{
	static __thread char text[160];
	const struct remote *r = d->remote;
	struct device now = { .fd = -1 };
	const char *unfit = remote_learn(nbd, &now);

	if (unfit)
		return unfit;
	if (now.sectors < d->dev.sectors) {	/* a longer one is that of before, as far as anybody here knows */
		snprintf(text, sizeof(text), "it has %llu sectors now, and had %llu",
			 (unsigned long long)now.sectors, (unsigned long long)d->dev.sectors);
		return text;
	}
	if (now.logical != d->dev.logical || d->volatile_cache != (libnbd.can_flush(nbd) > 0) ||
	    r->can_trim != (libnbd.can_trim(nbd) > 0) ||
	    r->can_zero != (libnbd.can_zero(nbd) > 0) || d->many_loops > (libnbd.can_multi_conn(nbd) > 0))
		return "its server offers other things than before";
	return NULL;
}

static void fail_held(struct line *l)
{
	fail_all(take(&l->held, &l->held_tail));
}

static void line_up(struct line *l)
{
	struct remote *r = l->dev->remote;

	libnbd.close(l->nbd);
	l->nbd = l->fresh;
	l->fresh = NULL;
	l->state = LINE_UP;
	xd_set(r->given_up, false);
	if (!__atomic_sub_fetch(&r->not_up, 1, __ATOMIC_SEQ_CST))
		xd_log_event("%s: slow device: connected again, after %llu s", l->dev->dev.path,
			     (unsigned long long)((xd_now() - l->since) / SECOND));
	submit_all(take(&l->held, &l->held_tail));
	look(l);
}

static void line_dead(struct line *l, const char *unfit)
{
	xd_log_event("%s: slow device: not what it was: %s; it is left alone until the cache is started again",
		     l->dev->dev.path, unfit);
	libnbd.close(l->fresh);
	l->fresh = NULL;
	l->state = LINE_DEAD;
	fail_held(l);
}

static void connected(struct xd_call *call)
{
	struct line *l = container_of(call, struct line, connected);
	const char *unfit;

	pthread_join(l->thread, NULL);
	if (!l->fresh) {
		try_later(l);
		return;
	}
	unfit = unlike(l->dev, l->fresh);
	if (unfit)
		line_dead(l, unfit);
	else
		line_up(l);
}

static void give_up(struct line *l)
{
	struct remote *r = l->dev->remote;

	if (l->state != LINE_DEAD && !__atomic_exchange_n(&r->given_up, true, __ATOMIC_SEQ_CST))
		xd_log_event("%s: slow device: away for %llu s: %s; what needs it fails until it is back",
			     l->dev->dev.path, (unsigned long long)((xd_now() - l->since) / SECOND),
			     l->state == LINE_AWAY ? l->unable : "no answer");
	fail_held(l);
}

static void patience_over(struct xd_event *event, int res)
{
	struct line *l = container_of(event, struct line, patience.event);

	(void)res;
	l->patience.armed = false;
	if (l->state == LINE_UP)
		return;
	if (is_patient(l))	/* it was up meanwhile */
		xd_timer_arm(l->loop, &l->patience, l->since + HOLD_NS - xd_now());
	else
		give_up(l);
}

static void cut(struct xd_call *call)
{
	struct line *l = container_of(call, struct line, cut);

	xd_set(l->cutting, false);
	if (l->state != LINE_UP)
		return;
	l->doomed = true;
	l->since = xd_now();
	cut_if_idle(l);
}

static void cut_others(struct line *l)
{
	struct remote *r = l->dev->remote;

	for (u32 i = 0; i < XD_LOOPS_MAX; i++) {
		struct line *other = &r->line[i];

		if (other != l && other->loop && !__atomic_exchange_n(&other->cutting, true, __ATOMIC_SEQ_CST))
			xd_loop_call(other->loop, &other->cut);
	}
}

/* What was under way has been told so. */
static void line_gone(struct line *l)
{
	struct remote *r = l->dev->remote;

	l->state = LINE_AWAY;
	l->since = xd_now();
	l->pause_s = 1;
	if (!l->doomed) {	/* else it is the break of another that we see here */
		xd_device_lost(l->dev);
		cut_others(l);
	}
	l->doomed = false;
	if (!__atomic_fetch_add(&r->not_up, 1, __ATOMIC_SEQ_CST))
		xd_log_event("%s: slow device: the connection is broken; trying to connect again",
			     l->dev->dev.path);
	polls_cancel(l);
	xd_timer_arm(l->loop, &l->retry, l->pause_s * SECOND);
	xd_timer_arm(l->loop, &l->patience, HOLD_NS);
}

static void hurry_line(struct xd_call *call)
{
	struct line *l = container_of(call, struct line, hurry);

	fail_held(l);
	fail_all(take(&l->doubted, &l->doubted_tail));
}

static void nbd_hurry(struct xd_device *d)
{
	struct remote *r = d->remote;

	for (u32 i = 0; i < XD_LOOPS_MAX; i++)
		if (r->line[i].loop)
			xd_loop_call(r->line[i].loop, &r->line[i].hurry);
}

/* ---------------------------------------------------------------- blocking ---- */

static int remote_pread(struct xd_device *d, void *buf, u32 bytes, u64 offset)
{
	struct remote *r = d->remote;

	return libnbd.pread(r->line[0].nbd, buf, bytes, offset, 0) ? why(NULL) : 0;
}

static int remote_flush(struct xd_device *d)
{
	struct remote *r = d->remote;

	return d->volatile_cache && libnbd.flush(r->line[0].nbd, 0) ? why(NULL) : 0;
}

static int remote_pwrite(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	struct remote *r = d->remote;

	return libnbd.pwrite(r->line[0].nbd, buf, bytes, offset, 0) ? why(NULL) : remote_flush(d);
}

/* ------------------------------------------------------------ open and close ---- */

static int line_open(struct remote *r, struct line *l, struct xp_message *msg)
{
	l->nbd = remote_new();
	if (!l->nbd || libnbd.connect_uri(l->nbd, r->uri))
		return why(msg);
	tune(l->nbd);
	return 0;
}

static void line_init(struct xd_device *d, struct line *l)
{
	l->dev = d;
	l->readable.end = readable;
	l->writable.end = writable;
	l->cancelled.end = cancelled;
	l->retry.event.end = retry;
	l->patience.event.end = patience_over;
	l->held_tail = &l->held;
	l->doubted_tail = &l->doubted;
	l->settled.event.end = settled;
	l->connected.fn = connected;
	l->hurry.fn = hurry_line;
	l->cut.fn = cut;
}

static int nbd_attach(struct xd_device *d, struct xd_loop *loop)
{
	struct remote *r = d->remote;
	struct line *l = &r->line[loop->index];
	int err = l->nbd ? 0 : line_open(r, l, NULL);

	l->loop = loop;
	if (!err)
		poll_line(l);
	return err;
}

/* The loop's thread has ended. */
static void nbd_detach(struct xd_device *d, struct xd_loop *loop)
{
	struct remote *r = d->remote;
	struct line *l = &r->line[loop->index];

	xd_set(d->hurried, true);
	if (l->state == LINE_CONNECTING)
		pthread_join(l->thread, NULL);
}

/* Says goodbye, and does not wait for an answer: all is flushed, or is not to be. */
static void leave(struct nbd_handle *nbd)
{
	const struct linger in_the_background = { .l_onoff = 0 };

	setsockopt(libnbd.aio_get_fd(nbd), SOL_SOCKET, SO_LINGER, &in_the_background, sizeof(in_the_background));
	libnbd.aio_disconnect(nbd, 0);
}

static void nbd_close_all(struct xd_device *d)
{
	struct remote *r = d->remote;

	for (u32 i = 0; i < XD_LOOPS_MAX; i++) {
		struct line *l = &r->line[i];

		if (l->nbd && l->state == LINE_UP)
			leave(l->nbd);
		libnbd.close(l->nbd);
		libnbd.close(l->fresh);
	}
	free(r);
}

const struct xd_device_ops xd_nbd_ops = {
	.submit = nbd_submit,
	.ended = nbd_ended,
	.attach = nbd_attach,
	.detach = nbd_detach,
	.hurry = nbd_hurry,
	.pread = remote_pread,
	.pwrite = remote_pwrite,
	.flush = remote_flush,
	.close = nbd_close_all,
};

static int learn(struct xd_device *d, struct nbd_handle *nbd, struct xp_message *msg)
{
	const char *unfit = remote_learn(nbd, &d->dev);
	struct remote *r = d->remote;

	if (unfit) {
		snprintf(msg->text, sizeof(msg->text), "%s", unfit);
		return -EOPNOTSUPP;
	}
	d->volatile_cache = libnbd.can_flush(nbd) > 0;
	r->can_trim = libnbd.can_trim(nbd) > 0;
	d->rotational = libnbd.is_rotational(nbd) > 0;
	d->many_loops = libnbd.can_multi_conn(nbd) > 0;
	r->can_zero = libnbd.can_zero(nbd) > 0;
	d->discard_max = r->can_trim ? UINT64_MAX : 0;
	d->zeroes_max = r->can_zero ? UINT64_MAX : 0;
	return 0;
}

int xd_nbd_open(struct xd_device *d, const char *uri, struct xp_message *msg)
{
	struct remote *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	pthread_mutex_init(&r->doubt.lock, NULL);
	d->remote = r;
	d->ops = &xd_nbd_ops;
	for (u32 i = 0; i < XD_LOOPS_MAX; i++)
		line_init(d, &r->line[i]);
	snprintf(r->uri, sizeof(r->uri), "%s", uri);
	snprintf(d->dev.path, sizeof(d->dev.path), "%s", uri);
	err = line_open(r, &r->line[0], msg);
	return err ? err : learn(d, r->line[0].nbd, msg);
}
