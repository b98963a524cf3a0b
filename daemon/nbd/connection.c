// SPDX-License-Identifier: GPL-2.0-only
/*
 * connection.c - one client: its handshake, its requests and their replies.
 *
 * One receive is under way at a time, into the connection's own buffer or, for the rest of a big
 * write, straight into the request's. Replies are gathered and sent together at the end of
 * a round, by one system call; where the socket has no room for them, when it has.
 */
#include "daemon/engine.h"
#include "daemon/nbd/nbd_proto.h"
#include "daemon/nbd/server.h"
#include "lib/uring_abi.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define IN_BYTES	(64u << 10)
#define OUT_BYTES	(4u * NBD_ANSWER_MAX)
#define REQUESTS_MAX	256u			/* under way, of one client */
#define BYTES_MAX	(64ull << 20)		/* and their data, unless there is but one */
#define REPLIES_AT_ONCE	64u
#define HANDSHAKE_S	10			/* for the next word of one */

struct client;

struct request {
	struct xd_io io;
	struct client *client;
	struct nbd_request nbd;
	struct request *next;	/* replies to be sent */
	u32 held;		/* bytes of data, of the client's allowance */
	u32 head_bytes, data_bytes;
	u8 head[NBD_HEAD_MAX];
};

struct client {
	struct xd_connection connection;
	struct nbd_session session;
	struct xd_event received, writable;
	struct xd_call send_call, leave_call;
	bool receiving, polling, sending;	/* armed; sending: the call is queued */
	bool closing;		/* no more is received; ends when all is replied to */
	bool broken;		/* and nothing is sent any more */

	u32 under_way;		/* requests that have not been replied to, or begun */
	u64 bytes;		/* of their data */

	struct request *filling;	/* its payload is coming */
	u32 filled;
	struct request *refused;	/* its payload is read away */
	u32 drain;

	struct request *first, **last;	/* replies */
	u32 sent;		/* bytes of the first */

	struct request *spare, *requests;	/* REQUESTS_MAX of them, and those of no use now */
	u32 in_used;
	u8 out[OUT_BYTES];	/* of the handshake */
	u8 in[IN_BYTES];
};

static struct client *client_of(struct xd_connection *c)
{
	return container_of(c, struct client, connection);
}

static void take_in(struct client *c);

/* ------------------------------------------------------------------ end ---- */

static void request_free(struct request *r)
{
	struct client *c = r->client;

	c->under_way--;
	c->bytes -= r->held;
	if (r->io.buffer)
		xd_buffer_put(r->io.buffer);
	r->next = c->spare;
	c->spare = r;
}

static struct request *request_get(struct client *c)
{
	struct request *r = c->spare;

	c->spare = r->next;
	c->under_way++;
	r->io.buffer = NULL;
	r->held = 0;
	return r;
}

/* When nothing is armed, under way or to be sent. */
static bool client_over(struct client *c)
{
	return c->closing && !c->receiving && !c->polling && !c->sending && !c->under_way;
}

static void close_if_over(struct client *c)
{
	if (client_over(c))
		xd_server_gone(&c->connection);
}

void xd_connection_free(struct xd_connection *connection)
{
	struct client *c = client_of(connection);

	free(c->requests);
	free(c);
}

static void drop_replies(struct client *c)
{
	while (c->first) {
		struct request *r = c->first;

		c->first = r->next;
		request_free(r);
	}
	c->last = &c->first;
}

/* What has come of it only in part. Not while it may be received into. */
static void forget_incoming(struct client *c)
{
	if (c->filling)
		request_free(c->filling);
	if (c->refused)
		request_free(c->refused);
	c->filling = c->refused = NULL;
}

static void stop_receiving(struct client *c)
{
	c->closing = true;
	if (c->receiving)
		shutdown(c->connection.fd, SHUT_RD);
	else
		forget_incoming(c);
}

/* The other end is gone, or talks nonsense. */
static void break_off(struct client *c)
{
	stop_receiving(c);
	if (c->broken)
		return;
	c->broken = true;
	shutdown(c->connection.fd, SHUT_RDWR);
	drop_replies(c);
}

/* ----------------------------------------------------------------- send ---- */

