// SPDX-License-Identifier: GPL-2.0-only
/* pulse.c - what a cache counts, between two looks. */
#include "lib/latency/pulse.h"
#include "lib/device_name.h"
#include "lib/latency/latency.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/status.h"
#include "lib/sysfs.h"
#include "core/block.h"
#include "core/words.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The third and the seventh of its figures, in 512 bytes each. */
static void count_bytes(struct pulse *p, const char *stat)
{
	unsigned long long n[7];

	if (!stat || sscanf(stat, "%llu %llu %llu %llu %llu %llu %llu", &n[0], &n[1], &n[2],
			    &n[3], &n[4], &n[5], &n[6]) != 7)
		return;
	p->bytes_known = true;
	p->read_bytes = n[2] << XP_SECTOR_SHIFT;
	p->write_bytes = n[6] << XP_SECTOR_SHIFT;
}

/*
 * What is only counted up, and the target's word for it. Of reads it counts hits and misses. Defined are
 * requests by class, and blocks; kept is what tells of streams and ghosts; all else is a sum or the cache's own work.
 */
static const struct {
	const char *name;
	size_t offset;
	enum { IS_OTHER, IS_DEFINED, IS_KEPT } kind;
} counted[] = {
#define DEFINED(name, member)	{ name, offsetof(struct pulse, member), IS_DEFINED }
#define KEPT(name)		{ #name, offsetof(struct pulse, name), IS_KEPT }
#define OTHER(name, member)	{ name, offsetof(struct pulse, member), IS_OTHER }
	OTHER("read_misses", reads),
	OTHER("read_hits", read_hits),
	OTHER("writes", writes),
	OTHER("write_bypass", write_bypass),
	OTHER("flushes", flushes),
	OTHER("discards", discards),
	DEFINED("requests_read_hit", requests[XP_CLASS_READ_HIT]),
	DEFINED("requests_read_miss", requests[XP_CLASS_READ_MISS]),
	DEFINED("requests_read_bypass", requests[XP_CLASS_READ_BYPASS]),
	DEFINED("requests_write", requests[XP_CLASS_WRITE]),
	DEFINED("requests_write_bypass", requests[XP_CLASS_WRITE_BYPASS]),
	DEFINED("requests_write_stalled", requests[XP_CLASS_WRITE_STALLED]),
	DEFINED("requests_flush", requests[XP_CLASS_FLUSH]),
	DEFINED("requests_discard", requests[XP_CLASS_DISCARD]),
	DEFINED("requests_failed", requests_failed),
	DEFINED("read_blocks_fast", read_blocks_fast),
	DEFINED("read_blocks_slow", read_blocks_slow),
	DEFINED("write_blocks", write_blocks),
	DEFINED("write_bypass_blocks", write_bypass_blocks),
	DEFINED("discard_blocks", discard_blocks),
	OTHER("fills", fills),
	OTHER("written_back", written_back),
	OTHER("evicted", evicted),
	KEPT(streams_seen),
	KEPT(stream_bypass_blocks),
	KEPT(stream_bypass_written),
	KEPT(ghost_hits),
	KEPT(ghost_hits_quarter),
	OTHER("journal_writes", journal_writes),
	OTHER("fast_bytes_written", fast_bytes_written),
	OTHER("fast_errors", fast_errors),
	OTHER("slow_errors", slow_errors),
	OTHER(NULL, read_bytes),	/* by the block layer */
	OTHER(NULL, write_bytes),
#undef DEFINED
#undef KEPT
#undef OTHER
};
#define NR_COUNTED	(sizeof(counted) / sizeof(*counted))

static u64 *counter(struct pulse *p, size_t i)
{
	return (u64 *)((char *)p + counted[i].offset);
}

static u64 count_of(const struct pulse *p, size_t i)
{
	return *(const u64 *)((const char *)p + counted[i].offset);
}

