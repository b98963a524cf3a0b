// SPDX-License-Identifier: GPL-2.0-only
/*
 * hibernate --resume, in the initramfs, before a cache starts: the memory of the system that sleeps
 * comes back, if the caches that slept with it have slept on. If one was started since, what is on the
 * disks is not what that memory knows: then it must never come back, and is erased. If a cache that
 * this machine knows is not here nobody can tell: then it stays, and the boot stops.
 *
 * Which caches slept with it, their notes say: those that name its swap. With no note none was in that
 * memory, as the kernel makes no image with one.
 *
 * Any disk may have a note, and it may say anything. Only a cache that this system knows makes it restore or
 * erase a memory: hibernate --begin refuses with others. One that it does not know, and two devices that hold
 * one cache and do not agree, make it do nothing.
 *
 * And a cache that is to start, with or without that: see sleep_no_image().
 */
#include "tools/hibernate/restore.h"
#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "lib/sysfs.h"
#include "tools/hibernate/image.h"
#include "tools/hibernate/looked.h"
#include "tools/hibernate/sleep_note.h"
#include "tools/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#define WAIT_SECONDS	30.0	/* for disks that come late */

/* A note, and the cache that has it. */
struct sleeper {
	struct cache c;
	struct xp_sleep note;
	bool holds;
};

struct sleepers {
	struct sleeper *v;
	size_t n;
	char missing[128];	/* of a cache that is known, what is not here; "": nothing */
};

static void sleepers_free(struct sleepers *all)
{
	free(all->v);
	memset(all, 0, sizeof(*all));
}

static void add_notes(struct sleepers *all, const struct cache *c)
{
	struct device fast;
	struct media m;

	if (device_look(&fast, c->fast.path)) {
		snprintf(all->missing, sizeof(all->missing), "the fast device of %s", c->name);
		return;
	}
	if (!media_init(&m, fast.fd))
		for (u32 i = 0; i < XP_SLEEP_NOTES; i++) {
			struct sleeper *s = &all->v[all->n];
			int has = sleep_note_read(&m.io, &c->sb, i, &s->note);

			if (has < 0)
				snprintf(all->missing, sizeof(all->missing), "a note of %s that can be read", c->name);
			if (has <= 0)
				continue;
			s->c = *c;
			s->holds = sleep_note_holds(&m.io, &c->sb, &s->note);
			all->n++;
		}
	media_done(&m);
	device_close(&fast);
}

static void find_missing(struct sleepers *all, const struct caches *here)
{
	struct known *known;
	size_t n = known_all(&known);

	if (known_broken())
		snprintf(all->missing, sizeof(all->missing), "a record of each cache that can be read");
	for (size_t i = 0; i < n && !*all->missing; i++)
		if (known[i].start != START_GONE && !caches_have(here, known[i].uuid, false))
			snprintf(all->missing, sizeof(all->missing), "the fast device of %s", known[i].name);
	free(known);
}

/* Of the devices that are here. */
static void find_sleepers(struct sleepers *all)
{
	struct caches here;

	sleepers_free(all);
	if (caches_scan(&here))
		memset(&here, 0, sizeof(here));
	all->v = calloc(here.n * XP_SLEEP_NOTES + 1, sizeof(*all->v));
	for (size_t i = 0; all->v && i < here.n; i++)
		if (!here.v[i].err)
			add_notes(all, &here.v[i]);
	find_missing(all, &here);
	caches_free(&here);
}

/* Of its notes those that are of this swap's newest sleep: what it had before is overwritten. */
static void keep_those_of(struct sleepers *all, const u8 swap[SWAP_UUID])
{
	u64 newest = 0;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (!memcmp(all->v[i].note.swap_uuid, swap, SWAP_UUID))
			newest = max(newest, le64_to_cpu(all->v[i].note.id));
	for (size_t i = 0; i < all->n; i++)
		if (!memcmp(all->v[i].note.swap_uuid, swap, SWAP_UUID) && le64_to_cpu(all->v[i].note.id) == newest)
			all->v[n++] = all->v[i];
	all->n = n;
}

