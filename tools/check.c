// SPDX-License-Identifier: GPL-2.0-only
/*
 * check: is the stopped cache on this device sound? Without the kernel module.
 *
 * Both superblocks, every block of the journal ring, the core's own recovery
 * without writing, the map it gives, the slow device, and the data. Devices are
 * opened for reading only.
 */
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/findings.h"
#include "lib/identity.h"
#include "lib/journal_ring.h"
#include "lib/kernel.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "tools/check/check.h"
#include "tools/guard/mark.h"
#include "tools/guard/slow_named.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/life.h"
#include "core/look.h"
#include "core/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ----------------------------------------------------------- at rest? ---- */

/* A running cache writes on while we read: what we saw would be of no moment. */
static enum xc refuse_holder(struct check *k)
{
	char who[PATH_MAX];

	if (!k->dev.is_block)
		return XC_OK;
	if (geteuid() == 0)
		kernel_sweep();
	if (claim_holder(k->dev.kname, who, sizeof(who)))
		return complain(XC_REFUSED, k->dev.path, text_stop(&k->dev),
				"in use, %s; only a stopped cache can be checked", who);
	return device_reopen(&k->dev, DEVICE_CLAIM);	/* nobody starts it meanwhile */
}

/* A file may be behind the loop device of one that runs. */
static enum xc refuse_running(const struct check *k)
{
	struct running r;

	if (running_find(NULL, text_uuid(k->o.sb.uuid), &r) != 1 || r.asleep)
		return XC_OK;
	return complain(XC_REFUSED, k->dev.path, text_todo("xpcache stop %s first", r.name),
			"running as %s; only a stopped cache can be checked", r.name);
}

/* ---------------------------------------------------------------- map ---- */

/* I3: a block has one mapping, and no other block's slot. */
static void check_mapping(struct check *k, const struct xp_mapping *m, u64 lbas, u64 slots)
{
	u64 lba = xp_lba_n(m->lba);
	u32 slot = xp_slot_n(m->slot);
	struct xp_mapping back;

	if ((lba >= lbas && (m->dirty || !le64_to_cpu(k->o.sb.slow_was))) || slot >= slots)
		finding_problem(&k->found, "map: slot %u has block %" PRIu64 ", beyond the end of a device",
				slot, lba);
	else if (!xp_lookup(k->o.core, m->lba, &back))
		finding_problem(&k->found, "map: slot %u has block %" PRIu64 ", which the map does not find",
				slot, lba);
	else if (xp_slot_n(back.slot) != slot)
		finding_problem(&k->found, "map: slot %u has block %" PRIu64 ", which slot %u has as well",
				slot, lba, xp_slot_n(back.slot));
	if (m->unread)
		finding_problem(&k->found, "map: block %" PRIu64 " was written to slot %u, which cannot be read, or has something else by now: "
				"an error until it is written anew", lba, slot);
	if (m->zeros && !m->dirty)
		finding_problem(&k->found, "map: block %" PRIu64 " reads as zeros and is clean, which no "
				"zeroed block is before its slot is free (slot %u)", lba, slot);
}

static void check_map(struct check *k)
{
	u64 lbas = (le64_to_cpu(k->o.sb.slow.sectors) + xp_sb_pad(&k->o.sb) + XP_BLOCK_SECTORS - 1) / XP_BLOCK_SECTORS;
	u64 slots = le64_to_cpu(k->o.sb.nr_slots), count[2] = { 0, 0 }, zeros = 0;
	const struct xp_stats *s = &k->o.stats;
	u64 before = k->found.problems;
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(k->o.core, &cursor, &m)) {
		count[m.dirty]++;
		k->unread += m.unread;
		zeros += m.zeros;
		check_mapping(k, &m, lbas, slots);
	}
	finding_number(&k->found, "map", "slots", slots);
	finding_number(&k->found, "map", "free", s->free);
	finding_number(&k->found, "map", "dirty", count[true]);
	finding_number(&k->found, "map", "clean", count[false]);
	finding_number(&k->found, "map", "zeros", zeros);
	finding_number(&k->found, "map", "unread", k->unread);
	finding_number(&k->found, "map", "ranked", s->ranks_restored);
	if (count[true] != s->dirty || count[false] != s->clean || s->free + s->dirty + s->clean + s->bad_slots != slots)
		finding_problem(&k->found, "map: %" PRIu64 " dirty and %" PRIu64 " clean of %" PRIu64 " slots, counted as %"
				PRIu64 " and %" PRIu64 " and %" PRIu64 " free", count[true], count[false],
				slots, s->dirty, s->clean, s->free);
	if (k->found.problems != before)
		return;
	finding_sound(&k->found, "map: %s dirty, %s clean", text_blocks(count[true]),
		      text_blocks(count[false]));
	finding_sound(&k->found, "map: %s of %s slots free, %s hold zeros", text_count(s->free),
		      text_count(slots), text_count(zeros));
	if (s->ranks_restored)
		finding_sound(&k->found, "map: the last stop noted the worth of %s; the next start goes on with that",
			      text_blocks(s->ranks_restored));
}

