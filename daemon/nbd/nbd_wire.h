/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nbd_wire.h - the protocol's numbers that only its own files need, and its byte order.
 */
#ifndef XP_NBD_WIRE_H
#define XP_NBD_WIRE_H

#include "platform.h"

#include <string.h>

#define NBD_MAGIC		0x4e42444d41474943ull	/* NBDMAGIC */
#define NBD_OPTION_MAGIC	0x49484156454f5054ull	/* IHAVEOPT */
#define NBD_REP_MAGIC		0x0003e889045565a9ull
#define NBD_REQUEST_MAGIC	0x25609513u
#define NBD_SIMPLE_MAGIC	0x67446698u
#define NBD_STRUCTURED_MAGIC	0x668e33efu

/* Of the greeting, and of the client's answer to it. */
#define NBD_FLAG_FIXED_NEWSTYLE	(1u << 0)
#define NBD_FLAG_NO_ZEROES	(1u << 1)

/* Of an export. */
#define NBD_FLAG_HAS_FLAGS	(1u << 0)
#define NBD_FLAG_READ_ONLY	(1u << 1)
#define NBD_FLAG_SEND_FLUSH	(1u << 2)
#define NBD_FLAG_SEND_FUA	(1u << 3)
#define NBD_FLAG_ROTATIONAL	(1u << 4)
#define NBD_FLAG_SEND_TRIM	(1u << 5)
#define NBD_FLAG_SEND_ZEROES	(1u << 6)
#define NBD_FLAG_SEND_DF	(1u << 7)
#define NBD_FLAG_MULTI_CONN	(1u << 8)
#define NBD_FLAG_SEND_CACHE	(1u << 10)
#define NBD_FLAG_SEND_FAST_ZERO	(1u << 11)

enum nbd_option {
	NBD_OPT_EXPORT_NAME	  = 1,
	NBD_OPT_ABORT		  = 2,
	NBD_OPT_LIST		  = 3,
	NBD_OPT_INFO		  = 6,
	NBD_OPT_GO		  = 7,
	NBD_OPT_STRUCTURED_REPLY  = 8,
	NBD_OPT_LIST_META_CONTEXT = 9,
	NBD_OPT_SET_META_CONTEXT  = 10,
};

#define NBD_REP_ACK		1u
#define NBD_REP_SERVER		2u
#define NBD_REP_INFO		3u
#define NBD_REP_META_CONTEXT	4u
#define NBD_REP_ERR_UNSUP	(1u << 31 | 1u)
#define NBD_REP_ERR_INVALID	(1u << 31 | 3u)
#define NBD_REP_ERR_UNKNOWN	(1u << 31 | 6u)
#define NBD_REP_ERR_TOO_BIG	(1u << 31 | 9u)

enum nbd_info {
	NBD_INFO_EXPORT,
	NBD_INFO_NAME,
	NBD_INFO_DESCRIPTION,
	NBD_INFO_BLOCK_SIZE,
};

#define NBD_CONTEXT_ALLOCATION	1u	/* the number that SET_META_CONTEXT gives it */

#define NBD_REPLY_FLAG_DONE	(1u << 0)

#define NBD_REPLY_NONE		0u
#define NBD_REPLY_OFFSET_DATA	1u
#define NBD_REPLY_OFFSET_HOLE	2u
#define NBD_REPLY_BLOCK_STATUS	5u
#define NBD_REPLY_ERROR		(1u << 15 | 1u)
#define NBD_REPLY_ERROR_OFFSET	(1u << 15 | 2u)

static inline u16 nbd_get16(const u8 *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return be16toh(v);
}

static inline u32 nbd_get32(const u8 *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline u64 nbd_get64(const u8 *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return be64toh(v);
}

/* Each returns where the next one goes. */
static inline u8 *nbd_put16(u8 *p, u16 v)
{
	v = htobe16(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline u8 *nbd_put32(u8 *p, u32 v)
{
	v = htobe32(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline u8 *nbd_put64(u8 *p, u64 v)
{
	v = htobe64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

#endif /* XP_NBD_WIRE_H */