/* A cache may have copies. */
static bool is_first(const struct sleepers *all, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(all->v[i].c.uuid, all->v[j].c.uuid))
			return false;
	return true;
}

static u32 how_many(const struct sleepers *all)
{
	u32 n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += is_first(all, i);
	return n;
}

static bool complete(const struct sleepers *ours)
{
	return !ours->n || how_many(ours) == le32_to_cpu(ours->v[0].note.caches);
}

/* --------------------------------------------------------------- where ---- */

struct part {
	u32 number;
	dev_t dev;
};

static int has_number(const char *kname, void *ctx)
{
	struct part *p = ctx;
	char text[32], dev[32];

	return sysfs_read(kname, "partition", text, sizeof(text)) && strtoul(text, NULL, 10) == p->number &&
	       sysfs_read(kname, "dev", dev, sizeof(dev)) && device_number(dev, &p->dev);
}

static dev_t partition_of(dev_t disk, const char *rest)
{
	struct part p = { .dev = 0 };
	char kname[64];

	if (!*rest)
		return disk;
	if (disk && sscanf(rest, "p%u", &p.number) == 1 && device_kname(disk, kname, sizeof(kname)))
		device_each_partition(kname, has_number, &p);
	return p.dev;
}

/* "/dev/mapper/NAME" or "/dev/mapper/NAMEpN", which is not there yet: what that leads to. */
static dev_t below_name(const char *spec)
{
	const char *name = cache_plain_name(spec);
	struct known *known;
	size_t n = name == spec ? 0 : known_all(&known);
	dev_t dev = 0;

	if (name == spec)
		return 0;
	for (size_t i = 0; i < n && !dev; i++) {
		struct cache c = { .sb.slow = known[i].slow };
		size_t len = strlen(known[i].name);

		if (!strncmp(name, known[i].name, len) && (!name[len] || name[len] == 'p'))
			dev = partition_of(slow_of(&c), name + len);
	}
	free(known);
	return dev;
}

/* Where the kernel was told to look; or at a place that a note says, for a swap file. 1: an image is
 * there; 0: none; -ENODEV: @spec names nothing that is here. */
static int find_image(const struct sleepers *all, const char *spec, struct image_place *p)
{
	p->dev = below_name(spec);
	if (!p->dev)
		p->dev = image_named(spec);
	if (!p->dev)
		return -ENODEV;
	p->at = image_offset();
	if (image_look(p) > 0)
		return 1;
	for (size_t i = 0; i < all->n; i++) {
		p->at = le64_to_cpu(all->v[i].note.image);
		if (image_look(p) > 0 && !memcmp(p->uuid, all->v[i].note.swap_uuid, SWAP_UUID))
			return 1;
	}
	return 0;
}

/* Of a note, where others may find it still: NULL if there is none. */
static const struct sleeper *unsettled(const struct sleepers *all)
{
	struct image_place p;

	for (size_t i = 0; i < all->n; i++)
		if (sleep_note_image(&all->v[i].note, slow_of(&all->v[i].c), &p))
			return &all->v[i];
	return NULL;
}

/* ------------------------------------------------------------- restore ---- */

/* What is kept for a cache the kernel may not have. */
static void restore(const struct sleepers *ours, const struct image_place *p)
{
	dev_t kept[ours->n + 1];
	int lock[ours->n + 1];

	printf("restoring the memory of a hibernation\n");
	fflush(stdout);
	for (size_t i = 0; i < ours->n; i++) {
		lock[i] = is_first(ours, i) ? known_lock(ours->v[i].c.uuid, true) : -1;	/* else udev keeps it again */
		kept[i] = fence_lift(ours->v[i].c.uuid);
	}
	image_restore(p);
	for (size_t i = 0; i < ours->n; i++)
		fence_again(ours->v[i].c.uuid, kept[i], lock[i]);
}

