// SPDX-License-Identifier: GPL-2.0-only
/*
 * nbd_handshake.c - from the greeting to the first request.
 *
 * Fixed newstyle alone. A client without it could say nothing but EXPORT_NAME; none has been
 * written for ten years, and it is turned away. There is no TLS: sockets are local, or a
 * tunnel's.
 *
 * One metadata context is offered, base:allocation. Without it nbdinfo --map and qemu-img map
 * would say that they cannot, and there would be no way to tell anyone of holes.
 */
#include "daemon/nbd/nbd_proto.h"
#include "daemon/nbd/nbd_wire.h"
#include "platform.h"

#include <string.h>

#define ZEROES_AFTER_EXPORT_NAME	124u

static const char allocation[] = "base:allocation";

static bool is_power_of_2(u32 n)
{
	return n && !(n & (n - 1));
}

static const char *blocks_wrong(const struct nbd_export *e)
{
	if (!is_power_of_2(e->min_block) || e->min_block > 65536)
		return "the least block is not a power of 2 up to 64 KiB";
	if (!is_power_of_2(e->preferred_block) || e->preferred_block < max(e->min_block, 512))
		return "the preferred block is not a power of 2, or below the least or 512";
	if (e->max_payload < max(e->preferred_block, 65536) || e->max_payload > NBD_MAX_PAYLOAD)
		return "the largest payload is below 64 KiB or a block, or over 64 MiB";
	if (e->bytes & (e->min_block - 1))
		return "the size is not a multiple of the least block";
	return NULL;
}

const char *nbd_export_wrong(const struct nbd_export *e)
{
	if (strlen(e->name) > NBD_OWN_NAME_MAX)
		return "the name is longer than 256 bytes";
	if (e->description && strlen(e->description) > NBD_OWN_NAME_MAX)
		return "the description is longer than 256 bytes";
	return blocks_wrong(e);
}

/* ------------------------------------------------------- what is sent ---- */

static void put_bytes(struct nbd_out *out, const void *bytes, size_t n)
{
	XP_ASSERT(out->room - out->used >= n);
	memcpy(out->bytes + out->used, bytes, n);
	out->used += n;
}

static void put16(struct nbd_out *out, u16 v)
{
	u8 raw[2];

	nbd_put16(raw, v);
	put_bytes(out, raw, sizeof(raw));
}

static void put32(struct nbd_out *out, u32 v)
{
	u8 raw[4];

	nbd_put32(raw, v);
	put_bytes(out, raw, sizeof(raw));
}

static void put64(struct nbd_out *out, u64 v)
{
	u8 raw[8];

	nbd_put64(raw, v);
	put_bytes(out, raw, sizeof(raw));
}

/* A reply to an option, but for the @length bytes it speaks of. */
static void reply(struct nbd_out *out, enum nbd_option option, u32 type, u32 length)
{
	put64(out, NBD_REP_MAGIC);
	put32(out, option);
	put32(out, type);
	put32(out, length);
}

static void acknowledge(struct nbd_out *out, enum nbd_option option)
{
	reply(out, option, NBD_REP_ACK, 0);
}

static void refuse(struct nbd_out *out, enum nbd_option option, u32 type, const char *why)
{
	reply(out, option, type, strlen(why));
	put_bytes(out, why, strlen(why));
}

static u16 transmission_flags(const struct nbd_session *s)
{
	const struct nbd_export *e = s->export;
	u16 flags = NBD_FLAG_HAS_FLAGS | NBD_FLAG_SEND_FLUSH | NBD_FLAG_SEND_FUA;

	flags |= s->structured ? NBD_FLAG_SEND_DF : 0;
	flags |= e->multi_conn ? NBD_FLAG_MULTI_CONN : 0;
	flags |= e->rotational ? NBD_FLAG_ROTATIONAL : 0;
	flags |= e->can_cache ? NBD_FLAG_SEND_CACHE : 0;
	if (e->read_only)
		return flags | NBD_FLAG_READ_ONLY;
	flags |= e->can_trim ? NBD_FLAG_SEND_TRIM : 0;
	flags |= e->can_zero ? NBD_FLAG_SEND_ZEROES : 0;
	flags |= e->can_zero && e->can_fast_zero ? NBD_FLAG_SEND_FAST_ZERO : 0;
	return flags;
}

