// SPDX-License-Identifier: GPL-2.0-only
/*
 * rescue: all that can be read of a cache that does not run goes home, and what cannot be, or may be
 * old, is listed. The fast device is only read: whatever comes of it can be tried again.
 *
 * I9: a block counts as home if the map is certain of it, its slot was read, and the slow device has
 * taken and kept it. What recovery is not certain of is written all the same: the slow device has
 * nothing newer that anybody knows of.
 */
#include "tools/check/rescue.h"
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/fast_size.h"
#include "lib/figures.h"
#include "lib/journal_ring.h"
#include "lib/json.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/process.h"
#include "lib/progress.h"
#include "lib/remote.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/slow.h"
#include "lib/slow_find.h"
#include "tools/check/bare.h"
#include "tools/guard/accept.h"
#include "tools/guard/behind.h"
#include "tools/guard/mark.h"
#include "tools/guard/slow_named.h"
#include "tools/options.h"
#include "core/life.h"
#include "core/look.h"
#include "core/superblock.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define RUN_BLOCKS	256u
#define PATIENCE	2.0	/* seconds without a progress bar, */
#define PACE		0.2	/* and between two looks of it */

/* What has become of a dirty block. */
enum fate { LEFT, HOME, DOUBTFUL, UNREADABLE, UNWRITABLE, FATES };

struct rescue {
	const struct options *opt;
	struct cache c;
	struct device fast, slow;
	struct offline o;
	struct ring ring;
	struct slow to;
	u64 sectors;			/* of the slow device as the cache knows it */
	bool bare;			/* the superblock is laid out anew */
	u64 lost, refused;		/* journal blocks, records, without which the map was made */
	struct xp_mapping *block;	/* the dirty ones, by lba */
	u8 *fate;
	u64 nr, done, count[FATES];
	u8 *buf;			/* RUN_BLOCKS */
	struct progress bar;
	double begun, shown;
};

/* ------------------------------------------------------------ whose it is ---- */

static enum xc refuse_size(const struct rescue *r, int err, u64 noted)
{
	const char *size = text_size(device_blocks(&r->fast));

	if (err == -EEXIST)
		return complain(XC_DAMAGED, r->fast.path, "nothing was changed; leave --fast-size out",
				"it is noted that the cache has %s of it, and --fast-size says %s", text_bytes(noted << XP_BLOCK_SHIFT),
				text_bytes(r->opt->fast_size));
	if (r->opt->fast_size)
		return complain(XC_DAMAGED, r->fast.path, text_todo("nothing was changed; --fast-size %s if the cache has all of it, else what it was given", size),
				"its journal is not that of a cache of %s", text_bytes(r->opt->fast_size));
	return complain(XC_DAMAGED, r->fast.path, text_todo("nothing was changed; give --fast-size too: %s if the cache has all of it, else what it was given", size),
			err == -ESTALE ? "what is noted of how much of it the cache has cannot be" : "neither superblock will do, and nothing else tells how much of it the cache has");
}

/* The user's word is asked first: nothing can tell whether it is the slow device of this cache. */
static enum xc take_bare(struct rescue *r, int err)
{
	const struct xp_message message = r->o.message;
	const char *why = *message.text ? message.text : strerror(-err);
	u64 blocks = 0, noted = 0;
	enum xc ret = err == -ENOTSUP ? offline_complain(&r->o, &r->fast, err) : fast_size_blocks(r->opt->fast_size, &r->fast, &blocks);
	int bare = ret ? 0 : bare_superblock(&r->o.media.io, device_blocks(&r->fast), r->opt->fast_size ? blocks : 0, &noted, &r->o.sb);

