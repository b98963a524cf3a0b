// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.c - device mapper, through libdevmapper: create, remove, message, status.
 *
 * libdevmapper prints its own complaints; they are kept instead, and told in
 * ours. What a target refuses it says in the kernel log only, so that is read.
 * Without udev (an initramfs) the nodes under /dev/mapper are made here.
 */
#include "lib/kernel.h"
#include "lib/begun.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/kernel_task.h"
#include "lib/offline.h"
#include "lib/partitions.h"
#include "lib/running.h"
#include "lib/user.h"
#include "lib/uuid.h"
#include "core/options.h"
#include "core/words.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/types.h>
#include <unistd.h>

#define UUID_PREFIX	"XPCACHE-"

static char dm_said[256];

__attribute__((format(printf, 5, 6)))
static void keep_message(int level, const char *file, int line, int errno_or_class,
			 const char *format, ...)
{
	va_list args;

	(void)file;
	(void)line;
	(void)errno_or_class;
	if ((level & 7) > 3 || dm_said[0])	/* 3: errors; the first is the cause */
		return;
	va_start(args, format);
	vsnprintf(dm_said, sizeof(dm_said), format, args);
	va_end(args);
}

struct dm_task *task_new(int type, const char *name)
{
	static bool ready;
	struct dm_task *t;

	if (!ready) {
		dm_log_with_errno_init(keep_message);
		if (access("/run/udev/control", F_OK) || getenv("DM_DISABLE_UDEV")) {
			dm_udev_set_sync_support(0);
			dm_udev_set_checking(0);
		}
		ready = true;
	}
	dm_said[0] = '\0';
	t = dm_task_create(type);
	if (t && name && !dm_task_set_name(t, name)) {
		dm_task_destroy(t);
		t = NULL;
	}
	return t;
}

int task_run(struct dm_task *t)
{
	int err;

	if (dm_task_run(t))
		return 0;
	err = dm_task_get_errno(t);
	return err > 0 ? -err : -EIO;
}

/* With udev: waits until its rules have run, so that the node is there. */
static int task_run_with_udev(struct dm_task *t)
{
	uint32_t cookie = 0;
	int err;

	if (!dm_task_set_cookie(t, &cookie, 0))
		return -EIO;
	err = task_run(t);
	dm_udev_wait(cookie);
	dm_task_update_nodes();
	return err;
}

/* udev opens new and changed devices for a moment, so
 * libdevmapper tries a removal again. */
int task_simple(int type, const char *name)
{
	struct dm_task *t = task_new(type, name);
	int err = -ENODEV;

	if (t) {
		if (type == DM_DEVICE_REMOVE)
			dm_task_retry_remove(t);
		err = task_run_with_udev(t);
		dm_task_destroy(t);
	}
	return err;
}

bool kernel_is_ours(const char *uuid)
{
	return !strncmp(uuid, UUID_PREFIX, strlen(UUID_PREFIX)) || kernel_is_partition(uuid);
}

/* -------------------------------------------------------- the kernel log ---- */

int kernel_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* "<level>,<number>,<time>;device-mapper: xpcache: <what>", and lines of its own. */
bool kmsg_said(const char *record, char *buf, size_t len)
{
	static const char tag[] = ": " TARGET ": ";
	const char *said = strstr(record, tag), *end = record + strcspn(record, "\n");

	*buf = '\0';
	if (!said || said > end)
		return false;
	said += sizeof(tag) - 1;
	snprintf(buf, len, "%.*s", (int)(end - said), said);
	xp_words_clean(buf, (u32)len);
	return *buf;
}