static u32 gather(struct client *c, struct iovec *v)
{
	u32 skip = c->sent, n = 0;

	for (struct request *r = c->first; r && n < 2 * REPLIES_AT_ONCE; r = r->next) {
		if (skip < r->head_bytes) {
			v[n++] = (struct iovec){ r->head + skip, r->head_bytes - skip };
			skip = 0;
		} else {
			skip -= r->head_bytes;
		}
		if (r->data_bytes)
			v[n++] = (struct iovec){ r->io.buffer->data + skip, r->data_bytes - skip };
		skip = 0;
	}
	return n;
}

static void have_sent(struct client *c, size_t bytes)
{
	bytes += c->sent;
	while (c->first && bytes >= c->first->head_bytes + c->first->data_bytes) {
		struct request *r = c->first;

		bytes -= r->head_bytes + r->data_bytes;
		c->first = r->next;
		if (!c->first)
			c->last = &c->first;
		request_free(r);
	}
	c->sent = (u32)bytes;
}

static void wait_for_room(struct client *c)
{
	struct io_uring_sqe *sqe = xd_loop_sqe(c->connection.loop, &c->writable);

	c->polling = true;
	io_uring_prep_poll_add(sqe, c->connection.fd, POLLOUT);
}

static void send_replies(struct client *c)
{
	struct iovec v[2 * REPLIES_AT_ONCE + 1];

	while (c->first && !c->polling && !c->broken) {
		struct msghdr msg = { .msg_iov = v, .msg_iovlen = gather(c, v) };
		ssize_t n = sendmsg(c->connection.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0)
			have_sent(c, (size_t)n);
		else if (errno == EAGAIN)
			wait_for_room(c);
		else if (errno != EINTR)
			break_off(c);
	}
}

static void send_and_go_on(struct client *c)
{
	send_replies(c);
	take_in(c);	/* there may be room for what waits in the buffer */
	close_if_over(c);
}

static void send_now(struct xd_call *call)
{
	struct client *c = container_of(call, struct client, send_call);

	c->sending = false;
	send_and_go_on(c);
}

static void writable(struct xd_event *event, int res)
{
	struct client *c = container_of(event, struct client, writable);

	(void)res;
	c->polling = false;
	send_and_go_on(c);
}

static void send_later(struct client *c)
{
	if (c->sending)
		return;
	c->sending = true;
	xd_loop_later(c->connection.loop, &c->send_call);
}

/* The head is there. */
static void reply(struct request *r, u32 head_bytes, u32 data_bytes)
{
	struct client *c = r->client;

	r->head_bytes = head_bytes;
	r->data_bytes = data_bytes;
	r->next = NULL;
	if (c->broken) {
		request_free(r);
	} else {
		*c->last = r;
		c->last = &r->next;
	}
	send_later(c);
}

static void reply_error(struct request *r, int err)
{
	reply(r, nbd_reply_error(&r->client->session, &r->nbd, err, NULL, r->head), 0);
}

/* -------------------------------------------------------------- requests ---- */

static void flushed(struct xd_io *io)
{
	struct request *r = container_of(io, struct request, io);

	if (io->err)
		reply_error(r, io->err);
	else
		reply(r, nbd_reply_done(&r->nbd, r->head), 0);
}

/* FUA of what the core knows none for. */
static void flush_after(struct request *r)
{
	r->io.op = XP_FLUSH;
	r->io.own = true;
	r->io.nr_sectors = 0;
	r->io.sector = 0;
	r->io.end = flushed;
	xd_submit(&r->io);
}

static void ended(struct xd_io *io)
{
	struct request *r = container_of(io, struct request, io);
	struct nbd_session *s = &r->client->session;

	/* A device need not be able to discard, and a client need not know. */
	if (io->op == XP_DISCARD && io->err == -EOPNOTSUPP)
		io->err = 0;
	if (io->err)
		reply_error(r, io->err);
	else if (io->op == XP_READ)
		reply(r, nbd_reply_read(s, &r->nbd, r->head), r->nbd.length);
	else if ((r->nbd.flags & NBD_CMD_FLAG_FUA) && io->op != XP_WRITE && io->op != XP_FLUSH)
		flush_after(r);
	else
		reply(r, nbd_reply_done(&r->nbd, r->head), 0);
}

