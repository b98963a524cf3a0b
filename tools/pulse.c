// SPDX-License-Identifier: GPL-2.0-only
/* pulse.c - what a cache counts, between two looks. */
#include "pulse.h"

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

void pulse_count(struct pulse *p, const struct status *s, const char *stat)
{
	snprintf(p->state, sizeof(p->state), "%s", s->state);
	p->slots = status_number(s, "slots");
	p->dirty = status_number(s, "dirty");
	p->journal_blocks = status_number(s, "journal_blocks");
	p->journal_used = status_number(s, "journal_used");
	p->pressure = status_number(s, "pressure");
	p->read_hits = status_number(s, "read_hits");
	p->reads = p->read_hits + status_number(s, "read_misses");
	p->writes = status_number(s, "writes");
	p->destaged = status_number(s, "destaged");
	count_bytes(p, stat);
}

int pulse_read(struct pulse *p, const struct running *r, bool older)
{
	char kname[64], stat[256];
	struct status s;
	int err = status_read(r->name, &s);

	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", r->name);
	snprintf(p->uuid, sizeof(p->uuid), "%s", r->uuid);
	if (err)
		return err;
	pulse_count(p, &s, device_kname(r->dev, kname, sizeof(kname)) &&
			   sysfs_read(kname, "stat", stat, sizeof(stat)) ? stat : NULL);
	err = older ? -EINVAL : latency_read(r->name, &p->latency);
	p->timed = !err;
	p->older = err == -EINVAL;
	p->seconds = seconds_now();
	return 0;
}

/* None of what is only counted up has fallen. */
static bool is_one_run(const struct pulse *later, const struct pulse *earlier)
{
	return !strcmp(later->uuid, earlier->uuid) && later->reads >= earlier->reads &&
	       later->read_hits >= earlier->read_hits && later->writes >= earlier->writes &&
	       later->destaged >= earlier->destaged && later->read_bytes >= earlier->read_bytes &&
	       later->write_bytes >= earlier->write_bytes && later->timed == earlier->timed &&
	       later->bytes_known == earlier->bytes_known && later->seconds > earlier->seconds;
}

bool pulse_subtract(struct pulse *later, const struct pulse *earlier)
{
	if (!is_one_run(later, earlier) ||
	    (later->timed && !latency_subtract(&later->latency, &earlier->latency)))
		return false;
	later->seconds -= earlier->seconds;
	later->reads -= earlier->reads;
	later->read_hits -= earlier->read_hits;
	later->writes -= earlier->writes;
	later->destaged -= earlier->destaged;
	later->read_bytes -= earlier->read_bytes;
	later->write_bytes -= earlier->write_bytes;
	return true;
}
