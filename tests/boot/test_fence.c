// SPDX-License-Identifier: GPL-2.0-only
/* test_fence.c - of two disks that say the same of themselves, which one is kept for the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <unistd.h>

#include "boot/fence.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/known.h"
#include "lib/running.h"
#include "tools/options.h"

#define CACHE		"11111111111111111111111111111111"
#define SECTORS		8192u

/* The machine: disks in two cases that have one serial number, and one that is another. */
struct disk {
	const char *kname, *node, *wwid, *content;
	dev_t dev;
	bool gone;
};

static struct disk ours = { .kname = "tst0", .node = "/dev/tst0", .wwid = "usb.123", .content = "ext4:aa", .dev = 1 };
static struct disk twin = { .kname = "tst1", .node = "/dev/tst1", .wwid = "usb.123", .content = "ext4:bb", .dev = 2 };
static struct disk other = { .kname = "tst2", .node = "/dev/tst2", .wwid = "usb.456", .content = "ext4:aa", .dev = 3 };
static struct disk *const disks[] = { &ours, &twin, &other };
static dev_t held, running_on;
static unsigned int contents_read;

static struct disk *disk_of(const char *name, dev_t dev)
{
	for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++)
		if (dev ? disks[i]->dev == dev : !strcmp(disks[i]->kname, name) || !strcmp(disks[i]->node, name))
			return disks[i]->gone ? NULL : disks[i];
	return NULL;
}

int __wrap_device_look(struct device *d, const char *path);
int __wrap_device_look(struct device *d, const char *path)
{
	struct disk *disk = disk_of(path, 0);

	memset(d, 0, sizeof(*d));
	d->fd = -1;
	if (!disk)
		return -ENOENT;
	d->fd = (int)(disk->dev + 1000);	/* for what it holds; closed in vain */
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->is_block = true;
	d->dev = d->disk = disk->dev;
	d->sectors = SECTORS;
	d->logical = 512;
	return 0;
}

int __wrap_device_look_at(struct device *d, dev_t dev);
int __wrap_device_look_at(struct device *d, dev_t dev)
{
	struct disk *disk = disk_of(NULL, dev);

	return disk ? __wrap_device_look(d, disk->node) : -ENODEV;
}

bool __wrap_device_kname(dev_t dev, char *kname, size_t len);
bool __wrap_device_kname(dev_t dev, char *kname, size_t len)
{
	struct disk *disk = disk_of(NULL, dev);

	if (disk)
		snprintf(kname, len, "%s", disk->kname);
	return disk;
}

bool __wrap_device_here(dev_t dev);
bool __wrap_device_here(dev_t dev)
{
	return disk_of(NULL, dev);
}

bool __wrap_sysfs_read(const char *kname, const char *attr, char *buf, size_t len);
bool __wrap_sysfs_read(const char *kname, const char *attr, char *buf, size_t len)
{
	if (strcmp(attr, "wwid") != 0)
		return false;
	snprintf(buf, len, "%s", disk_of(kname, 0)->wwid);
	return true;
}

void __wrap_signature_content(int fd, char *buf, size_t len);
void __wrap_signature_content(int fd, char *buf, size_t len)
{
	contents_read++;
	snprintf(buf, len, "%s", disk_of(NULL, (dev_t)fd - 1000)->content);
}

int __wrap_running_find(const char *name, const char *uuid, struct running *r);
int __wrap_running_find(const char *name, const char *uuid, struct running *r)
{
	(void)name;
	assert_string_equal(uuid, CACHE);
	memset(r, 0, sizeof(*r));
	r->slow = running_on;
	return running_on != 0;
}

int __wrap_kernel_hold(const char *uuid, dev_t slow);
int __wrap_kernel_hold(const char *uuid, dev_t slow)
{
	assert_string_equal(uuid, CACHE);
	assert_int_equal(held, 0);
	held = slow;
	return 0;
}

dev_t __wrap_kernel_is_held(const char *uuid);
dev_t __wrap_kernel_is_held(const char *uuid)
{
	assert_string_equal(uuid, CACHE);
	return held;
}

dev_t __wrap_kernel_let_go(const char *uuid);
dev_t __wrap_kernel_let_go(const char *uuid)
{
	dev_t was = held;

	assert_string_equal(uuid, CACHE);
	held = 0;
	return was;
}

/* ---------------------------------------------------------------- tests ---- */

static int machine(void **state)
{
	(void)state;
	ours.gone = twin.gone = false;
	ours.content = "ext4:aa";
	twin.content = "ext4:bb";
	held = running_on = 0;
	contents_read = 0;
	return 0;
}