/* --------------------------------------------------- what has come in ---- */

/* What is left of an option's data. */
struct data {
	const u8 *at;
	u32 left;
};

struct text {
	const char *at;
	u32 length;
};

static bool take16(struct data *d, u16 *v)
{
	if (d->left < sizeof(*v))
		return false;
	*v = nbd_get16(d->at);
	d->at += sizeof(*v);
	d->left -= sizeof(*v);
	return true;
}

static bool take32(struct data *d, u32 *v)
{
	if (d->left < sizeof(*v))
		return false;
	*v = nbd_get32(d->at);
	d->at += sizeof(*v);
	d->left -= sizeof(*v);
	return true;
}

/* Its length, and then itself. */
static bool take_text(struct data *d, struct text *t)
{
	if (!take32(d, &t->length) || t->length > d->left)
		return false;
	t->at = (const char *)d->at;
	d->at += t->length;
	d->left -= t->length;
	return true;
}

static bool is(const struct text *t, const char *word)
{
	return t->length == strlen(word) && !memcmp(t->at, word, t->length);
}

static bool is_ours(const struct nbd_session *s, const struct text *name)
{
	return !name->length || is(name, s->export->name);
}

/* Refuses what no name is. */
static bool name_fits(const struct nbd_session *s, const struct text *name,
		      enum nbd_option option, struct nbd_out *out)
{
	if (name->length > NBD_NAME_MAX)
		refuse(out, option, NBD_REP_ERR_TOO_BIG, "a name has at most 4096 bytes");
	else if (!is_ours(s, name))
		refuse(out, option, NBD_REP_ERR_UNKNOWN, "no such export");
	else
		return true;
	return false;
}

/* ------------------------------------------------------------ options ---- */

/* What cannot be served cannot be answered, only hung up on. */
static void export_name(struct nbd_session *s, enum nbd_option option, struct data d,
			struct nbd_out *out)
{
	static const u8 zeroes[ZEROES_AFTER_EXPORT_NAME];
	struct text name = { (const char *)d.at, d.left };

	(void)option;
	if (!is_ours(s, &name)) {
		s->phase = NBD_CLOSED;
		return;
	}
	put64(out, s->export->bytes);
	put16(out, transmission_flags(s));
	if (!s->no_zeroes)
		put_bytes(out, zeroes, sizeof(zeroes));
	s->phase = NBD_TRANSMISSION;
}

static void list(struct nbd_session *s, enum nbd_option option, struct data d,
		 struct nbd_out *out)
{
	const char *name = s->export->name;
	const char *about = s->export->description ? s->export->description : "";

	(void)d;
	reply(out, option, NBD_REP_SERVER, 4 + strlen(name) + strlen(about));
	put32(out, strlen(name));
	put_bytes(out, name, strlen(name));
	put_bytes(out, about, strlen(about));
	acknowledge(out, option);
}

static void put_info_text(struct nbd_out *out, enum nbd_option option, enum nbd_info info,
			  const char *text)
{
	reply(out, option, NBD_REP_INFO, 2 + strlen(text));
	put16(out, info);
	put_bytes(out, text, strlen(text));
}

/* Sizes are told whether asked for or not, as the document wants it of who has any. */
static void put_infos(const struct nbd_session *s, enum nbd_option option, u32 asked,
		      struct nbd_out *out)
{
	const struct nbd_export *e = s->export;

