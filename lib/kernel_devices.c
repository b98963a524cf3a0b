// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_devices.c - what stands beside the device of a cache: what holds its slow device while it does
 * not run, and its partitions.
 */
#include "lib/kernel.h"
#include "lib/kernel_task.h"
#include "lib/uuid.h"
#include "core/block.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* ------------------------------------------------------------------ hold ---- */

/* The uuid of the device that holds a slow device while its cache does not run. */
#define HOLD_PREFIX	"XPCACHEFENCE-"

static void hold_names(const char *uuid, char name[64], char full[64])
{
	snprintf(name, 64, "xpcache-fence-%.8s", uuid);
	snprintf(full, 64, HOLD_PREFIX "%s", uuid);
}

/* A whole block of it, for disks whose sectors are as big. */
int kernel_hold(const char *uuid, dev_t slow)
{
	char name[64], full[64];

	if (access("/sys/class/misc/device-mapper", F_OK))
		kernel_load("dm-mod");	/* udev is earlier than who else needs it */
	kernel_sweep();		/* one of a hold that was killed half-way is in the way */
	hold_names(uuid, name, full);
	return kernel_linear(name, full, slow, 0, XP_BLOCK_SECTORS);
}

static dev_t held_device(struct dm_task *t)
{
	struct dm_deps *deps = dm_task_get_deps(t);

	return deps && deps->count == 1 ? makedev(major(deps->device[0]), minor(deps->device[0])) : 0;
}

dev_t kernel_is_held(const char *uuid)
{
	struct dm_task *t = task_new(DM_DEVICE_DEPS, NULL);
	char name[64], full[64];
	dev_t dev = 0;

	hold_names(uuid, name, full);
	if (t && dm_task_set_uuid(t, full) && !task_run(t))
		dev = held_device(t);
	if (t)
		dm_task_destroy(t);
	return dev;
}

dev_t kernel_let_go(const char *uuid)
{
	dev_t dev = kernel_is_held(uuid);
	char name[64], full[64];

	hold_names(uuid, name, full);
	return dev && !task_simple(DM_DEVICE_REMOVE, name) ? dev : 0;
}

bool kernel_is_hold(const char *uuid)
{
	return !strncmp(uuid, HOLD_PREFIX, strlen(HOLD_PREFIX));
}

static bool hold_of(const char *name, char uuid[UUID_HEX])
{
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	const char *full = t && !task_run(t) ? dm_task_get_uuid(t) : NULL;
	bool is = full && kernel_is_hold(full);

	if (is)
		snprintf(uuid, UUID_HEX, "%.32s", full + strlen(HOLD_PREFIX));
	if (t)
		dm_task_destroy(t);
	return is;
}

void kernel_each_hold(void (*fn)(const char *uuid))
{
	struct dm_task *t = task_new(DM_DEVICE_LIST, NULL);
	struct dm_names *names = t && !task_run(t) ? dm_task_get_names(t) : NULL;
	char uuid[UUID_HEX];

	while (names && names->dev) {
		if (hold_of(names->name, uuid))
			fn(uuid);
		names = names->next ? (void *)((char *)names + names->next) : NULL;
	}
	if (t)
		dm_task_destroy(t);
}

/* ------------------------------------------------------------ partitions ---- */

/* "partN-XPCACHE-...": what follows is the cache's own UUID. NULL: it is none. */
static const char *partition_of(const char *uuid, u32 *number)
{
	int len = 0;

	return sscanf(uuid, KERNEL_PARTITION "%n", number, &len) == 1 && len ? uuid + len : NULL;
}

bool kernel_is_partition(const char *uuid)
{
	u32 number;

	return partition_of(uuid, &number);
}

/* False: it is none of that cache. */
static bool learn_partition(const char *name, const char *cache, struct partition *p)
{
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	const char *uuid, *of;
	struct dm_info info;
	bool found = false;

	memset(p, 0, sizeof(*p));
	if (t && !task_run(t) && dm_task_get_info(t, &info) && info.exists) {
		uuid = dm_task_get_uuid(t);
		of = uuid ? partition_of(uuid, &p->number) : NULL;
		found = of && !strcmp(of, cache);
		p->dev = makedev(info.major, info.minor);
		p->open_count = info.open_count;
		p->holds = info.live_table || info.inactive_table;
		snprintf(p->name, sizeof(p->name), "%s", name);
		snprintf(p->node, sizeof(p->node), "/dev/mapper/%s", name);
	}
	if (t)
		dm_task_destroy(t);
	return found;
}

/* "MAJOR:MINOR START" */
static void learn_place(struct partition *p)
{
	struct dm_task *t = task_new(DM_DEVICE_TABLE, p->name);
	char *type = NULL, *params = NULL;
	uint64_t start, len = 0;

	if (t && !task_run(t)) {
		dm_get_next_target(t, NULL, &start, &len, &type, &params);
		if (params && sscanf(params, "%*u:%*u %" SCNu64, &start) == 1) {
			p->start = start;
			p->sectors = len;
		}
	}
	if (t)
		dm_task_destroy(t);
}

static int append(struct partition **list, size_t *n, const struct partition *p)
{
	struct partition *grown = realloc(*list, (*n + 1) * sizeof(*p));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*n)++] = *p;
	return 0;
}

int kernel_partitions(const char *cache, struct partition **list, size_t *n)
{
	struct dm_task *t = task_new(DM_DEVICE_LIST, NULL);
	struct partition p;
	struct dm_names *names;
	int err = t ? task_run(t) : -ENODEV;

	*list = NULL;
	*n = 0;
	names = err ? NULL : dm_task_get_names(t);
	while (names && names->dev && !err) {
		if (learn_partition(names->name, cache, &p)) {
			learn_place(&p);
			err = append(list, n, &p);
		}
		names = names->next ? (void *)((char *)names + names->next) : NULL;
	}
	if (t)
		dm_task_destroy(t);
	return err;
}