	if (ret)
		return ret;
	if (bare == -ENOENT)
		return offline_complain(&r->o, &r->fast, err);
	if (!r->opt->force)
		return complain(XC_DAMAGED, r->fast.path,
				"nothing was changed; --force goes by its journal alone, if you know that --slow is its slow device",
				"neither superblock will do (%s), so nothing tells whose slow device this is",
				why);
	if (bare)
		return refuse_size(r, bare, noted);
	if (!r->opt->json)
		printf("%s: neither superblock will do (%s): by the journal it is the cache %s; that %s is its slow device you say\n",
		       r->fast.path, why, text_uuid(r->o.sb.uuid), r->opt->slow);
	r->bare = true;
	return XC_OK;
}

/* Nobody starts it meanwhile. */
static enum xc claim_fast(struct rescue *r)
{
	char who[PATH_MAX];

	if (geteuid() == 0)
		kernel_sweep();
	if (r->fast.is_block ? claim_holder(r->fast.kname, who, sizeof(who)) :
			       claim_loop(r->fast.dev, r->fast.ino, who, sizeof(who)))
		return complain(XC_REFUSED, r->fast.path, text_stop(&r->fast), "in use, %s", who);
	return device_reopen(&r->fast, DEVICE_CLAIM);
}

static enum xc check_size(const struct rescue *r)
{
	if (!r->opt->fast_size || r->opt->fast_size >> XP_BLOCK_SHIFT == le64_to_cpu(r->o.sb.fast_blocks))
		return XC_OK;
	return complain(XC_USAGE, "--fast-size", "leave it out", "the superblock of %s says %s", r->fast.path,
			text_size(le64_to_cpu(r->o.sb.fast_blocks)));
}

/* By a superblock, or without. */
static enum xc read_fast(struct rescue *r)
{
	int err = offline_open(&r->o, &r->fast);

	if (!err)
		return check_size(r);
	return r->o.media.bounce ? take_bare(r, err) : complain_errno(err, r->fast.path, "cannot read it");
}

static enum xc check_stopped(const struct rescue *r)
{
	struct running running;

	if (running_find(NULL, r->c.uuid, &running) != 1)
		return XC_OK;
	return complain(XC_REFUSED, r->fast.path, text_todo("xpcache stop %s first", running.name), "running as %s", running.name);
}

static enum xc open_fast(struct rescue *r)
{
	enum xc ret = device_open(&r->fast, r->opt->fast, true);

	if (!ret)
		ret = claim_fast(r);
	if (!ret)
		ret = read_fast(r);
	if (ret)
		return ret;
	r->o.slow = r->opt->slow;
	r->c.sb = r->o.sb;
	r->c.fast = r->fast;
	snprintf(r->c.name, sizeof(r->c.name), "%.31s", r->bare ? "without a name" : (const char *)r->o.sb.name);
	snprintf(r->c.uuid, sizeof(r->c.uuid), "%s", text_uuid(r->o.sb.uuid));
	return check_stopped(r);
}

/* As start asks of it, but for a memory that sleeps with it: then nothing is dirty. */
static enum xc open_slow(struct rescue *r)
{
	enum xc ret = r->bare ? device_open_any(&r->slow, r->opt->slow, true) :
				slow_named(&r->c, r->opt, true, &r->slow);
	int err;

	if (!ret)
		ret = slow_check_free(&r->fast, &r->slow);
	if (!ret)
		ret = remote_check_free(r->slow.path);
	if (!ret)
		ret = device_reopen(&r->slow, DEVICE_OWN);
	if (ret)
		return ret;
	if (r->bare)
		r->o.sb.slow.sectors = cpu_to_le64(r->slow.sectors);
	r->sectors = le64_to_cpu(r->o.sb.slow.sectors);
	err = slow_open(&r->to, r->slow.path);
	if (err)
		return complain_errno(err, r->slow.path, "cannot open it");
	r->to.pad = xp_sb_pad(&r->o.sb);
	if (r->slow.sectors > r->sectors)	/* what is behind the cache's last block is not its own */
		r->to.bytes = r->sectors << XP_SECTOR_SHIFT;
	slow_own(&r->to, r->slow.fd);
	return XC_OK;
}

