// SPDX-License-Identifier: GPL-2.0-only
/* test_restore.c - whose notes make a memory come back, or go; by disks that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "boot/fence.h"
#include "lib/caches.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/media.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "lib/uuid.h"
#include "tools/hibernate/image.h"
#include "tools/hibernate/looked.h"
#include "tools/hibernate/restore.h"
#include "tools/hibernate/sleep_note.h"

#define SWAP	"the swap's uuid."

/* A fast device that is here, and its note. */
static struct disk {
	char uuid;		/* of 32 such; capital letters are known to this system */
	u64 id;
	u32 caches;
	bool holds;
} disks[4];
static u32 nr_disks;

enum outcome { NOTHING, RESTORED, ERASED };
static enum outcome outcome;

#define WRAP(type, name, ...) type __wrap_##name(__VA_ARGS__); type __wrap_##name(__VA_ARGS__)

WRAP(int, caches_scan, struct caches *all)
{
	all->v = calloc(nr_disks + 1, sizeof(*all->v));
	all->n = nr_disks;
	for (u32 i = 0; i < nr_disks; i++) {
		memset(all->v[i].uuid, disks[i].uuid, UUID_HEX - 1);
		snprintf(all->v[i].name, sizeof(all->v[i].name), "cache%c", disks[i].uuid);
		snprintf(all->v[i].fast.path, sizeof(all->v[i].fast.path), "/dev/disk%u", i);
	}
	return 0;
}

WRAP(int, device_look, struct device *d, const char *path)
{
	memset(d, 0, sizeof(*d));
	d->fd = path[strlen("/dev/disk")] - '0';
	return 0;
}

WRAP(int, media_init, struct media *m, int fd)
{
	memset(m, 0, sizeof(*m));
	m->fd = fd;
	m->io.ctx = m;
	return 0;
}

WRAP(int, sleep_note_read, const struct xp_media *m, const struct xp_sb *sb, u32 i, struct xp_sleep *note)
{
	const struct disk *d = &disks[((const struct media *)m->ctx)->fd];

	(void)sb;
	memset(note, 0, sizeof(*note));
	memcpy(note->swap_uuid, SWAP, SWAP_UUID);
	note->id = cpu_to_le64(d->id);
	note->caches = cpu_to_le32(d->caches);
	return !i && d->caches;
}

WRAP(bool, sleep_note_holds, const struct xp_media *m, const struct xp_sb *sb, const struct xp_sleep *note)
{
	(void)sb;
	(void)note;
	return disks[((const struct media *)m->ctx)->fd].holds;
}

WRAP(bool, known_is_noted, const char *uuid)
{
	return *uuid >= 'A' && *uuid <= 'Z';
}

WRAP(int, image_look, struct image_place *p)
{
	memcpy(p->uuid, SWAP, SWAP_UUID);
	return 1;
}

WRAP(void, image_restore, const struct image_place *p)
{
	(void)p;
	outcome = RESTORED;
}

WRAP(int, image_erase, const struct image_place *p)
{
	(void)p;
	outcome = ERASED;
	return 0;
}

WRAP(size_t, known_all, struct known **list)
{
	*list = NULL;
	return 0;
}

WRAP(int, kernel_list, struct running **list, size_t *n)
{
	*list = NULL;
	*n = 0;
	return 0;
}

WRAP(int, device_look_at, struct device *d, dev_t dev)
{
	memset(d, 0, sizeof(*d));
	d->dev = d->disk = dev;
	d->fd = -1;
	return 0;
}

WRAP(int, sleep_note_image, const struct xp_sleep *note, dev_t slow, struct image_place *p)
{
	(void)note;
	(void)slow;
	(void)p;
	return -ENOENT;
}

WRAP(void, device_close, struct device *d) { (void)d; }
WRAP(void, media_done, struct media *m) { (void)m; }
WRAP(size_t, known_broken, void) { return 0; }
WRAP(int, known_lock, const char *uuid, bool wait) { (void)uuid; (void)wait; return -1; }
WRAP(void, looked_write, const char *spec) { (void)spec; }
WRAP(dev_t, image_named, const char *spec) { (void)spec; return 5; }
WRAP(u64, image_offset, void) { return 0; }
WRAP(dev_t, fence_lift, const char *uuid) { (void)uuid; return 0; }
WRAP(void, fence_again, const char *uuid, dev_t slow, int lock) { (void)uuid; (void)slow; (void)lock; }
WRAP(dev_t, slow_of, const struct cache *c) { (void)c; return 0; }

static void with(u32 n, const struct disk *d, enum outcome what, enum xc code)
{
	memcpy(disks, d, n * sizeof(*d));
	nr_disks = n;
	outcome = NOTHING;
	assert_int_equal(image_resume("UUID=swap"), code);
	assert_int_equal(outcome, what);
}

#define WITH(what, code, ...) do {							\
	const struct disk d_[] = { __VA_ARGS__ };					\
	with(sizeof(d_) / sizeof(*d_), d_, what, code);					\
} while (0)

/* A memory that comes back does not return here; so one that was told to has failed. */
static void who_is_known_decides(void **state)
{
	(void)state;
	WITH(RESTORED, XC_FAILED, { 'A', 5, 1, true });
	WITH(ERASED, XC_REFUSED, { 'A', 5, 1, false });
	WITH(RESTORED, XC_FAILED, { 'A', 5, 2, true }, { 'B', 5, 2, true });
	WITH(ERASED, XC_REFUSED, { 'A', 5, 2, true }, { 'B', 5, 2, false });
	WITH(RESTORED, XC_FAILED, { 'A', 5, 1, true }, { 'B', 4, 1, false });	/* of a sleep before */
	WITH(RESTORED, XC_FAILED, { 'A', 5, 1, true }, { 'b', 4, 1, false });
	WITH(RESTORED, XC_FAILED, { 'A', 5, 1, true }, { 'A', 5, 1, true });	/* a copy */
}

/* A stick whose note is newer than all others hides none of them. */
static void another_disk_decides_nothing(void **state)
{
	(void)state;
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, false }, { 'x', 9, 1, true });	/* A was started since */
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, true }, { 'x', 9, 1, false });
	WITH(NOTHING, XC_NOT_FOUND, { 'x', 9, 1, true });
	WITH(NOTHING, XC_NOT_FOUND, { 'x', 9, 1, false });
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, true }, { 'x', 5, 1, false });
}

/* One that says it is a cache of this system. */
static void nor_does_a_copy_that_says_otherwise(void **state)
{
	(void)state;
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, false }, { 'A', 9, 1, true });
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, true }, { 'A', 9, 1, false });
	WITH(NOTHING, XC_NOT_FOUND, { 'A', 5, 1, true }, { 'A', 5, 1, false });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_known_decides),
		cmocka_unit_test(another_disk_decides_nothing),
		cmocka_unit_test(nor_does_a_copy_that_says_otherwise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
