// SPDX-License-Identifier: GPL-2.0-only
/* dump: superblock, journal and every mapping of a cache, readable or as JSON. */
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/fields.h"
#include "lib/journal_ring.h"
#include "lib/json.h"
#include "lib/offline.h"
#include "tools/guard/fingerprint.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The journal in numbers: what recovery took, and the ring it found it in. */
#define NR_JOURNAL	10

struct number {
	const char *name;
	u64 n;
};

static void summarise(const struct xp_stats *s, const struct ring *r,
		      struct number out[NR_JOURNAL])
{
	const struct number all[NR_JOURNAL] = {
		{ "used", s->journal_used },
		{ "seq", s->seq },
		{ "durable_seq", s->durable_seq },
		{ "incarnation", s->incarnation },
		{ "ring_sound", r->count[XP_PLACE_VALID] },
		{ "ring_oldest_seq", r->oldest },
		{ "ring_newest_seq", r->newest },
		{ "ring_records", r->records },
		{ "ring_torn", r->count[XP_PLACE_TORN] + r->count[XP_PLACE_MISPLACED] +
		  r->count[XP_PLACE_SENSELESS] },
		{ "ring_older_cache", r->count[XP_PLACE_OTHER] },
	};

	memcpy(out, all, sizeof(all));
}

/* ------------------------------------------------------- for people ---- */

static void print_fingerprint(const struct offline *o)
{
	struct xp_fp fp;
	bool have = fingerprint_read(&o->media.io, &o->sb, &fp);

	printf("fingerprint of the slow device%s\n", have ? "" : ": none");
	if (have)
		printf("  %-18s %" PRIu64 "\n  %-18s %" PRIu64 "\n  %-18s %u\n  %-18s %s\n", "taken", (u64)le64_to_cpu(fp.taken),
		       "seq", (u64)le64_to_cpu(fp.seq), "blocks", le32_to_cpu(fp.count), "stale",
		       le32_to_cpu(fp.flags) & XP_FP_STALE ? "yes" : "no");
}

static void print_text(const struct offline *o, const struct number *journal)
{
	struct xp_mapping m;
	u32 cursor = 0;

	printf("superblock\n");
	for (size_t i = 0; i < NR_FIELDS; i++)
		printf("  %-18s %s\n", sb_fields[i].name,
		       field_text(&sb_fields[i], &o->sb));
	printf("journal\n");
	for (int i = 0; i < NR_JOURNAL; i++)
		printf("  %-18s %" PRIu64 "\n", journal[i].name, journal[i].n);
	print_fingerprint(o);
	printf("mappings: %" PRIu64 " dirty, %" PRIu64 " clean\n", o->stats.dirty, o->stats.clean);
	if (o->stats.dirty + o->stats.clean)
		printf("  %12s %12s\n", "lba", "slot");
	while (!ferror(stdout) && xp_walk(o->core, &cursor, &m))
		printf("  %12" PRIu64 " %12u %s%s\n", (u64)xp_lba_n(m.lba), xp_slot_n(m.slot),
		       m.dirty ? "dirty" : "clean", m.zeros ? " zeros" : m.unread ? " unread" : m.lacks ? " part" : "");
}

/* ----------------------------------------------------------- as JSON ---- */

static struct json_object *json_superblock(const struct xp_sb *sb)
{
	struct json_object *o = json_object_new_object(), *slow = json_object_new_object();

	for (size_t i = 0; i < NR_FIELDS; i++) {
		const struct field *f = &sb_fields[i];
		bool is_slow = !strncmp(f->name, "slow.", 5);

		json_object_object_add(is_slow ? slow : o, is_slow ? f->name + 5 : f->name,
				       f->kind == FIELD_NUMBER ?
				       json_object_new_uint64(field_number(f, sb)) :
				       json_words(field_text(f, sb)));
	}
	json_object_object_add(o, "slow", slow);
	return o;
}

/* NULL, which is JSON's null: there is none. */
static struct json_object *json_fingerprint(const struct offline *o)
{
	struct json_object *j;
	struct xp_fp fp;

	if (!fingerprint_read(&o->media.io, &o->sb, &fp))
		return NULL;
	j = json_object_new_object();
	json_object_object_add(j, "taken", json_object_new_uint64(le64_to_cpu(fp.taken)));
	json_object_object_add(j, "seq", json_object_new_uint64(le64_to_cpu(fp.seq)));
	json_object_object_add(j, "incarnation", json_object_new_uint64(le64_to_cpu(fp.incarnation)));
	json_object_object_add(j, "blocks", json_object_new_uint64(le32_to_cpu(fp.count)));
	json_object_object_add(j, "stale", json_object_new_boolean(le32_to_cpu(fp.flags) & XP_FP_STALE));
	return j;
}

/* A big cache has millions of mappings: they are written as they come. */
static void print_json(const struct offline *o, const struct number *journal)
{
	struct json_object *sb = json_superblock(&o->sb), *j = json_object_new_object();
	struct json_object *fp = json_fingerprint(o);
	const int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *comma = "";
	struct xp_mapping m;
	u32 cursor = 0;

	for (int i = 0; i < NR_JOURNAL; i++)
		json_object_object_add(j, journal[i].name, json_object_new_uint64(journal[i].n));
	printf("{\"superblock\":%s,\n", json_object_to_json_string_ext(sb, flags));
	printf("\"journal\":%s,\n", json_object_to_json_string_ext(j, flags));
	printf("\"fingerprint\":%s,\n\"mappings\":[", fp ? json_object_to_json_string_ext(fp, flags) : "null");
	while (!ferror(stdout) && xp_walk(o->core, &cursor, &m)) {
		printf("%s\n{\"lba\":%" PRIu64 ",\"slot\":%u,\"dirty\":%s,\"zeros\":%s,\"unread\":%s,\"lacks\":%u}", comma,
		       (u64)xp_lba_n(m.lba), xp_slot_n(m.slot), m.dirty ? "true" : "false",
		       m.zeros ? "true" : "false", m.unread ? "true" : "false", m.lacks);
		comma = ",";
	}
	printf("]}\n");
	json_object_put(sb);
	json_object_put(j);
	json_object_put(fp);
}

/* ------------------------------------------------------------- whole ---- */

static enum xc dump(struct offline *o, const struct device *d, bool json)
{
	struct number journal[NR_JOURNAL];
	struct ring ring;
	int err = ring_init(&ring, &o->sb, false);

	if (!err)
		err = offline_look(o, &ring.witness);
	if (!err)
		summarise(&o->stats, &ring, journal);
	ring_done(&ring);
	if (err)
		return offline_complain(o, d, err);
	if (json)
		print_json(o, journal);
	else
		print_text(o, journal);
	return XC_OK;
}

enum xc dump_run(struct options *opt)
{
	struct offline o;
	struct device d;
	enum xc ret = device_open(&d, opt->arg, true);
	int err;

	if (ret)
		return ret;
	err = offline_open(&o, &d);
	ret = err ? offline_complain(&o, &d, err) : dump(&o, &d, opt->json);
	offline_close(&o);
	device_close(&d);
	return ret;
}
