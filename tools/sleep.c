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
#include "sleep.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* systemd gives its hooks 90 s. */
#define FLUSH_SECONDS	55.0
#define SUSPEND_SECONDS	10	/* for requests that are under way; the target's own flush has 5 more */
#define LOCK_SECONDS	20.0	/* a stop writes out what callers have in memory, which takes its time */
#define ENOUGH		256u	/* blocks that may be left to that */
#define RESERVE		(1u << 20)

/* ---------------------------------------------------------------- memory ---- */

/* What is called while a device is suspended finds its memory here. */
static int stay_in_memory(void)
{
	char stack[RESERVE / 4];
	void *heap;

	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0))
		return -errno;
	mallopt(M_TRIM_THRESHOLD, 64 * RESERVE);
	mallopt(M_MMAP_THRESHOLD, 64 * RESERVE);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return -errno;
	explicit_bzero(stack, sizeof(stack));
	heap = malloc(RESERVE);
	if (!heap)
		return -ENOMEM;
	explicit_bzero(heap, RESERVE);
	free(heap);
	return 0;
}

static void leave_memory(void)
{
	munlockall();
	prctl(PR_SET_IO_FLUSHER, 0, 0, 0, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A disk that does not answer is not waited for: then it is as it was. */
static int suspend(const char *name)
{
	const struct sigaction act = { .sa_handler = on_alarm };
	struct sigaction was;
	int err;

	sigaction(SIGALRM, &act, &was);
	alarm(SUSPEND_SECONDS);
	err = kernel_suspend(name);
	alarm(0);
	sigaction(SIGALRM, &was, NULL);
	return err;
}

/* ----------------------------------------------------------------- steps ---- */

/* With no other table loaded for it; -errno: it stays suspended. */
static int resume_as_it_is(const char *name)
{
	struct running r;
	int err = kernel_clear(name);

	if (!err)
		err = kernel_find(name, NULL, &r) == 1 && !r.reloads ? 0 : -EBUSY;
	return err ? err : kernel_resume(name);
}

/* A kernel that cannot has dropped that table. */
static int resume_alone(const struct running *r)
{
	int err = -EIO;

	for (u32 i = 0; i < 3 && err; i++) {
		err = kernel_load_linear(r);
		if (!err)
			err = kernel_resume(r->name);
	}
	return err;
}

/* In /run, which is as long as the machine's memory: one of ours has begun with it, and what limits it had. */
static void begun_path(const struct running *r, char *path, size_t len)
{
	snprintf(path, len, "%s/%s.asleep", user_directory(), r->uuid);
}

static bool has_begun(const struct running *r)
{
	char path[PATH_MAX];

	begun_path(r, path, sizeof(path));
	return !access(path, F_OK);
}

static void forget_begun(const struct running *r)
{
	char path[PATH_MAX];

	begun_path(r, path, sizeof(path));
	unlink(path);
}

static bool is_left_behind(const struct running *r)
{
	return r->suspended || (r->reloads && (r->asleep || kernel_loads_linear(r->name)));
}

/* ---------------------------------------------------------------- asleep ---- */

/* One that falls asleep. */
struct drowsy {
	struct running r;
	struct media fast;
	struct xp_sb sb;
	struct xp_sleep note;	/* but for where its journal will end, */
	u32 place;		/* and which of them it is */
	bool turned;		/* by us */
};

/* Suspended. -EAGAIN: not everything is home. */
static int check_closed(const struct drowsy *d, struct status *s)
{
	int err = kernel_status(d->r.name, s->line, sizeof(s->line));

	if (!err)
		err = status_parse(s);
	if (err)
		return err;
	if (strcmp(s->state, "suspended") != 0 || status_number(s, "passing"))
		return -EIO;
	return status_number(s, "dirty") ? -EAGAIN : 0;
}

/* The note first: no image is made before all sleep, so there is none without it. */
static int note_and_forget(struct drowsy *d, const struct xp_end *end, bool forgotten)
{
	static struct xp_jblock block;
	int err;

	d->note.seq = cpu_to_le64(end->seq + !forgotten);
	d->note.incarnation = cpu_to_le64(end->incarnation + !forgotten);
	err = sleep_note_write(&d->fast.io, &d->sb, d->place, &d->note);
	return err || forgotten ? err : xp_forget_after(&d->sb, end, &d->fast.io, &block);
}

/* Suspended, so nothing moves: its memory says where the journal ends, and the medium must say so too. */
static int forget(struct drowsy *d)
{
	static struct xp_jblock block;
	static struct status s;
	u64 seq, incarnation;
	struct xp_end end;
	int err = check_closed(d, &s);

	if (err)
		return err;
	seq = status_number(&s, "seq");
	incarnation = status_number(&s, "incarnation");
	err = xp_follow(&d->fast.io, &d->sb, seq, &block, &end);
	if (err)
		return err;
	if (end.seq == seq + 1 && end.incarnation == incarnation + 1)
		return note_and_forget(d, &end, true);	/* it was not turned then */
	return end.seq == seq && end.incarnation == incarnation ? note_and_forget(d, &end, false) : -ESTALE;
}

static int turn(struct drowsy *d)
{
	const char *name = d->r.name;
	struct running now;
	int err = suspend(name);

	if (!err)
		err = forget(d);
	if (!err)
		err = resume_alone(&d->r);
	if (kernel_find(name, NULL, &now) != 1)
		return err ? err : -EIO;
	d->turned = now.asleep && !now.suspended;
	if (d->turned)
		return 0;
	resume_as_it_is(name);
	return err ? err : -EIO;
}

static bool is_as_it_was(const struct running *r)
{
	struct running now;

	return kernel_find(r->name, NULL, &now) == 1 && !strcmp(now.uuid, r->uuid) && now.fast == r->fast &&
	       now.slow == r->slow && !now.asleep && !now.suspended && !now.reloads;
}

static int turn_alone(struct drowsy *d)
{
	int lock = kernel_lock(), err = lock < 0 || !is_as_it_was(&d->r) ? -EBUSY : stay_in_memory();

	if (!err)
		err = turn(d);
	leave_memory();
	kernel_unlock(lock);
	return err;
}

/* A writer that goes on has always something dirty. */
static enum xc turn_when_home(struct drowsy *d, double end)
{
	const char *name = d->r.name;
	enum xc ret;
	int err;

	do {
		ret = flush_nearly(name, ENOUGH, end);
		if (ret)
			return ret;
		err = kernel_message(name, XP_COMMAND_COMMIT);
		if (!err)	/* what is left goes home while it is suspended */
			err = kernel_message(name, XP_COMMAND_FLUSH);
		signals_hold();
		if (!err)
			err = turn_alone(d);
		signals_release();
	} while (err == -EAGAIN && seconds_now() < end);
	if (err == -EAGAIN)
		return complain(XC_FAILED, name, "end what writes there", "it is written to faster than the slow device can take");
	return err ? complain_errno(err, name, "cannot lead it to the slow device") : XC_OK;
}

/* The cache has it: it is only written while that is suspended. */
static int open_fast(struct drowsy *d)
{
	struct xp_message msg;
	struct device fast;
	int err = device_look_at(&fast, d->r.fast);

	if (err)
		return err;
	close(fast.fd);
	fast.fd = open(fast.path, O_RDWR | O_CLOEXEC);
	if (fast.fd < 0)
		return -errno;
	err = media_init(&d->fast, fast.fd);
	if (!err)
		err = xp_sb_read(&d->fast.io, device_blocks(&fast), &d->sb, &msg);
	if (!err && strcmp(text_uuid(d->sb.uuid), d->r.uuid) != 0)
		err = -ESTALE;
	return err;
}

static void close_fast(struct drowsy *d)
{
	if (!d->fast.bounce)
		return;
	media_done(&d->fast);
	close(d->fast.fd);
}

/* ------------------------------------------------------------- tunables ---- */

/* What it had is what it gets again. */
static int tunables_keep(const struct running *r)
{
	char path[PATH_MAX], text[XP_TUNABLES_TEXT];
	FILE *f;

	begun_path(r, path, sizeof(path));
	f = fopen(path, "we");
	if (!f)
		return -errno;
	xp_tunables_print(&r->tunables, text);
	if (r->tunables_known)
		fprintf(f, "- -%s", text);
	return fclose(f) ? -errno : 0;
}

static void tunables_again(const struct running *r, struct xp_tunables *t)
{
	char path[PATH_MAX], line[XP_TUNABLES_TEXT + 8];
	struct running was = { .user = false };
	FILE *f;

	begun_path(r, path, sizeof(path));
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f)) {
		table_read(line, &was);
		if (was.tunables_known)
			*t = was.tunables;
	}
	if (f)
		fclose(f);
}

