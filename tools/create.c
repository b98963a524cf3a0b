// SPDX-License-Identifier: GPL-2.0-only
/*
 * create: a new cache.
 *
 * All checks come first. Then xp_format() writes the superblock last, so that
 * an interruption leaves no cache, or a good one that was not started. The slow
 * device is only ever read.
 */
#include "tools/create.h"
#include "boot/fence.h"
#include "boot/initramfs.h"
#include "lib/caches.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_tree.h"
#include "lib/engine_choice.h"
#include "lib/exit.h"
#include "lib/fast_size.h"
#include "lib/figures.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/memory.h"
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/remote.h"
#include "lib/room.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/signature.h"
#include "lib/slow.h"
#include "lib/sysfs.h"
#include "lib/ublk_client.h"
#include "lib/user.h"
#include "lib/uuid.h"
#include "tools/guard/fingerprint.h"
#include "tools/guard/tables.h"
#include "tools/guard/mark.h"
#include "tools/options.h"
#include "tools/rules.h"
#include "tools/verbs.h"
#include "core/layout.h"
#include "core/life.h"
#include "core/mode.h"
#include "core/move.h"
#include "core/superblock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct making {
	const struct options *opt;
	struct device fast, slow;
	struct xp_sb sb;
	u64 blocks;		/* of the fast device that are the cache's */
	bool user;		/* the engine in user space runs it */
	const struct xp_sb *moved;	/* a cache that there is moves to this fast device; NULL: it is a new one */
	dev_t cache;		/* its own device; 0: it has none yet */
	bool adopted;		/* the slow device is in use, and stays so until the next boot */
	bool wipe;		/* something else is on the fast device, and may go */
	char replaced[UUID_HEX];	/* the cache that was there, and is nowhere else; "": none, or it cannot be told */
};

/* ------------------------------------------------------------ options ---- */

static enum xc check_devices_given(struct making *k)
{
	const struct options *opt = k->opt;

	if (opt->fast && opt->slow)
		return XC_OK;
	return complain(XC_USAGE, opt->fast ? "--slow" : "--fast",
			text_todo("xpcache create --fast %s --slow %s", opt->fast ? text_word(opt->fast) : "DEV",
				  opt->slow ? text_word(opt->slow) : "DEV"),
			"the %s device is missing", opt->fast ? "slow" : "fast");
}

static const struct rule rules[] = {
	{ GIVEN_NO_START, GIVEN_TUNED_RUN, 0,
	  "--no-start", "give them to xpcache start", "the limits are those of a running cache" },
	{ GIVEN_NO_START, GIVEN_UBLK, 0,
	  "--no-start", "give --ublk to xpcache start", "a cache that does not run has no device" },
};

static enum xc check_words(struct making *k)
{
	enum xc ret = rules_check(rules, sizeof(rules) / sizeof(*rules), k->opt);

	return !ret && k->opt->name ? cache_check_name(k->opt->name) : ret;
}

/* ------------------------------------------------------------- engine ---- */

static enum xc choose_engine(struct making *k)
{
	const struct options *opt = k->opt;

	return opt->no_start ? XC_OK : engine_choose(opt->engine, opt->ublk, opt->fast, opt->slow, &k->user);
}

static enum xc check_ublk(struct making *k)
{
	return k->opt->ublk ? ublk_ready() : XC_OK;
}

static bool starts_in_kernel(const struct making *k)
{
	return !k->opt->no_start && !k->user;
}

static enum xc check_root(struct making *k)
{
	if (!starts_in_kernel(k))
		return XC_OK;
	if (geteuid() != 0)
		return complain(XC_FAILED, "create", "run it with sudo", "only root can do this");
	kernel_sweep();
	return XC_OK;
}

static enum xc check_kernel(struct making *k)
{
	return starts_in_kernel(k) ? kernel_ready() : XC_OK;
}

/* ------------------------------------------------------------ devices ---- */

/* Below it the same bytes are on the disk's own partition, and start could not tell which. */
static enum xc check_no_partition(const struct device *d)
{
	char uuid[64 + UUID_HEX];

