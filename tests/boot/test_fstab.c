// SPDX-License-Identifier: GPL-2.0-only
/* test_fstab.c - which lines of fstab are changed for a disk that moves behind a cache, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <blkid/blkid.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boot/fstab.h"
#include "lib/device.h"
#include "lib/exit.h"

#define OURS	8u
#define OTHER	9u

/* The machine: what leads where, on which disk, and what is there. */
static const struct {
	const char *spec, *node, *uuid;
	dev_t disk;
} devices[] = {
	{ "/dev/sda1", "/dev/sda1", "1111", OURS },
	{ "/dev/disk/by-id/ata-OLD-part2", "/dev/sda2", "2222", OURS },
	{ "PARTUUID=aa-03", "/dev/sda3", "3333", OURS },
	{ "PARTLABEL=my home", "/dev/sda4", "4444", OURS },
	{ "/dev/sda5", "/dev/sda5", NULL, OURS },	/* swap that was made without one */
	{ "UUID=2222", "/dev/sda2", "2222", OURS },
	{ "LABEL=home", "/dev/sda4", "4444", OURS },
	{ "/dev/sdb1", "/dev/sdb1", "bbbb", OTHER },
};

static char path[64], kept[96], fresh[96];

/* What the file is read from becomes a folder, of which each read is an error. */
static void spoil(const char *file)
{
	char link[64], is[256];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, is, sizeof(is) - 1);
		is[n > 0 ? n : 0] = '\0';
		if (!strcmp(is, file)) {
			int folder = open("/", O_RDONLY);

			assert_true(folder >= 0 && dup2(folder, fd) == fd);
			close(folder);
		}
	}
}

char *blkid_evaluate_spec(const char *spec, blkid_cache *cache)
{
	(void)cache;
	if (!strcmp(spec, "/dev/trap"))
		spoil(path);
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (!strcmp(spec, devices[i].spec))
			return strdup(devices[i].node);
	return *spec == '/' ? strdup(spec) : NULL;
}

char *blkid_get_tag_value(blkid_cache cache, const char *tag, const char *node)
{
	(void)cache;
	assert_string_equal(tag, "UUID");
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (!strcmp(node, devices[i].node))
			return devices[i].uuid ? strdup(devices[i].uuid) : NULL;
	return NULL;
}

int __wrap_device_look(struct device *d, const char *path);
int __wrap_device_look(struct device *d, const char *path)
{
	memset(d, 0, sizeof(*d));
	d->fd = -1;
	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		if (!strcmp(path, devices[i].node)) {
			d->is_block = true;
			d->disk = devices[i].disk;
			return 0;
		}
	return -ENOENT;
}

/* ---------------------------------------------------------------- files ---- */

static void put_into(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_false(fclose(f));
}

static void put(const char *text)
{
	put_into(path, text);
}

static void holds(const char *file, const char *text)
{
	char is[4096];
	FILE *f = fopen(file, "r");
	size_t n;

	assert_non_null(f);
	n = fread(is, 1, sizeof(is) - 1, f);
	is[n] = '\0';
	fclose(f);
	assert_string_equal(is, text);
}

static struct fstab start(const char *text)
{
	strcpy(path, "/tmp/test-fstab.XXXXXX");
	close(mkstemp(path));
	snprintf(kept, sizeof(kept), "%s.before-xpcache", path);
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	put(text);
	return (struct fstab){ .path = path, .crypttab = "/dev/null", .resume = "/dev/null", .disk = OURS };
}

static void end(void)
{
	assert_true(access(fresh, F_OK));
	unlink(path);
	unlink(kept);
}

static void becomes(const char *was, const char *is, unsigned int changes)
{
	struct fstab f = start(was);

	assert_int_equal(fstab_look(&f), XC_OK);
	assert_int_equal(f.changes, changes);
	holds(path, was);
	assert_int_equal(fstab_change(&f), XC_OK);
	assert_int_equal(f.changes, changes);
	holds(path, is);
	if (changes)
		holds(kept, was);
	else
		assert_true(access(kept, F_OK));
	end();
}

/* ---------------------------------------------------------------- tests ---- */