static void perform(struct request *r)
{
	static const u8 op[] = {
		[NBD_CMD_READ] = XP_READ, [NBD_CMD_WRITE] = XP_WRITE, [NBD_CMD_FLUSH] = XP_FLUSH,
		[NBD_CMD_TRIM] = XP_DISCARD, [NBD_CMD_WRITE_ZEROES] = XP_ZEROES,
	};
	struct xd_io *io = &r->io;

	io->loop = r->client->connection.loop;
	io->op = op[r->nbd.command];
	io->fua = io->op == XP_WRITE && (r->nbd.flags & NBD_CMD_FLAG_FUA);
	io->ordered = io->aside = io->own = false;
	io->sector = r->nbd.offset >> XP_SECTOR_SHIFT;
	io->nr_sectors = r->nbd.length >> XP_SECTOR_SHIFT;
	io->end = ended;
	xd_submit(io);
}

/* Its header has come. Its payload, if any, is next. */
static void request_begin(struct request *r)
{
	struct client *c = r->client;
	bool data = r->nbd.command == NBD_CMD_READ || r->nbd.command == NBD_CMD_WRITE;

	if (data) {
		r->io.buffer = xd_buffer_get(c->connection.loop, r->nbd.length);
		r->held = r->nbd.length;
		c->bytes += r->held;
	}
	if (data && !r->io.buffer) {
		r->head_bytes = nbd_reply_error(&c->session, &r->nbd, -ENOMEM, NULL, r->head);
		c->refused = r;
		c->drain = r->nbd.payload;
	} else if (r->nbd.payload) {
		c->filling = r;
		c->filled = 0;
	} else if (r->nbd.command == NBD_CMD_BLOCK_STATUS) {	/* all of it is data: always true */
		reply(r, nbd_reply_status(&r->nbd, r->nbd.length, 0, r->head), 0);
	} else {
		perform(r);
	}
}

/* False: the connection ends. */
static bool request_parse(struct client *c, const u8 *head)
{
	struct request *r = request_get(c);

	switch (nbd_request_parse(head, &c->session, &r->nbd)) {
	case NBD_PERFORM:
		request_begin(r);
		return true;
	case NBD_REFUSE:
		r->head_bytes = nbd_reply_refusal(&c->session, &r->nbd, r->head);
		c->refused = r;
		c->drain = r->nbd.payload;
		return true;
	case NBD_DISCONNECT:
		request_free(r);
		stop_receiving(c);
		return true;
	case NBD_BROKEN:
		break;
	}
	request_free(r);
	return false;
}

/* --------------------------------------------------------------- receive ---- */

static bool has_room(const struct client *c)
{
	return c->under_way < REQUESTS_MAX && (c->bytes < BYTES_MAX || !c->under_way);
}

/* So many more bytes of its payload have come. */
static void payload_came(struct client *c, u32 n)
{
	struct request *r = c->filling;

	c->filled += n;
	if (c->filled == r->nbd.payload) {
		c->filling = NULL;
		perform(r);
	}
}

/* So many of the @n bytes at @at were of use; 0: more are needed, or room for another request. */
static u32 take_payload(struct client *c, const u8 *at, u32 n)
{
	struct request *r = c->filling;

	n = min(n, r->nbd.payload - c->filled);
	memcpy(r->io.buffer->data + c->filled, at, n);
	payload_came(c, n);
	return n;
}

static u32 take_refused(struct client *c, u32 n)
{
	struct request *r = c->refused;

	n = min(n, c->drain);
	c->drain -= n;
	if (!c->drain) {
		c->refused = NULL;
		reply(r, r->head_bytes, 0);
	}
	return n;
}

static u32 take_transmission(struct client *c, const u8 *at, u32 n)
{
	if (c->filling)
		return take_payload(c, at, n);
	if (n < NBD_REQUEST_HEADER || !has_room(c))
		return 0;
	if (!request_parse(c, at))
		break_off(c);	/* what comes next is not to be understood */
	if (c->refused && !c->drain)
		take_refused(c, 0);
	return NBD_REQUEST_HEADER;
}

/* The answers are small, the socket's buffer is empty: a client that does not take them is
 * none. False: it is. */