/* ---------------------------------------------------------- may it be written? ---- */

static int look_with(struct rescue *r, u32 accept)
{
	int err;

	ring_done(&r->ring);
	err = ring_init(&r->ring, &r->o.sb, false);
	r->o.accept = accept;
	return err ? err : offline_look(&r->o, &r->ring.witness);
}

static enum xc look(struct rescue *r)
{
	int err = look_with(r, 0);
	bool asked = err == -EBADMSG || err == -EUCLEAN;

	if (asked)
		err = look_with(r, XP_ACCEPT_LOSS);
	if (err)
		return offline_complain(&r->o, &r->fast, err);
	if (asked || le32_to_cpu(r->o.sb.bad.losing)) {
		r->lost = ring_lost_in_all(&r->ring, &r->o.sb, asked);
		r->refused = r->ring.said[XP_REFUSED];
	}
	if (r->bare && r->refused)
		return complain(XC_REFUSED, r->slow.path, "nothing was changed; give the right one",
				"the journal of %s names blocks that this device cannot have", r->fast.path);
	return XC_OK;
}

/* Of what went to the slow device past the cache nothing is overwritten by what is older. */
static enum xc look_behind(struct rescue *r)
{
	char found[160];
	u64 doubt;
	int err;

	if (mark_there(&r->o.media.io, &r->o.sb, r->slow.path, &doubt))
		return complain(XC_REFUSED, r->slow.path, text_todo("nothing was changed; use it as it is, or %s, which drops what the cache has",
							       text_start(r->c.name, r->fast.path, r->slow.path)),
				"writes have passed the cache, when nothing was dirty: it has all, and %s is older", r->fast.path);
	err = behind_tells(&r->o, r->slow.path, doubt, found, sizeof(found));
	if (err)
		return complain_errno(err, r->slow.path, "cannot look whether it was written without the cache");
	if (!*found || r->opt->prefer_cache)
		return XC_OK;
	return complain(XC_REFUSED, r->slow.path,
			"nothing was changed; --prefer-cache writes the dirty blocks back over what the disk holds now",
			"%swritten without the cache (%s), while %s are dirty on %s", doubt ? "may have been " : "", found,
			text_blocks(r->o.stats.dirty), r->fast.path);
}

/* ---------------------------------------------------------------- the work ---- */

static int by_lba(const void *a, const void *b)
{
	u64 x = xp_lba_n(((const struct xp_mapping *)a)->lba), y = xp_lba_n(((const struct xp_mapping *)b)->lba);

	return (x > y) - (x < y);
}

static enum xc collect(struct rescue *r)
{
	struct xp_mapping m;
	u32 cursor = 0;

	r->block = calloc(r->o.stats.dirty + 1, sizeof(*r->block));
	r->fate = calloc(r->o.stats.dirty + 1, sizeof(*r->fate));
	if (!r->block || !r->fate || posix_memalign((void **)&r->buf, XP_BLOCK_SIZE, RUN_BLOCKS << XP_BLOCK_SHIFT))
		return complain_errno(ENOMEM, r->fast.path, "cannot sort its dirty blocks");
	while (xp_walk(r->o.core, &cursor, &m))
		if (m.dirty)
			r->block[r->nr++] = m;
	qsort(r->block, r->nr, sizeof(*r->block), by_lba);
	return XC_OK;
}

static u8 *data_of(const struct rescue *r, u64 first, u64 i)
{
	return r->buf + ((i - first) << XP_BLOCK_SHIFT);
}

/* How many from @i to @end lie side by side in slots. */
static u32 beside(const struct rescue *r, u64 i, u64 end)
{
	u32 n = 1;

	while (i + n < end && !r->block[i + n].zeros &&
	       xp_slot_n(r->block[i + n].slot) == xp_slot_n(r->block[i].slot) + n)
		n++;
	return n;
}

