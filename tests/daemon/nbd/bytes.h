/* SPDX-License-Identifier: GPL-2.0-only */
/* bytes.h - what goes over the wire, put together by hand; numbers are the document's. */
#ifndef XP_TESTS_BYTES_H
#define XP_TESTS_BYTES_H

#include "platform.h"

#define OPTION_MAGIC	0x49484156454f5054ull
#define REP_MAGIC	0x0003e889045565a9ull
#define REQUEST_MAGIC	0x25609513u
#define SIMPLE_MAGIC	0x67446698u
#define CHUNK_MAGIC	0x668e33efu

#define BYTES_MAX	65536u

struct bytes {
	u8 at[BYTES_MAX];
	size_t n;
};

static inline void add_number(struct bytes *b, u64 v, int width)
{
	XP_ASSERT(b->n + width <= BYTES_MAX);
	while (width--)
		b->at[b->n++] = (u8)(v >> 8 * width);
}

static inline void add16(struct bytes *b, u16 v) { add_number(b, v, 2); }
static inline void add32(struct bytes *b, u32 v) { add_number(b, v, 4); }
static inline void add64(struct bytes *b, u64 v) { add_number(b, v, 8); }

static inline void add_raw(struct bytes *b, const void *from, size_t n)
{
	XP_ASSERT(b->n + n <= BYTES_MAX);
	memcpy(b->at + b->n, from, n);
	b->n += n;
}

static inline void add_word(struct bytes *b, const char *word)
{
	add_raw(b, word, strlen(word));
}

static inline void add_fill(struct bytes *b, u8 byte, size_t n)
{
	while (n--)
		add_raw(b, &byte, 1);
}

/* An option, but for its data. */
static inline void add_option(struct bytes *b, u32 option, u32 length)
{
	add64(b, OPTION_MAGIC);
	add32(b, option);
	add32(b, length);
}

/* A reply to an option, but for its data. */
static inline void add_reply(struct bytes *b, u32 option, u32 type, u32 length)
{
	add64(b, REP_MAGIC);
	add32(b, option);
	add32(b, type);
	add32(b, length);
}

static inline void add_request(struct bytes *b, u16 flags, u16 command, u64 offset, u32 length)
{
	add32(b, REQUEST_MAGIC);
	add16(b, flags);
	add16(b, command);
	add_raw(b, "\x01\x02\x03\x04\xf5\xf6\xf7\xf8", 8);
	add64(b, offset);
	add32(b, length);
}

#endif /* XP_TESTS_BYTES_H */
