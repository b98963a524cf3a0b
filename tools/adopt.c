// SPDX-License-Identifier: GPL-2.0-only
/*
 * adopt: the disk below the running root moves behind a cache at the next boot.
 *
 * A mounted disk cannot be taken, and need not: an empty cache holds nothing of it. So the cache is
 * made now, and the initramfs starts it before / is mounted. Until then the disk is used as ever.
 * Every step can be taken back, and is if a later one fails.
 */
#include "tools/adopt.h"
#include "boot/bootloader.h"
#include "boot/fence.h"
#include "boot/fstab.h"
#include "boot/initramfs.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/fast_size.h"
#include "lib/figures.h"
#include "lib/identity.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/mounts.h"
#include "lib/moves.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/sysfs.h"
#include "lib/uuid.h"
#include "tools/create.h"
#include "tools/options.h"
#include "tools/remove.h"
#include "tools/verbs.h"
#include "core/life.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

struct adoption {
	struct options *opt;
	char disk[PATH_MAX];	/* node of the disk below / */
	struct fstab fstab;
	struct bootloader bootloader;
};

/* --------------------------------------------------------- below the root ---- */

/* btrfs mounts under a number of its own: then its source says the device. */
static dev_t device_of_root(void)
{
	struct mount m;
	struct stat st;

	return mount_of(NULL, "/", &m) && !stat(m.source, &st) && S_ISBLK(st.st_mode) ? st.st_rdev : 0;
}

/* How many a folder of sysfs names, and one of them; 0: there is no such folder. */
static unsigned int count_in(const char *folder, char one[64])
{
	struct dirent *e;
	unsigned int n = 0;
	DIR *dir = opendir(folder);

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.' && ++n)
			snprintf(one, 64, "%.63s", e->d_name);
	if (dir)
		closedir(dir);
	return n;
}

/* To the device below a volume or encryption, if there is one; how many there are. */
static unsigned int go_down(char *kname, size_t len)
{
	char path[PATH_MAX], below[64] = "";
	unsigned int n;

	snprintf(path, sizeof(path), "/sys/class/block/%s/slaves", kname);
	n = count_in(path, below);
	if (n == 1)
		snprintf(kname, len, "%s", below);
	return n;
}

/* How many the btrfs on it has; 0: there is none. */
static unsigned int btrfs_devices(const char *kname)
{
	char path[PATH_MAX], one[64];
	unsigned int n;
	glob_t all;

	snprintf(path, sizeof(path), "/sys/fs/btrfs/*/devices/%s", kname);
	if (glob(path, 0, NULL, &all))
		return 0;
	*strrchr(all.gl_pathv[0], '/') = '\0';
	n = count_in(all.gl_pathv[0], one);
	globfree(&all);
	return n;
}

bool root_is_on(char uuid[UUID_HEX])
{
	dev_t root = device_of_root();
	char kname[64], text[128];

	if (!root || !device_kname(root, kname, sizeof(kname)))
		return false;
	do {
		if (!sysfs_read(kname, "dm/uuid", text, sizeof(text)) || !kernel_is_ours(text) ||
		    kernel_is_partition(text))
			continue;
		snprintf(uuid, UUID_HEX, "%.32s", strrchr(text, '-') + 1);
		return true;
	} while (go_down(kname, sizeof(kname)) == 1);
	return false;
}

bool root_is_on_disk(dev_t disk)
{
	dev_t root = device_of_root();
	char kname[64], node[PATH_MAX];
	struct device d;

	if (!root || !device_kname(root, kname, sizeof(kname)))
		return false;
	while (go_down(kname, sizeof(kname)) == 1)
		;
	device_node(kname, node, sizeof(node));
	if (device_look(&d, node))
		return false;
	device_close(&d);
	return d.disk == disk;
}

static enum xc find_disk(struct adoption *a)
{
	char kname[64], uuid[128], node[PATH_MAX];
	dev_t root = device_of_root();
	unsigned int below;
	struct device d;