static void what_the_cache_does_not_answer_to_becomes_a_uuid(void **state)
{
	(void)state;
	becomes("/dev/sda1 / ext4 defaults 0 1\n", "UUID=1111 / ext4 defaults 0 1\n", 1);
	becomes("/dev/disk/by-id/ata-OLD-part2 /home xfs\n", "UUID=2222 /home xfs\n", 1);
	becomes("PARTUUID=aa-03 none swap sw 0 0\n", "UUID=3333 none swap sw 0 0\n", 1);
	becomes("PARTLABEL=my\\040home /home ext4\n", "UUID=4444 /home ext4\n", 1);
}

static void all_else_stays_as_it_is(void **state)
{
	(void)state;
	becomes("UUID=2222 /home xfs\nLABEL=home /h ext4\n", "UUID=2222 /home xfs\nLABEL=home /h ext4\n", 0);
	becomes("/dev/sdb1 /other ext4\n", "/dev/sdb1 /other ext4\n", 0);
	becomes("/dev/mapper/vg-root / ext4\n", "/dev/mapper/vg-root / ext4\n", 0);
	becomes("tmpfs /tmp tmpfs\nproc\n", "tmpfs /tmp tmpfs\nproc\n", 0);
	becomes("# /dev/sda1 / ext4\n\n \t\n  #/dev/sda1\n", "# /dev/sda1 / ext4\n\n \t\n  #/dev/sda1\n", 0);
	becomes("", "", 0);
}

static void blanks_and_ends_are_kept(void **state)
{
	(void)state;
	becomes("\t/dev/sda1\t \t/\text4  # old\n", "\tUUID=1111\t \t/\text4  # old\n", 1);
	becomes("/dev/sdb1 /b ext4\n/dev/sda1 / ext4", "/dev/sdb1 /b ext4\nUUID=1111 / ext4", 1);
	becomes("/dev/sda1", "UUID=1111", 1);
}

static void what_has_no_uuid_is_refused_and_nothing_changed(void **state)
{
	const char *was = "/dev/sda1 / ext4\n/dev/sda5 none swap sw 0 0\n";
	struct fstab f = start(was);

	(void)state;
	assert_int_equal(fstab_look(&f), XC_REFUSED);
	assert_int_equal(fstab_change(&f), XC_REFUSED);
	holds(path, was);
	assert_true(access(kept, F_OK));
	end();
}

/* The complaint of what is in another file, which is not changed; NULL: there is none. */
static void other(bool crypttab, const char *text, const char *words)
{
	struct fstab f = start("UUID=1111 / ext4\n");
	FILE *err = stderr;
	char *said = NULL;
	size_t len = 0;
	enum xc ret;

	put_into(kept, text);
	*(crypttab ? &f.crypttab : &f.resume) = kept;
	stderr = open_memstream(&said, &len);
	ret = fstab_look(&f);
	fclose(stderr);
	stderr = err;
	assert_int_equal(ret, words ? XC_REFUSED : XC_OK);
	if (words)
		assert_non_null(strstr(said, words));
	else
		assert_string_equal(said, "");
	assert_int_equal(!!words, !!strstr(said, kept));
	holds(kept, text);
	free(said);
	end();
}

static void of_crypttab_it_is_said_what_to_write(void **state)
{
	(void)state;
	other(true, "# swap /dev/sda3\nhome UUID=2222 none luks\nother /dev/sdb1 none luks\nalone\n\n", NULL);
	other(true, "home /dev/disk/by-id/ata-OLD-part2 none luks\n", ": write UUID=2222 there");
	other(true, "a UUID=2222 none\nhome\t PARTUUID=aa-03\tnone luks\n", "PARTUUID=aa-03 is on the disk");
	other(true, "swap /dev/sda5 /dev/urandom swap\n", "/dev/sda5 is on the disk and has no UUID");
}

static void of_where_to_resume_from_too(void **state)
{
	(void)state;
	other(false, "RESUME=UUID=2222\n", NULL);
	other(false, "RESUME=auto\nRESUME=none\nRESUME=\n#RESUME=/dev/sda1\n", NULL);
	other(false, "RESUME=/dev/sdb1\n", NULL);
	other(false, "RESUME=/dev/sda1\n", ": write UUID=1111 there");
	other(false, "  RESUME=\"PARTUUID=aa-03\"\n", ": write UUID=3333 there");
	other(false, "RESUME=/dev/sda5\n", "/dev/sda5 is on the disk and has no UUID");
}

