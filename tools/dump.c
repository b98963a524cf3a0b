// SPDX-License-Identifier: GPL-2.0-only
/* dump: superblock, journal and every mapping of a cache, readable or as JSON. */
#include "ring.h"

#include <json-c/json.h>
#include <time.h>

enum kind { NUMBER, TEXT, UUID, HEX };

/* The superblock's fields, once, for both forms. */
static const struct sb_field {
	const char *name;
	enum kind kind;
	size_t offset, len;
} fields[] = {
#define FIELD(member, kind) \
	{ #member, kind, offsetof(struct xp_sb, member), sizeof(((struct xp_sb *)0)->member) }
	FIELD(version, NUMBER),
	FIELD(flags, HEX),
	FIELD(compat, HEX),
	FIELD(ro_compat, HEX),
	FIELD(incompat, HEX),
	FIELD(uuid, UUID),
	FIELD(name, TEXT),
	FIELD(created, NUMBER),
	FIELD(generation, NUMBER),
	FIELD(fast_blocks, NUMBER),
	FIELD(scratch_start, NUMBER),
	FIELD(scratch_blocks, NUMBER),
	FIELD(journal_start, NUMBER),
	FIELD(journal_blocks, NUMBER),
	FIELD(data_start, NUMBER),
	FIELD(nr_slots, NUMBER),
	FIELD(slow.sectors, NUMBER),
	FIELD(slow.logical_size, NUMBER),
	FIELD(slow.hwid, TEXT),
	FIELD(slow.content, TEXT),
	FIELD(slow.path, TEXT),
};

#define NR_FIELDS	(sizeof(fields) / sizeof(*fields))

static u64 number_of(const u8 *p, size_t len)
{
	__le32 n32;
	__le64 n64;

	if (len == 4) {
		memcpy(&n32, p, 4);
		return le32_to_cpu(n32);
	}
	memcpy(&n64, p, 8);
	return le64_to_cpu(n64);
}

static const char *text_of(const struct sb_field *f, const struct xp_sb *sb)
{
	static char text[128];
	const u8 *p = (const u8 *)sb + f->offset;

	switch (f->kind) {
	case NUMBER:
		snprintf(text, sizeof(text), "%" PRIu64, number_of(p, f->len));
		break;
	case HEX:
		snprintf(text, sizeof(text), "0x%" PRIx64, number_of(p, f->len));
		break;
	case UUID:
		return text_uuid(p);
	case TEXT:
		snprintf(text, sizeof(text), "%.*s", (int)f->len, (const char *)p);
		break;
	}
	return text;
}

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
		{ "ring_sound", r->count[RING_GOOD] },
		{ "ring_oldest_seq", r->oldest },
		{ "ring_newest_seq", r->newest },
		{ "ring_records", r->records },
		{ "ring_torn", r->nr_bad },
		{ "ring_older_cache", r->count[RING_OTHER] },
	};

	memcpy(out, all, sizeof(all));
}

/* ------------------------------------------------------- for people ---- */

static void print_text(const struct offline *o, const struct number *journal)
{
	struct xp_mapping m;
	u32 cursor = 0;

	printf("superblock\n");
	for (size_t i = 0; i < NR_FIELDS; i++)
		printf("  %-18s %s\n", fields[i].name, text_of(&fields[i], &o->sb));
	printf("journal\n");
	for (int i = 0; i < NR_JOURNAL; i++)
		printf("  %-18s %" PRIu64 "\n", journal[i].name, journal[i].n);
	printf("mappings: %" PRIu64 " dirty, %" PRIu64 " clean\n", o->stats.dirty, o->stats.clean);
	if (o->stats.dirty + o->stats.clean)
		printf("  %12s %12s\n", "lba", "slot");
	while (xp_walk(o->core, &cursor, &m))
		printf("  %12" PRIu64 " %12u %s%s\n", (u64)xp_lba_n(m.lba), xp_slot_n(m.slot),
		       m.dirty ? "dirty" : "clean", m.zeros ? " zeros" : "");
}

/* ----------------------------------------------------------- as JSON ---- */

static struct json_object *json_superblock(const struct xp_sb *sb)
{
	struct json_object *o = json_object_new_object(), *slow = json_object_new_object();

	for (size_t i = 0; i < NR_FIELDS; i++) {
		const struct sb_field *f = &fields[i];
		bool is_slow = !strncmp(f->name, "slow.", 5);
		const u8 *p = (const u8 *)sb + f->offset;

		json_object_object_add(is_slow ? slow : o, is_slow ? f->name + 5 : f->name,
				       f->kind == NUMBER ?
				       json_object_new_uint64(number_of(p, f->len)) :
				       json_object_new_string(text_of(f, sb)));
	}
	json_object_object_add(o, "slow", slow);
	return o;
}

/* A big cache has millions of mappings: they are written as they come. */
static void print_json(const struct offline *o, const struct number *journal)
{
	struct json_object *sb = json_superblock(&o->sb), *j = json_object_new_object();
	const int flags = JSON_C_TO_STRING_NOSLASHESCAPE;
	const char *comma = "";
	struct xp_mapping m;
	u32 cursor = 0;

	for (int i = 0; i < NR_JOURNAL; i++)
		json_object_object_add(j, journal[i].name, json_object_new_uint64(journal[i].n));
	printf("{\"superblock\":%s,\n", json_object_to_json_string_ext(sb, flags));
	printf("\"journal\":%s,\n\"mappings\":[", json_object_to_json_string_ext(j, flags));
	while (xp_walk(o->core, &cursor, &m)) {
		printf("%s\n{\"lba\":%" PRIu64 ",\"slot\":%u,\"dirty\":%s,\"zeros\":%s}", comma,
		       (u64)xp_lba_n(m.lba), xp_slot_n(m.slot), m.dirty ? "true" : "false",
		       m.zeros ? "true" : "false");
		comma = ",";
	}
	printf("]}\n");
	json_object_put(sb);
	json_object_put(j);
}

/* ------------------------------------------------------------- whole ---- */

static enum xc dump(struct offline *o, const struct device *d, bool json)
{
	struct number journal[NR_JOURNAL];
	struct ring ring;
	int err = offline_load(o);

	if (!err)
		err = ring_scan(&o->media.io, &o->sb, &ring);
	if (err)
		return offline_complain(o, d, err);
	summarise(&o->stats, &ring, journal);
	if (json)
		print_json(o, journal);
	else
		print_text(o, journal);
	return fflush(stdout) || ferror(stdout) ? complain_errno(errno, "stdout", "cannot write") : XC_OK;
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
