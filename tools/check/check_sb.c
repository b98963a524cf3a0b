// SPDX-License-Identifier: GPL-2.0-only
/* Both superblocks, each for itself, where the core is content with one (I10). */
#include "lib/device.h"
#include "lib/fields.h"
#include "lib/figures.h"
#include "lib/findings.h"
#include "tools/check/check.h"
#include "core/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct copy {
	u64 block;
	struct xp_sb sb;
	int err;		/* why it will not do, */
	struct xp_message why;	/* in words; "" when it could not be read */
	bool cleaned;		/* its own words are not all in sb */
};

static void read_copy(struct check *k, u64 block, struct copy *c)
{
	const struct xp_media *m = &k->o.media.io;

	memset(c, 0, sizeof(*c));
	c->block = block;
	c->err = block < device_blocks(&k->dev) ? m->read(m->ctx, block, 1, &c->sb) : -ENXIO;
	if (!c->err)
		c->err = xp_sb_verify(&c->sb, device_blocks(&k->dev), &c->why);
	c->cleaned = !c->err && xp_sb_clean(&c->sb);
}

static bool blank(const struct xp_sb *sb)
{
	static const struct xp_sb zeros;

	return !memcmp(sb, &zeros, sizeof(*sb));
}

/* Which fields of the two are not the same: "name, nr_slots". */
static const char *differences(const struct xp_sb *a, const struct xp_sb *b)
{
	static char text[320];
	size_t len = 0;

	for (size_t i = 0; i < NR_FIELDS && len < sizeof(text); i++) {
		const struct field *f = &sb_fields[i];

		if (memcmp((const u8 *)a + f->offset, (const u8 *)b + f->offset, f->len) != 0)
			len += snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "", f->name);
	}
	return len ? text : "bytes that no field uses, words that are not shown, or the checksum";
}

/* The other copy is what it should be like. */
static void tell_bad(struct check *k, const struct copy *c, const struct copy *other)
{
	const char *todo = other->err || c->err == -ENOTSUP ? "" : "; the next start writes it anew";

	k->bad_superblocks++;
	if (!c->why.text[0])
		finding_problem(&k->found, "superblock in block %" PRIu64 ": cannot be read: %s%s",
				c->block, strerror(-c->err), todo);
	else if (c->err == -ENOENT && blank(&c->sb) && c->block == XP_SB_BLOCK_A)
		finding_problem(&k->found, "block %" PRIu64 ", %s: zeros, as a create or remove that was "
				"interrupted leaves them%s", c->block, c->why.text, todo);
	else if (c->err == -ENOENT || other->err)
		finding_problem(&k->found, "block %" PRIu64 ", %s%s", c->block, c->why.text, todo);
	else
		finding_problem(&k->found, "block %" PRIu64 ", %s; other than in block %" PRIu64 ": %s%s",
				c->block, c->why.text, other->block, differences(&c->sb, &other->sb), todo);
}

/*
 * Two that are good each for itself. The second is written first: so it may be
 * newer after an interruption, and never older.
 */
static void compare(struct check *k, const struct copy *a, const struct copy *b)
{
	u64 gen_a = le64_to_cpu(a->sb.generation), gen_b = le64_to_cpu(b->sb.generation);

	if (memcmp(a->sb.uuid, b->sb.uuid, sizeof(a->sb.uuid)) != 0)
		finding_problem(&k->found, "superblocks of two caches: block %" PRIu64 " has %.31s (%s), block %"
				PRIu64 " has %.31s (%s)", a->block, (const char *)a->sb.name,
				text_uuid(a->sb.uuid), b->block, (const char *)b->sb.name,
				text_uuid(b->sb.uuid));
	else if (gen_b > gen_a)
		finding_note(&k->found, "superblock in block %" PRIu64 " is the newer one and counts: writing both "
			     "was interrupted, which does no harm; other than in block %" PRIu64 ": %s",
			     b->block, a->block, differences(&a->sb, &b->sb));
	else if (gen_b < gen_a)
		finding_problem(&k->found, "superblock in block %" PRIu64 " is older than that in block %" PRIu64
				", though it is written first: that write was lost", b->block, a->block);
	else if (memcmp(&a->sb, &b->sb, sizeof(a->sb)) != 0)
		finding_problem(&k->found, "superblocks of one generation that do not agree: %s",
				differences(&a->sb, &b->sb));
}

static void tell_features(struct check *k)
{
	u64 unknown = le64_to_cpu(k->o.sb.ro_compat) & ~XP_RO_COMPAT_KNOWN;

	if (unknown)
		finding_note(&k->found, "features that this xpcache may read and not write, bits 0x%" PRIx64
			     ": start it with a newer one", unknown);
	if (k->o.sb.bad.losing)
		finding_note(&k->found, "a start that went on without what it could not read was cut short; the next one ends it");
}

void check_superblocks(struct check *k, bool usable)
{
	struct copy copy[2];

	read_copy(k, XP_SB_BLOCK_A, &copy[0]);
	read_copy(k, XP_SB_BLOCK_B, &copy[1]);
	for (int i = 0; i < 2; i++) {
		const struct copy *c = &copy[i];

		finding_truth(&k->found, "superblocks", c->block == XP_SB_BLOCK_A ? "first" : "second",
			      !c->err);
		if (c->err)
			tell_bad(k, c, &copy[1 - i]);
		else
			finding_sound(&k->found, "superblock in block %" PRIu64 ", generation %" PRIu64,
				      c->block, le64_to_cpu(c->sb.generation));
		if (c->cleaned)
			finding_note(&k->found, "superblock in block %" PRIu64 ": it has a name or words that no xpcache writes; "
				     "they are shown without what is wrong, and xpcache start %s starts it", c->block,
				     (const char *)c->sb.name);
	}
	if (!copy[0].err && !copy[1].err)
		compare(k, &copy[0], &copy[1]);
	if (usable)
		tell_features(k);
}