/* ------------------------------------------------------------------ awake ---- */

/* Whichever device holds it now. */
static enum xc find_fast(const struct running *r, struct cache *c)
{
	struct caches all;
	u32 n = 0;
	int err = caches_scan(&all);

	if (err)
		return complain_errno(err, "/sys/class/block", "cannot look for its fast device");
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].err && !strcmp(all.v[i].uuid, r->uuid)) {
			*c = all.v[i];
			n++;
		}
	caches_free(&all);
	if (n == 1)
		return XC_OK;
	return complain(n ? XC_REFUSED : XC_NOT_FOUND, r->name,
			n ? "take the copy away, then xpcache hibernate --end" : "connect it, then xpcache hibernate --end",
			n ? "%u devices hold it; it stays asleep" : "its fast device is not here; it stays asleep", n);
}

static bool end_by_note(const struct offline *o, struct xp_end *end)
{
	struct xp_sleep note;

	for (u32 i = 0; i < XP_SLEEP_NOTES; i++)
		if (sleep_note_read(&o->media.io, &o->sb, i, &note) > 0 &&
		    sleep_note_holds(&o->media.io, &o->sb, &note)) {
			end->seq = le64_to_cpu(note.seq);
			end->incarnation = le64_to_cpu(note.incarnation);
			return true;
		}
	return false;
}