	if (!d->is_block || !sysfs_read(d->kname, "dm/uuid", uuid, sizeof(uuid)) || !kernel_is_partition(uuid))
		return XC_OK;
	return complain(XC_REFUSED, d->path, "cache the partition in place of the disk, or take another",
			"it is a partition of a running cache");
}

static enum xc check_no_partitions(struct making *k)
{
	enum xc ret = check_no_partition(&k->fast);

	return ret ? ret : check_no_partition(&k->slow);
}

/* The slow device, which is only looked at. */
static bool in_use(const struct making *k)
{
	return k->adopted || k->moved;
}

/* Claims show it of devices that nobody uses yet. */
static bool lies_on_slow(const struct making *k)
{
	return (k->slow.is_block && device_is_made_of(&k->fast, k->slow.dev, in_use(k))) || device_is_made_of(&k->fast, k->cache, true);
}

static enum xc check_pair(struct making *k)
{
	const struct device *fast = &k->fast, *slow = &k->slow;

	if (fast->dev == slow->dev && fast->ino == slow->ino)
		return complain(XC_REFUSED, slow->path, "give two different disks",
				"the fast and the slow device are the same");
	if (device_overlap(fast, slow))
		return complain(XC_REFUSED, slow->path, "give two different disks",
				"on the same disk as the fast device %s", fast->path);
	if (lies_on_slow(k))
		return complain(XC_REFUSED, fast->path, "give a disk of its own",
				"the fast device lies on %s, of which it is to be the cache", slow->path);
	if (!slow->sectors)
		return complain(XC_REFUSED, slow->path, NULL, "the slow device is empty");
	if (device_blocks(slow) >= XP_MAX_LBAS)
		return complain(XC_REFUSED, slow->path, "cache a part of it",
				"bigger than 4 PiB");
	return XC_OK;
}

static enum xc open_devices(struct making *k)
{
	const struct options *opt = k->opt;
	bool files = !k->moved && (opt->no_start || k->user);
	enum xc ret = device_open(&k->fast, opt->fast, files);

	if (!ret)
		ret = fast_size_blocks(opt->fast_size, &k->fast, &k->blocks);
	return ret ? ret : device_open_any(&k->slow, opt->slow, files);
}

static enum xc check_kinds(struct making *k)
{
	enum xc ret = claim_kind(&k->fast);

	return ret ? ret : claim_kind(&k->slow);
}

static enum xc check_unclaimed(struct making *k)
{
	enum xc ret = claim_check(&k->fast);

	return ret || in_use(k) ? ret : claim_check(&k->slow);
}

/* So that what is checked stays so. */
static enum xc own_devices(struct making *k)
{
	enum xc ret = device_reopen(&k->fast, DEVICE_OWN);

	return ret || in_use(k) ? ret : device_reopen(&k->slow, DEVICE_CLAIM);
}

/* ------------------------------------------------ what is on them now ---- */

static enum xc check_images(const struct making *k)
{
	struct known old;

	if (!*k->replaced || known_find(k->replaced, &old) != 1 || !images_know(&old))
		return XC_OK;
	return complain(XC_REFUSED, k->fast.path, "xpcache adopt --undo ends it; xpcache forget --force gives it up",
			"it is the xpcache %s, which was adopted, and the boot may ask for it", old.name);
}

/* Nobody has it open, and the cache is to have it again. */
static enum xc check_not_detached(const struct making *k)
{
	struct running r;

	if (!*k->replaced || running_find(NULL, k->replaced, &r) != 1 || !r.asleep)
		return XC_OK;
	return complain(XC_REFUSED, k->fast.path,
			text_todo("end what uses it, then xpcache stop %s, then xpcache remove %s --fast %s",
				  text_word(r.name), text_word(r.name), text_word(k->fast.path)),
			"it is the fast device of the xpcache %s, which is detached", r.name);
}

/* Of another cache that has nothing dirty, or of one that is elsewhere. */
static enum xc refuse_without_force(const struct making *k, const struct cache_there *old)
{
	if (old->moves)
		return complain(XC_REFUSED, k->fast.path, "--force overwrites it", "it is %s", old->what);
	return complain(XC_REFUSED, k->fast.path,
			text_todo("xpcache remove %s --fast %s ends it in order; --force overwrites it", old->name,
				  text_word(k->fast.path)), "it is %s", old->what);
}

