// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder.c - an nbdkit plugin: the disks of a machine, and a log of all that
 * reaches them, in one order (record.h).
 *
 *	nbdkit -U SOCKET recorder.so log=FILE fast-size=2208K slow-size=1021s
 *		delay=USEC seed=N
 *
 * Exports: fast, slow, diary. What they hold is in memory. Requests wait up to
 * delay= before they are done, so that they overtake one another; a FLUSH says of
 * itself only when it came and when it was done: what it covered, the log says.
 */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "payload.h"
#include "record.h"

#define THREAD_MODEL NBDKIT_THREAD_MODEL_PARALLEL

static const char * const name[NR_DISKS] = { "fast", "slow", "diary" };

struct disk {
	enum record_disk number;
	u64 size;
	u8 *bytes;
};

static struct disk disk[NR_DISKS] = {
	[DISK_DIARY] = { .size = 1 << 20 },
};

static pthread_mutex_t one_order = PTHREAD_MUTEX_INITIALIZER;
static FILE *log_file;
static u32 last_id;
static u32 delay;
static u64 rng;

/* ------------------------------------------------------------- settings ---- */

/* nbdkit's sizes, and 512-byte sectors: 1021s. */
static int parse_size(const char *value, u64 *size)
{
	char *end;
	u64 sectors = strtoull(value, &end, 10);
	int64_t parsed;

	if (end != value && !strcmp(end, "s")) {
		*size = sectors * SECTOR;
		return 0;
	}
	parsed = nbdkit_parse_size(value);
	*size = (u64)parsed;
	return parsed < 0 ? -1 : 0;
}

static int recorder_config(const char *key, const char *value)
{
	uint64_t seed;

	if (!strcmp(key, "fast-size"))
		return parse_size(value, &disk[DISK_FAST].size);
	if (!strcmp(key, "slow-size"))
		return parse_size(value, &disk[DISK_SLOW].size);
	if (!strcmp(key, "delay"))
		return nbdkit_parse_uint32_t(key, value, &delay);
	if (!strcmp(key, "seed")) {
		if (nbdkit_parse_uint64_t(key, value, &seed))
			return -1;
		rng = seed;
		return 0;
	}
	if (!strcmp(key, "log")) {
		log_file = fopen(value, "we");
		if (!log_file)
			nbdkit_error("log=%s: %m", value);
		return log_file ? 0 : -1;
	}
	nbdkit_error("unknown parameter %s", key);
	return -1;
}

static int recorder_config_complete(void)
{
	u32 i;

	if (!log_file || !disk[DISK_FAST].size || !disk[DISK_SLOW].size) {
		nbdkit_error("log=, fast-size= and slow-size= are needed");
		return -1;
	}
	for (i = 0; i < NR_DISKS; i++) {
		disk[i].number = (enum record_disk)i;
		disk[i].bytes = calloc(1, disk[i].size);
		if (!disk[i].bytes)
			return -1;
	}
	return 0;
}

static void recorder_unload(void)
{
	if (log_file && fclose(log_file))
		nbdkit_error("the log is not complete: %m");
}

/* --------------------------------------------------------------- exports ---- */

static int recorder_list_exports(int readonly, int is_tls, struct nbdkit_exports *exports)
{
	u32 i;

	(void)readonly;
	(void)is_tls;
	for (i = 0; i < NR_DISKS; i++)
		if (nbdkit_add_export(exports, name[i], NULL))
			return -1;
	return 0;
}

static void *recorder_open(int readonly)
{
	const char *wanted = nbdkit_export_name();
	u32 i;

	(void)readonly;
	for (i = 0; i < NR_DISKS; i++)
		if (!strcmp(wanted, name[i]))
			return &disk[i];
	nbdkit_error("no export \"%s\"", wanted);
	return NULL;
}

static int64_t recorder_get_size(void *handle)
{
	return (int64_t)((struct disk *)handle)->size;
}