void pulse_count(struct pulse *p, const struct status *s, const char *stat)
{
	snprintf(p->state, sizeof(p->state), "%s", s->state);
	p->slots = status_number(s, "slots");
	p->dirty = status_number(s, "dirty");
	p->clean = status_number(s, "clean");
	p->journal_blocks = status_number(s, "journal_blocks");
	p->journal_used = status_number(s, "journal_used");
	p->pressure = status_number(s, "pressure");
	for (size_t i = 0; i < NR_COUNTED; i++)
		if (counted[i].name)
			*counter(p, i) = status_number(s, counted[i].name);
	p->reads += p->read_hits;
	p->counted = status_text(s, "requests_read_hit");
	p->kept_known = status_text(s, "ghost_hits");
	count_bytes(p, stat);
}

int pulse_read(struct pulse *p, const struct running *r, bool older)
{
	char kname[64], stat[256];
	struct status s;
	int err = status_read(r->name, &s);

	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", r->name);
	xp_words_clean(p->name, sizeof(p->name));
	snprintf(p->uuid, sizeof(p->uuid), "%s", r->uuid);
	p->fast = r->fast;
	if (err)
		return err;
	pulse_count(p, &s, device_kname(r->dev, kname, sizeof(kname)) &&
			   sysfs_read(kname, "stat", stat, sizeof(stat)) ? stat : NULL);
	err = older ? -EINVAL : r->asleep ? -ENODATA : latency_read(r->name, &p->latency);
	p->timed = !err;
	p->older = err == -EINVAL;
	p->seconds = seconds_now();
	return 0;
}

/* None of what is only counted up has fallen. */
static bool is_one_run(const struct pulse *later, const struct pulse *earlier)
{
	for (size_t i = 0; i < NR_COUNTED; i++)
		if (count_of(later, i) < count_of(earlier, i))
			return false;
	return !strcmp(later->uuid, earlier->uuid) && later->timed == earlier->timed &&
	       later->bytes_known == earlier->bytes_known && later->seconds > earlier->seconds;
}

bool pulse_subtract(struct pulse *later, const struct pulse *earlier)
{
	if (!is_one_run(later, earlier) ||
	    (later->timed && !latency_subtract(&later->latency, &earlier->latency)))
		return false;
	later->seconds -= earlier->seconds;
	for (size_t i = 0; i < NR_COUNTED; i++)
		*counter(later, i) -= count_of(earlier, i);
	return true;
}

/* ---------------------------------------------------------- what they say ---- */

static double quotient(u64 part, u64 whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

double pulse_hits(const struct pulse *p)
{
	return quotient(p->read_hits, p->reads);
}

double pulse_hits_by_bytes(const struct pulse *p)
{
	return quotient(p->read_blocks_fast, p->read_blocks_fast + p->read_blocks_slow);
}

double pulse_hits_by_time(const struct pulse *p)
{
	return p->timed ? latency_hits_by_time(&p->latency) : NAN;
}

const struct pulse_ratio pulse_ratios[PULSE_RATIOS] = {
	{ "hit_ratio", pulse_hits },
	{ "hit_ratio_by_bytes", pulse_hits_by_bytes },
	{ "hit_ratio_by_time", pulse_hits_by_time },
};

double pulse_ghost_hits(const struct pulse *p)
{
	return p->kept_known ? quotient(p->ghost_hits_quarter, p->read_blocks_slow) : NAN;
}

double pulse_fills_per_hit(const struct pulse *p)
{
	return quotient(p->fills, p->read_blocks_fast);
}

double pulse_fast_bytes(const struct pulse *p)
{
	u64 blocks = p->read_blocks_fast + p->read_blocks_slow + p->write_blocks + p->write_bypass_blocks;

	/* an older backend counts those of writes to the cache alone */
	return p->counted ? quotient(p->fast_bytes_written, blocks << XP_BLOCK_SHIFT) : NAN;
}

const struct pulse_ratio pulse_quotients[PULSE_QUOTIENTS] = {
	{ "ghost_hit_ratio", pulse_ghost_hits },
	{ "fills_per_hit", pulse_fills_per_hit },
	{ "fast_bytes_per_user_byte", pulse_fast_bytes },
};

struct json_object *pulse_json_counts(const struct pulse *p)
{
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < NR_COUNTED && p->counted; i++)
		if (counted[i].kind == IS_DEFINED || (counted[i].kind == IS_KEPT && p->kept_known))
			json_object_object_add(o, counted[i].name, json_object_new_uint64(count_of(p, i)));
	return o;
}