	if (!root || !device_kname(root, kname, sizeof(kname)))
		return complain(XC_REFUSED, "/", "name the disk by --slow", "it is on no block device");
	below = btrfs_devices(kname);
	if (below > 1)
		return complain(XC_REFUSED, "/", "name what is to be slow by --slow", "it is on %u devices", below);
	do {
		if (sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_ours(uuid))
			return complain(XC_REFUSED, "/", "xpcache status shows it", "it is on a cache already");
		below = go_down(kname, sizeof(kname));
	} while (below == 1);
	if (below)
		return complain(XC_REFUSED, "/", "name what is to be slow by --slow", "it is on %u devices", below);
	device_node(kname, node, sizeof(node));
	if (device_look(&d, node))
		return complain(XC_FAILED, node, NULL, "cannot open the device below /");
	device_close(&d);
	if (!device_node_of(d.disk, a->disk, sizeof(a->disk)))
		return complain(XC_FAILED, node, NULL, "cannot tell the disk it is on");
	return XC_OK;
}

/* ----------------------------------------------------------------- checks ---- */

static bool runs(const char *uuid)
{
	struct running r;

	return running_find(NULL, uuid, &r) == 1;
}

/* Does @disk (NULL: any) have the slow one's name? */
static bool is_of(const struct known *k, const struct device *disk)
{
	char why[512];

	return !disk || identity_same(&k->slow, disk, false, why, sizeof(why));
}

enum adopted { NOT_ADOPTED, RESTS, RUNS };

/* The one that the initramfs starts, or is to leave; of several first one that does not run. */
static enum adopted find_adopted(struct known *k, const struct device *disk)
{
	enum adopted found = NOT_ADOPTED;
	struct known *list;
	size_t n = known_all(&list);

	for (size_t i = 0; i < n && found != RESTS; i++) {
		bool rests;

		if (!images_know(&list[i]) || !is_of(&list[i], disk))
			continue;
		rests = !runs(list[i].uuid);
		if (rests || !found)
			*k = list[i];
		found = rests ? RESTS : RUNS;
	}
	free(list);
	return found;
}

/* Begun, and the power went before its end; or ended, and no boot since. */
static enum xc check_is_not_adopted(const struct device *disk)
{
	struct known k;

	if (find_adopted(&k, disk) != RESTS)
		return XC_OK;
	if (k.start != START_IN_INITRAMFS)
		return complain(XC_REFUSED, k.name, "xpcache adopt --undo ends it", "an adopt that was taken back has not ended");
	return complain(XC_REFUSED, k.name, "reboot, and it is before the disk; or xpcache adopt --undo, and adopt once more",
			"it is adopted already, and does not run yet");
}

/* What the kernel is told must lead to the cache as well. */
static enum xc check_command_line(void)
{
	FILE *f = fopen("/proc/cmdline", "re");
	char line[4096] = "", *root;

	if (f && !fgets(line, sizeof(line), f))
		*line = '\0';
	if (f)
		fclose(f);
	root = strstr(line, "root=");
	if (!root || !strncmp(root, "root=UUID=", 10) || !strncmp(root, "root=LABEL=", 11) ||
	    !strncmp(root, "root=/dev/mapper/", 17))
		return XC_OK;
	root[strcspn(root, " \n")] = '\0';
	return complain(XC_REFUSED, "/proc/cmdline",
			"say root=UUID=... in the boot loader (GRUB: no GRUB_DISABLE_LINUX_UUID in /etc/default/grub, then update-grub)",
			"the kernel is told %s, which is the disk without the cache", root);
}

static enum xc choose_disk(struct adoption *a)
{
	if (!a->opt->slow)
		return find_disk(a);
	snprintf(a->disk, sizeof(a->disk), "%s", a->opt->slow);
	return XC_OK;
}

static enum xc check_disk(struct adoption *a)
{
	struct device d = { .fd = -1 };
	enum xc ret = device_open(&d, a->disk, false);

	if (!ret && d.partition)
		ret = complain(XC_REFUSED, a->disk, "name the whole disk", "it is a partition");
	if (!ret)
		ret = check_is_not_adopted(&d);
	a->fstab.disk = a->bootloader.disk = d.dev;
	device_close(&d);
	return ret;
}

static enum xc check(struct adoption *a)
{
	enum xc ret = initramfs_check();

