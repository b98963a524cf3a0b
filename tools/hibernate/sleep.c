// SPDX-License-Identifier: GPL-2.0-only
/*
 * hibernate --begin and --end: a machine that hibernates has no cache.
 *
 *	awake --every block home, suspended, forgotten, resumed--> asleep --recovered--> awake
 *
 * Asleep, the cache's own device leads to the slow device alone: same name, uuid and number, so what
 * is mounted stays, and so do the partitions over it. The cache on the fast device has nothing, and
 * nobody has that device. So no memory knows of it, and whatever the machine does is what it does
 * without us: nothing is remembered that could be wrong. What it costs: the cache is cold after it.
 *
 * I3, I8: a block is written past the cache only when no recovery will find a mapping of it. So while
 * the device is suspended, with nothing dirty, the journal ends with a block that forgets all, durably;
 * only then is the linear table loaded, and resumed: whoever resumes it then does no harm. Before that,
 * and also after it as long as nobody has written past the cache, the old table may go on: its next
 * journal block takes the place of that one. So a device that was left suspended with its old table is
 * simply resumed with it, once no other is loaded.
 *
 * The kernel makes an image only when all are asleep. By then each has a note of who sleeps with it,
 * so that the next boot knows whether one of them was started since (restore.c).
 *
 * While it is suspended nothing of ours may need it: not by a file, and not by memory, which the kernel
 * would have to write out there first.
 */
#include "tools/hibernate/sleep.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/moves.h"
#include "lib/progress.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/user.h"
#include "lib/uuid.h"
#include "tools/hibernate/asleep.h"
#include "tools/hibernate/awake.h"
#include "tools/hibernate/image.h"
#include "tools/hibernate/looked.h"
#include "tools/hibernate/next_boot.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep_note.h"
#include "tools/options.h"
#include "core/rest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* systemd gives its hooks 90 s. */
#define FLUSH_SECONDS	55.0
#define LOCK_SECONDS	20.0	/* a stop writes out what callers have in memory, which takes its time */

/* ------------------------------------------------------------------ notes ---- */

struct sleep {
	struct drowsy *list;
	size_t n;
	u64 id;
	const struct running *owner;	/* of the swap that the image goes to; NULL: no cache */
	u64 swap;
	struct image_place place;
};

static struct drowsy *sleeper_of(const struct sleep *all, const char *uuid)
{
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->list[i].r.uuid, uuid))
			return &all->list[i];
	return NULL;
}

/* A clock may have been set back. */
static void choose_id(struct sleep *all, const struct caches *here)
{
	struct xp_sleep notes[XP_SLEEP_NOTES];
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	all->id = (u64)now.tv_sec * 1000000000u + (u64)now.tv_nsec;
	for (size_t i = 0; i < here->n; i++) {
		u32 n = here->v[i].err ? 0 : sleep_notes(&here->v[i], notes);

		for (u32 k = 0; k < n; k++)
			all->id = max(all->id, le64_to_cpu(notes[k].id) + 1);
	}
}

static void prepare_note(const struct sleep *all, struct drowsy *d)
{
	bool owner = all->owner && !strcmp(all->owner->uuid, d->r.uuid);

	d->note = (struct xp_sleep){
		.id = cpu_to_le64(all->id), .caches = cpu_to_le32((u32)all->n),
		.swap = cpu_to_le64(owner ? all->swap : XP_SLEEP_ELSEWHERE), .image = cpu_to_le64(all->place.at),
	};
	memcpy(d->note.swap_uuid, all->place.uuid, sizeof(d->note.swap_uuid));
}