/* The end of its journal, if it has nothing. -ESTALE: it has. */
static int end_of_empty(const struct device *fast, struct xp_end *end)
{
	struct offline o;
	int err = offline_open(&o, fast);

	if (!err && !end_by_note(&o, end)) {
		err = offline_load(&o);
		if (!err && (o.stats.clean || o.stats.dirty))
			err = -ESTALE;
		end->seq = o.stats.seq;
		end->incarnation = o.stats.incarnation;
	}
	offline_close(&o);
	return err;
}

/* With the fast device ours by the table that is loaded. */
static int check_empty(dev_t dev)
{
	struct device fast;
	struct xp_end end;
	int err = device_look_at(&fast, dev);

	if (err)
		return err;
	err = end_of_empty(&fast, &end);
	device_close(&fast);
	return err;
}

/* ------------------------------------------------------------------ mend ---- */

/* A first resume that failed, or one that nobody was left to ask for. */
static int resume_never_started(const struct running *r)
{
	int err = check_empty(r->fast);

	return err ? err : resume_alone(r);
}

/* What a killed one has left: it goes on as it is. */
static int mend_alone(struct running *r)
{
	int err;

	if (kernel_find(r->name, NULL, r) != 1)
		return -ENXIO;
	if (!is_left_behind(r))
		return 0;
	err = r->suspended ? resume_as_it_is(r->name) : kernel_clear(r->name);
	if (err && r->suspended && !r->asleep && kernel_is_loading(r->name))
		err = resume_never_started(r);
	if (!err)
		kernel_find(r->name, NULL, r);
	return err;
}

enum xc sleep_mend(struct running *r)
{
	int lock, err;

	if (r->user || !has_begun(r))
		return XC_OK;
	lock = kernel_lock();
	err = mend_alone(r);
	kernel_unlock(lock);
	return err && err != -ENXIO ? complain_errno(err, r->name, "cannot resume it") : XC_OK;
}

