// SPDX-License-Identifier: GPL-2.0-only
/*
 * Was the slow device written while the cache did not run? A live system that mounted it, another
 * machine: what the cache holds then is of another time than what is around it.
 *
 * After a rest in order the fingerprint tells: each of its blocks must be what it was. After a cut
 * the slow device has moved on since the last one, by writeback; then the map tells. What it has clean
 * the slow device holds (I7, I8); and of a dirty superblock the slow device has an older state.
 *
 * A boot loader is installed below the cache, and the firmware reads it there: what is its own says nothing.
 */
#include "tools/guard/behind.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/flushing.h"
#include "lib/identity.h"
#include "lib/offline.h"
#include "lib/remote.h"
#include "lib/slow.h"
#include "lib/user.h"
#include "tools/guard/accept.h"
#include "tools/guard/fingerprint.h"
#include "tools/guard/tables.h"
#include "tools/guard/fs_age.h"
#include "tools/options.h"
#include "core/look.h"
#include "core/rest.h"
#include "core/superblock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SAMPLES		64u	/* of clean blocks: half a second of a hard disk */
#define FREE_PAUSE_MS	50u	/* a killed daemon holds a device until the kernel has ended its I/O */
#define FREE_PATIENCE_MS	2000u

struct look {
	const struct cache *c;
	const struct options *opt;
	const char *slow_path, *name;
	struct device fast;
	struct slow slow;
	struct loader loader;	/* if it was looked for: what is known without it is not read for it */
	bool loader_known;
	struct offline o;
	struct xp_fp fp;
	bool mapped;		/* the map is there */
	bool noted;		/* and the fingerprint */
	u64 doubt;		/* of mark_prepare() */
	char found[160];	/* what was written behind the cache's back; "": nothing, as far as one can tell */
};

/* ----------------------------------------------------------- evidence ---- */

__attribute__((format(printf, 2, 3)))
static void found(struct look *k, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(k->found, sizeof(k->found), format, args);
	va_end(args);
}

static const char *place(const struct look *k, u64 lba)
{
	return text_bytes(slow_sector(&k->slow, lba) << XP_SECTOR_SHIFT);
}

/* Free space that was trimmed may turn into zeros whenever its disk likes: that is nobody's write. Tables are not free. */
static bool is_trim(struct look *k, u64 lba)
{
	return (slow_is_all(&k->slow, 0) || slow_is_all(&k->slow, 0xff)) && lba >= tables_blocks(&k->slow) &&
	       !fingerprint_begins(&k->slow, lba);
}

/* Behind an end that the slow device had, or has, there is something else by now: that is not somebody who wrote. */
static bool is_inside(const struct look *k, u64 lba)
{
	u64 was = le64_to_cpu(k->o.sb.slow.sectors), is = k->slow.bytes >> XP_SECTOR_SHIFT;

	return was == is || slow_sector(&k->slow, lba + 1) <= min(was, is);
}

/* What its slot lacks is what the slow device has, whose block was read. */
static void take_lacking(const struct look *k, const struct xp_mapping *map, u8 *block)
{
	for (u32 at = 0; at < XP_BLOCK_SECTORS; at++)
		if (map->lacks >> at & 1)
			memcpy(block + (at << XP_SECTOR_SHIFT), k->slow.block + (at << XP_SECTOR_SHIFT), 1u << XP_SECTOR_SHIFT);
}

/* What the slow device is compared with. A slot that does not hold what its sum says is the fast device's fault,
 * and no evidence against the slow one: as if it could not be read. */
static int read_slot(struct look *k, const struct xp_mapping *map, u64 block[XP_BLOCK_SIZE / sizeof(u64)])
{
	int err = offline_read_slot(&k->o, map, block);

	take_lacking(k, map, (u8 *)block);
	return err || xp_mapping_holds(map, block) ? err : -EIO;
}

/* Of a block that was read; both lose what is the loader's. */
static bool same_but_for_loader(struct look *k, u64 lba, u8 ours[XP_BLOCK_SIZE])
{
	loader_leave_out(&k->loader, lba, ours);
	loader_leave_out(&k->loader, lba, k->slow.block);
	return !memcmp(ours, k->slow.block, XP_BLOCK_SIZE);
}