/* It sleeps already, since an earlier time. */
static int note_again(struct drowsy *d, const struct cache *c)
{
	struct device fast = { .fd = -1 };
	struct media m = { .bounce = NULL };
	struct xp_end end = { .seq = 0 };
	int err = device_look(&fast, c->fast.path), fd;

	if (!err)
		err = end_of_empty(&fast, &end);
	device_close(&fast);
	if (err)
		return err;
	d->note.seq = cpu_to_le64(end.seq);
	d->note.incarnation = cpu_to_le64(end.incarnation);
	fd = open(c->fast.path, O_RDWR | O_EXCL | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = media_init(&m, fd);
	if (!err)
		err = sleep_note_write(&m.io, &c->sb, d->place, &d->note);
	media_done(&m);
	close(fd);
	return err;
}

/* Who does not sleep with this swap's next image has not slept with it. */
static enum xc note_none(const struct sleep *all, const struct cache *c)
{
	int err = sleep_note_none(c, all->place.uuid);

	return err ? complain_errno(err, c->fast.path, "cannot note that its cache does not sleep") : XC_OK;
}

static enum xc note_one(const struct sleep *all, struct cache *c)
{
	struct drowsy *d = sleeper_of(all, c->uuid);
	int place, err = 0;

	if (!d)
		return note_none(all, c);
	if (!d->r.asleep && c->fast.dev != d->r.fast)
		return XC_OK;	/* a copy */
	place = sleep_note_place(c, d->r.slow, all->place.uuid);
	if (place == -ENOSPC)
		return complain(XC_REFUSED, c->name, "connect the swap of one, or start that system",
				"%u other systems that are not here hibernate with it", XP_SLEEP_NOTES);
	if (place < 0)
		err = place;
	d->place = (u32)place;
	if (!err && d->r.asleep)
		err = note_again(d, c);
	if (err == -ESTALE)
		return say_not_awake(&d->r, c, err);
	return err ? complain_errno(err, c->fast.path, "cannot note that its cache sleeps") : XC_OK;
}

static enum xc check_seen(const struct caches *here, const char *uuid)
{
	for (size_t i = 0; i < here->n; i++)
		if (!here->v[i].err && !strcmp(here->v[i].uuid, uuid) && !next_boot_sees(here->v[i].fast.dev))
			return complain(XC_REFUSED, here->v[i].name, "a plain disk or partition is seen in time",
					"its fast device %s is encrypted, or made of other devices: the next boot restores no memory without it",
					here->v[i].fast.path);
	return XC_OK;
}

/* The next boot waits for each that is known, as any may have slept with it. */
static enum xc check_here(const struct sleep *all, const struct caches *here)
{
	struct known *known;
	size_t n = known_all(&known);
	enum xc ret = XC_OK;

	for (size_t i = 0; i < all->n && !ret; i++)
		ret = caches_have(here, all->list[i].r.uuid, false) ? check_seen(here, all->list[i].r.uuid) :
		      complain(XC_NOT_FOUND, all->list[i].r.name, "connect it, or end what uses the cache, and xpcache stop it first",
			       "its fast device is not here, to note on it that it sleeps");
	for (size_t i = 0; i < n && !ret; i++)
		if (known[i].start != START_GONE)
			ret = caches_have(here, known[i].uuid, false) ? check_seen(here, known[i].uuid) :
			      complain(XC_NOT_FOUND, known[i].name, "connect it; if it is lost, xpcache forget it",
				       "its fast device is not here, and without it the next boot restores no memory");
	free(known);
	return ret;
}

/* Who will sleep, and nobody else: an image is restored if all these have slept on. */
static enum xc note_all(struct sleep *all)
{
	struct caches here;
	int err = caches_scan(&here);
	enum xc ret;

	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for caches");
	ret = check_here(all, &here);
	choose_id(all, &here);
	for (size_t i = 0; i < all->n; i++)
		prepare_note(all, &all->list[i]);
	for (size_t i = 0; i < here.n && !ret; i++)
		if (!here.v[i].err)
			ret = cache_arrive(&here.v[i]);
	for (size_t i = 0; i < here.n && !ret; i++)
		if (!here.v[i].err)
			ret = note_one(all, &here.v[i]);
	caches_free(&here);
	return ret;
}

/* ------------------------------------------------------------ all caches ---- */

static enum xc all_asleep(struct drowsy *list, size_t n)
{
	double end = seconds_now() + FLUSH_SECONDS;
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n; i++)
		if (!list[i].r.asleep)
			kernel_message(list[i].r.name, XP_COMMAND_FLUSH);	/* all at once */
	for (size_t i = 0; i < n && !ret; i++) {
		if (list[i].r.asleep)
			continue;
		ret = seconds_now() < end ? fall_asleep(&list[i], end) :
		      complain(XC_FAILED, list[i].r.name, "xpcache flush all first", "its turn did not come in time");
	}
	return ret;
}

/* What is under way goes home, for the next time. */
static void undo(struct running *list, const struct sleep *all, const struct options *opt)
{
	if (mend_all(list, all->n))
		return;
	for (size_t i = 0; i < all->n; i++)
		if (all->list[i].turned)
			wake(&list[i], opt);
}

static bool runs(const struct running *list, size_t n, const char *uuid)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].uuid, uuid))
			return true;
	return false;
}

