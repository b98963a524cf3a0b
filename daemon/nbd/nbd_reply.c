// SPDX-License-Identifier: GPL-2.0-only
/*
 * nbd_reply.c - the heads of replies.
 *
 * A READ gets a structured reply if they were negotiated, as it must. What succeeds without
 * data gets a simple one in either case, which may be and is shorter; an error gets one with
 * a sentence where there can be one.
 */
#include "daemon/nbd/nbd_proto.h"
#include "daemon/nbd/nbd_wire.h"
#include "platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_FIXED	(20u + 6u + 8u)	/* of an error chunk, with its offset */

static_assert(ERROR_FIXED < NBD_HEAD_MAX, "an error has room for a sentence");

static u32 simple(const struct nbd_request *r, u32 error, u8 *head)
{
	u8 *p = nbd_put32(head, NBD_SIMPLE_MAGIC);

	p = nbd_put32(p, error);
	memcpy(p, &r->cookie, sizeof(r->cookie));
	return 16;
}

/* A chunk, but for the @length bytes it speaks of. */
static u8 *chunk(const struct nbd_request *r, u16 type, bool last, u32 length, u8 *head)
{
	u8 *p = nbd_put32(head, NBD_STRUCTURED_MAGIC);

	p = nbd_put16(p, last ? NBD_REPLY_FLAG_DONE : 0);
	p = nbd_put16(p, type);
	memcpy(p, &r->cookie, sizeof(r->cookie));
	return nbd_put32(p + sizeof(r->cookie), length);
}

/* ------------------------------------------------------------ success ---- */

u32 nbd_chunk_data(const struct nbd_request *r, u64 offset, u32 length, bool last, u8 *head)
{
	u8 *p = chunk(r, NBD_REPLY_OFFSET_DATA, last, 8 + length, head);

	XP_ASSERT(!(r->flags & NBD_CMD_FLAG_DF) || length == r->length);
	return nbd_put64(p, offset) - head;
}

u32 nbd_chunk_hole(const struct nbd_request *r, u64 offset, u32 length, bool last, u8 *head)
{
	u8 *p = chunk(r, NBD_REPLY_OFFSET_HOLE, last, 12, head);

	XP_ASSERT(!(r->flags & NBD_CMD_FLAG_DF) || length == r->length);
	return nbd_put32(nbd_put64(p, offset), length) - head;
}

u32 nbd_reply_read(const struct nbd_session *s, const struct nbd_request *r, u8 *head)
{
	if (s->structured)
		return nbd_chunk_data(r, r->offset, r->length, true, head);
	return simple(r, 0, head);
}

u32 nbd_reply_hole(const struct nbd_request *r, u8 *head)
{
	return nbd_chunk_hole(r, r->offset, r->length, true, head);
}

u32 nbd_reply_done(const struct nbd_request *r, u8 *head)
{
	return simple(r, 0, head);
}

/* What is longer than a length can say is cut at a multiple of any block. */
u32 nbd_reply_status(const struct nbd_request *r, u64 bytes, u32 state, u8 *head)
{
	u8 *p = chunk(r, NBD_REPLY_BLOCK_STATUS, true, 12, head);
	u64 most = r->flags & NBD_CMD_FLAG_REQ_ONE ? r->length : 0xffff0000u;

	p = nbd_put32(p, NBD_CONTEXT_ALLOCATION);
	p = nbd_put32(p, (u32)min(bytes, most));
	return nbd_put32(p, state) - head;
}

/* ------------------------------------------------------------- errors ---- */

/* EOVERFLOW of the protocol is for lengths, which are checked before. */
static const struct {
	int err;
	u32 sent;
} errors[] = {
	{ EPERM, NBD_EPERM },
	{ EACCES, NBD_EPERM },
	{ EROFS, NBD_EPERM },
	{ ENOMEM, NBD_ENOMEM },
	{ EINVAL, NBD_EINVAL },
	{ EOVERFLOW, NBD_EINVAL },
	{ ENOSPC, NBD_ENOSPC },
	{ EDQUOT, NBD_ENOSPC },
	{ EFBIG, NBD_ENOSPC },
	{ ENOTSUP, NBD_EINVAL },
	{ ESHUTDOWN, NBD_ESHUTDOWN },
};

u32 nbd_error(const struct nbd_request *r, int err)
{
	if (abs(err) == ENOTSUP && r->flags & NBD_CMD_FLAG_FAST_ZERO)
		return NBD_ENOTSUP;	/* of a write that is as fast, and of nothing else */
	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (errors[i].err == abs(err))
			return errors[i].sent;
	return NBD_EIO;
}

static u8 *put_error(u8 *p, u32 error, const char *why, u32 length)
{
	p = nbd_put32(p, error);
	p = nbd_put16(p, length);
	memcpy(p, why, length);
	return p + length;
}

static u32 failed(const struct nbd_session *s, const struct nbd_request *r, u32 error,
		  const char *why, u8 *head)
{
	u32 length = strnlen(why, NBD_HEAD_MAX - ERROR_FIXED);
	u8 *p;

	if (!s->structured)
		return simple(r, error, head);
	p = chunk(r, NBD_REPLY_ERROR, true, 6 + length, head);
	return put_error(p, error, why, length) - head;
}

u32 nbd_reply_refusal(const struct nbd_session *s, const struct nbd_request *r, u8 *head)
{
	return failed(s, r, r->error, r->why, head);
}

u32 nbd_reply_error(const struct nbd_session *s, const struct nbd_request *r, int err,
		    const char *why, u8 *head)
{
	return failed(s, r, nbd_error(r, err), why ? why : "", head);
}

u32 nbd_reply_error_at(const struct nbd_session *s, const struct nbd_request *r, int err,
		       u64 at, const char *why, u8 *head)
{
	u32 length = why ? strnlen(why, NBD_HEAD_MAX - ERROR_FIXED) : 0;
	u8 *p;

	if (!s->structured)
		return simple(r, nbd_error(r, err), head);
	p = chunk(r, NBD_REPLY_ERROR_OFFSET, true, 14 + length, head);
	p = put_error(p, nbd_error(r, err), why ? why : "", length);
	return nbd_put64(p, at) - head;
}