void kernel_log_reason(int fd, char *buf, size_t len)
{
	char record[2048];
	bool said = false;
	ssize_t n;

	*buf = '\0';
	while (fd >= 0 && !said && (n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		said = kmsg_said(record, buf, len);
	}
	if (fd >= 0)
		close(fd);
}

/* --------------------------------------------------------------- finding ---- */

/* A newer module may have options that are not known here: then the devices are
 * all that is learnt. */
void table_read(char *params, struct running *r)
{
	char *word[2 + 1 + 2 * XP_TUNABLES + 1], *next;
	struct xp_message msg;
	struct xp_table table;
	u32 n = 0;

	for (char *w = strtok_r(params, " ", &next); w && n < sizeof(word) / sizeof(*word);
	     w = strtok_r(NULL, " ", &next))
		word[n++] = w;
	r->tunables_known = !xp_table_parse(&table, n, word, &msg);
	r->tunables = table.tunables;
	tunables_of_running(&r->tunables);
	if (!table.fast || !device_number(table.fast, &r->fast) ||
	    !device_number(table.slow, &r->slow))
		r->fast = r->slow = 0;
}

/* Of a cache's own device: it leads to the slow device alone (sleep.c). */
static void learn_asleep(const char *params, struct running *r)
{
	char slow[32];

	r->asleep = sscanf(params, "%31s", slow) == 1 && device_number(slow, &r->slow);
}

static void learn_table(struct running *r)
{
	struct dm_task *t = task_new(DM_DEVICE_TABLE, r->name);
	char *type = NULL, *params = NULL;
	uint64_t start, len = 0;

	if (t && !task_run(t)) {
		dm_get_next_target(t, NULL, &start, &len, &type, &params);
		r->sectors = len;
		if (type && !strcmp(type, TARGET) && params)
			table_read(params, r);
		else if (type && !strcmp(type, LINEAR) && params)
			learn_asleep(params, r);
	}
	if (t)
		dm_task_destroy(t);
}

static bool learn_info(struct dm_task *t, struct running *r)
{
	size_t prefix = strlen(UUID_PREFIX);
	struct dm_info info;
	const char *uuid;

	if (!dm_task_get_info(t, &info) || !info.exists || !info.live_table)
		return false;	/* without a table nothing runs */
	memset(r, 0, sizeof(*r));
	snprintf(r->name, sizeof(r->name), "%s", dm_task_get_name(t));
	uuid = dm_task_get_uuid(t);
	if (uuid && !strncmp(uuid, UUID_PREFIX, prefix))
		snprintf(r->uuid, sizeof(r->uuid), "%s", uuid + prefix);
	r->dev = makedev(info.major, info.minor);
	r->open_count = info.open_count;
	r->suspended = info.suspended;
	r->reloads = info.inactive_table;
	return true;
}

int kernel_find(const char *name, const char *uuid, struct running *r)
{
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	char full[sizeof(UUID_PREFIX) + UUID_HEX];
	bool found = false;
	int err;

	if (!t)
		return -ENODEV;
	if (uuid) {
		snprintf(full, sizeof(full), UUID_PREFIX "%s", uuid);
		dm_task_set_uuid(t, full);
	}
	err = task_run(t);
	if (!err)
		found = learn_info(t, r);
	dm_task_destroy(t);
	if (found && r->uuid[0]) {
		learn_table(r);
		if (r->open_count)
			r->open_count = partitions_users(r);
	}
	return err < 0 && err != -ENXIO ? err : found;
}

bool kernel_has_name(const char *name)
{
	struct running r;

	return kernel_find(name, NULL, &r) == 1;
}

int kernel_list(struct running **list, size_t *n)
{
	struct dm_task *t = task_new(DM_DEVICE_LIST, NULL);
	struct dm_names *names;
	int err;

	*list = NULL;
	*n = 0;
	err = t ? task_run(t) : -ENODEV;
	names = err ? NULL : dm_task_get_names(t);
	while (names && names->dev) {
		struct running r, *grown;

		if (kernel_find(names->name, NULL, &r) == 1 && r.uuid[0]) {
			grown = realloc(*list, (*n + 1) * sizeof(r));
			if (!grown) {
				err = -ENOMEM;
				break;
			}
			*list = grown;
			grown[(*n)++] = r;
		}
		names = names->next ? (void *)((char *)names + names->next) : NULL;
	}
	if (t)
		dm_task_destroy(t);
	return err;
}

/* -------------------------------------------------------------- changing ---- */

/* By number: a path may hold anything, and no udev may have made it. */
static void table_line(char *line, size_t len, const struct device *fast,
		       const struct device *slow, const struct xp_tunables *limits)
{
	struct xp_tunables tunables = *limits;
	char options[XP_TUNABLES_TEXT];

	if (kernel_target_minor() < 1)	/* loaded before an upgrade, and other caches keep it */
		tunables.mark = 0;
	if (kernel_target_minor() < 9)
		tunables.grid = 0;
	if (kernel_target_minor() < 8 && tunables.mode == XP_MODE_WRITEBACK)
		tunables.mode = XP_MODE_KEPT;	/* it has no other */
	xp_tunables_print_said(&tunables, options);
	snprintf(line, len, "%u:%u %u:%u%s", major(fast->dev), minor(fast->dev),
		 major(slow->dev), minor(slow->dev), options);
}

/* The exit code for what the target or the device mapper answered. */
static enum xc refusal(int err)
{
	switch (err) {
	case -EUCLEAN:
	case -EBADMSG:
	case -ENOTSUP:
		return XC_DAMAGED;
	case -EBUSY:
	case -EEXIST:
		return XC_REFUSED;
	default:
		return XC_FAILED;
	}
}

/* While one makes a device or takes a cache away (LOCK_SH) nobody takes it for a leftover (LOCK_EX,
 * with LOCK_NB: else it is left for the next), or gives it another table (LOCK_EX). Ends with the
 * process, however that ends. -1: another has it, or there is no device mapper. */
static int lock_devices(int how)
{
	int fd = open("/dev/mapper/control", O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && flock(fd, how)) {
		if (errno == EINTR)
			continue;
		close(fd);
		fd = -1;
	}
	return fd;
}

static void unlock_devices(int fd)
{
	if (fd >= 0)
		close(fd);
}

static uint32_t resumed;	/* cookie of who has resumed while he has the lock */

int kernel_lock(void)
{
	return lock_devices(LOCK_EX);
}

/* The rules of udev may wait for what the lock keeps from them. */
void kernel_unlock(int lock)
{
	unlock_devices(lock);
	if (resumed)
		dm_udev_wait(resumed);
	resumed = 0;
}

/* Its metadata was never read: the first resume failed, or did not come. */
static bool never_started(const char *name)
{
	char line[64];

	return !kernel_status(name, line, sizeof(line)) && !strcmp(line, "loading");
}

/* With no live table, whether one was loaded or not; or with one whose
 * first resume failed, and nobody was left to remove it. */
static bool is_unfinished(const struct dm_info *info, const char *name)
{
	return !info->live_table || (info->suspended && !info->open_count && never_started(name));
}

static bool is_leftover(const char *name)
{
	struct dm_task *t = task_new(DM_DEVICE_INFO, name);
	struct dm_info info;
	const char *uuid;
	bool leftover = false;

	if (t && !task_run(t) && dm_task_get_info(t, &info)) {
		uuid = dm_task_get_uuid(t);
		leftover = info.exists && uuid && (kernel_is_ours(uuid) || kernel_is_hold(uuid)) &&
			   is_unfinished(&info, name);
	}
	if (t)
		dm_task_destroy(t);
	return leftover;
}

static void remove_leftovers(void)
{
	struct dm_task *t = task_new(DM_DEVICE_LIST, NULL);
	struct dm_names *names = t && !task_run(t) ? dm_task_get_names(t) : NULL;

	while (names && names->dev) {
		if (is_leftover(names->name))
			task_simple(DM_DEVICE_REMOVE, names->name);
		names = names->next ? (void *)((char *)names + names->next) : NULL;
	}
	if (t)
		dm_task_destroy(t);
}

void kernel_sweep(void)
{
	int lock = lock_devices(LOCK_EX | LOCK_NB);

	if (lock >= 0)
		remove_leftovers();
	unlock_devices(lock);
}

static int create_device(const char *name, const char *uuid)
{
	struct dm_task *t = task_new(DM_DEVICE_CREATE, name);
	int err = -ENODEV;

	if (t && dm_task_set_uuid(t, uuid))
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

static int load_table(const char *name, u64 sectors, const char *target, const char *line)
{
	struct dm_task *t = task_new(DM_DEVICE_RELOAD, name);
	int err = -ENODEV;

	if (t && dm_task_add_target(t, 0, sectors, target, line))
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

/* Step by step, as the target's own errno is lost when libdevmapper does all in
 * one. Metadata is read by the resume. */
static int create_running(const char *name, const char *uuid, u64 sectors, const char *target,
			  const char *line)
{
	int err = create_device(name, uuid);

	if (err)
		return err;
	err = load_table(name, sectors, target, line);
	if (!err)
		err = task_simple(DM_DEVICE_RESUME, name);
	if (err) {
		char first[sizeof(dm_said)];

		memcpy(first, dm_said, sizeof(first));
		task_simple(DM_DEVICE_REMOVE, name);
		memcpy(dm_said, first, sizeof(first));
	}
	return err;
}

enum xc kernel_create(const struct xp_sb *sb, const char *name,
		      const struct device *fast, const struct device *slow,
		      const struct xp_tunables *limits)
{
	char line[256], uuid[64], why[512];
	int err, lock, kmsg;

	table_line(line, sizeof(line), fast, slow, limits);
	snprintf(uuid, sizeof(uuid), UUID_PREFIX "%s", text_uuid(sb->uuid));
	lock = lock_devices(LOCK_SH);
	kmsg = kernel_log_open();
	err = create_running(name, uuid, le64_to_cpu(sb->slow.sectors), TARGET, line);
	unlock_devices(lock);
	kernel_log_reason(kmsg, why, sizeof(why));
	if (!err) {
		begun_forget_of(text_uuid(sb->uuid));
		return XC_OK;
	}
	return complain(refusal(err), name, err == -EBADMSG ? loss_advice(fast->path, slow->path) : "dmesg may tell more",
			"cannot start the cache: %s", *why ? why : *dm_said ? dm_said : strerror(-err));
}

/* -------------------------------------------------- devices of a cache ---- */

int kernel_linear(const char *name, const char *uuid, dev_t of, u64 start, u64 sectors)
{
	char line[64];
	int lock, err;

	snprintf(line, sizeof(line), "%u:%u %" PRIu64, major(of), minor(of), start);
	lock = lock_devices(LOCK_SH);
	err = create_running(name, uuid, sectors, LINEAR, line);
	unlock_devices(lock);
	return err;
}

/* ---------------------------------------------------- another table ---- */

int kernel_load_linear(const struct running *r)
{
	char line[64];

	snprintf(line, sizeof(line), "%u:%u 0", major(r->slow), minor(r->slow));
	return load_table(r->name, r->sectors, LINEAR, line);
}

int kernel_load_cache(const struct running *r, const struct device *fast, const struct xp_tunables *limits)
{
	const struct device slow = { .dev = r->slow };
	char line[256];

	table_line(line, sizeof(line), fast, &slow, limits);
	return load_table(r->name, r->sectors, TARGET, line);
}

int kernel_load_longer(const char *name, u64 sectors)
{
	struct dm_task *t = task_new(DM_DEVICE_TABLE, name);
	char *type = NULL, *params = NULL;
	uint64_t start, len;
	int err = t ? task_run(t) : -ENODEV;

	if (!err) {
		dm_get_next_target(t, NULL, &start, &len, &type, &params);
		err = type && !strcmp(type, TARGET) && params ? load_table(name, sectors, TARGET, params) : -EINVAL;
	}
	if (t)
		dm_task_destroy(t);
	return err;
}

static int plain_task(int type, const char *name)
{
	struct dm_task *t = task_new(type, name);
	int err = -ENODEV;

	if (t && dm_task_skip_lockfs(t))	/* whom a file system waits for must not wait for it */
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

int kernel_clear(const char *name)
{
	return plain_task(DM_DEVICE_CLEAR, name);
}

bool kernel_loads_linear(const char *name)
{
	struct dm_task *t = task_new(DM_DEVICE_TABLE, name);
	char *type = NULL, *params = NULL;
	uint64_t start, len = 0;
	bool linear = false;

	if (t && dm_task_query_inactive_table(t) && !task_run(t)) {
		dm_get_next_target(t, NULL, &start, &len, &type, &params);
		linear = type && !strcmp(type, LINEAR);
	}
	if (t)
		dm_task_destroy(t);
	return linear;
}

int kernel_suspend(const char *name)
{
	return plain_task(DM_DEVICE_SUSPEND, name);
}

/* With the lock: udev is waited for when that is let go. */
int kernel_resume(const char *name)
{
	struct dm_task *t = task_new(DM_DEVICE_RESUME, name);
	int err = -ENODEV;

	if (t) {	/* where no cookie can be made, none waits for udev */
		dm_task_set_cookie(t, &resumed, 0);
		err = task_run(t);
		dm_task_destroy(t);
	}
	return err;
}

bool kernel_is_loading(const char *name)
{
	return never_started(name);
}

int kernel_take_away(const char *name)
{
	return task_simple(DM_DEVICE_REMOVE, name);
}

enum xc kernel_remove(const char *name)
{
	int lock = lock_devices(LOCK_SH);
	int err = task_simple(DM_DEVICE_REMOVE, name);

	unlock_devices(lock);
	if (err == -EBUSY)
		return complain(XC_REFUSED, name, "unmount it, or end what uses it, first",
				"in use");
	if (err)
		return complain(XC_FAILED, name, "it still runs", "cannot stop the cache: %s",
				*dm_said ? dm_said : strerror(-err));
	return XC_OK;
}

int kernel_tell(const char *name, const char *message)
{
	struct dm_task *t = task_new(DM_DEVICE_TARGET_MSG, name);
	int err = -ENOMEM;

	if (t && dm_task_set_sector(t, 0) && dm_task_set_message(t, message))
		err = task_run(t);
	if (t)
		dm_task_destroy(t);
	return err;
}

int kernel_message(const char *name, enum xp_command command)
{
	return kernel_tell(name, xp_command_name(command));
}

int kernel_ask(const char *name, const char *message, char **answer)
{
	struct dm_task *t = task_new(DM_DEVICE_TARGET_MSG, name);
	const char *said;
	int err = -ENOMEM;

	*answer = NULL;
	if (t && dm_task_set_sector(t, 0) && dm_task_set_message(t, message))
		err = task_run(t);
	if (!err) {
		said = dm_task_get_message_response(t);
		*answer = said ? strdup(said) : NULL;
		if (!*answer)
			err = said ? -ENOMEM : -ENODATA;
	}
	if (t)
		dm_task_destroy(t);
	return err;
}

int kernel_status(const char *name, char *line, size_t len)
{
	struct dm_task *t = task_new(DM_DEVICE_STATUS, name);
	char *type = NULL, *params = NULL;
	uint64_t start, sectors;
	int err = -ENOMEM;

	if (t) {
		dm_task_no_flush(t);
		err = task_run(t);
	}
	if (!err) {
		dm_get_next_target(t, NULL, &start, &sectors, &type, &params);
		if (type && !strcmp(type, LINEAR))
			snprintf(line, len, "asleep");
		else if (!type || strcmp(type, TARGET) || !params)
			err = -ENOENT;
		else if ((size_t)snprintf(line, len, "%s", params) >= len)
			err = -EMSGSIZE;	/* cut, a figure may be another one */
	}
	if (t)
		dm_task_destroy(t);
	return err;
}