/* In one read; where that fails, block by block. What is not what was written there is as good as not read. */
static void read_slots(struct rescue *r, u64 i, u32 n, u8 *to)
{
	const struct xp_media *m = &r->o.media.io;
	u64 at = le64_to_cpu(r->o.sb.data_start) + xp_slot_n(r->block[i].slot);
	bool together = !m->read(m->ctx, at, n, to);

	for (u32 k = 0; k < n; k++) {
		u8 *data = to + k * XP_BLOCK_SIZE;

		if ((!together && offline_read_slot(&r->o, &r->block[i + k], data)) || !xp_mapping_holds(&r->block[i + k], data))
			r->fate[i + k] = UNREADABLE;
	}
}

static void read_run(struct rescue *r, u64 first, u64 end)
{
	u64 i = first;

	while (i < end) {
		u32 n = 1;

		if (r->block[i].zeros) {
			memset(data_of(r, first, i), 0, XP_BLOCK_SIZE);
		} else {
			n = beside(r, i, end);
			read_slots(r, i, n, data_of(r, first, i));
		}
		i += n;
	}
}

/* Of a slow device that is shorter than it was. Of one block the beginning may still have room. */
static bool has_room(const struct rescue *r, u64 lba)
{
	return min(slow_sector(&r->to, lba + 1), r->sectors) <= r->slow.sectors;
}

/* The sectors of the block that its slot has. */
static void put_part(struct rescue *r, u64 i, const u8 *data)
{
	u64 lba = xp_lba_n(r->block[i].lba);
	u8 lacks = r->block[i].lacks;
	bool kept = has_room(r, lba);

	for (u32 at = 0, n; (n = xp_part_next((u8)~lacks, &at)); at += n)
		kept &= !slow_put_sectors(&r->to, lba * XP_BLOCK_SECTORS + at, n, data + ((size_t)at << XP_SECTOR_SHIFT));
	r->fate[i] = !kept ? UNWRITABLE : r->block[i].doubtful ? DOUBTFUL : HOME;
}

static void put(struct rescue *r, u64 i, u32 n, const u8 *data)
{
	u64 lba = xp_lba_n(r->block[i].lba);
	bool whole = !slow_put(&r->to, lba, n, data) && has_room(r, lba + n - 1);

	for (u32 k = 0; k < n; k++)
		if (whole || (n > 1 && !slow_put(&r->to, lba + k, 1, data + k * XP_BLOCK_SIZE) && has_room(r, lba + k)))
			r->fate[i + k] = r->block[i + k].doubtful ? DOUBTFUL : HOME;
		else
			r->fate[i + k] = UNWRITABLE;
}

static void write_run(struct rescue *r, u64 first, u64 end)
{
	u64 i = first;

	while (i < end) {
		u32 n = 0;

		while (i + n < end && r->fate[i + n] != UNREADABLE)
			n++;
		if (n && r->block[i].lacks)
			put_part(r, i, data_of(r, first, i));
		else if (n)
			put(r, i, n, data_of(r, first, i));
		i += max(n, 1u);
	}
}

/* Up to which they follow each other on the slow device. */
static u64 end_of_run(const struct rescue *r, u64 first)
{
	u64 i = first + 1;

	while (i < r->nr && i - first < RUN_BLOCKS && !r->block[first].lacks && !r->block[i].lacks &&
	       xp_lba_n(r->block[i].lba) == xp_lba_n(r->block[i - 1].lba) + 1)
		i++;
	return i;
}

static void show(struct rescue *r)
{
	double now = seconds_now();

	if (now - r->begun < PATIENCE || now - r->shown < PACE)
		return;
	progress_show(&r->bar, r->nr - r->done);
	r->shown = now;
}

/* What the slow device cannot keep it does not have. */
static void count(struct rescue *r, bool kept)
{
	for (u64 i = 0; i < r->nr; i++) {
		if (!kept && (r->fate[i] == HOME || r->fate[i] == DOUBTFUL))
			r->fate[i] = UNWRITABLE;
		r->count[r->fate[i]]++;
	}
}