	reply(out, option, NBD_REP_INFO, 12);
	put16(out, NBD_INFO_EXPORT);
	put64(out, e->bytes);
	put16(out, transmission_flags(s));
	if (asked & 1u << NBD_INFO_NAME)
		put_info_text(out, option, NBD_INFO_NAME, e->name);
	if (asked & 1u << NBD_INFO_DESCRIPTION && e->description)
		put_info_text(out, option, NBD_INFO_DESCRIPTION, e->description);
	reply(out, option, NBD_REP_INFO, 14);
	put16(out, NBD_INFO_BLOCK_SIZE);
	put32(out, e->min_block);
	put32(out, e->preferred_block);
	put32(out, e->max_payload);
}

/* INFO and GO. */
static void info(struct nbd_session *s, enum nbd_option option, struct data d,
		 struct nbd_out *out)
{
	struct text name;
	u16 count, item;
	u32 asked = 0;

	if (!take_text(&d, &name) || !take16(&d, &count) || d.left != 2u * count) {
		refuse(out, option, NBD_REP_ERR_INVALID, "its lengths do not add up");
		return;
	}
	if (!name_fits(s, &name, option, out))
		return;
	while (take16(&d, &item))
		asked |= item <= NBD_INFO_DESCRIPTION ? 1u << item : 0;
	put_infos(s, option, asked, out);
	acknowledge(out, option);
	if (option == NBD_OPT_GO)
		s->phase = NBD_TRANSMISSION;
}

static void structured_reply(struct nbd_session *s, enum nbd_option option, struct data d,
			     struct nbd_out *out)
{
	(void)d;
	s->structured = true;
	acknowledge(out, option);
}

/* False: the queries are not as long as they say. */
static bool take_queries(struct data *d, enum nbd_option option, bool *wanted)
{
	struct text query;
	u32 count;

	if (!take32(d, &count))
		return false;
	*wanted = !count && option == NBD_OPT_LIST_META_CONTEXT;
	for (; count; count--) {
		if (!take_text(d, &query))
			return false;
		*wanted |= is(&query, allocation);
		*wanted |= is(&query, "base:") && option == NBD_OPT_LIST_META_CONTEXT;
	}
	return !d->left;
}

/* LIST and SET. */
static void meta_context(struct nbd_session *s, enum nbd_option option, struct data d,
			 struct nbd_out *out)
{
	bool set = option == NBD_OPT_SET_META_CONTEXT, wanted;
	struct text name;

	if (!take_text(&d, &name) || !take_queries(&d, option, &wanted)) {
		refuse(out, option, NBD_REP_ERR_INVALID, "its lengths do not add up");
		return;
	}
	if (!s->structured) {
		refuse(out, option, NBD_REP_ERR_INVALID, "it needs structured replies");
		return;
	}
	if (!name_fits(s, &name, option, out))
		return;
	if (wanted) {
		reply(out, option, NBD_REP_META_CONTEXT, 4 + strlen(allocation));
		put32(out, set ? NBD_CONTEXT_ALLOCATION : 0);
		put_bytes(out, allocation, strlen(allocation));
	}
	s->allocation = set ? wanted : s->allocation;
	acknowledge(out, option);
}

/* ABORT has no place here: it is answered without its data. */
static const struct option {
	enum nbd_option code;
	u32 most;		/* bytes of data */
	void (*answer)(struct nbd_session *s, enum nbd_option option, struct data d,
		       struct nbd_out *out);
} options[] = {
	{ NBD_OPT_EXPORT_NAME, NBD_NAME_MAX, export_name },
	{ NBD_OPT_LIST, 0, list },
	{ NBD_OPT_INFO, NBD_OPTION_MAX, info },
	{ NBD_OPT_GO, NBD_OPTION_MAX, info },
	{ NBD_OPT_STRUCTURED_REPLY, 0, structured_reply },
	{ NBD_OPT_LIST_META_CONTEXT, NBD_OPTION_MAX, meta_context },
	{ NBD_OPT_SET_META_CONTEXT, NBD_OPTION_MAX, meta_context },
};

static const struct option *find_option(u32 code)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].code == code)
			return &options[i];
	return NULL;
}