static int recorder_can_fua(void *handle)
{
	(void)handle;
	return NBDKIT_FUA_NATIVE;
}

/* ------------------------------------------------------------------ log ---- */

/* With one_order held, like all below that take no lock. */
static int put(const struct record *r, const void *data, size_t len)
{
	if (fwrite(r, sizeof(*r), 1, log_file) != 1 ||
	    (len && fwrite(data, len, 1, log_file) != 1)) {
		nbdkit_error("log: %m");
		nbdkit_set_error(EIO);
		return -1;
	}
	return 0;
}

/* Logs that it is there, and waits. */
static int begin(struct record *r, const void *data, size_t len)
{
	u32 usec;
	int err;

	pthread_mutex_lock(&one_order);
	r->magic = RECORD_MAGIC;
	r->id = ++last_id;
	err = put(r, data, len);
	usec = delay && chance(&rng, 2) ? below(&rng, delay) : 0;
	pthread_mutex_unlock(&one_order);
	if (usec)
		usleep(usec);
	return err;
}

/* @data, if any, is there; and it is done. */
static int done(struct record r, struct disk *d, const void *data, u64 offset, u32 count)
{
	int err;

	pthread_mutex_lock(&one_order);
	if (data)
		memcpy(d->bytes + offset, data, count);
	r.kind = RECORD_DONE;
	err = put(&r, NULL, 0);
	pthread_mutex_unlock(&one_order);
	return err;
}

/* -------------------------------------------------------------- requests ---- */

static int recorder_pread(void *handle, void *buf, uint32_t count, uint64_t offset,
			  uint32_t flags)
{
	struct disk *d = handle;

	(void)flags;
	pthread_mutex_lock(&one_order);
	memcpy(buf, d->bytes + offset, count);
	pthread_mutex_unlock(&one_order);
	return 0;
}

static int write_diary(const void *buf, u32 count)
{
	struct record r = { .magic = RECORD_MAGIC, .kind = RECORD_DIARY, .disk = DISK_DIARY };
	int err = 0;
	u32 i;

	pthread_mutex_lock(&one_order);
	for (i = 0; !err && i < count; i += SECTOR)
		err = put(&r, (const u8 *)buf + i, SECTOR);
	pthread_mutex_unlock(&one_order);
	return err;
}

static int recorder_pwrite(void *handle, const void *buf, uint32_t count, uint64_t offset,
			   uint32_t flags)
{
	struct disk *d = handle;
	struct record r = {
		.kind = RECORD_WRITE, .disk = (u8)d->number, .fua = !!(flags & NBDKIT_FLAG_FUA),
		.sector = offset / SECTOR, .nr = count / SECTOR,
	};

	if (offset % SECTOR || count % SECTOR) {
		nbdkit_error("%s: a write of %u bytes at %llu", name[d->number], count,
			     (unsigned long long)offset);
		nbdkit_set_error(EINVAL);
		return -1;
	}
	if (d->number == DISK_DIARY)
		return write_diary(buf, count);
	return begin(&r, buf, count) ? -1 : done(r, d, buf, offset, count);
}

static int recorder_flush(void *handle, uint32_t flags)
{
	struct disk *d = handle;
	struct record r = { .kind = RECORD_FLUSH, .disk = (u8)d->number };

	(void)flags;
	if (d->number == DISK_DIARY)
		return 0;
	return begin(&r, NULL, 0) ? -1 : done(r, d, NULL, 0, 0);
}

static struct nbdkit_plugin plugin = {
	.name = "recorder",
	.longname = "the disks of a machine, and a log of what reaches them",
	.config = recorder_config,
	.config_complete = recorder_config_complete,
	.unload = recorder_unload,
	.list_exports = recorder_list_exports,
	.open = recorder_open,
	.get_size = recorder_get_size,
	.can_fua = recorder_can_fua,
	.pread = recorder_pread,
	.pwrite = recorder_pwrite,
	.flush = recorder_flush,
};

NBDKIT_REGISTER_PLUGIN(plugin)