/* Of the first block that the slow device has now: but for a loader it is what the cache has, or what was
 * noted. */
static bool table_is_ours(struct look *k)
{
	u64 words[XP_BLOCK_SIZE / sizeof(u64)];
	u8 *ours = (u8 *)words;
	struct xp_mapping map;

	if (slow_read(&k->slow, 0))
		return false;
	if (!k->mapped || !xp_lookup(k->o.core, XP_LBA(0), &map))
		return !le64_to_cpu(k->fp.block[0].lba) && le32_to_cpu(k->fp.count) &&
		       fingerprint_hash(&k->loader, 0, k->slow.block) == le64_to_cpu(k->fp.block[0].hash);
	if (map.zeros || read_slot(k, &map, words))
		return false;
	return same_but_for_loader(k, 0, ours);
}

/* Of a block that was read, and is read again: what the loader has of it counts no more. A table that
 * somebody has edited does not say where that is. False: it cannot be read. */
static bool without_loader(struct look *k, u64 lba)
{
	if (!k->loader_known) {
		fingerprint_loader(&k->loader, &k->slow);
		k->loader.n = k->loader.n && table_is_ours(k) ? k->loader.n : 0;
		k->loader_known = true;
	}
	return !slow_read(&k->slow, lba);
}

/* Of a block that was read: is it what the fingerprint says? Of whole blocks it spoke once. What cannot be
 * read any more says nothing. */
static bool is_as_noted(struct look *k, u32 i)
{
	u64 noted = le64_to_cpu(k->fp.block[i].hash), lba = le64_to_cpu(k->fp.block[i].lba);

	return xp_xxh64(k->slow.block, XP_BLOCK_SIZE) == noted || !without_loader(k, lba) ||
	       fingerprint_hash(&k->loader, lba, k->slow.block) == noted;
}

static int load_map(struct look *k)
{
	int err = k->mapped ? 0 : offline_load(&k->o);

	k->mapped = !err;
	return err;
}

/* What is dirty there was brought home by who writes nothing to the fast device (rescue.c). */
static bool is_home(struct look *k, u64 lba)
{
	u64 ours[XP_BLOCK_SIZE / sizeof(u64)];
	struct xp_mapping map;

	if (load_map(k) || !xp_lookup(k->o.core, XP_LBA(lba), &map) || !map.dirty || slow_read(&k->slow, lba))
		return false;
	if (map.zeros)
		return slow_is_all(&k->slow, 0);
	return !read_slot(k, &map, ours) && !memcmp(ours, k->slow.block, XP_BLOCK_SIZE);
}

/* What cannot be read says nothing. */
static void compare_all(struct look *k)
{
	for (u32 i = 0; i < le32_to_cpu(k->fp.count) && !*k->found; i++) {
		u64 lba = le64_to_cpu(k->fp.block[i].lba);

		if (is_inside(k, lba) && !slow_read(&k->slow, lba) && !is_as_noted(k, i) && !is_trim(k, lba) && !is_home(k, lba))
			found(k, "it holds something else at %s", place(k, lba));
	}
}

/* Of a block that was read. */
static bool is_ours(struct look *k, u64 lba, u8 ours[XP_BLOCK_SIZE])
{
	if (!memcmp(ours, k->slow.block, XP_BLOCK_SIZE) || !without_loader(k, lba))
		return true;
	return same_but_for_loader(k, lba, ours);
}

/* The slow device's block is there. */
static void compare_mapping(struct look *k, const struct xp_mapping *map)
{
	u64 words[XP_BLOCK_SIZE / sizeof(u64)];
	u8 *ours = (u8 *)words;
	const char *kind;

	if (map->zeros || read_slot(k, map, words) || !memcmp(ours, k->slow.block, XP_BLOCK_SIZE))
		return;
	if (!map->dirty && !is_ours(k, xp_lba_n(map->lba), ours))
		found(k, "it holds something else at %s", place(k, xp_lba_n(map->lba)));
	else if (map->dirty && fs_newer(ours, k->slow.block, &kind))
		found(k, "%s at %s, used since", kind, place(k, xp_lba_n(map->lba)));
}

