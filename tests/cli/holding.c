// SPDX-License-Identifier: GPL-2.0-only
/*
 * holding.c - a device mapper that remembers its devices; preloaded, so that what keeps a slow
 * device from others can be tested without one.
 *
 * Each device is a file in the directory HOLDING, called as the device is: its UUID, and then the
 * table, if it has one. A file "busy" or "broken" there: no table can be loaded, as others have the
 * disk or for another reason; "readonly": no record can be taken away. Everybody is root here.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libdevmapper.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct dm_task {
	int type, err;
	char name[64], uuid[64], line[128], is_uuid[64], table[128];
	struct dm_deps *deps;
	struct dm_names *names;
};

uid_t geteuid(void)
{
	return 0;
}

static void path_of(const char *name, char *path)
{
	snprintf(path, 4096, "%s/%.64s", getenv("HOLDING"), name);
}

static int there_is(const char *name)
{
	char path[4096];

	path_of(name, path);
	return !access(path, F_OK);
}

int unlink(const char *path)
{
	int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");

	if (strstr(path, ".json") && there_is("readonly")) {
		errno = EROFS;
		return -1;
	}
	return real(path);
}

/* Who makes a device, or takes one away, has locked this. */
int open64(const char *path, int flags, ...)
{
	int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open64");
	va_list args;
	mode_t mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, mode_t) : 0;
	va_end(args);
	if (!strcmp(path, "/dev/mapper/control"))
		path = getenv("HOLDING");
	return real(path, flags, mode);
}

/* ------------------------------------------------------- what there is ---- */

static int load(struct dm_task *t, const char *name)
{
	char path[4096];
	FILE *f;

	path_of(name, path);
	f = fopen(path, "r");
	*t->is_uuid = *t->table = '\0';
	if (!f || fscanf(f, "%63s %127[^\n]", t->is_uuid, t->table) < 1)
		*t->is_uuid = '\0';
	if (f)
		fclose(f);
	return *t->is_uuid != '\0';
}

static void save(const struct dm_task *t, const char *uuid, const char *table)
{
	char path[4096];
	FILE *f;

	path_of(t->name, path);
	f = fopen(path, "w");
	fprintf(f, "%s\n%s\n", uuid, table);
	fclose(f);
}

/* By the task's name, or its UUID. */
static int find(struct dm_task *t)
{
	DIR *dir = opendir(getenv("HOLDING"));
	struct dirent *e;
	int found = 0;

	while (!found && (e = readdir(dir)))
		if (e->d_name[0] != '.' && load(t, e->d_name))
			found = *t->name ? !strcmp(t->name, e->d_name) : !strcmp(t->uuid, t->is_uuid);
	closedir(dir);
	return found;
}

static void list(struct dm_task *t)
{
	DIR *dir = opendir(getenv("HOLDING"));
	struct dm_names *n, *last = NULL;
	struct dirent *e;

	n = t->names = calloc(16, 128);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.' || !load(t, e->d_name))
			continue;
		if (last)
			last->next = 128;
		n->dev = 1;
		strcpy(n->name, e->d_name);
		last = n;
		n = (struct dm_names *)((char *)n + 128);
	}
	closedir(dir);
}

/* ---------------------------------------------------------------- tasks ---- */

struct dm_task *dm_task_create(int type)
{
	struct dm_task *t = calloc(1, sizeof(*t));

	t->type = type;
	return t;
}

void dm_task_destroy(struct dm_task *t)
{
	free(t->deps);
	free(t->names);
	free(t);
}

int dm_task_set_name(struct dm_task *t, const char *name)
{
	snprintf(t->name, sizeof(t->name), "%s", name);
	return 1;
}

int dm_task_set_uuid(struct dm_task *t, const char *uuid)
{
	snprintf(t->uuid, sizeof(t->uuid), "%s", uuid);
	return 1;
}

int dm_task_add_target(struct dm_task *t, uint64_t start, uint64_t size, const char *type, const char *params)
{
	snprintf(t->line, sizeof(t->line), "%llu %llu %s %s", (unsigned long long)start,
		 (unsigned long long)size, type, params);
	return 1;
}

static int run(struct dm_task *t)
{
	char path[4096];

	switch (t->type) {
	case DM_DEVICE_CREATE:
		if (find(t))
			return EBUSY;
		save(t, t->uuid, "");
		return 0;
	case DM_DEVICE_RELOAD:
		if (there_is("busy") || there_is("broken"))
			return there_is("busy") ? EBUSY : EINVAL;
		find(t);
		save(t, t->is_uuid, t->line);
		return 0;
	case DM_DEVICE_REMOVE:
		path_of(t->name, path);
		return remove(path) ? ENXIO : 0;
	case DM_DEVICE_DEPS:
	case DM_DEVICE_INFO:
		return find(t) ? 0 : ENXIO;
	case DM_DEVICE_LIST:
		list(t);
		return 0;
	case DM_DEVICE_RESUME:
		return 0;
	default:
		return ENXIO;
	}
}

int dm_task_run(struct dm_task *t)
{
	t->err = run(t);
	return !t->err;
}

int dm_task_get_errno(struct dm_task *t)
{
	return t->err;
}

/* The device of its table. */
struct dm_deps *dm_task_get_deps(struct dm_task *t)
{
	unsigned int major = 0, minor = 0;

	t->deps = calloc(1, sizeof(*t->deps) + sizeof(t->deps->device[0]));
	t->deps->count = *t->table != '\0';
	sscanf(t->table, "%*u %*u linear %u:%u", &major, &minor);
	t->deps->device[0] = makedev(major, minor);
	return t->deps;
}

int dm_task_get_info(struct dm_task *t, struct dm_info *info)
{
	memset(info, 0, sizeof(*info));
	info->exists = !t->err;
	info->live_table = *t->table != '\0';
	return 1;
}

const char *dm_task_get_uuid(const struct dm_task *t)
{
	return t->is_uuid;
}

const char *dm_task_get_name(const struct dm_task *t)
{
	return t->name;
}

struct dm_names *dm_task_get_names(struct dm_task *t)
{
	return t->names;
}

int dm_task_set_cookie(struct dm_task *t, uint32_t *cookie, uint16_t flags)
{
	(void)t;
	(void)cookie;
	(void)flags;
	return 1;
}

int dm_udev_wait(uint32_t cookie)
{
	(void)cookie;
	return 1;
}