static const struct sleeper *who_was_started(const struct sleepers *ours)
{
	for (size_t i = 0; i < ours->n; i++)
		if (!ours->v[i].holds)
			return &ours->v[i];
	return NULL;
}

/* A memory that knew no cache: one of before, which has the disk itself; or, where / is on a cache,
 * another system's. */
static bool is_stranger(dev_t dev)
{
	struct device part, disk;
	struct known *list;
	char why[512];
	size_t n;
	bool is = false;

	if (device_look_at(&part, dev))
		return true;
	device_close(&part);
	if (device_look_at(&disk, part.disk))
		return true;
	n = known_all(&list);
	for (size_t i = 0; i < n; i++)
		is |= list[i].start == START_IN_INITRAMFS || list[i].start == START_TO_LEAVE ||
		      identity_same(&list[i].slow, &disk, false, why, sizeof(why));
	device_close(&disk);
	free(list);
	return is;
}

static const struct sleeper *not_known(const struct sleepers *ours)
{
	for (size_t i = 0; i < ours->n; i++)
		if (!known_is_noted(ours->v[i].c.uuid))
			return &ours->v[i];
	return NULL;
}

static bool agree(const struct sleeper *a, const struct sleeper *b)
{
	return a->holds == b->holds && !memcmp(&a->note, &b->note, sizeof(a->note));
}

/* A device that holds a cache which another one holds, too, and says something else of that sleep; or NULL. */
static const struct sleeper *contradicted(const struct sleepers *all, const u8 swap[SWAP_UUID])
{
	for (size_t i = 0; i < all->n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct sleeper *a = &all->v[i], *b = &all->v[j];

			if (!strcmp(a->c.uuid, b->c.uuid) && strcmp(a->c.fast.path, b->c.fast.path) != 0 &&
			    !memcmp(a->note.swap_uuid, swap, SWAP_UUID) && !memcmp(b->note.swap_uuid, swap, SWAP_UUID) &&
			    !agree(a, b))
				return a;
		}
	return NULL;
}

static enum xc erase(const struct sleeper *started, const struct image_place *p)
{
	int err = image_erase(p);

	return complain(XC_REFUSED, started->c.name, NULL, "it was started since a memory image was made, which %s",
			err ? "cannot be erased, and must not be restored" : "is erased");
}

/* @all: from here on those that slept with it. */
static enum xc decide(struct sleepers *all, const struct image_place *p, const char *spec)
{
	const struct sleeper *started, *odd;

	if (*all->missing)
		return complain(XC_NOT_FOUND, spec, "connect it and boot again",
				"a memory is not restored: %s is not here, and may tell that it must not be", all->missing);
	odd = contradicted(all, p->uuid);
	if (odd)
		return complain(XC_NOT_FOUND, spec, "disconnect the one that is a copy and boot again",
				"a memory is not restored: %s holds %s, as another device does, and they do not agree on whether it slept with it",
				odd->c.fast.path, odd->c.name);
	keep_those_of(all, p->uuid);
	if (!complete(all))
		return complain(XC_NOT_FOUND, spec, "connect it and boot again",
				"a memory is not restored: of %u caches that slept with it only %u are here",
				le32_to_cpu(all->v[0].note.caches), how_many(all));
	odd = not_known(all);
	if (odd)
		return complain(XC_NOT_FOUND, spec, "if that is another system's disconnect it and boot again",
				"a memory is not restored: %s on %s says that it slept with it, and nothing is noted of it in /etc/xpcache",
				odd->c.name, odd->c.fast.path);
	if (!all->n && is_stranger(p->dev))
		return complain(XC_REFUSED, spec, "it stays there",
				"a memory is not restored: it is not one that the caches slept with");
	started = who_was_started(all);
	if (started)
		return erase(started, p);
	restore(all, p);
	return complain(XC_FAILED, spec, "dmesg tells more", "the memory of a hibernation could not be restored");
}

/* What this cannot look at others may find, when it is opened later. */
static enum xc not_seen(const struct sleepers *all, const char *spec)
{
	const struct sleeper *s = unsettled(all);