/* What udev is told of it, and what is said for people: @words, if any. */
static void fence(const struct disk *disk, bool fenced, const char *words)
{
	FILE *out = stdout, *err = stderr;
	struct options opt = { .arg = disk->node };
	char *told = NULL, *said = NULL;
	size_t told_len = 0, said_len = 0;

	stdout = open_memstream(&told, &told_len);
	stderr = open_memstream(&said, &said_len);
	assert_int_equal(fence_run(&opt), XC_OK);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	assert_string_equal(told, fenced ? "XPCACHE_FENCED=mine\nXPCACHE_UUID=" CACHE "\n" : "");
	if (words)
		assert_non_null(strstr(said, words));
	else
		assert_string_equal(said, "");
	free(told);
	free(said);
}

static void the_one_of_a_running_cache_is_kept_and_no_second(void **state)
{
	(void)state;
	running_on = ours.dev;
	fence(&ours, true, NULL);
	fence(&twin, false, "it says of itself what the slow device of mine does, and is another: /dev/tst1: it is left alone");
	fence(&other, false, NULL);
	assert_int_equal(held, 0);
}

/* start --slow DEV --force: in another case it calls itself otherwise. */
static void one_that_somebody_has_named_is_kept(void **state)
{
	(void)state;
	running_on = other.dev;
	fence(&other, true, NULL);
	running_on = 0;
	fence(&other, false, NULL);
	assert_int_equal(held, 0);
}

/* Or the same disk by another way. */
static void a_copy_of_it_is_kept_too(void **state)
{
	(void)state;
	running_on = ours.dev;
	twin.content = ours.content;
	fence(&twin, true, "it cannot be told from the slow device of mine: /dev/tst1: take one");
}

static void one_that_comes_back_is_kept(void **state)
{
	(void)state;
	running_on = ours.dev;
	ours.gone = true;
	fence(&twin, true, NULL);
}

static void at_rest_what_is_on_it_tells(void **state)
{
	(void)state;
	fence(&ours, true, NULL);
	assert_int_equal(held, ours.dev);
	fence(&twin, false, "and is another: ");
	assert_int_equal(held, ours.dev);
	fence(&ours, true, NULL);
}

static void at_rest_the_order_does_not(void **state)
{
	(void)state;
	fence(&twin, true, NULL);
	assert_int_equal(held, twin.dev);
	fence(&ours, true, NULL);
	assert_int_equal(held, ours.dev);
	fence(&twin, false, "it is left alone");
}

static void when_nothing_tells_both_are_kept(void **state)
{
	(void)state;
	fence(&ours, true, NULL);
	twin.content = ours.content;
	fence(&twin, true, "it cannot be told from the slow device of mine: /dev/tst1: take one");
	ours.content = twin.content = "xfs:cc";	/* made anew through the cache */
	fence(&twin, true, "it cannot be told");
	assert_int_equal(held, ours.dev);
}

static void a_hold_of_what_is_gone_is_none(void **state)
{
	(void)state;
	fence(&ours, true, NULL);
	ours.gone = true;
	fence(&twin, true, NULL);
	assert_int_equal(held, twin.dev);
}

/* What libblkid looks at are some forty reads all over a disk, and udev asks at each boot, twice. */
static void nothing_is_read_where_the_hardware_tells(void **state)
{
	(void)state;
	fence(&ours, true, NULL);
	fence(&other, false, NULL);
	held = 0;
	running_on = ours.dev;
	fence(&ours, true, NULL);
	assert_int_equal(contents_read, 0);
	fence(&twin, false, "and is another: ");
	assert_int_equal(contents_read, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(the_one_of_a_running_cache_is_kept_and_no_second, machine),
		cmocka_unit_test_setup(one_that_somebody_has_named_is_kept, machine),
		cmocka_unit_test_setup(a_copy_of_it_is_kept_too, machine),
		cmocka_unit_test_setup(one_that_comes_back_is_kept, machine),
		cmocka_unit_test_setup(at_rest_what_is_on_it_tells, machine),
		cmocka_unit_test_setup(at_rest_the_order_does_not, machine),
		cmocka_unit_test_setup(when_nothing_tells_both_are_kept, machine),
		cmocka_unit_test_setup(a_hold_of_what_is_gone_is_none, machine),
		cmocka_unit_test_setup(nothing_is_read_where_the_hardware_tells, machine),
	};
	struct known k = { .name = "mine", .uuid = CACHE, .start = START_AT_BOOT };
	char dir[] = "/tmp/test-fence.XXXXXX";
	struct device d;
	int ret;

	xp_tunables_init(&k.limits);
	assert_non_null(mkdtemp(dir));
	setenv("XPCACHE_ETC", dir, 1);
	setenv("XPCACHE_RUNTIME_DIR", dir, 1);
	assert_false(__wrap_device_look(&d, ours.node));
	snprintf(d.kname, sizeof(d.kname), "%s", ours.kname);
	identity_of(&d, &k.slow);
	assert_false(known_write(&k));
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	known_forget(CACHE);
	rmdir(dir);
	return ret;
}