/* A signal is looked at between two runs. */
static void bring_home(struct rescue *r)
{
	struct sigaction was[NR_CAUGHT];

	r->begun = seconds_now();
	progress_begin(&r->bar, r->nr);
	signals_catch(was);
	while (r->done < r->nr && !signals_came()) {
		u64 end = end_of_run(r, r->done);

		read_run(r, r->done, end);
		write_run(r, r->done, end);
		r->done = end;
		show(r);
	}
	count(r, !slow_sync(&r->to));
	signals_let(was);
	progress_end();
}

/* -------------------------------------------------------------- the report ---- */

static const struct {
	const char *name, *words;
} told[FATES] = {
	[LEFT] = { "left", "it was interrupted" },
	[HOME] = { "written_back", "" },
	[DOUBTFUL] = { "doubtful", "written, but may be older than was promised, or another block's" },
	[UNREADABLE] = { "unreadable", "the fast device cannot read them; the slow device has older ones" },
	[UNWRITABLE] = { "unwritable", "the slow device does not take them, or ends before" },
};

struct range {
	u64 sector, sectors;
};

/* The next one of this fate from *@i on. */
static bool next_range(const struct rescue *r, enum fate fate, u64 *i, struct range *range)
{
	u64 first, end;

	while (*i < r->nr && r->fate[*i] != fate)
		++*i;
	if (*i == r->nr)
		return false;
	first = xp_lba_n(r->block[*i].lba);
	for (end = first; *i < r->nr && r->fate[*i] == fate && xp_lba_n(r->block[*i].lba) == end; ++*i)
		end++;
	range->sector = slow_sector(&r->to, first);
	range->sectors = min(slow_sector(&r->to, end), r->sectors) - range->sector;
	return true;
}

static void print_fate(const struct rescue *r, enum fate fate)
{
	struct range range;
	u64 i = 0;

	if (!r->count[fate])
		return;
	printf("  %-12s %s: %s\n", told[fate].name, text_blocks(r->count[fate]), told[fate].words);
	while (next_range(r, fate, &i, &range))
		printf("  %12s sectors %" PRIu64 " to %" PRIu64 "\n", "", range.sector, range.sector + range.sectors - 1);
}

static void print_text(const struct rescue *r)
{
	printf("%s: the xpcache %s, %s\n", r->fast.path, r->c.name, r->c.uuid);
	printf("  %-12s %s\n", told[HOME].name, text_blocks(r->count[HOME]));
	for (enum fate fate = DOUBTFUL; fate < FATES; fate++)
		print_fate(r, fate);
	print_fate(r, LEFT);
	if (r->lost)
		printf("  %-12s %s of its blocks cannot be used: at most %s blocks, which nobody can name, may be older than was promised\n",
		       "journal", text_count(r->lost), text_count(r->lost * XP_SPOKEN_OF));
	if (r->refused)
		printf("  %-12s %s of its records make no sense\n", "journal", text_count(r->refused));
}

static struct json_object *json_fate(const struct rescue *r, enum fate fate)
{
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	struct range range;
	u64 i = 0;

	json_object_object_add(o, "blocks", json_object_new_uint64(r->count[fate]));
	while (next_range(r, fate, &i, &range)) {
		struct json_object *one = json_object_new_object();

		json_object_object_add(one, "sector", json_object_new_uint64(range.sector));
		json_object_object_add(one, "sectors", json_object_new_uint64(range.sectors));
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "ranges", list);
	return o;
}