static void its_permissions_stay(void **state)
{
	struct fstab f = start("/dev/sda1 / ext4\n");
	struct stat st;

	(void)state;
	assert_false(chmod(path, 0640));
	assert_int_equal(fstab_change(&f), XC_OK);
	assert_false(stat(path, &st));
	assert_int_equal(st.st_mode & 07777, 0640);
	end();
}

static void back(const char *edited, const char *is)
{
	const char *was = "# old\n/dev/sda1 / ext4 defaults 0 1\nLABEL=home /h ext4\n";
	struct fstab f = start(was);

	assert_int_equal(fstab_change(&f), XC_OK);
	if (edited)
		put(edited);
	fstab_restore(&f);
	holds(path, is ? is : was);
	if (is)
		holds(kept, was);
	else
		assert_true(access(kept, F_OK));
	end();
}

static void it_goes_back_unless_it_was_edited(void **state)
{
	const char *const edited[] = {
		"# old\nUUID=1111 / ext4 noatime 0 1\nLABEL=home /h ext4\n",
		"# old\nUUID=1111 / ext4 defaults 0 1\nLABEL=home /h ext4\ntmpfs /tmp tmpfs\n",
		"# old\nUUID=1111 / ext4 defaults 0 1\n",
		"# new\nUUID=1111 / ext4 defaults 0 1\nLABEL=home /h ext4\n",
		"# old\n/dev/sdc1 / ext4 defaults 0 1\nLABEL=home /h ext4\n",
		"",
	};

	(void)state;
	back(NULL, NULL);
	for (size_t i = 0; i < sizeof(edited) / sizeof(*edited); i++)
		back(edited[i], edited[i]);
}

static void without_an_old_one_it_stays(void **state)
{
	struct fstab f = start("UUID=1111 / ext4\n");

	(void)state;
	fstab_restore(&f);
	holds(path, "UUID=1111 / ext4\n");
	end();
}

/* A line of ours, a trap, and more than is read at once behind it. */
static void what_cannot_be_read_is_not_the_end(void **state)
{
	const size_t size = 20000;
	char *long_one = malloc(size + 1);
	struct fstab f;
	struct stat st;

	(void)state;
	assert_non_null(long_one);
	memset(long_one, '\n', size);
	long_one[size] = '\0';
	memcpy(long_one, "/dev/sda1 / ext4\n/dev/trap x x\n", 31);
	memcpy(long_one + size - 12, "tmpfs /t t\n\n", 12);
	f = start(long_one);
	assert_int_equal(fstab_look(&f), XC_FAILED);
	assert_int_equal(fstab_change(&f), XC_FAILED);
	assert_false(stat(path, &st));
	assert_int_equal(st.st_size, size);
	assert_true(access(kept, F_OK));
	end();
	free(long_one);

	f = start("/dev/sda1 / ext4\n");
	f.crypttab = "/";
	assert_int_equal(fstab_look(&f), XC_FAILED);
	f.crypttab = "/nonexistent/crypttab";
	assert_int_equal(fstab_look(&f), XC_OK);
	f.resume = "/";
	assert_int_equal(fstab_look(&f), XC_FAILED);
	end();
}

/* A line that a NUL cuts would lose what is behind it. */
static void no_text_is_refused(void **state)
{
	static const char text[] = "/dev/sda1 / ext4\n# a\0b\nLABEL=home /h ext4\n";
	struct fstab f = start("");
	FILE *to = fopen(path, "w");
	struct stat st;

	(void)state;
	assert_non_null(to);
	assert_int_equal(fwrite(text, 1, sizeof(text) - 1, to), sizeof(text) - 1);
	fclose(to);
	assert_int_equal(fstab_change(&f), XC_FAILED);
	assert_false(stat(path, &st));
	assert_int_equal(st.st_size, sizeof(text) - 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_cache_does_not_answer_to_becomes_a_uuid),
		cmocka_unit_test(all_else_stays_as_it_is),
		cmocka_unit_test(blanks_and_ends_are_kept),
		cmocka_unit_test(what_has_no_uuid_is_refused_and_nothing_changed),
		cmocka_unit_test(of_crypttab_it_is_said_what_to_write),
		cmocka_unit_test(of_where_to_resume_from_too),
		cmocka_unit_test(its_permissions_stay),
		cmocka_unit_test(it_goes_back_unless_it_was_edited),
		cmocka_unit_test(without_an_old_one_it_stays),
		cmocka_unit_test(what_cannot_be_read_is_not_the_end),
		cmocka_unit_test(no_text_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