/* Even --force must not lose its dirty blocks. */
static enum xc check_dirty(const struct making *k, const struct cache_there *old)
{
	if (k->opt->force && k->opt->discard_dirty)
		return XC_OK;
	if (!old->known)
		return complain(XC_REFUSED, k->fast.path,
				text_todo("xpcache check %s tells more; --force --discard-dirty overwrites it", text_word(k->fast.path)),
				"it is %s, and how many dirty blocks it has cannot be told", old->what);
	if (old->dirty)
		return complain(XC_REFUSED, k->fast.path,
				text_todo("xpcache remove %s %s saves them; --force --discard-dirty loses them", old->name,
					  text_devices(k->fast.path, NULL)),
				"it is %s with %s dirty", old->what, text_blocks(old->dirty));
	return k->opt->force ? XC_OK : refuse_without_force(k, old);
}

static bool is_interrupted_move(const struct making *k, const struct cache_there *old)
{
	return k->moved && old->moves && !strcmp(old->uuid, text_uuid(k->moved->uuid));
}

/* Another cache's fast device. */
static enum xc check_old_cache(struct making *k)
{
	struct cache_there old;
	enum xc ret;

	if (!cache_look(&k->fast, &old) || is_interrupted_move(k, &old))
		return XC_OK;
	if (*old.uuid && (old.moves ? caches_have_on(old.uuid, k->fast.dev) : !caches_have_copy(old.uuid, &k->fast, NULL, 0)))
		snprintf(k->replaced, sizeof(k->replaced), "%s", old.uuid);
	ret = check_not_detached(k);
	if (!ret)
		ret = check_dirty(k, &old);
	return ret ? ret : check_images(k);
}

static enum xc check_signatures(struct making *k)
{
	char list[512];
	int n = signature_list(k->fast.fd, 0, list, sizeof(list));

	/* What is there may be known by its end: of the device, or of the part that another cache had. */
	if (!n && k->opt->fast_size)
		n = signature_list(k->fast.fd, k->blocks << XP_BLOCK_SHIFT, list, sizeof(list));
	if (n < 0)
		return complain_errno(n, k->fast.path, "cannot look for signatures");
	if (n && !k->opt->force)
		return complain(XC_REFUSED, k->fast.path,
				"is it the right device? --force overwrites what is on it",
				"the fast device holds data: %s", list);
	k->wipe = n > 0;
	return XC_OK;
}

/* The slow device may hold anything, but not another cache's half. */
static enum xc check_slow_is_free(struct making *k)
{
	struct cache c;
	enum xc ret;

	if (k->moved)
		return XC_OK;
	if (!k->slow.remote && cache_read(&c, &k->slow) == 0)
		return complain(XC_REFUSED, k->slow.path, "are --fast and --slow the right way round?",
				"it is the fast device of the xpcache %s", c.name);
	if (k->slow.remote)
		return remote_check_free(k->slow.path);
	ret = caches_check_slow(&k->slow, k->fast.dev);
	return ret ? ret : fence_check(&k->slow, k->replaced);
}

/* --------------------------------------------------------- superblock ---- */

static bool name_taken(const struct making *k, const struct caches *all, const char *name)
{
	struct known known;

	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].name, name) && all->v[i].fast.dev != k->fast.dev && !cache_is_elsewhere(&all->v[i]))
			return true;
	if (k->fast.is_block && known_find(name, &known) && strcmp(known.uuid, k->replaced) != 0)
		return true;
	return running_has_name(name);
}

/* The first of xpcache0, xpcache1, ... that no cache has, running or not. */
static enum xc choose_name(struct making *k)
{
	char *name = (char *)k->sb.name;
	struct caches all = { NULL, 0 };
	enum xc ret = XC_OK;

