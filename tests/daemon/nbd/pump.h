/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pump.h - a client's bytes into a handshake, in any pieces, as a server has to do it.
 *
 * What is offered, and the room for what is sent, are memory of their own each time: a
 * step beyond them is seen. The program supplies xp_assert_failed().
 */
#ifndef XP_TESTS_PUMP_H
#define XP_TESTS_PUMP_H

#include <stdlib.h>

#include "daemon/nbd/nbd_proto.h"
#include "platform.h"

#define SENT_MAX	(NBD_GREETING + (NBD_OPTIONS_MAX + 1) * NBD_ANSWER_MAX)

/* All that a session sends. */
struct sent {
	u8 bytes[SENT_MAX];
	size_t n;
};

/* How long the next piece is; at least 1. */
struct pieces {
	size_t (*next)(struct pieces *p);
	const u8 *from;
	size_t left;
};

static inline void pump_keep(struct sent *sent, const struct nbd_out *out)
{
	XP_ASSERT(out->used <= out->room && sent->n + out->used <= SENT_MAX);
	memcpy(sent->bytes + sent->n, out->bytes, out->used);
	sent->n += out->used;
}

/* Offers @n bytes once. */
static inline size_t pump_once(struct nbd_session *s, const u8 *in, size_t n, struct sent *sent)
{
	struct nbd_out out = { malloc(NBD_ANSWER_MAX), 0, NBD_ANSWER_MAX };
	u8 *offered = malloc(n ? n : 1);
	size_t used;

	memcpy(offered, in, n);
	used = nbd_session_feed(s, offered, n, &out);
	XP_ASSERT(used <= n);
	pump_keep(sent, &out);
	free(offered);
	free(out.bytes);
	return used;
}

/* Returns how many bytes of @in the handshake has consumed. */
static inline size_t pump(struct nbd_session *s, const u8 *in, size_t n, struct pieces *pieces,
			  struct sent *sent)
{
	size_t seen = 0, done = 0, used;

	while (seen < n && s->phase < NBD_TRANSMISSION) {
		size_t piece = pieces->next(pieces);

		seen += min(piece, n - seen);
		do {
			used = pump_once(s, in + done, seen - done, sent);
			done += used;
		} while (used);
		XP_ASSERT(s->phase >= NBD_TRANSMISSION || seen - done < NBD_HANDSHAKE_ROOM);
	}
	return done;
}

static inline bool same_session(const struct nbd_session *a, const struct nbd_session *b)
{
	return a->export == b->export && a->phase == b->phase && a->skip == b->skip &&
	       a->options == b->options && a->no_zeroes == b->no_zeroes &&
	       a->structured == b->structured && a->allocation == b->allocation;
}

static inline size_t pieces_all(struct pieces *p)
{
	(void)p;
	return SIZE_MAX;
}

static inline size_t pieces_one(struct pieces *p)
{
	(void)p;
	return 1;
}

/* As @from says, over and over. */
static inline size_t pieces_told(struct pieces *p)
{
	if (!p->left)
		return SIZE_MAX;
	p->left--;
	return *p->from++ + 1u;
}

#endif /* XP_TESTS_PUMP_H */
