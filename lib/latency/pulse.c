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

/* What is only counted up, and the target's word for it. Of reads it counts hits and misses. */
static const struct {
	const char *name;
	size_t offset;
} counted[] = {
#define AT(member)	offsetof(struct pulse, member)
	{ "read_misses", AT(reads) },
	{ "read_hits", AT(read_hits) },
	{ "writes", AT(writes) },
	{ "write_bypass", AT(write_bypass) },
	{ "flushes", AT(flushes) },
	{ "discards", AT(discards) },
	{ "fills", AT(fills) },
	{ "written_back", AT(written_back) },
	{ "evicted", AT(evicted) },
	{ "journal_writes", AT(journal_writes) },
	{ "fast_bytes_written", AT(fast_bytes_written) },
	{ "fast_errors", AT(fast_errors) },
	{ "slow_errors", AT(slow_errors) },
	{ NULL, AT(read_bytes) },	/* by the block layer */
	{ NULL, AT(write_bytes) },
#undef AT
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
