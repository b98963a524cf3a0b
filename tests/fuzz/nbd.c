// SPDX-License-Identifier: GPL-2.0-only
/*
 * nbd.c - libFuzzer on what a client of the NBD server sends.
 *
 * The input: what kind of export, how long the first pieces are, and the bytes. They are fed
 * at once, one at a time and in those pieces, with the same end each time; what is sent is
 * whole replies. What follows the handshake is requests: what is performed is within what
 * the document allows, as it is read here a second time, and each has its replies.
 */
#include "bytes.h"
#include "pump.h"
#include "../unit/abort.h"

#define PIECES		8

#define MUST(cond) do { if (!(cond)) xp_assert_failed(#cond, __FILE__, __LINE__); } while (0)

static u64 number(const u8 *p, int width)
{
	u64 v = 0;

	while (width--)
		v = v << 8 | *p++;
	return v;
}

static struct nbd_export make_export(u8 kind)
{
	return (struct nbd_export){
		.name = "disk", .description = kind & 1 ? "a cache" : NULL,
		.bytes = kind & 2 ? 1 << 30 : 1ull << 45, .min_block = kind & 4 ? 512 : 4096,
		.preferred_block = 4096, .max_payload = kind & 8 ? 65536 : 32 << 20,
		.read_only = kind & 16, .can_trim = kind & 32, .can_zero = kind & 64,
		.can_fast_zero = kind & 128, .can_cache = kind & 1, .multi_conn = kind & 2,
	};
}

/* ---------------------------------------------------------- handshake ---- */

/* Replies to options, and at the end perhaps the one without a header. */
static void check_sent(const struct sent *sent, const struct nbd_session *s)
{
	size_t at = 0;

	while (at < sent->n && sent->n - at >= 20 && number(sent->bytes + at, 8) == REP_MAGIC) {
		u32 type = number(sent->bytes + at + 12, 4);

		MUST((type >= 1 && type <= 4) || (type > 1u << 31 && type <= (1u << 31) + 9));
		at += 20 + number(sent->bytes + at + 16, 4);
	}
	if (at == sent->n)
		return;
	MUST(sent->n - at == (s->no_zeroes ? 10 : 134) && s->phase == NBD_TRANSMISSION);
	MUST(number(sent->bytes + at, 8) == s->export->bytes);
}

static void same_again(const struct nbd_session *end, const struct sent *wanted, size_t consumed,
		       const u8 *in, size_t n, struct pieces p)
{
	static struct sent sent;
	struct nbd_session s;

	sent.n = 0;
	nbd_session_init(&s, end->export);
	MUST(pump(&s, in, n, &p, &sent) == consumed);
	MUST(sent.n == wanted->n && !memcmp(sent.bytes, wanted->bytes, sent.n));
	MUST(same_session(&s, end));
}

static size_t shake_hands(struct nbd_session *s, const u8 *pieces, const u8 *in, size_t n)
{
	static struct sent sent;
	struct pieces all = { .next = pieces_all };
	size_t consumed;

	sent.n = 0;
	consumed = pump(s, in, n, &all, &sent);
	check_sent(&sent, s);
	same_again(s, &sent, consumed, in, n, (struct pieces){ .next = pieces_one });
	same_again(s, &sent, consumed, in, n, (struct pieces){ pieces_told, pieces, PIECES });
	return consumed;
}

/* ----------------------------------------------------------- requests ---- */

/* By the document. */
static bool may_be(const struct nbd_request *r, const struct nbd_session *s)
{
	const struct nbd_export *e = s->export;
	bool writes = r->command == 1 || r->command == 4 || r->command == 6;
	bool moves_data = r->command <= 1;
	u16 flags = 1;

	if (r->command == 3)
		return !r->offset && !r->length && r->flags <= 1;
	flags |= r->command == 0 && s->structured ? 4 : 0;
	flags |= r->command == 6 ? 2 : 0;
	flags |= r->command == 6 && e->can_fast_zero ? 16 : 0;
	flags |= r->command == 7 ? 8 : 0;
	return !(r->flags & ~flags) && r->command <= 7 && r->command != 2 && r->length &&
	       !(writes && e->read_only) && (r->command != 4 || e->can_trim) &&
	       (r->command != 5 || e->can_cache) && (r->command != 6 || e->can_zero) &&
	       (r->command != 7 || (s->structured && s->allocation)) &&
	       !(r->offset % e->min_block) && !(r->length % e->min_block) &&
	       r->offset < e->bytes && r->length <= e->bytes - r->offset &&
	       (!moves_data || r->length <= e->max_payload);
}

