/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * nbd_proto.h - the server's side of the NBD protocol: bytes in, decisions out.
 *
 * No I/O, no allocation, no clock, no thread. The numbers and the words of the protocol
 * are those of doc/proto.md of the NetworkBlockDevice project.
 *
 *              feed: flags           feed: GO, EXPORT_NAME
 *   NBD_FLAGS ------------> NBD_OPTIONS ------------> NBD_TRANSMISSION
 *       |                        | ABORT, garbage,
 *       `--------------------->  | too many options
 *          unknown flags    NBD_CLOSED
 *
 * True in each state:
 *   NBD_FLAGS         the greeting is the first that is sent; 4 bytes are awaited
 *   NBD_OPTIONS       options are awaited, each answered before the next is looked at
 *   NBD_TRANSMISSION  all further bytes are nbd_request_parse()'s
 *   NBD_CLOSED        send what there is to send, then close; nothing is consumed any more
 *
 * Whoever reads from the client keeps what was not consumed and offers it again with
 * more behind it. A session is one thread's at a time; in NBD_TRANSMISSION it does not
 * change, and any number of threads may parse and reply by it.
 */
#ifndef XP_NBD_PROTO_H
#define XP_NBD_PROTO_H

#include "platform.h"

/* ------------------------------------------------------------ exports ---- */

#define NBD_OWN_NAME_MAX	256u		/* of an export's name and description */
#define NBD_MAX_PAYLOAD		(64u << 20)	/* no export may allow more */

/*
 * What is served: one device. Its name and "", the default export, both lead to it.
 * All clients are let in, also those that do not ask for block sizes; what is not whole
 * blocks of min_block is refused with NBD_EINVAL, as the document wants it for these. They
 * count on payloads of 32 MiB, so max_payload had better be so much. Nothing changes
 * while a session is there.
 */
struct nbd_export {
	const char *name;
	const char *description;	/* NULL: none */
	u64 bytes;			/* a multiple of min_block */
	u32 min_block;			/* a power of 2 up to 64 KiB */
	u32 preferred_block;		/* a power of 2, at least min_block and 512 */
	u32 max_payload;		/* of one read or write; at least preferred_block and 64 KiB */
	bool read_only;
	bool multi_conn;		/* a FLUSH is for what all connections have written */
	bool rotational;
	bool can_trim;
	bool can_zero;			/* WRITE_ZEROES, with and without NO_HOLE */
	bool can_fast_zero;		/* and FAST_ZERO, if only to answer ENOTSUP at once */
	bool can_cache;			/* CACHE: read ahead */
};

/* NULL, or in words what nbd_session_init() may not be given. */
const char *nbd_export_wrong(const struct nbd_export *e);

/* ---------------------------------------------------------- handshake ---- */

#define NBD_GREETING		18u	/* bytes */
#define NBD_NAME_MAX		4096u	/* the document's: of what a client says */
#define NBD_OPTION_HEADER	16u
#define NBD_OPTION_MAX		8192u	/* data of one option; what is longer is skipped */
#define NBD_OPTIONS_MAX		64u	/* in one handshake */
#define NBD_ANSWER_MAX		1024u	/* to one option, all its replies */

/* What nbd_session_feed() must be able to be offered at once. */
#define NBD_HANDSHAKE_ROOM	(NBD_OPTION_HEADER + NBD_OPTION_MAX)

enum nbd_phase {
	NBD_FLAGS,
	NBD_OPTIONS,
	NBD_TRANSMISSION,
	NBD_CLOSED,
};

struct nbd_session {
	const struct nbd_export *export;
	enum nbd_phase phase;
	u32 skip;		/* bytes of an answered option yet to come */
	u32 options;		/* so many were looked at */
	bool no_zeroes;		/* none after the reply to EXPORT_NAME */
	bool structured;	/* replies */
	bool allocation;	/* base:allocation is selected: BLOCK_STATUS may be asked */
};

/* What is to be sent: @room bytes at @bytes, of which @used are written. */
struct nbd_out {
	u8 *bytes;
	size_t used, room;
};

void nbd_session_init(struct nbd_session *s, const struct nbd_export *e);

/* Sent first. NBD_GREETING bytes. */
void nbd_session_greeting(struct nbd_out *out);

/*
 * As much of a handshake as is in the @n bytes at @in. Returns how many of them it is done
 * with; the rest is to be offered again when there is more, or, once s->phase is
 * NBD_TRANSMISSION, is the first requests. It stops where @out has less room than
 * NBD_ANSWER_MAX: send, empty it, and offer the rest. What is consumed and sent does not
 * depend on how the bytes were split.
 */
size_t nbd_session_feed(struct nbd_session *s, const u8 *in, size_t n, struct nbd_out *out);

/* ----------------------------------------------------------- requests ---- */

#define NBD_REQUEST_HEADER	28u	/* bytes */

enum nbd_command {
	NBD_CMD_READ		= 0,
	NBD_CMD_WRITE		= 1,
	NBD_CMD_DISC		= 2,
	NBD_CMD_FLUSH		= 3,
	NBD_CMD_TRIM		= 4,
	NBD_CMD_CACHE		= 5,
	NBD_CMD_WRITE_ZEROES	= 6,
	NBD_CMD_BLOCK_STATUS	= 7,
};

#define NBD_CMD_FLAG_FUA	(1u << 0)	/* of any command */
#define NBD_CMD_FLAG_NO_HOLE	(1u << 1)	/* of WRITE_ZEROES */
#define NBD_CMD_FLAG_DF		(1u << 2)	/* of READ: one content chunk at most */
#define NBD_CMD_FLAG_REQ_ONE	(1u << 3)	/* of BLOCK_STATUS: one extent */
#define NBD_CMD_FLAG_FAST_ZERO	(1u << 4)	/* of WRITE_ZEROES: ENOTSUP if a write is as fast */

/* The errors that may be sent. */
#define NBD_EPERM		1u
#define NBD_EIO			5u
#define NBD_ENOMEM		12u
#define NBD_EINVAL		22u
#define NBD_ENOSPC		28u
#define NBD_EOVERFLOW		75u
#define NBD_ENOTSUP		95u
#define NBD_ESHUTDOWN		108u

enum nbd_verdict {
	NBD_PERFORM,	/* it is whole blocks within the device, and allowed */
	NBD_REFUSE,	/* read @payload bytes away, then nbd_reply_refusal() */
	NBD_DISCONNECT,	/* the client leaves: end what is under way, then close; no reply */
	NBD_BROKEN,	/* this is no request: close */
};

struct nbd_request {
	u64 cookie;		/* as it came; not a number */
	u64 offset;
	u32 length;		/* never 0, but with FLUSH */
	u32 payload;		/* bytes that follow the header, refused or not */
	u16 flags;		/* NBD_CMD_FLAG_...: those of its command alone */
	u16 command;		/* enum nbd_command; anything, if refused */
	u32 error;		/* NBD_E... if refused, else 0 */
	const char *why;	/* if refused: a constant sentence */
};

/* The header of a request. With NBD_DISCONNECT and NBD_BROKEN nothing of @r has a meaning. */
enum nbd_verdict nbd_request_parse(const u8 in[NBD_REQUEST_HEADER], const struct nbd_session *s,
				   struct nbd_request *r);

/* ------------------------------------------------------------ replies ---- */

/*
 * Each writes the head of a reply to @head, NBD_HEAD_MAX bytes, and returns its length.
 * What follows on the wire is data for nbd_reply_read() and nbd_chunk_data(), and nothing for
 * the others. Replies to different requests may be sent in any order, but a head and
 * its data in one piece.
 *
 * One reply to each request: a nbd_reply_...(), or chunks of which the last one says so.
 */
#define NBD_HEAD_MAX		128u

/* READ succeeded; r->length bytes of data follow. All of them must be there by now. */
u32 nbd_reply_read(const struct nbd_session *s, const struct nbd_request *r, u8 *head);

/* READ succeeded, and all of it is zeros; nothing follows. s->structured only. */
u32 nbd_reply_hole(const struct nbd_request *r, u8 *head);

/* Any command but READ and BLOCK_STATUS succeeded. */
u32 nbd_reply_done(const struct nbd_request *r, u8 *head);

#define NBD_STATE_HOLE		(1u << 0)	/* a write to it may fail for want of space */
#define NBD_STATE_ZERO		(1u << 1)	/* reads as zeros */

/*
 * BLOCK_STATUS: @bytes from r->offset on, of which there is at least one block, are @state;
 * 0 is "data" and always true. Bytes beyond the request are welcome, unless it is REQ_ONE,
 * with which they are cut off.
 */
u32 nbd_reply_status(const struct nbd_request *r, u64 bytes, u32 state, u8 *head);

/* What nbd_request_parse() has refused. */
u32 nbd_reply_refusal(const struct nbd_session *s, const struct nbd_request *r, u8 *head);

/* It failed with the errno @err, of either sign. @why is for people, or NULL; it may be cut. */
u32 nbd_reply_error(const struct nbd_session *s, const struct nbd_request *r, int err,
		    const char *why, u8 *head);

/* The same, at byte @at of the device, within the request. Not of FLUSH. */
u32 nbd_reply_error_at(const struct nbd_session *s, const struct nbd_request *r, int err,
		       u64 at, const char *why, u8 *head);

/*
 * READ in parts, with s->structured and without NBD_CMD_FLAG_DF: in any order, each byte of
 * the request once, @last with the last one. After an error: nbd_reply_error(), which is last.
 */
u32 nbd_chunk_data(const struct nbd_request *r, u64 offset, u32 length, bool last, u8 *head);
u32 nbd_chunk_hole(const struct nbd_request *r, u64 offset, u32 length, bool last, u8 *head);

/* What the document has for an errno: EDQUOT is ENOSPC, EROFS is EPERM, what has none is EIO. */
u32 nbd_error(const struct nbd_request *r, int err);

#endif /* XP_NBD_PROTO_H */