	if (!s && !*all->missing)
		return XC_OK;
	return complain(XC_REFUSED, spec, "resume= by UUID, of a swap that is not encrypted and on no volume group",
			"no memory is restored from there: it is not seen yet, and %s %s",
			s ? s->c.name : all->missing, s ? "may have slept with it" : "is not here");
}

enum xc image_not_seen(const char *spec)
{
	struct sleepers all = { .n = 0 };
	enum xc ret;

	find_sleepers(&all);
	ret = not_seen(&all, spec);
	sleepers_free(&all);
	return ret;
}

static bool some_run(void)
{
	struct running *list;
	size_t n = 0;

	if (!kernel_list(&list, &n))
		free(list);
	return n;
}

/* With no image there is nothing to wait for. */
static bool must_wait(const struct sleepers *all, int image, const struct image_place *p)
{
	struct sleepers ours = *all;
	bool wait;

	if (!image)
		return false;
	if (*all->missing)
		return true;
	if (image < 0)
		return unsettled(all);
	ours.v = calloc(all->n + 1, sizeof(*ours.v));
	if (!ours.v)
		return false;
	memcpy(ours.v, all->v, all->n * sizeof(*ours.v));
	keep_those_of(&ours, p->uuid);
	wait = !complete(&ours);
	free(ours.v);
	return wait;
}

enum xc image_resume(const char *spec)
{
	const struct timespec pause = { .tv_nsec = 200 * 1000000L };
	struct sleepers all = { .n = 0 };
	struct image_place p;
	double begin = seconds_now();
	enum xc ret = XC_OK;
	int image;

	if (some_run())
		return complain(XC_REFUSED, "hibernate", "boot anew", "a cache runs, so no memory is restored");
	looked_write(spec);
	if (!spec || !*spec)
		return XC_OK;
	for (;;) {
		find_sleepers(&all);
		image = find_image(&all, spec, &p);
		if (!must_wait(&all, image, &p) || seconds_now() - begin > WAIT_SECONDS)
			break;
		nanosleep(&pause, NULL);
	}
	if (image)
		ret = image > 0 ? decide(&all, &p, spec) : not_seen(&all, spec);
	sleepers_free(&all);
	return ret;
}

/* --------------------------------------------------------------- a start ---- */

/* By whichever way one sees it. -errno. */
static int erase_all(const struct xp_sleep *note, dev_t slow)
{
	struct image_place p;
	int err = 0, ways = 16;

	while (!err && ways-- && sleep_note_image(note, slow, &p) > 0)
		err = image_erase(&p);
	return ways < 0 ? -EIO : err;
}

/* Of one note. If its swap is not here, that the journal goes on tells whoever finds the image; and
 * for that the note stays. */
static enum xc check_note(const struct cache *c, const struct xp_sleep *note, dev_t slow, const struct options *opt)
{
	struct image_place p;
	int image = sleep_note_image(note, slow, &p), err;

	if (image < 0)
		return XC_OK;
	if (image > 0 && !opt->boot && !opt->force)
		return complain(XC_REFUSED, c->name, "start that system; xpcache start --force lets its memory be lost",
				"the memory of a system that hibernates is here, which slept with it");
	err = image > 0 ? erase_all(note, slow) : 0;
	if (err)
		return complain_errno(err, c->name, "cannot erase the memory of a hibernation");
	sleep_note_forget(c, note->swap_uuid);
	if (image > 0)
		printf("%s: the memory of a hibernation was not restored, and is erased\n", c->name);
	return XC_OK;
}

enum xc sleep_no_image(const struct cache *c, dev_t slow, const struct options *opt)
{
	struct xp_sleep notes[XP_SLEEP_NOTES];
	u32 n = sleep_notes(c, notes);
	enum xc ret = XC_OK;

	for (u32 i = 0; i < n && !ret; i++)
		ret = check_note(c, &notes[i], slow, opt);
	return ret;
}