static void print_json(const struct rescue *r)
{
	struct json_object *o = json_object_new_object(), *journal = json_object_new_object();

	json_object_object_add(o, "fast", json_words(r->fast.path));
	json_object_object_add(o, "slow", json_words(r->slow.path));
	json_object_object_add(o, "uuid", json_words(r->c.uuid));
	json_object_object_add(o, "superblock", json_object_new_boolean(!r->bare));
	json_object_object_add(o, "dirty", json_object_new_uint64(r->nr));
	json_object_object_add(o, told[HOME].name, json_object_new_uint64(r->count[HOME]));
	json_object_object_add(o, "home", json_object_new_uint64(r->count[HOME]));	/* its first name, for one release */
	for (enum fate fate = DOUBTFUL; fate < FATES; fate++)
		json_object_object_add(o, told[fate].name, json_fate(r, fate));
	json_object_object_add(o, told[LEFT].name, json_fate(r, LEFT));
	json_object_object_add(journal, "lost", json_object_new_uint64(r->lost));
	json_object_object_add(journal, "refused", json_object_new_uint64(r->refused));
	json_object_object_add(o, "journal", journal);
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
}

static enum xc report(const struct rescue *r)
{
	if (r->opt->json)
		print_json(r);
	else
		print_text(r);
	if (output_fails())
		return output_complain();
	if (r->count[LEFT])
		return complain(XC_INTERRUPTED, r->slow.path, "nothing is lost, the same command begins again",
				"stopped, with %s of %s dirty blocks written back for certain", text_count(r->count[HOME]), text_count(r->nr));
	if (r->count[HOME] == r->nr && (r->lost || r->refused))
		return complain(XC_DAMAGED, r->slow.path,
				"look at what is on it before it is used; nothing was written to the fast device",
				"what a part of the journal said is lost, and more may have been dirty");
	if (r->count[HOME] < r->nr)
		return complain(XC_DAMAGED, r->slow.path,
				"the others are listed: look at what holds them, and restore that from a backup; nothing was written to the fast device",
				"%s of %s dirty blocks are written back for certain", text_count(r->count[HOME]), text_count(r->nr));
	if (!r->opt->json)
		printf("%s: every block is written back, the slow device is complete\n", r->c.name);
	return XC_OK;
}

/* --------------------------------------------------------------- whole ---- */

static enum xc rescue(struct rescue *r)
{
	enum xc ret = open_slow(r);

	if (!ret)
		ret = look(r);
	if (!ret)
		ret = look_behind(r);
	if (!ret)
		ret = collect(r);
	if (ret)
		return ret;
	bring_home(r);
	return report(r);
}

/* Until it is over nobody starts the cache; then its slow device is kept for it as before. */
static enum xc rescue_alone(struct rescue *r)
{
	int lock = known_lock(r->c.uuid, true);
	dev_t kept = fence_lift(r->c.uuid);
	enum xc ret = rescue(r);

	device_close(&r->slow);
	fence_again(r->c.uuid, r->slow.is_block ? r->slow.dev : kept, lock);
	return ret;
}

static enum xc check_words(const struct options *opt)
{
	enum xc ret = accept_check_none(opt, "give --rescue alone, which goes on by itself");

	if (!ret && !opt->slow)
		ret = complain(XC_USAGE, "--slow", text_todo("xpcache flush --offline --rescue %s", text_devices(opt->fast, NULL)), "the slow device is missing");
	if (!ret && opt->discard_dirty)
		ret = complain(XC_USAGE, "--discard-dirty", "give one", "--rescue says the opposite");
	return ret;
}

enum xc rescue_run(const struct options *opt)
{
	struct rescue r = { .opt = opt, .fast.fd = -1, .slow.fd = -1, .to = { .fd = -1, .own = -1 } };
	enum xc ret = check_words(opt);

	if (!ret)
		ret = open_fast(&r);
	if (!ret)
		ret = rescue_alone(&r);
	slow_close(&r.to);
	offline_close(&r.o);
	ring_done(&r.ring);
	free(r.block);
	free(r.fate);
	free(r.buf);
	device_close(&r.slow);
	device_close(&r.fast);
	return ret;
}