	if (!ret)
		ret = kernel_ready();
	if (!ret)
		ret = choose_disk(a);
	if (!ret)
		ret = check_command_line();
	if (!ret)
		ret = check_disk(a);
	return ret ? ret : bootloader_check(&a->bootloader);
}

/* -------------------------------------------------------------- the words ---- */

/* What nobody has said fits the machine. */
static enum xc choose_size(struct adoption *a)
{
	struct device fast = { .fd = -1 };
	u64 all, blocks;
	enum xc ret = device_open(&fast, a->opt->fast, false);

	if (!ret)
		ret = fast_size_blocks(a->opt->fast_size, &fast, &blocks);
	if (!ret && !a->opt->fast_size) {
		all = blocks;
		blocks = fast_size_that_fits(all, a->opt->tunables.verify);
		a->opt->fast_size = blocks < all ? blocks << XP_BLOCK_SHIFT : 0;
	}
	device_close(&fast);
	return ret;
}

static enum xc say_what(struct adoption *a)
{
	char part[64] = "";

	if (a->opt->fast_size)
		snprintf(part, sizeof(part), "the first %s of ", text_size(a->opt->fast_size >> XP_BLOCK_SHIFT));
	printf("xpcache will, of this system:\n"
	       "  make a cache on %s%s; what is there is lost\n"
	       "  start it at the next boot before %s, on which / is; until then the disk is used as ever\n",
	       part, a->opt->fast, a->disk);
	a->fstab.tell = true;
	return fstab_look(&a->fstab);
}

static enum xc ask(const struct options *opt)
{
	char answer[16] = "";

	printf("  make the initramfs of every kernel again, twice\nxpcache adopt --undo takes it back.\n");
	if (opt->yes)
		return XC_OK;
	if (!isatty(STDIN_FILENO))
		return complain(XC_REFUSED, "adopt", "say --yes", "there is no terminal to ask at");
	printf("Go on? [y/N] ");
	fflush(stdout);
	if (fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y'))
		return XC_OK;
	return complain(XC_REFUSED, "adopt", NULL, "nothing was changed");
}

/* --------------------------------------------------------------- there ---- */

static enum xc erase_cache(const char *uuid)
{
	struct caches all;
	enum xc ret = XC_OK;
	int err = caches_scan_for(uuid, &all);

	if (err)
		return complain_errno(err, uuid, "cannot look for its fast device");
	for (size_t i = 0; i < all.n; i++) {
		enum xc erased = cache_arrive(&all.v[i]);

		if (!erased)
			erased = erase_stopped(&all.v[i], NULL, ret || i + 1 < all.n);

		ret = ret ? ret : erased;
	}
	caches_free(&all);
	return ret;
}

/* It is erased when no image waits for it any more, and then forgotten. */
static enum xc take_back(const char *uuid)
{
	struct known k;
	enum xc ret;

	if (known_find(uuid, &k) == 1) {
		ret = images_let_go(&k);
	} else {
		images_leave_fstab(uuid);
		ret = initramfs_make();
	}
	if (!ret)
		ret = erase_cache(uuid);
	return ret ? ret : fence_end(uuid, 0);
}

/*
 * No image may be left that knows of no cache when another starts it: where the first is booted, / would be
 * on what the disk alone has. So all are made to leave it first, and until that is done the next boot
 * takes it back.
 */
static enum xc go(struct adoption *a)
{
	struct known k;
	struct xp_sb sb;
	time_t begin;
	enum xc ret;