/*
 * Of the fingerprint's places those that the cache has. A dirty one that the slow device holds as it
 * did then tells nothing: an older superblock in the cache is one that somebody restored there.
 */
static void compare_places(struct look *k)
{
	struct xp_mapping map;

	for (u32 i = 0; i < le32_to_cpu(k->fp.count) && !*k->found; i++) {
		u64 lba = le64_to_cpu(k->fp.block[i].lba);

		if (xp_lookup(k->o.core, XP_LBA(lba), &map) && is_inside(k, lba) && !slow_read(&k->slow, lba) &&
		    !(map.dirty && is_as_noted(k, i)))
			compare_mapping(k, &map);
	}
}

/* No fingerprint is no good news: its places, and what the map says of them. */
static void note_places(struct look *k)
{
	struct places p;

	fingerprint_places(&p, &k->slow, k->o.sb.uuid);
	for (u32 i = 0; i < p.n; i++)
		k->fp.block[i].lba = cpu_to_le64(p.lba[i]);
	k->fp.count = cpu_to_le32(p.n);
}

static int by_lba(const void *a, const void *b)
{
	u64 x = xp_lba_n(((const struct xp_mapping *)a)->lba), y = xp_lba_n(((const struct xp_mapping *)b)->lba);

	return (x > y) - (x < y);
}

/* Some of the clean ones, each as likely as any other; the same ones if it is tried again. */
static u32 choose_samples(struct look *k, struct xp_mapping sample[SAMPLES])
{
	struct xp_mapping map;
	u64 seen = 0, draw;
	u32 cursor = 0, n;

	srand48((long)(k->o.stats.seq ^ xp_xxh64(k->o.sb.uuid, sizeof(k->o.sb.uuid))));
	while (xp_walk(k->o.core, &cursor, &map)) {
		if (map.dirty)
			continue;
		draw = seen < SAMPLES ? seen : (u64)(drand48() * (double)(seen + 1));
		seen++;
		if (draw < SAMPLES)
			sample[draw] = map;
	}
	n = (u32)min(seen, (u64)SAMPLES);
	qsort(sample, n, sizeof(*sample), by_lba);	/* in the order of the disk */
	return n;
}

static void compare_samples(struct look *k)
{
	struct xp_mapping sample[SAMPLES];
	u32 n = choose_samples(k, sample);

	for (u32 i = 0; i < n && !*k->found; i++)
		if (is_inside(k, xp_lba_n(sample[i].lba)) && !slow_read(&k->slow, xp_lba_n(sample[i].lba)))
			compare_mapping(k, &sample[i]);
}

/* ---------------------------------------------------------- the look ---- */

static void close_look(struct look *k)
{
	offline_close(&k->o);
	slow_close(&k->slow);
	device_close(&k->fast);
	k->mapped = false;
}

static int open_cache(struct look *k)
{
	int err = offline_open(&k->o, &k->fast);

	k->o.accept = k->opt ? accept_of(k->opt) : 0;
	k->o.slow = k->slow_path;
	return err;
}

static enum xc open_look(struct look *k)
{
	enum xc ret = device_open(&k->fast, k->c->fast.path, true);
	int err;

	if (ret)
		return ret;
	err = open_cache(k);
	if (err)
		return offline_complain(&k->o, &k->fast, err);
	err = slow_open(&k->slow, k->slow_path);
	k->slow.pad = xp_sb_pad(&k->o.sb);
	return err ? complain_errno(err, k->slow_path, "cannot open it") : XC_OK;
}

void wait_until_free(const struct device *d)
{
	const struct timespec pause = { .tv_nsec = FREE_PAUSE_MS * 1000000 };

	for (u32 ms = 0; d->is_block && ms < FREE_PATIENCE_MS; ms += FREE_PAUSE_MS) {
		int fd = open(d->path, O_RDONLY | O_EXCL | O_CLOEXEC);

		if (fd >= 0)
			close(fd);
		if (fd >= 0 || errno != EBUSY)
			return;
		nanosleep(&pause, NULL);
	}
}