	if (k->fast.is_block)
		caches_scan(&all);
	if (k->opt->name) {
		snprintf(name, XP_NAME_LEN, "%s", k->opt->name);
		if (name_taken(k, &all, name))
			ret = complain(XC_REFUSED, name, "give another by --name NAME",
				       "there is a cache or a device of this name");
	} else {
		unsigned int i = 0;

		do
			snprintf(name, XP_NAME_LEN, "xpcache%u", i++);
		while (name_taken(k, &all, name));
	}
	caches_free(&all);
	return ret;
}

/* The kernel would take it, from programs, and at each boot. */
static enum xc check_fits(const struct making *k)
{
	u64 need = xp_memory(&k->sb, k->opt->tunables.verify);
	struct memory m;

	memory_look(&m);
	if (!m.total || need <= m.total / 2 || (k->opt->force && !k->adopted))
		return XC_OK;
	return complain(XC_REFUSED, k->fast.path,
			text_todo("%s%s", text_fast_size_that_fits(k->blocks, k->opt->tunables.verify),
				  k->adopted ? "" : "; --force makes it all the same"),
			"a cache of this size takes %s of the %s of memory as long as it runs",
			text_bytes(need), text_bytes(m.total));
}

static enum xc name_it(struct making *k)
{
	enum xc ret = choose_name(k);

	if (ret)
		return ret;
	if (getrandom(k->sb.uuid, sizeof(k->sb.uuid), 0) != sizeof(k->sb.uuid))
		return complain_errno(errno, NULL, "no random numbers");
	k->sb.created = cpu_to_le64(time(NULL));
	identity_of(&k->slow, &k->sb.slow);
	return XC_OK;
}

/* A cache's blocks begin where those of most of its file systems do, if the device can be addressed there. */
static u32 grid_of(const struct device *slow)
{
	struct slow s;
	u32 grid = slow_open(&s, slow->path) ? 0 : tables_grid(&s);

	slow_close(&s);
	return (grid << XP_SECTOR_SHIFT) % max(slow->logical, 1u << XP_SECTOR_SHIFT) ? 0 : grid;
}

static enum xc prepare_superblock(struct making *k)
{
	struct xp_message msg = { "" };
	enum xc ret = k->moved ? XC_OK : name_it(k);
	int err;

	if (ret)
		return ret;
	err = xp_sb_layout(&k->sb, k->blocks, &msg);
	if (k->opt->fast_size)
		k->sb.compat |= cpu_to_le64(XP_COMPAT_PART);
	if (k->moved)
		xp_move_as(&k->sb, k->moved);
	else
		xp_sb_set_grid(&k->sb, grid_of(&k->slow));
	if (k->opt->tunables.verify)
		k->sb.incompat |= cpu_to_le64(XP_INCOMPAT_SUMS);
	if (k->opt->tunables.mode != XP_MODE_KEPT)
		xp_sb_keep_mode(&k->sb, k->opt->tunables.mode);
	if (err)
		return complain(err == -ENOSPC ? XC_REFUSED : XC_FAILED, k->fast.path,
				"take a bigger one", "%s", msg.text);
	return check_fits(k);
}

/* -------------------------------------------------------------- making ---- */

static enum xc wipe(const struct device *fast, bool wanted, u64 bytes)
{
	int err = wanted ? signature_wipe(fast->fd, bytes) : 0;

	return err ? complain_errno(err, fast->path, "cannot erase what is on it") : XC_OK;
}

/* Its old ones are gone. */
static void look_for_partitions(const struct device *fast, bool wiped)
{
	if (wiped && fast->is_block && !fast->partition)
		ioctl(fast->fd, BLKRRPART);
}

/* An older cache's superblocks go first: with this one's journal they would
 * be a damaged cache. */
static enum xc format(struct making *k)
{
	struct xp_jblock block;
	struct media m;
	enum xc ret = wipe(&k->fast, k->wipe, k->blocks << XP_BLOCK_SHIFT);
	int err;

	if (ret)
		return ret;
	err = media_init(&m, k->fast.fd);
	if (!err) {
		err = xp_sb_erase(&m.io, &block);
		if (!err)
			err = xp_format(&m.io, &k->sb, &block);
		media_done(&m);
	}
	if (err)
		return complain_errno(err, k->fast.path, "cannot write the metadata");
	look_for_partitions(&k->fast, k->wipe);
	return XC_OK;
}