/* -------------------------------------------------------- slow device ---- */

static void check_beyond(struct check *k, const struct device *slow)
{
	u64 n = 0, dirty = 0, first = 0, was = le64_to_cpu(k->o.sb.slow.sectors);
	struct xp_mapping m;
	u32 cursor = 0;

	while (xp_walk(k->o.core, &cursor, &m)) {
		if (min((xp_lba_n(m.lba) + 1) * XP_BLOCK_SECTORS - xp_sb_pad(&k->o.sb), was) <= slow->sectors)
			continue;
		if (!n++ || xp_lba_n(m.lba) < first)
			first = xp_lba_n(m.lba);
		dirty += m.dirty;
	}
	k->too_short = dirty;
	if (dirty)
		finding_problem(&k->found, "slow device %s: %s of the cache, %s of them dirty, reach past its end, "
				"the first is sector %" PRIu64, slow->path, text_blocks(n), text_count(dirty),
				first * XP_BLOCK_SECTORS - xp_sb_pad(&k->o.sb));
	else if (n)
		finding_note(&k->found, "slow device %s: %s of the cache, clean, reach past its end; the next start drops them",
			     slow->path, text_blocks(n));
}

/* I5, I6: it is this device, with this size, that the dirty blocks go home to. */
static void check_slow(struct check *k, const struct device *slow)
{
	struct cache c = { .sb = k->o.sb, .fast = k->dev };
	char why[512];
	u64 doubt;
	bool same;

	if (!slow) {
		finding_note(&k->found, "slow device: not given (--slow), so not compared with %s",
			     identity_text(&k->o.sb.slow));
		return;
	}
	snprintf(c.name, sizeof(c.name), "%.31s", (const char *)c.sb.name);
	same = slow_same(&c, slow, why, sizeof(why));
	if (same)
		finding_sound(&k->found, "slow device %s, %s", slow->path,
			      text_bytes(slow->sectors << XP_SECTOR_SHIFT));
	else
		finding_problem(&k->found, "slow device %s: not that of this cache: %s", slow->path, why);
	if (same && slow->sectors != le64_to_cpu(k->o.sb.slow.sectors))
		finding_note(&k->found, "slow device %s: it has %" PRIu64 " sectors, and had %" PRIu64 "; the next start takes it as it is",
			     slow->path, slow->sectors, le64_to_cpu(k->o.sb.slow.sectors));
	k->o.slow = same ? slow->path : NULL;	/* which is advised */
	if (mark_there(&k->o.media.io, &k->o.sb, slow->path, &doubt))
		finding_note(&k->found, "slow device %s: writes went there alone while the fast device was gone; the next start drops what that has",
			     slow->path);
	if (k->recovered)
		check_beyond(k, slow);
}

/* --------------------------------------------------------------- whole ---- */

/* Would --accept-loss go on? It does not get over all that is refused. */
static bool is_acceptable(struct check *k)
{
	const struct xp_message why = k->o.message;
	bool yes;

	k->o.accept = XP_ACCEPT_LOSS;
	yes = !offline_load(&k->o);
	k->o.message = why;
	return yes;
}

static int recover(struct check *k, bool data)
{
	int err = ring_init(&k->ring, &k->o.sb, data);

	k->ring.findings = &k->found;
	if (!err)
		err = offline_look(&k->o, &k->ring.witness);
	k->recovered = !err;
	return err;
}

/* What the recovery met in the ring, and the map that it made. */
static void check_recovery(struct check *k, int err)
{
	if (!err || err == -EUCLEAN || err == -EBADMSG)
		check_ring(k, err);
	if (err && !k->found.problems)
		finding_problem(&k->found, "%s: %s", k->o.message.text, strerror(-err));
	if (k->recovered)
		check_map(k);
}