/* Nobody starts it from now on: what the map says is read once more, and stays so. */
static enum xc own(struct look *k)
{
	enum xc ret;
	int err;

	offline_close(&k->o);
	k->mapped = false;
	wait_until_free(&k->fast);
	ret = device_reopen(&k->fast, DEVICE_OWN);
	if (ret)
		return ret;
	err = open_cache(k);
	if (!err)
		err = load_map(k);
	return offline_complain(&k->o, &k->fast, err);
}

/* Nothing has run since the fingerprint was taken. */
static bool in_order(struct look *k)
{
	struct xp_jblock block;
	struct xp_end end;

	return !xp_follow(&k->o.media.io, &k->o.sb, le64_to_cpu(k->fp.seq), &block, &end) &&
	       end.seq == le64_to_cpu(k->fp.seq) && end.incarnation == le64_to_cpu(k->fp.incarnation);
}

/* Negative errno: of the map. */
static int compare(struct look *k)
{
	int err;

	if (k->doubt) {
		found(k, "it cannot be read at %s, where that would be said", place(k, k->doubt));
		return 0;
	}
	if (le32_to_cpu(k->fp.flags) & XP_FP_STALE) {
		found(k, "as found before a --prefer-cache that did not end");
		return 0;
	}
	if (k->noted && in_order(k)) {
		compare_all(k);
		return 0;
	}
	err = load_map(k);
	if (err)
		return err;
	if (!k->noted)
		note_places(k);
	compare_places(k);
	if (!*k->found)
		compare_samples(k);
	return 0;
}

/* ------------------------------------------------------- the choices ---- */

/* With the device owned, and nothing dirty or the user's word for it. A mark goes after that. */
static enum xc forget(struct look *k)
{
	struct xp_jblock block;
	int err = xp_forget(k->o.core, &k->o.media.io, &block);

	if (!err && le32_to_cpu(k->fp.flags) & XP_FP_STALE)
		err = fingerprint_mark(&k->o.media.io, &k->o.sb, false);
	if (!err && k->doubt)	/* whatever is there, it was about what is forgotten */
		fingerprint_place(&k->o.media.io, &k->o.sb, 0);
	return err ? complain_errno(err, k->fast.path, "cannot empty the cache") : XC_OK;
}

static void say_dropped(const struct look *k)
{
	const struct xp_stats *s = &k->o.stats;

	if (s->clean || s->dirty)
		printf("%s: %s %s written without the cache (%s): %s of it dropped\n", k->name, k->slow_path,
		       k->doubt ? "may have been" : "was", k->found, text_blocks(s->clean));
	if (s->dirty)
		printf("%s: and %s that were dirty, as you asked\n", k->name, text_blocks(s->dirty));
}

static enum xc refuse(const struct look *k)
{
	return complain(XC_REFUSED, k->slow_path,
			"nothing was changed; --prefer-cache writes the dirty blocks back over what the disk holds now, "
			"--discard-dirty loses them and keeps the disk as it is; man xpcache says how to look at it first",
			"%swritten without the cache %s (%s), while %s are dirty on %s",
			k->doubt ? "may have been " : "", k->name, k->found, text_blocks(k->o.stats.dirty), k->fast.path);
}

/* What is dirty goes home, whatever is there now; no client can come between. */
static enum xc bring_home(struct look *k)
{
	struct user_start how = { .offline = true, .force = k->opt->force, .tunables = k->opt->tunables };

	how.tunables.verify = !!(le64_to_cpu(k->o.sb.incompat) & XP_INCOMPAT_SUMS);
	return flush_by_user(k->name, k->c->fast.path, k->slow_path, &how);
}

/* Before anything is changed: whether the daemon would. */
static enum xc check_daemon(const struct look *k)
{
	struct device slow;
	enum xc ret = device_open_any(&slow, k->slow_path, true);
	char why[512];