/* What the slow device holds today. The journal begins with block 1. */
static void note_slow(const struct making *k)
{
	int err = fingerprint_take(&k->fast, k->slow.path, 1);

	if (err)
		complain_errno(err, k->slow.path, "cannot note what it holds now");
}

/* The kernel would not take it: leave no cache behind. */
static enum xc undo(struct making *k, enum xc why)
{
	struct xp_sb zeros;
	struct media m;
	int err;

	if (device_reopen(&k->fast, DEVICE_OWN))
		return why;
	err = media_init(&m, k->fast.fd);
	if (!err) {
		err = xp_sb_erase(&m.io, &zeros);
		media_done(&m);
	}
	if (err)
		complain_errno(err, k->fast.path, "cannot erase the superblock again");
	else
		printf("%s: no cache was made, the superblock is erased again\n", k->fast.path);
	return why;
}

/* Nothing tells whether it is true. */
static void tell_hidden_cache(const struct device *d)
{
	char disk[PATH_MAX];

	if (device_hides_cache(d, disk, sizeof(disk)))
		printf("%s: it is behind USB, and says that it has no volatile cache, so no FLUSH is sent to it: if it has one, a power cut loses what was synced; hdparm -W 0 %s turns it off (man xpcache, DISKS)\n",
		       d->path, text_word(disk));
}

/* As it was made, or it is unmade. */
static enum xc start_made(struct making *k)
{
	struct user_start how = user_start_of(k->opt);
	char *name = (char *)k->sb.name;
	u64 doubt;	/* of a cache that has nothing yet? */
	enum xc ret = mark_prepare(name, k->fast.path, k->slow.path, NULL, &how.tunables, &doubt);

	if (!ret)
		ret = k->user ? user_create(name, k->fast.path, k->slow.path, &how) :
				kernel_create(&k->sb, name, &k->fast, &k->slow, &how.tunables);
	if (ret)
		return undo(k, ret);
	if (!k->user)
		partitions_started(text_uuid(k->sb.uuid));
	return XC_OK;
}

/* The kernel claims both devices for itself, so ours must be closed before. */
static enum xc make(struct making *k)
{
	enum xc ret;

	tell_hidden_cache(&k->fast);
	tell_hidden_cache(&k->slow);
	signals_hold();
	ret = format(k);
	if (!ret && *k->replaced)
		ret = fence_end(k->replaced, 0);
	if (!ret && !k->adopted)	/* what it holds now changes until the start */
		note_slow(k);
	device_close(&k->slow);
	device_close(&k->fast);
	if (!ret && !k->opt->no_start)
		ret = start_made(k);
	signals_release();
	return ret;
}

/* A signal that comes while the room is taken gives it back; one that comes later waits until the cache is whole. */
static enum xc make_in_its_room(struct making *k)
{
	struct sigaction was[NR_CAUGHT];
	struct room room;
	enum xc ret;

	signals_catch(was);
	ret = room_take(&room, &k->fast, k->blocks << XP_BLOCK_SHIFT, "make room there, or take less of it by --fast-size");
	if (!ret) {
		ret = make(k);
		if (ret)
			room_give_back(&room);
	}
	room_done(&room);
	signals_let(was);
	return ret;
}

static void tell_user(const char *name, const char *slow)
{
	struct running r;
	char uri[512];

	user_uri(name, uri, sizeof(uri));
	if (user_find(name, NULL, &r) == 1 && *r.ublk)
		printf("from now on use %s, or '%s', and not %s\n", r.ublk, uri, slow);
	else
		printf("from now on use '%s' and not %s\n", uri, slow);
}

