// SPDX-License-Identifier: GPL-2.0-only
/*
 * nbd-toy SOCKET BYTES [read-only] [bad=OFFSET] - the least NBD server: memory, on a unix
 * socket, a process for each client, one request after the other. It lets the clients that
 * others have written speak with daemon/nbd/nbd_proto.h before, and without, the daemon.
 *
 * Where it may, it answers in parts, and zeros as holes. Reads and writes of the block of
 * 512 bytes at OFFSET fail.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/nbd/nbd_proto.h"
#include "platform.h"
#include "tests/unit/abort.h"

#define PART	32768u
#define NONE	UINT64_MAX

static u8 *memory;
static u64 bad = NONE;
static struct nbd_export toy = {
	.name = "toy", .description = "memory", .min_block = 512, .preferred_block = 4096,
	.max_payload = 32 << 20, .multi_conn = true, .can_trim = true, .can_zero = true,
	.can_fast_zero = true, .can_cache = true,
};

/* A client, and what it has sent that nobody has looked at. */
struct client {
	int fd;
	struct nbd_session session;
	u8 in[NBD_HANDSHAKE_ROOM];
	size_t have;
};

/* -------------------------------------------------------------- bytes ---- */

static void leave(const char *why)
{
	if (why)
		fprintf(stderr, "nbd-toy: %s\n", why);
	exit(why ? 1 : 0);
}

/* Some go without waiting for the answer to what they said last. */
static void give(struct client *c, const void *from, size_t n)
{
	const u8 *p = from;
	ssize_t done;

	for (; n; n -= done, p += done) {
		done = send(c->fd, p, n, MSG_NOSIGNAL);
		if (done <= 0)
			leave(NULL);
	}
}

static void drop(struct client *c, size_t n)
{
	c->have -= n;
	memmove(c->in, c->in + n, c->have);
}

/* @to may be NULL. A client that goes between requests has left. */
static void take(struct client *c, u8 *to, size_t n, bool may_go)
{
	u8 waste[PART];
	size_t from_here = min(n, c->have);

	if (to)
		memcpy(to, c->in, from_here);
	drop(c, from_here);
	for (n -= from_here, to += to ? from_here : 0; n;) {
		ssize_t done = recv(c->fd, to ? to : waste, to ? n : min(n, sizeof(waste)), 0);

		if (done <= 0)
			leave(may_go ? NULL : "a client went in the middle of a request");
		n -= done;
		to += to ? done : 0;
	}
}

/* ------------------------------------------------------------ requests ---- */

static bool is_zeros(u64 offset, u32 length)
{
	return !memory[offset] && !memcmp(memory + offset, memory + offset + 1, length - 1);
}

static bool is_bad(const struct nbd_request *r)
{
	return r->length && bad >= r->offset && bad < r->offset + r->length;
}

static void answer_read(struct client *c, const struct nbd_request *r)
{
	bool whole = !c->session.structured || r->flags & NBD_CMD_FLAG_DF;
	u64 end = r->offset + r->length;
	u8 head[NBD_HEAD_MAX];
	u32 part;

	if (whole) {
		give(c, head, nbd_reply_read(&c->session, r, head));
		give(c, memory + r->offset, r->length);
		return;
	}
	if (is_zeros(r->offset, r->length)) {
		give(c, head, nbd_reply_hole(r, head));
		return;
	}
	for (u64 at = r->offset; at < end; at += part) {
		part = min(PART, end - at);
		if (is_zeros(at, part)) {
			give(c, head, nbd_chunk_hole(r, at, part, at + part == end, head));
		} else {
			give(c, head, nbd_chunk_data(r, at, part, at + part == end, head));
			give(c, memory + at, part);
		}
	}
}

/* The blocks from its offset on that are like the first. */
static u32 answer_status(const struct nbd_request *r, u8 *head)
{
	bool zeros = is_zeros(r->offset, 512);
	u64 end = r->offset + 512;

	while (end < toy.bytes && is_zeros(end, 512) == zeros)
		end += 512;
	return nbd_reply_status(r, end - r->offset, zeros ? NBD_STATE_ZERO : 0, head);
}

static void perform(struct client *c, const struct nbd_request *r)
{
	u8 head[NBD_HEAD_MAX];

	if (r->payload)
		take(c, is_bad(r) ? NULL : memory + r->offset, r->payload, false);
	if (is_bad(r)) {
		give(c, head, nbd_reply_error_at(&c->session, r, EIO, bad, "a bad block", head));
		return;
	}
	switch (r->command) {
	case NBD_CMD_READ:
		answer_read(c, r);
		return;
	case NBD_CMD_BLOCK_STATUS:
		give(c, head, answer_status(r, head));
		return;
	case NBD_CMD_TRIM:
	case NBD_CMD_WRITE_ZEROES:
		memset(memory + r->offset, 0, r->length);
	}
	give(c, head, nbd_reply_done(r, head));
}

static void transmit(struct client *c)
{
	u8 raw[NBD_REQUEST_HEADER], head[NBD_HEAD_MAX];
	struct nbd_request r;

	for (;;) {
		take(c, raw, sizeof(raw), true);
		switch (nbd_request_parse(raw, &c->session, &r)) {
		case NBD_PERFORM:
			perform(c, &r);
			break;
		case NBD_REFUSE:
			take(c, NULL, r.payload, false);
			give(c, head, nbd_reply_refusal(&c->session, &r, head));
			break;
		case NBD_DISCONNECT:
			return;
		case NBD_BROKEN:
			leave("a client sent what is no request");
		}
	}
}

static void serve(struct client *c)
{
	u8 room[NBD_ANSWER_MAX];
	struct nbd_out out = { room, 0, sizeof(room) };

	nbd_session_init(&c->session, &toy);
	nbd_session_greeting(&out);
	give(c, room, out.used);
	while (c->session.phase < NBD_TRANSMISSION) {
		ssize_t n = recv(c->fd, c->in + c->have, sizeof(c->in) - c->have, 0);

		if (n <= 0)
			leave(NULL);
		c->have += n;
		do {
			out.used = 0;
			n = nbd_session_feed(&c->session, c->in, c->have, &out);
			drop(c, n);
			give(c, room, out.used);
		} while (n);
	}
	if (c->session.phase == NBD_TRANSMISSION)
		transmit(c);
}

/* ------------------------------------------------------------------------ */

static int listen_at(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 16))
		leave("cannot listen there");
	return fd;
}

int main(int argc, char **argv)
{
	static struct client c;
	int fd;

	if (argc < 3)
		leave("usage: nbd-toy SOCKET BYTES [read-only] [bad=OFFSET]");
	toy.bytes = strtoull(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++) {
		toy.read_only |= !strcmp(argv[i], "read-only");
		if (!strncmp(argv[i], "bad=", 4))
			bad = strtoull(argv[i] + 4, NULL, 0);
	}
	if (nbd_export_wrong(&toy))
		leave(nbd_export_wrong(&toy));
	memory = mmap(NULL, toy.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		leave("no memory");
	signal(SIGCHLD, SIG_IGN);
	for (fd = listen_at(argv[1]);;) {
		c.fd = accept(fd, NULL, NULL);
		if (c.fd < 0)
			leave("cannot accept");
		if (!fork()) {
			close(fd);
			serve(&c);
			return 0;
		}
		close(c.fd);
	}
}