/* What its header alone decides. False: it is known, and its data is needed. */
static bool answer_header(struct nbd_session *s, const struct option *o, u32 code, u32 length,
			  struct nbd_out *out)
{
	if (code == NBD_OPT_ABORT) {
		acknowledge(out, code);
		s->phase = NBD_CLOSED;
		return true;
	}
	if (o && length <= o->most)
		return false;
	if (code == NBD_OPT_EXPORT_NAME)
		s->phase = NBD_CLOSED;
	else if (!o)
		refuse(out, code, NBD_REP_ERR_UNSUP, "not known here");
	else if (!o->most)
		refuse(out, code, NBD_REP_ERR_INVALID, "it has no data");
	else
		refuse(out, code, NBD_REP_ERR_TOO_BIG, "its data is longer than 8192 bytes");
	s->skip = length;
	return true;
}

/* ------------------------------------------------------------- steps ---- */

/* Each returns what it has consumed; 0: there must be more. */

static size_t feed_flags(struct nbd_session *s, const u8 *in, size_t n)
{
	u32 flags;

	if (n < sizeof(flags))
		return 0;
	flags = nbd_get32(in);
	s->no_zeroes = flags & NBD_FLAG_NO_ZEROES;
	s->phase = (flags & ~NBD_FLAG_NO_ZEROES) == NBD_FLAG_FIXED_NEWSTYLE ? NBD_OPTIONS :
									      NBD_CLOSED;
	return sizeof(flags);
}

static size_t feed_option(struct nbd_session *s, const u8 *in, size_t n, struct nbd_out *out)
{
	const struct option *o;
	u32 code, length;

	if (n < NBD_OPTION_HEADER || out->room - out->used < NBD_ANSWER_MAX)
		return 0;
	if (nbd_get64(in) != NBD_OPTION_MAGIC || s->options == NBD_OPTIONS_MAX) {
		s->phase = NBD_CLOSED;
		return NBD_OPTION_HEADER;
	}
	code = nbd_get32(in + 8);
	length = nbd_get32(in + 12);
	if (code == NBD_OPT_SET_META_CONTEXT)	/* where it fails, none is set */
		s->allocation = false;
	o = find_option(code);
	if (answer_header(s, o, code, length, out)) {
		s->options++;
		return NBD_OPTION_HEADER;
	}
	if (n - NBD_OPTION_HEADER < length)
		return 0;
	o->answer(s, code, (struct data){ in + NBD_OPTION_HEADER, length }, out);
	s->options++;
	return NBD_OPTION_HEADER + length;
}

static size_t feed_skipped(struct nbd_session *s, size_t n)
{
	u32 skipped = min(n, s->skip);

	s->skip -= skipped;
	return skipped;
}

static size_t feed_step(struct nbd_session *s, const u8 *in, size_t n, struct nbd_out *out)
{
	switch (s->phase) {
	case NBD_FLAGS:
		return feed_flags(s, in, n);
	case NBD_OPTIONS:
		return s->skip ? feed_skipped(s, n) : feed_option(s, in, n, out);
	case NBD_TRANSMISSION:
	case NBD_CLOSED:
		break;
	}
	return 0;
}

void nbd_session_init(struct nbd_session *s, const struct nbd_export *e)
{
	XP_ASSERT(!nbd_export_wrong(e));
	*s = (struct nbd_session){ .export = e, .phase = NBD_FLAGS };
}

void nbd_session_greeting(struct nbd_out *out)
{
	put64(out, NBD_MAGIC);
	put64(out, NBD_OPTION_MAGIC);
	put16(out, NBD_FLAG_FIXED_NEWSTYLE | NBD_FLAG_NO_ZEROES);
}

size_t nbd_session_feed(struct nbd_session *s, const u8 *in, size_t n, struct nbd_out *out)
{
	size_t consumed = 0, step;

	do {
		step = feed_step(s, in + consumed, n - consumed, out);
		consumed += step;
	} while (step);
	return consumed;
}
