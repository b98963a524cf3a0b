// SPDX-License-Identifier: GPL-2.0-only
/*
 * nbd_request.c - what a request's header asks for, and whether it may.
 *
 * Refusals are the document's. Where it leaves a choice: a length of 0 is refused; so is a
 * read beyond the largest payload rather than split; what has no payload may be as long
 * as it likes.
 */
#include "daemon/nbd/nbd_proto.h"
#include "daemon/nbd/nbd_wire.h"
#include "platform.h"

#include <string.h>

static const u16 flags_of[] = {
	[NBD_CMD_READ]		= NBD_CMD_FLAG_FUA | NBD_CMD_FLAG_DF,
	[NBD_CMD_WRITE]		= NBD_CMD_FLAG_FUA,
	[NBD_CMD_FLUSH]		= NBD_CMD_FLAG_FUA,
	[NBD_CMD_TRIM]		= NBD_CMD_FLAG_FUA,
	[NBD_CMD_CACHE]		= NBD_CMD_FLAG_FUA,
	[NBD_CMD_WRITE_ZEROES]	= NBD_CMD_FLAG_FUA | NBD_CMD_FLAG_NO_HOLE | NBD_CMD_FLAG_FAST_ZERO,
	[NBD_CMD_BLOCK_STATUS]	= NBD_CMD_FLAG_FUA | NBD_CMD_FLAG_REQ_ONE,
};

static bool writes(const struct nbd_request *r)
{
	return r->command == NBD_CMD_WRITE || r->command == NBD_CMD_TRIM ||
	       r->command == NBD_CMD_WRITE_ZEROES;
}

static enum nbd_verdict refuse(struct nbd_request *r, u32 error, const char *why)
{
	r->error = error;
	r->why = why;
	return NBD_REFUSE;
}

/* Whether the command is known, or was offered. */
static bool is_offered(const struct nbd_request *r, const struct nbd_session *s)
{
	const struct nbd_export *e = s->export;

	switch (r->command) {
	case NBD_CMD_READ:
	case NBD_CMD_WRITE:
	case NBD_CMD_FLUSH:
		return true;
	case NBD_CMD_TRIM:
		return e->can_trim;
	case NBD_CMD_CACHE:
		return e->can_cache;
	case NBD_CMD_WRITE_ZEROES:
		return e->can_zero;
	case NBD_CMD_BLOCK_STATUS:
		return s->allocation;
	}
	return false;
}

static bool flags_fit(const struct nbd_request *r, const struct nbd_session *s)
{
	u16 may = flags_of[r->command];

	if (!s->structured)
		may &= ~NBD_CMD_FLAG_DF;
	if (!s->export->can_fast_zero)
		may &= ~NBD_CMD_FLAG_FAST_ZERO;
	return !(r->flags & ~may);
}

/* Where on the device, and how much of it. */
static enum nbd_verdict check_range(struct nbd_request *r, const struct nbd_export *e)
{
	if (unlikely((r->offset | r->length) & (e->min_block - 1)))
		return refuse(r, NBD_EINVAL, "it is not whole blocks");
	if (unlikely(!r->length))
		return refuse(r, NBD_EINVAL, "its length is 0");
	if (unlikely(r->offset > e->bytes || r->length > e->bytes - r->offset))
		return refuse(r, writes(r) && r->command != NBD_CMD_TRIM ? NBD_ENOSPC : NBD_EINVAL,
			      "it is beyond the end");
	return NBD_PERFORM;
}

/* A command without payload may be as long as the device. */
static enum nbd_verdict check_payload(struct nbd_request *r, const struct nbd_session *s)
{
	if (likely(r->length <= s->export->max_payload))
		return NBD_PERFORM;
	if (r->command == NBD_CMD_WRITE)
		return refuse(r, NBD_EINVAL, "it is longer than the largest payload");
	if (r->command == NBD_CMD_READ)
		return refuse(r, s->structured ? NBD_EOVERFLOW : NBD_EINVAL,
			      "it is longer than the largest payload");
	return NBD_PERFORM;
}

static enum nbd_verdict check(struct nbd_request *r, const struct nbd_session *s)
{
	enum nbd_verdict v;

	if (unlikely(s->export->read_only && writes(r)))
		return refuse(r, NBD_EPERM, "the export is read-only");
	if (unlikely(!is_offered(r, s)))
		return refuse(r, NBD_EINVAL, "the command was not offered");
	if (unlikely(!flags_fit(r, s)))
		return refuse(r, NBD_EINVAL, "a flag that the command does not have");
	if (r->command == NBD_CMD_FLUSH)
		return r->offset | r->length ?
			refuse(r, NBD_EINVAL, "offset and length are not 0") : NBD_PERFORM;
	v = check_payload(r, s);
	return v == NBD_PERFORM ? check_range(r, s->export) : v;
}

enum nbd_verdict nbd_request_parse(const u8 in[NBD_REQUEST_HEADER], const struct nbd_session *s,
				   struct nbd_request *r)
{
	if (unlikely(nbd_get32(in) != NBD_REQUEST_MAGIC))
		return NBD_BROKEN;
	r->flags = nbd_get16(in + 4);
	r->command = nbd_get16(in + 6);
	memcpy(&r->cookie, in + 8, sizeof(r->cookie));
	r->offset = nbd_get64(in + 16);
	r->length = nbd_get32(in + 24);
	r->payload = r->command == NBD_CMD_WRITE ? r->length : 0;
	r->error = 0;
	r->why = NULL;
	if (unlikely(r->command == NBD_CMD_DISC))
		return NBD_DISCONNECT;
	return check(r, s);
}
