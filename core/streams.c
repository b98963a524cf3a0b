// SPDX-License-Identifier: GPL-2.0-only
/* streams.c - which reads and which writes are a stream (streams.h). */
#include "map.h"
#include "streams.h"

#define GAP_BLOCKS	64u	/* left out between two of its requests */
#define CACHED_BLOCKS	4096u	/* the same, where both ends are cached */
#define STREAM_LONGEST	(1u << 31)

/* Blocks between the stream and one that begins at @at; 0 too if it is the newest request again. */
static u64 gap_to(const struct xp_stream *s, u64 at)
{
	return at > s->next ? at - s->next : 0;
}

/* A read of what lies between would be a hit, and is not seen here. A write is. */
static bool is_read_between(const struct xp *c, u64 first, u64 end)
{
	return map_holds(c, XP_LBA(first)) && map_holds(c, XP_LBA(end - 1));
}

static bool goes_on(const struct xp *c, const struct xp_streams *all, const struct xp_stream *s, u64 at)
{
	u64 gap = gap_to(s, at);

	if (!s->used || at < s->begin || gap > CACHED_BLOCKS)
		return false;
	return gap <= GAP_BLOCKS || (all == &c->reads && is_read_between(c, s->next, at));
}

static struct xp_stream *find(struct xp *c, struct xp_streams *all, u64 at)
{
	u32 i;

	for (i = 0; i < XP_STREAMS; i++)
		if (goes_on(c, all, &all->stream[i], at))
			return &all->stream[i];
	return NULL;
}

static struct xp_stream *oldest(struct xp_streams *all)
{
	struct xp_stream *s = all->stream;
	u32 i;

	for (i = 1; i < XP_STREAMS; i++)
		if (all->stream[i].used < s->used)
			s = &all->stream[i];
	return s;
}

/* A part of the newest request, and what is left of it, comes again: it is not longer for that. */
static void lengthen(struct xp_stream *s, u64 begin, u64 end)
{
	u64 gap = gap_to(s, begin);
	u64 more = end > s->next ? end - max(begin, s->next) : 0;

	if (gap <= GAP_BLOCKS)	/* else what is left out is cached */
		s->len -= (u32)min(2 * gap, (u64)s->len);
	s->len = (u32)min(s->len + more, (u64)STREAM_LONGEST);
	if (end > s->next) {
		s->begin = begin;
		s->next = end;
	}
}

/* The stream that the blocks belong to, with them; NULL: none. */
static struct xp_stream *follow(struct xp *c, struct xp_streams *all, u64 begin, u64 end)
{
	struct xp_stream *s;

	if (!c->opt.stream_kib)
		return NULL;
	s = find(c, all, begin);
	if (!s && end - begin < XP_STREAM_BEGIN)
		return NULL;
	if (s) {
		lengthen(s, begin, end);
	} else {
		s = oldest(all);
		*s = (struct xp_stream){ .begin = begin, .next = end, .len = (u32)(end - begin) };
	}
	s->used = ++all->turn;
	return s;
}

static bool is_long(const struct xp *c, const struct xp_stream *s)
{
	return s && s->len > c->opt.stream_kib / 4;
}

bool stream_passes(struct xp *c, u64 begin, u64 end)
{
	struct xp_stream *s = follow(c, &c->reads, begin, end);

	if (!is_long(c, s))
		return false;
	c->stats.streams_seen += !s->seen;
	s->seen = true;
	return true;
}

bool stream_is_written(struct xp *c, u64 begin, u64 end)
{
	struct xp_stream *s = follow(c, &c->writes, begin, end);

	if (s)
		c->writes.parts[0] |= stream_part(s->begin) | stream_part(s->next + GAP_BLOCKS);
	return is_long(c, s);
}

void streams_tick(struct xp *c)
{
	c->writes.parts[1] = c->writes.parts[0];
	c->writes.parts[0] = 0;
}