static void tell(const struct making *k)
{
	const char *name = (const char *)k->sb.name;
	struct running r;

	printf("%s: %s (%s, %s slots) %s %s (%s)\n", name, k->fast.path,
	       text_bytes(k->blocks << XP_BLOCK_SHIFT),
	       text_count(le64_to_cpu(k->sb.nr_slots)),
	       k->opt->no_start ? "is made to cache" : "now caches", k->slow.path,
	       text_bytes(k->slow.sectors << XP_SECTOR_SHIFT));
	fast_size_tell_memory(&k->sb, k->opt->tunables.verify);
	if (k->sb.grid)
		printf("its blocks begin at sector %u of %s, as most of its partitions do\n", k->sb.grid, k->slow.path);
	if (k->opt->no_start) {
		printf("not started: %s does that\n", text_start(name, k->fast.path, k->slow.path));
		return;
	}
	if (k->user) {
		tell_user(name, k->slow.path);
		return;
	}
	printf("from now on use /dev/mapper/%s and not %s\n", name, k->slow.path);
	if (kernel_find(name, NULL, &r) == 1)
		partitions_tell(&r);
}

/* In this order a cache is refused. None of them changes a device. */
static enum xc (*const checks[])(struct making *) = {
	check_devices_given,
	check_words,
	choose_engine,
	check_ublk,
	check_root,
	open_devices,
	check_kinds,
	check_pair,
	check_no_partitions,
	check_unclaimed,
	own_devices,
	check_old_cache,
	check_signatures,
	check_slow_is_free,
	check_kernel,
	prepare_superblock,
};

static enum xc check(struct making *k)
{
	enum xc ret = XC_OK;

	for (size_t i = 0; !ret && i < sizeof(checks) / sizeof(*checks); i++)
		ret = checks[i](k);
	return ret;
}

/* This machine knows it from then on. */
static enum xc make_known(struct making *k)
{
	bool notes = !k->opt->no_start && k->slow.is_block && k->fast.is_block, noted = false;
	enum xc ret;

	if (notes)
		initramfs_lock_to_refresh();
	ret = make_in_its_room(k);
	if (ret)
		return ret;
	if (notes) {
		noted = known_note(&k->sb, k->user, &k->opt->tunables);
		fence_changed(k->slow.dev);
		fence_changed(k->fast.dev);	/* it is not an empty disk any more, for who asks udev */
	}
	tell(k);
	return noted ? initramfs_refresh() : XC_OK;
}

enum xc create_run(struct options *opt)
{
	struct making k = { .opt = opt, .fast.fd = -1, .slow.fd = -1 };
	enum xc ret = check(&k);

	if (!ret)
		ret = make_known(&k);
	device_close(&k.fast);
	device_close(&k.slow);
	return ret;
}

enum xc create_adopted(const struct options *from, const char *slow, struct xp_sb *sb)
{
	struct options opt = *from;
	struct making k = { .opt = &opt, .fast.fd = -1, .slow.fd = -1, .adopted = true };
	enum xc ret;

	opt.slow = slow;
	opt.no_start = true;
	opt.tuned_run = false;	/* they are for later */
	ret = check(&k);
	if (!ret)
		ret = make(&k);
	device_close(&k.fast);
	device_close(&k.slow);
	*sb = k.sb;
	return ret;
}

enum xc create_taken(const struct options *from, const struct running *r, const struct xp_sb *was, struct taken *t)
{
	struct options opt = *from;
	struct making k = { .opt = &opt, .fast.fd = -1, .slow.fd = -1, .moved = was, .cache = r->dev };
	enum xc ret;

	opt.slow = r->slow_path;
	opt.no_start = true;
	opt.tunables.verify = !!(le64_to_cpu(was->incompat) & XP_INCOMPAT_SUMS);
	ret = check(&k);
	if (!ret)
		tell_hidden_cache(&k.fast);
	device_close(&k.slow);
	*t = (struct taken){ .fast = k.fast, .sb = k.sb, .bytes = k.blocks << XP_BLOCK_SHIFT, .wipe = k.wipe };
	snprintf(t->replaced, sizeof(t->replaced), "%s", k.replaced);
	return ret;
}

enum xc taken_wipe(const struct taken *t)
{
	return wipe(&t->fast, t->wipe, t->bytes);
}

/* What came of it is on the device. */
enum xc taken_is(const struct taken *t)
{
	look_for_partitions(&t->fast, t->wipe);
	return *t->replaced ? fence_end(t->replaced, 0) : XC_OK;
}