/* adopt has made it, or undone it: the next boot starts it, or leaves it, and what is in memory knows the disk
 * alone. */
static enum xc check_adopted(const struct running *list, size_t n)
{
	struct known *known;
	size_t all = known_all(&known);
	enum xc ret = XC_OK;

	for (size_t i = 0; i < all && !ret; i++)
		if (!runs(list, n, known[i].uuid) &&
		    (known[i].start == START_IN_INITRAMFS || known[i].start == START_TO_LEAVE))
			ret = complain(XC_REFUSED, known[i].name, "restart first",
				       "the next boot %s it, and restores no memory of before",
				       known[i].start == START_TO_LEAVE ? "leaves" : "starts");
	free(known);
	return ret;
}

/* No cache runs. An older note would still say who slept with this swap. */
static enum xc prepare_without(struct sleep *all)
{
	char spec[PATH_MAX];
	enum xc ret = XC_OK;

	if (!looked_at(spec, sizeof(spec)) || !all->place.dev)
		return XC_OK;
	if (!next_boot_sees(all->place.dev))
		ret = image_not_seen(*spec ? spec : "/sys/power/resume");
	return ret || image_look(&all->place) ? ret : note_all(all);
}

enum xc sleep_check_active(const struct running *r)
{
	if (!r->suspended && !r->reloads)
		return XC_OK;
	return complain(XC_REFUSED, r->name, text_todo("dmsetup clear %s, then dmsetup resume %s", text_word(r->name), text_word(r->name)),
			"another program has suspended it, or loaded a table for it");
}

static enum xc check_can_sleep(const struct running *r)
{
	if (r->user)
		return complain(XC_REFUSED, r->name, "xpcache stop it, and start it after",
				"its xpcached would not notice what happens meanwhile");
	return sleep_check_active(r);
}

static enum xc prepare(struct running *list, size_t n, struct sleep *all)
{
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n && !ret; i++) {
		ret = check_can_sleep(&list[i]);
		all->list[i].r = list[i];
	}
	if (!ret)
		ret = check_adopted(list, n);
	if (ret || !n)
		return ret ? ret : prepare_without(all);
	if (!kernel_refuses_sleep())
		return complain(XC_REFUSED, "dm-xpcache", "restart first",
				"the module that is loaded is older, and knows nothing of hibernation");
	ret = next_boot_check(list, n, &all->place, &all->owner, &all->swap);
	return ret ? ret : note_all(all);
}

static enum xc begin(struct running *list, size_t n, const struct options *opt)
{
	struct sleep all = { .list = calloc(n + 1, sizeof(*all.list)), .n = n };
	enum xc ret;

	if (!all.list)
		return complain_errno(ENOMEM, "hibernate", "cannot begin");
	ret = mend_all(list, n);
	if (!ret) {
		image_place_back();
		image_place_next(&all.place);
		image_nowhere();	/* a kill from here on is a refusal too */
		ret = prepare(list, n, &all);
	}
	if (!ret) {
		ret = all_asleep(all.list, n);
		if (ret)
			undo(list, &all, opt);
	}
	if (!ret)
		image_place_back();
	free(all.list);
	return ret;
}

/* For a cache that is attached the kernel refuses to hibernate; of one that its user has detached it knows nothing. */
static void settle_image(const struct running *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].asleep && begun_is_alone(&list[i])) {
			image_nowhere();
			return;
		}
	image_place_back();
}

static void settle_image_now(void)
{
	struct running *list = NULL;
	size_t n = 0;

	if (!running_list(&list, &n))
		settle_image(list, n);
	free(list);
}

static enum xc end(struct running *list, size_t n, const struct options *opt)
{
	enum xc ret = mend_all(list, n), one;

	if (ret)
		return ret;
	settle_image(list, n);
	for (size_t i = 0; i < n; i++) {
		one = list[i].asleep && !begun_is_alone(&list[i]) ? wake(&list[i], opt) : XC_OK;
		ret = ret ? ret : one;
	}
	return ret;
}