static bool send_answers(struct client *c, struct nbd_out *out)
{
	size_t sent = 0;

	while (sent < out->used) {
		ssize_t n = send(c->connection.fd, out->bytes + sent, out->used - sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		sent += (size_t)n;
	}
	out->used = 0;
	return true;
}

static u32 take_handshake(struct client *c, const u8 *at, u32 n)
{
	struct nbd_out out = { .bytes = c->out, .room = sizeof(c->out) };
	u32 used = (u32)nbd_session_feed(&c->session, at, n, &out);

	if (!send_answers(c, &out))
		break_off(c);
	if (c->session.phase == NBD_CLOSED)
		stop_receiving(c);
	return used;
}

static u32 take(struct client *c, const u8 *at, u32 n)
{
	if (c->refused)
		return take_refused(c, n);
	if (c->session.phase == NBD_TRANSMISSION)
		return take_transmission(c, at, n);
	return take_handshake(c, at, n);
}

/* Who says nothing in a handshake takes up a place. Its own completion is of no interest. */
static void limit(struct client *c, struct io_uring_sqe *sqe)
{
	static struct __kernel_timespec patience = { .tv_sec = HANDSHAKE_S };

	sqe->flags |= IOSQE_IO_LINK;
	io_uring_prep_link_timeout(xd_loop_sqe(c->connection.loop, NULL), &patience, 0);
}

static void receive(struct client *c)
{
	struct io_uring_sqe *sqe;

	if (c->receiving || c->closing || (!c->filling && !c->refused && !has_room(c)))
		return;
	c->receiving = true;
	xd_loop_room(c->connection.loop, 2);
	sqe = xd_loop_sqe(c->connection.loop, &c->received);
	if (c->filling)
		io_uring_prep_recv(sqe, c->connection.fd, c->filling->io.buffer->data + c->filled,
				   c->filling->nbd.payload - c->filled, 0);
	else
		io_uring_prep_recv(sqe, c->connection.fd, c->in + c->in_used, IN_BYTES - c->in_used, 0);
	if (c->session.phase != NBD_TRANSMISSION)
		limit(c, sqe);
}

/* All that the buffer holds and there is room for; then more is received. */
static void take_in(struct client *c)
{
	u32 at = 0, n = 1;

	if (c->receiving)	/* it may be into the buffer */
		return;
	while (n && at < c->in_used && !c->closing) {
		n = take(c, c->in + at, c->in_used - at);
		at += n;
	}
	c->in_used -= at;
	if (at && c->in_used)
		memmove(c->in, c->in + at, c->in_used);
	receive(c);
}

static void received(struct xd_event *event, int res)
{
	struct client *c = container_of(event, struct client, received);

	c->receiving = false;
	if ((res == -EINTR || res == -EAGAIN) && !c->closing) {
		receive(c);
		return;
	}
	if (c->closing) {
		forget_incoming(c);
	} else if (res <= 0) {	/* it leaves without a word: what it asked is done all the same */
		break_off(c);
	} else if (c->filling) {
		payload_came(c, (u32)res);
	} else {
		c->in_used += (u32)res;
	}
	take_in(c);
	close_if_over(c);
}

/* --------------------------------------------------------- begin and leave ---- */

void xd_connection_begin(struct xd_call *call)
{
	struct client *c = client_of(container_of(call, struct xd_connection, call));
	struct nbd_out out = { .bytes = c->out, .room = sizeof(c->out) };

	nbd_session_greeting(&out);
	if (!send_answers(c, &out))
		break_off(c);
	receive(c);
	close_if_over(c);
}

static void leave(struct xd_call *call)
{
	struct client *c = container_of(call, struct client, leave_call);

	xd_server_called(&c->connection);
	if (xd_get(c->connection.server->impatient))
		break_off(c);
	else
		stop_receiving(c);
	close_if_over(c);
}

void xd_connection_leave(struct xd_connection *connection)
{
	struct client *c = client_of(connection);

	if (connection->called)
		return;
	connection->called = true;
	xd_loop_call(connection->loop, &c->leave_call);
}

struct xd_connection *xd_connection_new(struct xd_server *s, struct xd_loop *loop, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	struct request *r = calloc(REQUESTS_MAX, sizeof(*r));

	if (!c || !r) {
		free(c);
		free(r);
		return NULL;
	}
	c->requests = r;
	for (u32 i = 0; i < REQUESTS_MAX; i++, r++) {
		r->client = c;
		r->next = c->spare;
		c->spare = r;
	}
	c->connection = (struct xd_connection){ .server = s, .loop = loop, .fd = fd,
						.call.fn = xd_connection_begin };
	nbd_session_init(&c->session, &s->export);
	c->received.end = received;
	c->writable.end = writable;
	c->send_call.fn = send_now;
	c->leave_call.fn = leave;
	c->last = &c->first;
	return &c->connection;
}