	initramfs_lock();
	begin = time(NULL);	/* who was waited for made images that know no cache */
	ret = create_adopted(a->opt, a->disk, &sb);
	if (ret)
		return ret;
	known_of(&k, &sb, START_TO_LEAVE, &a->opt->tunables);
	signals_hold();
	ret = images_make(&k, START_TO_LEAVE);
	if (!ret)	/* while there is none yet that starts it */
		ret = bootloader_images(&a->bootloader, begin, a->opt->force);
	a->fstab.tell = false;
	if (!ret)
		ret = fstab_change(&a->fstab);
	if (!ret)
		ret = images_make(&k, START_IN_INITRAMFS);
	if (ret && take_back(k.uuid) && known_find(k.uuid, &k) == 1 && k.start != START_GONE)
		complain(XC_FAILED, a->opt->fast, "xpcache adopt --undo goes on with it",
			 "leave it in the machine: the adopt is not taken back, and the boot may ask for it");
	signals_release();
	if (!ret)
		printf("%s: at the next boot it is before %s; it takes %s of memory\n", (const char *)sb.name,
		       a->disk, text_bytes(xp_memory(&sb, a->opt->tunables.verify)));
	return ret;
}

/* ------------------------------------------------------------- and back ---- */

/* / is on it. The initramfs of the next boot brings all home and mounts / from the plain disk; the
 * superblock stays until no initramfs waits for it any more: see end_left(). */
static enum xc leave_at_boot(struct known *k)
{
	enum xc ret = images_make(k, START_TO_LEAVE);

	if (!ret)
		printf("%s: at the next boot every block is written back, then / is on the plain disk\n", k->name);
	return ret;
}

static enum xc check_one_is_home(const struct cache *c)
{
	u64 dirty;

	if (!cache_dirty(c, &dirty))
		return complain(XC_REFUSED, c->fast.path, "xpcache check tells more; xpcache forget --force gives it up",
				"what dirty blocks %s has cannot be told, and / is on its disk alone", c->name);
	if (dirty)
		return complain(XC_REFUSED, c->name, "boot with an initramfs that starts it, then once more",
				"it has dirty blocks, and / is on its disk alone");
	return XC_OK;
}

/* What is dirty would be lost with it, and a copy of its device may be the one that has it. The
 * superblock may be gone already, or the device. */
static enum xc check_is_home(const struct known *k)
{
	struct caches all;
	enum xc ret = XC_OK;
	int err = caches_scan_for(k->uuid, &all);

	if (err)
		return complain_errno(err, k->name, "cannot look for its fast device");
	for (size_t i = 0; i < all.n && !ret; i++)
		ret = check_one_is_home(&all.v[i]);
	caches_free(&all);
	return ret;
}

/* The initramfs of this boot has left it, or was made without it. Whatever of this is done when the
 * power goes, the next boot is right: it leaves it again, or knows nothing of it. But with an image
 * of before, which starts it: then / is to leave it once more. */
static enum xc end_left(const char *uuid)
{
	struct known k;
	bool noted = known_find(uuid, &k) == 1;
	enum xc ret = XC_OK;

	if (noted && runs(uuid))
		ret = leave_at_boot(&k);
	else {
		if (noted)
			ret = check_is_home(&k);
		if (!ret)
			ret = take_back(uuid);
		if (!ret)
			printf("/ is on the plain disk, and there is no cache before it any more\n");
	}
	if (!ret)
		left_forget(uuid);
	return ret;
}

static enum xc undo_adopted(void)
{
	struct known k;
	enum adopted found = find_adopted(&k, NULL);
	enum xc ret;

	if (!found)
		return complain(XC_NOT_FOUND, "adopt", "xpcache list shows all", "no cache of this system was adopted");
	if (found == RUNS)
		return leave_at_boot(&k);
	ret = check_is_home(&k);
	if (!ret)
		ret = take_back(k.uuid);
	if (!ret)
		printf("%s: taken back; the system boots without it\n", k.name);
	return ret;
}

static enum xc undo(void)
{
	char uuid[UUID_HEX];
	enum xc ret;

	initramfs_lock();
	signals_hold();
	ret = left_find(uuid) ? end_left(uuid) : undo_adopted();
	signals_release();
	return ret;
}

enum xc adopt_run(struct options *opt)
{
	struct adoption a = { .opt = opt };
	enum xc ret;

	if (opt->undo)
		return undo();
	if (!opt->fast)
		return complain(XC_USAGE, "--fast", "xpcache adopt --fast DEV", "the fast device is missing");
	ret = check(&a);
	if (!ret)
		ret = choose_size(&a);
	if (!ret)
		ret = say_what(&a);
	if (!ret)
		ret = ask(opt);
	return ret ? ret : go(&a);
}
