// SPDX-License-Identifier: GPL-2.0-only
/*
 * A boot loader reads the disk alone, however much of it is not home: its file system has to be
 * one that keeps what it does not write where it was. And each kernel that it offers mounts / from
 * what its own image says.
 */
#include "boot/bootloader.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/mounts.h"
#include "core/words.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ------------------------------------------------------------ file system ---- */

static bool is_on(const char *node, dev_t disk);

static bool is_made_of(const char *kname, dev_t disk)
{
	char path[PATH_MAX], below[PATH_MAX];
	struct dirent *e;
	bool on = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/class/block/%s/slaves", kname);
	dir = opendir(path);
	while (dir && !on && (e = readdir(dir))) {
		device_node(e->d_name, below, sizeof(below));
		on = e->d_name[0] != '.' && is_on(below, disk);
	}
	if (dir)
		closedir(dir);
	return on;
}

/* Or made of what is on it: a volume, encryption. */
static bool is_on(const char *node, dev_t disk)
{
	char kname[64];
	struct device d;

	if (device_look(&d, node))
		return false;
	device_close(&d);
	if (!d.is_block || d.disk == disk)
		return d.is_block;
	return device_kname(d.disk, kname, sizeof(kname)) && is_made_of(kname, disk);
}

/* What GRUB finds in a file system half of which is in the cache: of btrfs 7 files of 20, of ext4
 * all. The others were not tried. */
static bool can_be_read(const char *type)
{
	static const char *const good[] = { "ext2", "ext3", "ext4", "vfat", "msdos" };

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!strcmp(type, good[i]))
			return true;
	return false;
}

enum xc bootloader_check(const struct bootloader *b)
{
	static const char *const reads[] = { "/boot", "/boot/grub", "/boot/grub2" };
	struct mount m;

	for (size_t i = 0; i < sizeof(reads) / sizeof(*reads); i++)
		if (mount_of(b->mounts, reads[i], &m) && !can_be_read(m.type) && is_on(m.source, b->disk))
			return complain(XC_REFUSED, reads[i],
					"give /boot a partition of its own with ext4, or one on another disk",
					"it is on the disk, and its file system is %s, which a boot loader cannot read while part of it is in a cache",
					m.type);
	return XC_OK;
}

/* ----------------------------------------------------------------- images ---- */

#define FAT_SECONDS	2	/* so much older a file there looks */

struct left {
	time_t since;
	char names[512];
	unsigned int n;
	int err;		/* a folder that cannot be read may hold more; 0 */
};

static bool is_image(const FTSENT *e)
{
	return !fnmatch("initrd*", e->fts_name, 0) || !fnmatch("initramfs*", e->fts_name, 0) ||
	       !fnmatch("*/EFI/Linux/*.efi", e->fts_path, FNM_CASEFOLD);
}

/* As GRUB finds them, and as kernel-install lays them in a folder for each version. */
static bool is_kernel(const FTSENT *e)
{
	if (!fnmatch("*.sig", e->fts_name, 0))
		return false;
	return !fnmatch("vmlinu[xz]-*", e->fts_name, 0) || !fnmatch("kernel-*", e->fts_name, 0) ||
	       !strcmp(e->fts_name, "linux");
}

static bool has_image(const FTSENT *e)
{
	const char *version = strchr(e->fts_name, '-');
	int len = (int)(e->fts_pathlen - e->fts_namelen);
	char pattern[4 * PATH_MAX];
	glob_t found;
	int none;

	if (version)
		snprintf(pattern, sizeof(pattern), "%.*s{initrd.img%s,initrd%s,initramfs%s.img,initramfs%s}",
			 len, e->fts_path, version, version, version, version);
	else
		snprintf(pattern, sizeof(pattern), "%.*sinitrd*", len, e->fts_path);
	none = glob(pattern, GLOB_BRACE, NULL, &found);
	if (!none)
		globfree(&found);
	return !none;
}

static void look_at(struct left *left, const FTSENT *e)
{
	size_t have = strlen(left->names);

	if (is_image(e) ? e->fts_statp->st_mtime + FAT_SECONDS >= left->since : !is_kernel(e) || has_image(e))
		return;
	snprintf(left->names + have, sizeof(left->names) - have, "%s%s", have ? ", " : "", e->fts_path);
	xp_words_clean(left->names, sizeof(left->names));
	left->n++;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* What is not there has no image. */
static bool cannot_be_read(const FTSENT *e)
{
	return (e->fts_info == FTS_NS && e->fts_errno != ENOENT) || e->fts_info == FTS_DNR || e->fts_info == FTS_ERR;
}

static void look_in(struct left *left, const struct bootloader *b, const char *folder)
{
	char path[PATH_MAX], *const paths[] = { path, NULL };
	FTSENT *e;
	FTS *all;

	snprintf(path, sizeof(path), "%s%s", b->root ? b->root : "", folder);
	all = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	while (all && (errno = 0, e = fts_read(all))) {
		if (e->fts_info == FTS_F)
			look_at(left, e);
		else if (cannot_be_read(e))
			left->err = e->fts_errno;
	}
	left->err = errno ? errno : left->err;	/* of fts_open() too */
	if (all)
		fts_close(all);
}

enum xc bootloader_images(const struct bootloader *b, time_t since, bool force)
{
	struct left left = { .since = since };

	look_in(&left, b, "/boot");
	look_in(&left, b, "/efi");
	if (left.err && !force)
		return complain(XC_REFUSED, "/boot", "mend it, or say --force and never boot an image that was not made anew",
				"it cannot be read everywhere, and may hold images that use the disk without the cache: %s",
				strerror(left.err));
	if (!left.n)
		return XC_OK;
	if (!force)
		return complain(XC_REFUSED, left.names,
				"delete what nobody needs, or say --force and never boot one of them",
				"%u kernels or images were not made anew, and would use the disk without the cache",
				left.n);
	printf("never boot one of these, they use the disk without the cache: %s\n", left.names);
	return XC_OK;
}