static enum xc check_contents(struct check *k, const struct device *slow, bool data)
{
	int err = recover(k, data);

	if (err == -ENOMEM)
		return complain_errno(err, k->dev.path, "cannot rebuild the map");
	check_recovery(k, err);
	check_slow(k, slow);
	k->acceptable = err && is_acceptable(k);
	return k->recovered && data ? check_data(k) : XC_OK;
}

/* Of those that no start has believed yet there is an older version. */
static const char *unread_advice(const struct check *k)
{
	const char *start = text_start((const char *)k->o.sb.name, k->dev.path, k->o.slow);

	return k->ring.said[XP_UNREADABLE_DATA] ?
	       text_todo("%s takes it as it is, with --accept-older the versions before; the others are whole", start) :
	       text_todo("%s takes it as it is: write those blocks anew, from a backup; the others are whole", start);
}

static enum xc verdict(const struct check *k, bool json)
{
	const char *name = (const char *)k->o.sb.name, *todo;
	const struct findings *f = &k->found;

	if (k->acceptable)
		todo = loss_advice(k->dev.path, k->o.slow);
	else if (!k->recovered)
		todo = "it cannot be started; keep a copy of the device, then restore what was dirty from a "
		       "backup: the slow device alone lacks it";
	else if (k->too_short)
		todo = shorter_advice(k->dev.path, k->o.slow);
	else if (k->lost)
		todo = "restore what those blocks held from a backup; the others are whole";
	else if (k->unread)
		todo = unread_advice(k);
	else if (f->problems == k->bad_superblocks)
		todo = "the cache still works, by the other superblock";
	else
		todo = text_todo("the cache still works: xpcache remove %s %s writes its blocks back, then make it anew",
				 name, text_devices(k->dev.path, k->o.slow));
	if (!f->problems) {
		if (!json)
			printf("%s: sound\n", k->dev.path);
		return XC_OK;
	}
	if (f->problems == 1)
		return complain(XC_DAMAGED, k->dev.path, todo, "%s", f->first);
	return complain(XC_DAMAGED, k->dev.path, todo, "%s (and %" PRIu64 " more)", f->first,
			f->problems - 1);
}

/* Neither superblock will do: what is wrong with each. */
static enum xc check_unusable(struct check *k, const struct options *opt, int err)
{
	findings_begin(&k->found, opt->json);
	findings_subject(&k->found, k->dev.path, NULL);
	check_superblocks(k, false);
	findings_end(&k->found, true);
	if (err == -ENOTSUP)
		return offline_complain(&k->o, &k->dev, err);
	return complain(XC_DAMAGED, k->dev.path,
			text_todo("it cannot be started; keep a copy of the device, then xpcache flush --offline --rescue --force %s goes by its journal",
				  text_devices(k->dev.path, opt->slow)),
			"neither superblock will do: %s", k->o.message.text);
}

static enum xc check_device(struct check *k, const struct device *slow, const struct options *opt)
{
	int err = offline_open(&k->o, &k->dev);
	enum xc ret;

	if (err == -EUCLEAN || err == -ENOTSUP)
		return check_unusable(k, opt, err);
	if (err)
		return offline_complain(&k->o, &k->dev, err);
	ret = refuse_running(k);
	if (ret)
		return ret;
	k->o.slow = opt->slow;
	findings_begin(&k->found, opt->json);
	findings_subject(&k->found, k->dev.path, &k->o.sb);
	check_superblocks(k, true);
	ret = check_contents(k, slow, opt->data);
	findings_end(&k->found, !ret);
	return ret ? ret : verdict(k, opt->json);
}

enum xc check_run(struct options *opt)
{
	struct check k = { .recovered = false };
	struct device slow = { .fd = -1 };
	enum xc ret = device_open(&k.dev, opt->arg, true);

	if (ret)
		return ret;
	ret = claim_kind(&k.dev);
	if (!ret)
		ret = refuse_holder(&k);
	if (!ret && opt->slow)
		ret = device_open(&slow, opt->slow, true);
	if (!ret && opt->slow)
		ret = claim_kind(&slow);
	if (!ret)
		ret = check_device(&k, opt->slow ? &slow : NULL, opt);
	offline_close(&k.o);
	ring_done(&k.ring);
	device_close(&slow);
	device_close(&k.dev);
	return ret;
}