/* A whole head for the request at @in; @data of what it announces follows it. */
static void check_head(const u8 *head, u32 length, const u8 *in, bool chunk, u32 data)
{
	MUST(length <= NBD_HEAD_MAX && !memcmp(head + 8, in + 8, 8));
	MUST(number(head, 4) == (chunk ? CHUNK_MAGIC : SIMPLE_MAGIC));
	MUST(chunk ? number(head + 16, 4) == length - 20 + data : length == 16);
}

static void check_failure(const struct nbd_session *s, const struct nbd_request *r, const u8 *in,
			  u8 *head)
{
	int err = r->offset % 140;
	char why[201];
	size_t n = r->length % sizeof(why);

	memset(why, 'w', n);
	why[n] = '\0';
	check_head(head, nbd_reply_error(s, r, err, why, head), in, s->structured, 0);
	if (r->command != NBD_CMD_FLUSH)
		check_head(head, nbd_reply_error_at(s, r, err, r->offset, why, head), in,
			   s->structured, 0);
}

static void check_success(const struct nbd_session *s, const struct nbd_request *r, const u8 *in,
			  u8 *head)
{
	if (r->command == NBD_CMD_READ) {
		check_head(head, nbd_reply_read(s, r, head), in, s->structured,
			   s->structured ? r->length : 0);
		if (s->structured)
			check_head(head, nbd_reply_hole(r, head), in, true, 0);
	} else if (r->command == NBD_CMD_BLOCK_STATUS) {
		check_head(head, nbd_reply_status(r, s->export->bytes - r->offset, 0, head), in,
			   true, 0);
		MUST(number(head + 24, 4) && number(head + 24, 4) % s->export->min_block == 0);
		MUST(!(r->flags & NBD_CMD_FLAG_REQ_ONE) || number(head + 24, 4) <= r->length);
	} else {
		check_head(head, nbd_reply_done(r, head), in, false, 0);
	}
}

/* Returns what follows the header, or SIZE_MAX at the end. */
static size_t request(const struct nbd_session *s, const u8 *in, u8 *head)
{
	struct nbd_request r;
	enum nbd_verdict v = nbd_request_parse(in, s, &r);

	MUST((v == NBD_BROKEN) == (number(in, 4) != REQUEST_MAGIC));
	if (v == NBD_BROKEN || v == NBD_DISCONNECT)
		return SIZE_MAX;
	MUST(r.flags == number(in + 4, 2) && r.command == number(in + 6, 2));
	MUST(r.offset == number(in + 16, 8) && r.length == number(in + 24, 4));
	MUST((v == NBD_PERFORM) == may_be(&r, s));
	MUST(r.payload == (r.command == NBD_CMD_WRITE ? r.length : 0));
	MUST((v == NBD_REFUSE) == !!r.error && (v == NBD_REFUSE) == !!r.why);
	if (v == NBD_REFUSE)
		check_head(head, nbd_reply_refusal(s, &r, head), in, s->structured, 0);
	else
		check_success(s, &r, in, head);
	check_failure(s, &r, in, head);
	return r.payload;
}

static void transmit(const struct nbd_session *s, const u8 *in, size_t n)
{
	u8 *header = malloc(NBD_REQUEST_HEADER), *head = malloc(NBD_HEAD_MAX);
	size_t payload = 0;

	for (; n >= NBD_REQUEST_HEADER && payload != SIZE_MAX; in += payload, n -= payload) {
		memcpy(header, in, NBD_REQUEST_HEADER);
		in += NBD_REQUEST_HEADER;
		n -= NBD_REQUEST_HEADER;
		payload = request(s, header, head);
		if (payload > n)
			break;
	}
	free(header);
	free(head);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct nbd_export e;
	struct nbd_session s;
	size_t consumed;

	if (size < 1 + PIECES)
		return 0;
	e = make_export(data[0]);
	nbd_session_init(&s, &e);
	consumed = shake_hands(&s, data + 1, data + 1 + PIECES, size - 1 - PIECES);
	if (s.phase == NBD_TRANSMISSION)
		transmit(&s, data + 1 + PIECES + consumed, size - 1 - PIECES - consumed);
	return 0;
}