/* With the lock. One that is suspended still keeps whoever looks for a disk waiting: then none is woken. */
static enum xc mend_all(struct running *list, size_t n)
{
	enum xc ret = XC_OK, one;

	for (size_t i = 0; i < n; i++) {
		one = sleep_mend(&list[i]);
		if (!one && !list[i].asleep && !list[i].suspended)
			forget_begun(&list[i]);
		ret = ret ? ret : one;
	}
	return ret;
}

/* The kernel takes it while the device is suspended, and could not make room by writing there. */
static int check_memory(const struct cache *c)
{
	u64 need = xp_memory(&c->sb) + xp_recover_memory(&c->sb), kib, available = 0, unwritten = 0;
	FILE *f = fopen("/proc/meminfo", "re");
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			available = kib;
		if (sscanf(line, "Dirty: %" SCNu64, &kib) == 1 || sscanf(line, "Writeback: %" SCNu64, &kib) == 1)
			unwritten += kib;	/* counts as available */
	}
	if (f)
		fclose(f);
	return available && available << 10 < need + need / 4 + (unwritten << 10) ? -ENOMEM : 0;
}

static int turn_back(const struct running *r, const struct cache *c, const struct options *opt)
{
	struct running now;
	int err = check_memory(c);

	if (!err)
		err = kernel_load_cache(r, &c->fast, opt);
	if (!err)
		err = check_empty(c->fast.dev);
	if (!err)
		err = stay_in_memory();
	if (!err)
		err = suspend(r->name);
	if (!err)
		err = kernel_resume(r->name);
	if (!err || kernel_find(r->name, NULL, &now) != 1)
		return err;
	if (now.suspended && !now.asleep)
		resume_alone(r);	/* the cache's table is live, and could not be resumed */
	else if (now.suspended || now.reloads)
		resume_as_it_is(r->name);
	return err;
}

static int turn_back_alone(const struct running *r, const struct cache *c, const struct options *opt)
{
	struct running now;
	int lock = kernel_lock(), err = 0;

	if (lock < 0 || kernel_find(r->name, NULL, &now) != 1 || !now.asleep || now.suspended)
		err = -EBUSY;
	if (!err)
		err = turn_back(r, c, opt);
	leave_memory();
	kernel_unlock(lock);
	return err;
}

static enum xc say_not_awake(const struct running *r, const struct cache *c, int err)
{
	if (err == -ENOMEM)
		return complain(XC_FAILED, r->name, "end what takes it, then xpcache hibernate --end",
				"there is not enough memory for its map; it stays asleep");
	if (err == -ESTALE)
		return complain(XC_REFUSED, r->name, "it stays asleep; xpcache check tells more",
				"%s has been used without this machine since it fell asleep", c->fast.path);
	return complain(XC_FAILED, r->name, "it stays asleep; dmesg may tell more", "cannot wake it: %s", strerror(-err));
}

/*
 * Whoever was put over it while the disk below had no cache of its own to flush passes no FLUSH on, and
 * the cache needs them.
 */
static int passes_no_flush(const char *kname, void *ctx)
{
	char text[64], node[PATH_MAX];

	if (sysfs_read(kname, "queue/write_cache", text, sizeof(text)) && !strcmp(text, "write through")) {
		device_node(kname, node, sizeof(node));
		snprintf(ctx, PATH_MAX, "%s", node);
		return 1;
	}
	return device_each_above(kname, passes_no_flush, ctx);
}

static enum xc check_above(const struct running *r)
{
	char kname[64], node[PATH_MAX];

	if (!device_kname(r->dev, kname, sizeof(kname)) || !device_each_above(kname, passes_no_flush, node))
		return XC_OK;
	return complain(XC_REFUSED, r->name, "take that apart, then xpcache hibernate --end",
			"%s was made over it while it was asleep, and passes no flush on; it stays asleep", node);
}

static enum xc wake(const struct running *r, const struct options *opt)
{
	struct options tuned = *opt;
	struct running named = *r;
	struct cache c;
	u64 doubt;	/* of what it holds: nothing */
	enum xc ret = find_fast(r, &c);
	int err;