static int lock_file(void)
{
	char path[PATH_MAX];

	if (mkdir(user_directory(), 0700) && errno != EEXIST)
		return -1;
	snprintf(path, sizeof(path), "%s/hibernate.lock", user_directory());
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

/* One at a time: who comes second sees what the first has made of it. */
int sleep_lock(void)
{
	int fd = lock_file();

	while (fd >= 0 && flock(fd, LOCK_EX) && errno == EINTR)
		;
	return fd;
}

/* Whoever waited longer would be killed before he has said no. */
static int begin_lock(void)
{
	const struct timespec pause = { .tv_nsec = 100 * 1000000L };
	double end = seconds_now() + LOCK_SECONDS;
	int fd = lock_file();

	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
		if (seconds_now() >= end) {
			close(fd);
			errno = EBUSY;
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return fd;
}

static enum xc with_lock(enum xc (*fn)(struct running *list, size_t n, const struct options *opt),
			 const struct options *opt)
{
	struct running *list;
	enum xc ret;
	size_t n;
	int lock = opt->begin ? begin_lock() : sleep_lock(), err;

	if (lock < 0 && errno == EBUSY)
		return complain(XC_REFUSED, "hibernate", "wait for it", "a stop, a detach or another hibernate goes on");
	if (lock < 0)
		return complain_errno(errno, user_directory(), "cannot lock others out");
	kernel_sweep();		/* a start that failed, and was killed */
	err = running_list(&list, &n);
	if (err) {
		close(lock);
		return complain_errno(err, "hibernate", "cannot tell which caches run");
	}
	ret = fn(list, n, opt);
	free(list);
	close(lock);
	return ret;
}

static bool find_asleep(const char *name, struct running *r)
{
	if (kernel_find(name, NULL, r) != 1 && (strlen(name) != UUID_HEX - 1 || kernel_find(NULL, name, r) != 1))
		return false;
	sleep_mend(r);
	return r->asleep;
}

bool sleep_is_asleep(const char *name)
{
	struct running r;

	return find_asleep(name, &r);
}

bool sleep_is_for_start(const char *name)
{
	struct running r;

	return find_asleep(name, &r) && !begun_is_alone(&r);
}

enum xc sleep_wake(const char *name, const struct options *opt)
{
	struct running r, *list = NULL;
	int lock = sleep_lock();
	size_t n = 0;
	enum xc ret;

	running_list(&list, &n);
	ret = mend_all(list, n);
	free(list);
	if (!ret)
		ret = caches_find_running(name, &r);
	if (!ret && r.asleep) {
		ret = wake(&r, opt);
		settle_image_now();
	}
	if (lock >= 0)
		close(lock);
	return ret;
}

static enum xc detach_one(const struct running *r, double end)
{
	struct running now = *r;
	struct drowsy d = { .r = *r, .alone = true };
	enum xc ret;

	image_nowhere();
	ret = fall_asleep(&d, end);
	if (ret)
		mend_all(&now, 1);
	settle_image_now();
	return ret;
}

enum xc sleep_alone(const struct running *r)
{
	struct sigaction was[NR_CAUGHT];
	int lock = sleep_lock();
	struct running now;
	enum xc ret;

	signals_catch(was);
	ret = caches_find_running(r->name, &now);
	if (!ret && (strcmp(now.uuid, r->uuid) != 0 || now.asleep))
		ret = complain(XC_REFUSED, r->name, "xpcache status shows it", "another command has detached or stopped it meanwhile");
	if (!ret)
		ret = detach_one(&now, seconds_now() + FLUSH_SECONDS);
	signals_let(was);
	if (lock >= 0)
		close(lock);
	return ret;
}

/* Of the last one, or the last that its user had detached: who has none may hibernate. */
void sleep_has_stopped(const char *uuid)
{
	struct running stopped = { .user = false }, *list = NULL;
	size_t n = 0;

	snprintf(stopped.uuid, sizeof(stopped.uuid), "%s", uuid);
	if (!running_list(&list, &n) && (!n || begun_is_alone(&stopped)))
		settle_image(list, n);
	begun_forget(&stopped);
	free(list);
}

/* ------------------------------------------------------------------ verb ---- */

enum xc hibernate_check(const struct options *opt)
{
	if (opt->begin + opt->end + opt->restore == 1 && (!opt->arg || opt->restore))
		return XC_OK;
	return complain(XC_USAGE, "hibernate", "give --begin, --end, or --resume [DEV]",
			"it goes with one of its options");
}

enum xc hibernate_run(struct options *opt)
{
	enum xc ret;

	if (opt->restore)
		return image_resume(opt->arg);
	ret = with_lock(opt->begin ? begin : end, opt);
	/* systemd goes on all the same, and the kernel may have no cache that says no */
	if (ret && opt->begin && image_nowhere())
		printf("the kernel does not hibernate until xpcache hibernate --end\n");
	return ret;
}