	if (!ret && !user_can_start())
		ret = complain(XC_FAILED, "--prefer-cache", "install xpcached beside xpcache", "the daemon is not there, whose work it is");
	if (!ret && !slow.remote && !identity_same(&k->o.sb.slow, &slow, true, why, sizeof(why)))
		ret = complain(XC_REFUSED, k->slow_path, "make it what the cache left, bit by bit, or --discard-dirty",
			       "no dirty blocks go over a disk that was changed and is a copy besides: %s", why);
	device_close(&slow);
	return ret;
}

static enum xc bring_all_home(struct look *k)
{
	enum xc ret;

	close_look(k);
	ret = accept_losses(k->c, k->slow_path, k->opt);
	if (!ret)
		ret = bring_home(k);
	if (!ret)
		ret = open_look(k);
	if (!ret)
		ret = own(k);
	if (!ret && k->o.stats.dirty)
		ret = complain(XC_REFUSED, k->name, "nothing is lost: once more",
			       "%s became dirty meanwhile", text_blocks(k->o.stats.dirty));
	return ret;
}

/* The mark first: once the journal goes on, and dirty superblocks are home, nothing else may tell. */
static enum xc prefer_cache(struct look *k)
{
	enum xc ret = check_daemon(k);
	int err;

	if (ret)
		return ret;
	err = fingerprint_mark(&k->o.media.io, &k->o.sb, true);
	if (err)
		return complain_errno(err, k->fast.path, "cannot note what is to be done");
	k->fp.flags |= cpu_to_le32(XP_FP_STALE);
	if (k->doubt)	/* the engine would look there, too */
		fingerprint_place(&k->o.media.io, &k->o.sb, 0);
	printf("%s: %s are written back to %s, over what %s written there without the cache (%s)\n", k->name,
	       text_blocks(k->o.stats.dirty), k->slow_path, k->doubt ? "may have been" : "was", k->found);
	ret = bring_all_home(k);
	return ret ? ret : forget(k);
}

static enum xc decide(struct look *k)
{
	enum xc ret = own(k);

	if (ret)
		return ret;
	if (k->o.stats.dirty && k->opt->prefer_cache)
		return prefer_cache(k);
	if (k->o.stats.dirty && !k->opt->discard_dirty)
		return refuse(k);
	ret = forget(k);
	if (!ret)
		say_dropped(k);
	return ret;
}

enum xc behind_check(const struct cache *c, const char *slow_path, const struct options *opt, u64 doubt)
{
	struct look k = { .c = c, .opt = opt, .slow_path = slow_path, .doubt = doubt, .fast.fd = -1, .slow.fd = -1,
			  .name = opt->name ? opt->name : c->name };
	enum xc ret = open_look(&k);
	int err;

	if (!ret) {
		k.noted = fingerprint_read(&k.o.media.io, &k.o.sb, &k.fp);
		err = compare(&k);
		if (err)
			ret = offline_complain(&k.o, &k.fast, err);
		else if (*k.found)
			ret = decide(&k);
		else if (opt->discard_dirty || opt->prefer_cache)
			printf("%s: %s is as the cache left it, so there is nothing to choose\n", k.name, slow_path);
	}
	close_look(&k);
	return ret;
}

/* What speaks for and against a slow device of another size. [1]: of blocks that are to be blank, as of any new disk. */
struct votes {
	u32 all[2], ours[2], others[2];
};

enum vote { VOTE_NONE, VOTE_OURS, VOTE_OTHERS };

static void count_vote(struct votes *v, bool blank, enum vote vote)
{
	v->all[blank]++;
	v->ours[blank] += vote == VOTE_OURS;
	v->others[blank] += vote == VOTE_OTHERS;
}

