// SPDX-License-Identifier: GPL-2.0-only
/*
 * check: is the cache on this device sound? Offline, without the kernel module.
 *
 * Both superblocks, every block of the journal ring, the core's own recovery
 * without writing, then the map it gives. Nothing is written.
 */
#include "ring.h"

#include <stdarg.h>
#include <unistd.h>

struct check {
	struct device dev;
	struct offline o;
	bool unreadable;	/* neither superblock will do */
	bool recovered;		/* the map could be rebuilt */
	unsigned int problems;
	char first[512];	/* of them, in words */
};

__attribute__((format(printf, 2, 3)))
static void problem(struct check *k, const char *fmt, ...)
{
	char text[sizeof(k->first)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("  %sdamaged%s     %s\n", colour_bad(), colour_off(), text);
	if (!k->problems++)
		memcpy(k->first, text, sizeof(text));
}

__attribute__((format(printf, 1, 2)))
static void sound(const char *fmt, ...)
{
	va_list args;

	printf("  %sok%s          ", colour_good(), colour_off());
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* -------------------------------------------------------- superblocks ---- */

/* Both copies are judged: the core is content with one. */
static void check_copy(struct check *k, u64 block)
{
	struct xp_message msg = { "" };
	struct xp_sb sb;
	int err = block < device_blocks(&k->dev) ?
		  k->o.media.io.read(k->o.media.io.ctx, block, 1, &sb) : -ENXIO;

	if (err) {
		problem(k, "superblock in block %" PRIu64 ": %s", block, strerror(-err));
		return;
	}
	err = xp_sb_verify(&sb, device_blocks(&k->dev), &msg);
	if (err)
		problem(k, "block %" PRIu64 ", %s", block, msg.text);
	else if (!k->unreadable && memcmp(sb.uuid, k->o.sb.uuid, sizeof(sb.uuid)) != 0)
		problem(k, "superblock in block %" PRIu64 ": it is that of another cache, %.31s (%s)",
			block, (const char *)sb.name, text_uuid(sb.uuid));
	else
		sound("superblock in block %" PRIu64 ", generation %" PRIu64, block,
		      le64_to_cpu(sb.generation));
}

/* ------------------------------------------------------------ journal ---- */

/* A cut tears the blocks that were being written, and older ones stay behind:
 * only recovery can tell whether one of them was needed. */
static int check_ring(struct check *k)
{
	struct ring r;
	int err = ring_scan(&k->o.media.io, &k->o.sb, &r);
	u64 start = le64_to_cpu(k->o.sb.journal_start);

	if (err)
		return err;
	printf("  journal     blocks %" PRIu64 " to %" PRIu64 ": %s sound",
	       start, start + le64_to_cpu(k->o.sb.journal_blocks) - 1,
	       text_count(r.count[RING_GOOD]));
	if (r.count[RING_GOOD])
		printf(", numbers %" PRIu64 " to %" PRIu64 ", incarnation %" PRIu64,
		       r.oldest, r.newest, r.incarnation);
	if (r.count[RING_OTHER])
		printf(", %s of an older cache", text_count(r.count[RING_OTHER]));
	if (r.nr_bad)
		printf(", %s torn or misplaced, the first in block %" PRIu64,
		       text_count(r.nr_bad), r.first_bad);
	putchar('\n');
	return 0;
}

/* ---------------------------------------------------------------- map ---- */

/* Every mapping lies within both devices, and each block is mapped once. */
static void check_map(struct check *k)
{
	u64 lbas = (le64_to_cpu(k->o.sb.slow.sectors) + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
	u64 slots = le64_to_cpu(k->o.sb.nr_slots), dirty = 0, clean = 0;
	unsigned int before = k->problems;
	struct xp_mapping m, back;
	u32 cursor = 0;

	while (xp_walk(k->o.core, &cursor, &m)) {
		u64 lba = xp_lba_n(m.lba);
		u32 slot = xp_slot_n(m.slot);

		if (m.dirty)
			dirty++;
		else
			clean++;
		if (lba >= lbas || slot >= slots)
			problem(k, "slot %u maps block %" PRIu64 ", beyond the end of a device", slot, lba);
		else if (!xp_lookup(k->o.core, m.lba, &back) || xp_slot_n(back.slot) != slot)
			problem(k, "slot %u maps block %" PRIu64 ", which is mapped elsewhere", slot, lba);
	}
	if (dirty != k->o.stats.dirty || clean != k->o.stats.clean)
		problem(k, "map of %" PRIu64 " dirty and %" PRIu64 " clean blocks, counted as %" PRIu64
			" and %" PRIu64, dirty, clean, k->o.stats.dirty, k->o.stats.clean);
	if (k->problems == before)
		sound("map: %s dirty, %s clean, %s slots", text_blocks(dirty), text_blocks(clean),
		      text_count(slots));
}

/* --------------------------------------------------------------- whole ---- */

/* A running cache writes on while we read. */
static bool in_use(struct check *k)
{
	char who[PATH_MAX];
	struct running r;

	if (!k->dev.is_block)
		return false;
	if (claim_holder(k->dev.kname, who, sizeof(who)))
		return true;
	return geteuid() == 0 && kernel_find(NULL, text_uuid(k->o.sb.uuid), &r) == 1;
}

static enum xc check_contents(struct check *k)
{
	const struct xp_sb *sb = &k->o.sb;
	int err;

	printf("%s: the xpcache %.31s, %s\n", k->dev.path, (const char *)sb->name,
	       text_uuid(sb->uuid));
	if (in_use(k))
		printf("  note        it is running now: the journal changes while it is read\n");
	check_copy(k, XP_SB_BLOCK_A);
	check_copy(k, XP_SB_BLOCK_B);
	err = check_ring(k);
	if (err)
		return complain_errno(err, k->dev.path, "cannot read the journal");
	err = offline_load(&k->o);
	if (err == -EUCLEAN) {
		problem(k, "%s", k->o.message.text);
		return XC_OK;
	}
	if (err)
		return offline_complain(&k->o, &k->dev, err);
	k->recovered = true;
	sound("recovery, to journal block number %" PRIu64 ", %s in use", k->o.stats.seq,
	      text_count(k->o.stats.journal_used));
	check_map(k);
	return XC_OK;
}

static enum xc verdict(const struct check *k)
{
	const char *todo = k->recovered ?
		"the cache still works: xpcache remove brings its blocks home, then make it anew" :
		"nothing was changed; the slow device alone lacks what was dirty";

	if (!k->problems) {
		printf("%s: sound\n", k->dev.path);
		return XC_OK;
	}
	if (k->problems == 1)
		return complain(XC_DAMAGED, k->dev.path, todo, "%s", k->first);
	return complain(XC_DAMAGED, k->dev.path, todo, "%s (and %u more)", k->first,
			k->problems - 1);
}

enum xc check_run(struct options *opt)
{
	struct check k = { .problems = 0 };
	enum xc ret = device_open(&k.dev, opt->arg, true);
	int err;

	if (ret)
		return ret;
	err = offline_open(&k.o, &k.dev);
	if (err == -EUCLEAN || err == -ENOTSUP) {
		k.unreadable = true;
		printf("%s: an xpcache, but not one that can be used\n", k.dev.path);
		check_copy(&k, XP_SB_BLOCK_A);
		check_copy(&k, XP_SB_BLOCK_B);
	}
	ret = err ? offline_complain(&k.o, &k.dev, err) : check_contents(&k);
	if (!ret)
		ret = verdict(&k);
	offline_close(&k.o);
	device_close(&k.dev);
	return ret;
}