	running_paths(&named);
	if (!opt->tuned)
		tunables_again(r, &tuned.tunables);
	if (!ret)
		ret = check_above(r);
	if (!ret)
		ret = kernel_ready();
	if (!ret)
		ret = mark_prepare(r->name, c.fast.path, named.slow_path, false, &tuned.tunables.mark, &doubt);
	if (ret)
		return ret;
	signals_hold();
	err = turn_back_alone(r, &c, &tuned);
	if (!err) {
		forget_begun(r);
		partitions_started(r->uuid);
	}
	signals_release();
	if (err)
		return say_not_awake(r, &c, err);
	sleep_notes_settle(&c, r->slow);
	printf("%s: awake, %s before %s; it begins with nothing\n", r->name, c.fast.path, named.slow_path);
	return XC_OK;
}

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
static enum xc note_one(const struct sleep *all, struct cache *c)
{
	struct drowsy *d = sleeper_of(all, c->uuid);
	int place, err = 0;

	if (!d) {
		err = sleep_note_none(c, all->place.uuid);
		return err ? complain_errno(err, c->fast.path, "cannot note that its cache does not sleep") : XC_OK;
	}
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
		      complain(XC_NOT_FOUND, all->list[i].r.name, "connect it, or xpcache stop the cache first",
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
			ret = note_one(all, &here.v[i]);
	caches_free(&here);
	return ret;
}

/* ------------------------------------------------------------ all caches ---- */

static enum xc fall_asleep(struct drowsy *d, double end)
{
	int err = open_fast(d);
	enum xc ret;

	if (err)
		ret = complain_errno(err, d->r.name, "cannot open its fast device");
	else if ((err = tunables_keep(&d->r)))
		ret = complain_errno(err, user_directory(), "cannot note that it falls asleep");
	else
		ret = turn_when_home(d, end);
	close_fast(d);
	if (!ret)
		printf("%s: asleep: every block is home, and it leads to the slow device alone\n", d->r.name);
	return ret;
}

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

static enum xc prepare(struct running *list, size_t n, struct sleep *all)
{
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n && !ret; i++) {
		if (list[i].user)
			ret = complain(XC_REFUSED, list[i].name, "xpcache stop it, and start it after",
				       "its xpcached would not notice what happens meanwhile");
		else if (list[i].suspended || list[i].reloads)
			ret = complain(XC_REFUSED, list[i].name, "dmsetup clear it, and dmsetup resume it",
				       "another program has suspended it, or loaded a table for it");
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

static enum xc end(struct running *list, size_t n, const struct options *opt)
{
	enum xc ret = mend_all(list, n), one;

	if (ret)
		return ret;
	image_place_back();
	for (size_t i = 0; i < n; i++) {
		one = list[i].asleep ? wake(&list[i], opt) : XC_OK;
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
		return complain(XC_REFUSED, "hibernate", "wait for it", "a stop or another hibernate goes on");
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

bool sleep_is_asleep(const char *name)
{
	struct running r;

	if (kernel_find(name, NULL, &r) != 1 && (strlen(name) != UUID_HEX - 1 || kernel_find(NULL, name, &r) != 1))
		return false;
	sleep_mend(&r);
	return r.asleep;
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
	if (!ret && r.asleep)
		ret = wake(&r, opt);
	if (lock >= 0)
		close(lock);
	return ret;
}

static void forget_begun_of(const char *uuid)
{
	struct running r = { .user = false };

	snprintf(r.uuid, sizeof(r.uuid), "%s", uuid);
	forget_begun(&r);
}

void sleep_has_started(const char *uuid)
{
	forget_begun_of(uuid);
}

/* Of the last one: who has none may hibernate. */
void sleep_has_stopped(const char *uuid)
{
	struct running *list = NULL;
	size_t n = 0;

	forget_begun_of(uuid);
	if (!running_list(&list, &n) && !n)
		image_place_back();
	free(list);
}

enum xc say_asleep(const char *name)
{
	return complain(XC_REFUSED, name, "xpcache hibernate --end wakes it",
			"it is asleep, its device leads to the slow device alone");
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