/* After a rest in order each block is as noted. After a cut one that is not may have been written back since. */
static void vote_noted(struct votes *v, struct look *k)
{
	static const u8 zeros[XP_BLOCK_SIZE];
	u64 blank = xp_xxh64(zeros, sizeof(zeros));
	bool rests = in_order(k);

	for (u32 i = 0; i < le32_to_cpu(k->fp.count); i++) {
		u64 lba = le64_to_cpu(k->fp.block[i].lba);
		bool same;

		if (!is_inside(k, lba) || slow_read(&k->slow, lba))
			continue;
		same = is_as_noted(k, i) || is_home(k, lba);
		count_vote(v, le64_to_cpu(k->fp.block[i].hash) == blank,
			   same ? VOTE_OURS : rests ? VOTE_OTHERS : VOTE_NONE);
	}
}

static bool is_blank(const u8 block[XP_BLOCK_SIZE])
{
	return !block[0] && !memcmp(block, block + 1, XP_BLOCK_SIZE - 1);
}

/* I7: what is clean it holds. */
static void vote_clean(struct votes *v, struct look *k)
{
	u64 ours[XP_BLOCK_SIZE / sizeof(u64)];
	struct xp_mapping sample[SAMPLES];
	u32 n = load_map(k) ? 0 : choose_samples(k, sample);

	for (u32 i = 0; i < n; i++) {
		u64 lba = xp_lba_n(sample[i].lba);

		if (is_inside(k, lba) && !read_slot(k, &sample[i], ours) && !slow_read(&k->slow, lba))
			count_vote(v, is_blank((u8 *)ours), is_ours(k, lba, (u8 *)ours) ? VOTE_OURS : VOTE_OTHERS);
	}
}

/* Zeros are like any other zeros: they count where nothing else does. */
bool behind_recognises(const struct cache *c, const char *slow_path)
{
	struct look k = { .c = c, .slow_path = slow_path, .name = c->name, .fast.fd = -1, .slow.fd = -1 };
	struct votes v = { 0 };
	bool blank;

	if (!open_look(&k)) {
		if (fingerprint_read(&k.o.media.io, &k.o.sb, &k.fp))
			vote_noted(&v, &k);
		vote_clean(&v, &k);
	}
	close_look(&k);
	blank = !v.all[0];
	return v.ours[blank] && v.ours[blank] >= v.others[blank];
}

int behind_tells(const struct offline *o, const char *slow_path, u64 doubt, char *what, size_t len)
{
	struct look k = { .slow_path = slow_path, .doubt = doubt, .o = *o, .mapped = true };
	int err = slow_open(&k.slow, slow_path);

	k.slow.pad = xp_sb_pad(&o->sb);
	if (!err) {
		k.noted = fingerprint_read(&k.o.media.io, &k.o.sb, &k.fp);
		err = compare(&k);
	}
	snprintf(what, len, "%s", k.found);
	slow_close(&k.slow);
	return err;
}

/* ------------------------------------------------ the first start, the end ---- */

void behind_note_first(const struct cache *c, const char *slow_path)
{
	struct look k = { .c = c, .slow_path = slow_path, .name = c->name, .fast.fd = -1, .slow.fd = -1 };
	enum xc ret = open_look(&k);
	int err = 0;

	if (!ret && !fingerprint_read(&k.o.media.io, &k.o.sb, &k.fp) && !load_map(&k) &&
	    !k.o.stats.clean && !k.o.stats.dirty && !own(&k))
		err = fingerprint_take(&k.fast, slow_path, k.o.stats.seq);
	if (err)
		complain_errno(err, slow_path, "cannot note what it holds now, so what others write there meanwhile may go unseen");
	close_look(&k);
}

enum xc behind_empty(const struct cache *c)
{
	struct look k = { .c = c, .name = c->name, .fast.fd = -1, .slow.fd = -1 };
	enum xc ret = device_open(&k.fast, c->fast.path, true);

	if (!ret)
		ret = own(&k);
	if (!ret && k.o.stats.dirty)
		ret = complain(XC_REFUSED, k.name, "nothing is lost: once more",
			       "%s became dirty meanwhile", text_blocks(k.o.stats.dirty));
	if (!ret)	/* also what has nothing: a memory that slept with it must not come back */
		ret = forget(&k);
	close_look(&k);
	return ret;
}
