// SPDX-License-Identifier: GPL-2.0-only
/* test_bootloader.c - what a boot loader could not read, and what it offers that knows no cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/bootloader.h"
#include "lib/device.h"
#include "lib/exit.h"

#define OURS	8u
#define OTHER	9u

int __wrap_device_look(struct device *d, const char *path);
int __wrap_device_look(struct device *d, const char *path)
{
	memset(d, 0, sizeof(*d));
	d->fd = -1;
	if (strncmp(path, "/dev/sd", 7) != 0)
		return -ENOENT;
	d->is_block = true;
	d->disk = path[7] == 'a' ? OURS : OTHER;
	return 0;
}

static char root[] = "/tmp/test-bootloader.XXXXXX";
static struct bootloader boot = { .root = root, .disk = OURS };

/* The path of a file below the folder of this test; the next call's. */
static const char *at(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s%s", root, name);
	return path;
}

static void put(const char *name, const char *text, time_t when)
{
	const struct timespec times[] = { { .tv_sec = when }, { .tv_sec = when } };
	FILE *f = fopen(at(name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_false(fclose(f));
	assert_false(utimensat(AT_FDCWD, at(name), times, 0));
}

/* What is complained of, or else said; to be freed. */
static char *caught(enum xc is, enum xc (*call)(void))
{
	FILE *out = stdout, *err = stderr;
	char *said = NULL;
	size_t len = 0;
	enum xc ret;

	stdout = stderr = open_memstream(&said, &len);
	ret = call();
	fclose(stderr);
	stdout = out;
	stderr = err;
	assert_int_equal(ret, is);
	return said;
}

/* ---------------------------------------------------------- file system ---- */

static enum xc check(void)
{
	return bootloader_check(&boot);
}

/* Of the @table of mounts; each @word is in the complaint. */
static void mounted(const char *table, const char *const word[2])
{
	char *said;

	put("/mounts", table, 0);
	said = caught(word ? XC_REFUSED : XC_OK, check);
	if (!word)
		assert_string_equal(said, "");
	for (size_t i = 0; word && i < 2; i++)
		assert_non_null(strstr(said, word[i]));
	free(said);
}

#define MOUNT(point, type, source) "30 1 8:1 / " point " rw,relatime shared:1 - " type " " source " rw\n"

static void what_it_cannot_read_half_is_refused(void **state)
{
	const char *const btrfs[] = { "/boot: give /boot a partition of its own", "file system is btrfs" };
	const char *const xfs[] = { "/boot: give", "file system is xfs" };
	const char *const grub[] = { "/boot/grub2: give", "file system is btrfs" };

	(void)state;
	mounted(MOUNT("/", "btrfs", "/dev/sda1"), btrfs);
	mounted(MOUNT("/", "ext4", "/dev/sda1") MOUNT("/boot", "xfs", "/dev/sda2"), xfs);
	mounted(MOUNT("/boot", "ext4", "/dev/sda2") MOUNT("/boot", "xfs", "/dev/sda3"), xfs);
	mounted(MOUNT("/", "ext4", "/dev/sda1") MOUNT("/boot/grub2", "btrfs", "/dev/sda2"), grub);
}

static void all_else_is_not(void **state)
{
	(void)state;
	mounted(MOUNT("/", "ext4", "/dev/sda1"), NULL);
	mounted(MOUNT("/", "btrfs", "/dev/sda1") MOUNT("/boot", "ext4", "/dev/sda2"), NULL);
	mounted(MOUNT("/boot", "vfat", "/dev/sda1") MOUNT("/", "xfs", "/dev/sda2"), NULL);
	mounted(MOUNT("/", "xfs", "/dev/sdb1") MOUNT("/home", "btrfs", "/dev/sda1"), NULL);
	mounted(MOUNT("/", "ext3", "/dev/sda1") MOUNT("/bootleg", "btrfs", "/dev/sda2"), NULL);
	mounted(MOUNT("/", "overlay", "overlay"), NULL);
}

/* --------------------------------------------------------------- images ---- */

#define BEGIN	1000000000
#define ID	"/boot/efi/0123456789abcdef0123456789abcdef"

static bool force;

static enum xc images(void)
{
	return bootloader_images(&boot, BEGIN, force);
}

static int machine(void **state)
{
	static const char *const folders[] = { "/boot", "/boot/grub", "/boot/efi", "/boot/efi/EFI",
		"/boot/efi/EFI/Linux", "/boot/efi/EFI/debian", ID, ID "/6.1.0-13", "/efi" };

	(void)state;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		assert_false(mkdir(at(folders[i]), 0755));
	put("/boot/vmlinuz-6.1.0-13-amd64", "", 1);
	put("/boot/initrd.img-6.1.0-13-amd64", "", BEGIN + 5);
	put("/boot/vmlinuz-6.8.5-301.fc40.x86_64", "", 1);
	put("/boot/initramfs-6.8.5-301.fc40.x86_64.img", "", BEGIN - 1);	/* on FAT */
	put("/boot/config-6.1.0-13-amd64", "", 1);
	put("/boot/vmlinuz-6.1.0-13-amd64.sig", "", 1);
	put("/boot/efi/EFI/debian/grubx64.efi", "", 1);
	put("/boot/efi/EFI/Linux/debian-6.1.0-13.efi", "", BEGIN);
	put(ID "/6.1.0-13/linux", "", 1);
	put(ID "/6.1.0-13/initrd.img-6.1.0-13", "", BEGIN + 1);
	assert_false(symlink("vmlinuz-nowhere", at("/boot/vmlinuz")));
	assert_false(symlink("initrd.img-nowhere", at("/boot/initrd.img")));
	force = false;
	return 0;
}

static int drop(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	return ftw->level ? remove(path) : 0;
}

static int empty(void **state)
{
	(void)state;
	return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static bool ends_early;

FTSENT *__real_fts64_read(FTS *all);
FTSENT *__wrap_fts64_read(FTS *all);
FTSENT *__wrap_fts64_read(FTS *all)
{
	FTSENT *e = __real_fts64_read(all);

	if (e && ends_early && e->fts_info == FTS_D && e->fts_level == 1) {
		errno = EIO;
		return NULL;
	}
	return e;
}

/* What is behind it nobody knows. */
static void a_folder_that_cannot_be_read_is_no_end(void **state)
{
	char *said;

	(void)state;
	ends_early = true;
	said = caught(XC_REFUSED, images);
	ends_early = false;
	assert_non_null(strstr(said, "cannot be read everywhere"));
	assert_non_null(strstr(said, "Input/output error"));
	free(said);
	force = true;
	said = caught(XC_OK, images);
	assert_string_equal(said, "");
	free(said);
}

/* That file, older than the images, is the only one that is complained of. */
static void one_more(const char *name)
{
	char *said;

	put(name, "", BEGIN - 100);
	said = caught(XC_REFUSED, images);
	assert_non_null(strstr(said, "xpcache: 1 kernels or images were not made anew"));
	assert_non_null(strstr(said, at(name)));
	assert_non_null(strstr(said, "--force"));
	free(said);
	assert_false(unlink(at(name)));
}

static void images_that_were_all_made_are_right(void **state)
{
	char *said = caught(XC_OK, images);

	(void)state;
	assert_string_equal(said, "");
	free(said);
}

static void one_that_was_not_is_named(void **state)
{
	(void)state;
	one_more("/boot/initrd.img-6.1.0-13-amd64.bak");
	one_more("/boot/initramfs-0-rescue-0123456789abcdef0123456789abcdef.img");
	one_more("/boot/vmlinuz-6.1.0-13-amd64.old");
	one_more("/boot/vmlinuz-6.1.0-1");
	one_more("/boot/kernel-genkernel");
	one_more("/boot/efi/EFI/Linux/rescue.efi");
	one_more("/efi/initrd");
	assert_false(unlink(at(ID "/6.1.0-13/initrd.img-6.1.0-13")));
	one_more(ID "/6.1.0-13/linux");
}

static void with_force_it_goes_on_and_says_so(void **state)
{
	char *said;

	(void)state;
	force = true;
	put("/boot/initrd.img-rescue", "", 1);
	put("/boot/vmlinuz-rescue.bak", "", 1);
	said = caught(XC_OK, images);
	assert_non_null(strstr(said, "never boot one of these"));
	assert_non_null(strstr(said, "/boot/initrd.img-rescue, "));
	assert_non_null(strstr(said, "/boot/vmlinuz-rescue.bak\n"));
	free(said);
}

static void more_than_fit_into_a_line_are_counted(void **state)
{
	char name[64], *said;

	(void)state;
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "/boot/initrd.img-%u", i);
		put(name, "", 1);
	}
	said = caught(XC_REFUSED, images);
	assert_non_null(strstr(said, "40 kernels or images"));
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_cannot_read_half_is_refused),
		cmocka_unit_test(all_else_is_not),
		cmocka_unit_test_setup_teardown(images_that_were_all_made_are_right, machine, empty),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_read_is_no_end, machine, empty),
		cmocka_unit_test_setup_teardown(one_that_was_not_is_named, machine, empty),
		cmocka_unit_test_setup_teardown(with_force_it_goes_on_and_says_so, machine, empty),
		cmocka_unit_test_setup_teardown(more_than_fit_into_a_line_are_counted, machine, empty),
	};
	char mounts[64];
	int ret;

	assert_non_null(mkdtemp(root));
	snprintf(mounts, sizeof(mounts), "%s/mounts", root);
	boot.mounts = mounts;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(mounts);
	rmdir(root);
	return ret;
}
