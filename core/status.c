// SPDX-License-Identifier: GPL-2.0-only
/* status.c - a cache's state in words: the same of every backend. */
#include "accounting.h"
#include "cache.h"
#include "text.h"

static void put_count(struct xp_text *l, const char *name, u64 value)
{
	text_word(l, " ");
	text_word(l, name);
	text_number(l, " ", value);
}

static void put_uuid(struct xp_text *l, const u8 *uuid)
{
	static const char digit[] = "0123456789abcdef";
	char hex[33];
	u32 i;

	for (i = 0; i < 16; i++) {
		hex[2 * i] = digit[uuid[i] >> 4];
		hex[2 * i + 1] = digit[uuid[i] & 15];
	}
	hex[32] = '\0';
	text_word(l, " uuid ");
	text_word(l, hex);
}

static void put_now(struct xp_text *l, const struct xp_backend *backend, const struct xp_stats *s)
{
	put_count(l, "slots", s->slots);
	put_count(l, "fast_blocks", s->fast_blocks);
	put_count(l, "free", s->free);
	put_count(l, "dirty", s->dirty);
	put_count(l, "clean", s->clean);
	put_count(l, "journal_blocks", s->journal_blocks);
	put_count(l, "journal_used", s->journal_used);
	put_count(l, "seq", s->seq);
	put_count(l, "durable_seq", s->durable_seq);
	put_count(l, "incarnation", s->incarnation);
	put_count(l, "memory", s->memory + backend->memory);
	put_count(l, "histogram_memory", backend->histogram_memory);
	put_count(l, "pressure", s->pressure);
	put_count(l, "flushing", s->flushing);
	put_count(l, "slow_complete", s->slow_complete);
	put_count(l, "passthrough", s->passthrough);
	put_count(l, "dirty_unreachable", s->dirty_unreachable);
	put_count(l, "bad_places", s->bad_places);
	put_count(l, "bad_slots", s->bad_slots);
	put_count(l, "unread", s->unread);
	put_count(l, "failed_since", backend->failed_since);
	put_count(l, "writeback_failing_since", s->writeback_failing_since);
}

void xp_requests_merge(struct xp_requests *to, const struct xp_requests *from)
{
	u32 i;

	for (i = 0; i < XP_REQUEST_CLASSES; i++)
		to->ended[i] += xp_local_read(&from->ended[i]);
	to->failed += xp_local_read(&from->failed);
	to->split += xp_local_read(&from->split);
	to->hit_blocks += xp_local_read(&from->hit_blocks);
}

/* "requests_read_hit", of "read-hit". */
static void put_class(struct xp_text *l, enum xp_class class, u64 value)
{
	char name[32] = "requests_";
	u32 at = 9, i;

	for (i = 0; xp_class_name[class][i] && at < sizeof(name) - 1; i++)
		name[at++] = xp_class_name[class][i] == '-' ? '_' : xp_class_name[class][i];
	put_count(l, name, value);
}

/* Each class, and the sums that have a name. */
static void put_requests(struct xp_text *l, const struct xp_requests *r)
{
	const u64 *n = r->ended;
	u32 i;

	put_count(l, "read_hits", n[XP_CLASS_READ_HIT]);
	put_count(l, "read_misses", n[XP_CLASS_READ_MISS] + n[XP_CLASS_READ_BYPASS]);
	put_count(l, "writes", n[XP_CLASS_WRITE] + n[XP_CLASS_WRITE_BYPASS] + n[XP_CLASS_WRITE_STALLED]);
	put_count(l, "write_bypass", n[XP_CLASS_WRITE_BYPASS]);
	put_count(l, "flushes", n[XP_CLASS_FLUSH]);
	put_count(l, "discards", n[XP_CLASS_DISCARD]);
	for (i = 0; i < XP_REQUEST_CLASSES; i++)
		put_class(l, i, n[i]);
	put_count(l, "requests_failed", r->failed);
	put_count(l, "requests_split", r->split);
}

static void put_totals(struct xp_text *l, const struct xp_backend *backend,
		       const struct xp_stats *s)
{
	static const struct xp_requests none;
	const struct xp_requests *requests = backend->requests ? backend->requests : &none;

	put_requests(l, requests);
	put_count(l, "read_blocks_fast", s->read_blocks_fast + requests->hit_blocks);
	put_count(l, "read_blocks_slow", s->read_blocks_slow);
	put_count(l, "write_blocks", s->write_blocks);
	put_count(l, "write_bypass_blocks", s->write_bypass_blocks);
	put_count(l, "write_in_place_blocks", s->write_in_place_blocks);
	put_count(l, "discard_blocks", s->discard_blocks);
	put_count(l, "flushes_slow", s->flushes_slow);
	put_count(l, "fills", s->fills);
	put_count(l, "fills_dropped", s->fills_dropped);
	put_count(l, "written_back", s->written_back);
	put_count(l, "evicted", s->evicted);
	put_count(l, "streams_seen", s->streams_seen);
	put_count(l, "stream_bypass_blocks", s->stream_bypass_blocks);
	put_count(l, "stream_bypass_written", s->stream_bypass_written);
	put_count(l, "ghost_hits", s->ghost_hits);
	put_count(l, "ghost_hits_quarter", s->ghost_hits_quarter);
	put_count(l, "journal_writes", s->journal_writes);
	put_count(l, "relocated", s->relocated);
	put_count(l, "waits", s->waits);
	put_count(l, "flushes_completed", s->flushes_completed);
	put_count(l, "reroutes", s->reroutes);
	put_count(l, "writeback_flushes", backend->writeback_flushes);
	put_count(l, "fast_bytes_written", backend->fast_bytes_written);
	put_count(l, "fast_errors", backend->fast_errors);
	put_count(l, "slow_errors", backend->slow_errors);
	put_count(l, "sum_errors", s->sum_errors);
}

static void put_fast(struct xp_text *l, const struct xp_backend *backend)
{
	text_word(l, " fast_access ");
	text_word(l, backend->fast_is_memory ? "memory" : "blocks");
	if (backend->not_memory) {
		text_word(l, " not_memory ");
		text_word(l, backend->not_memory);
	}
}

/*
 * The first names of renamed fields, for one release: lib/status_line.c has the pairs. They
 * end the line, so that no field moves when they go.
 */
static void put_older_names(struct xp_text *l, const struct xp_backend *backend,
			    const struct xp_stats *s)
{
	put_count(l, "home", s->slow_complete);
	put_count(l, "passing", s->passthrough);
	put_count(l, "stranded", s->dirty_unreachable);
	put_count(l, "destage_failing_since", s->writeback_failing_since);
	put_count(l, "destaged", s->written_back);
	put_count(l, "carried", s->relocated);
	put_count(l, "homes", s->flushes_completed);
	put_count(l, "destage_flushes", backend->writeback_flushes);
}

u32 xp_status_print(struct xp *c, const struct xp_backend *backend, char *text, u32 room)
{
	struct xp_text l = { .text = text, .room = room };
	struct xp_stats s;

	xp_get_stats(c, &s);
	text_word(&l, s.failed ? "failed" : backend->running ? "running" : "suspended");
	put_uuid(&l, backend->uuid);
	put_now(&l, backend, &s);
	put_totals(&l, backend, &s);
	put_fast(&l, backend);
	put_older_names(&l, backend, &s);
	return l.needs;
}
