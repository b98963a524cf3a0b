// SPDX-License-Identifier: GPL-2.0-only
/*
 * running.c - a device mapper with one cache in it, xpcache0; preloaded, so that what asks
 * a running cache can be tested without one.
 *
 * The n-th answer to "status" or "histogram" is the file status.n or histogram.n in the
 * directory RUNNING; the last one there is stays, and without any there is the error of a
 * module that does not know the message. Each question adds a line to the file asked. With a
 * file asleep the cache's device leads to its slow device alone.
 * Changes nothing, and everybody is root here.
 */
#include <errno.h>
#include <libdevmapper.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dm_task {
	int type, err;
	char message[32], *answer;
	union {
		struct dm_names head;
		char room[64];
	} names;
};

uid_t geteuid(void)
{
	return 0;
}

static FILE *open_in(const char *name, const char *mode)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", getenv("RUNNING"), name);
	return fopen(path, mode);
}

static char *whole(FILE *f)
{
	char *text = calloc(1, 1 << 20);
	size_t len = fread(text, 1, (1 << 20) - 1, f);

	text[len] = '\0';
	fclose(f);
	return text;
}

/* The @n-th answer, or the last before it. NULL: there is none. */
static char *answer(const char *what, int n)
{
	char name[64];
	FILE *f = NULL;

	for (; n > 0 && !f; n--) {
		snprintf(name, sizeof(name), "%s.%d", what, n);
		f = open_in(name, "r");
	}
	return f ? whole(f) : NULL;
}

static void ask(struct dm_task *t, const char *what, int n)
{
	FILE *f = open_in("asked", "a");

	fprintf(f, "%s\n", what);
	fclose(f);
	t->answer = answer(what, n);
	t->err = t->answer ? 0 : EINVAL;
}

struct dm_task *dm_task_create(int type)
{
	struct dm_task *t = calloc(1, sizeof(*t));

	t->type = type;
	return t;
}

void dm_task_destroy(struct dm_task *t)
{
	free(t->answer);
	free(t);
}

int dm_task_run(struct dm_task *t)
{
	static int statuses, messages;

	if (t->type == DM_DEVICE_STATUS)
		ask(t, "status", ++statuses);
	else if (t->type == DM_DEVICE_TARGET_MSG)
		ask(t, t->message, ++messages);
	return !t->err;
}

int dm_task_get_errno(struct dm_task *t)
{
	return t->err;
}

int dm_task_set_message(struct dm_task *t, const char *message)
{
	snprintf(t->message, sizeof(t->message), "%s", message);
	return 1;
}

const char *dm_task_get_message_response(struct dm_task *t)
{
	return t->answer;
}

int dm_task_set_name(struct dm_task *t, const char *name)
{
	t->err = strcmp(name, "xpcache0") ? ENXIO : 0;
	return 1;
}

const char *dm_task_get_name(const struct dm_task *t)
{
	(void)t;
	return "xpcache0";
}

const char *dm_task_get_uuid(const struct dm_task *t)
{
	(void)t;
	return "XPCACHE-0123456789abcdef0123456789abcdef";
}

int dm_task_get_info(struct dm_task *t, struct dm_info *info)
{
	memset(info, 0, sizeof(*info));
	info->exists = info->live_table = !t->err;
	info->major = info->minor = 4095;	/* there is none in sysfs */
	return 1;
}

struct dm_names *dm_task_get_names(struct dm_task *t)
{
	t->names.head.dev = 1;
	memcpy(t->names.room + offsetof(struct dm_names, name), "xpcache0", sizeof("xpcache0"));
	return &t->names.head;
}

void *dm_get_next_target(struct dm_task *t, void *next, uint64_t *start, uint64_t *len,
			 char **type, char **params)
{
	static char target[16], table[32];
	FILE *asleep = open_in("asleep", "r");

	(void)next;
	*start = 0;
	*len = 524288;
	*type = target;
	snprintf(target, sizeof(target), asleep ? "linear" : "xpcache");
	snprintf(table, sizeof(table), asleep ? "4095:2 0" : "4095:1 4095:2");
	if (asleep)
		fclose(asleep);
	*params = t->type == DM_DEVICE_TABLE ? table : t->answer;
	if (t->answer)
		t->answer[strcspn(t->answer, "\n")] = '\0';
	return NULL;
}

int dm_task_set_uuid(struct dm_task *t, const char *uuid)
{
	(void)t;
	(void)uuid;
	return 1;
}

int dm_task_set_sector(struct dm_task *t, uint64_t sector)
{
	(void)t;
	(void)sector;
	return 1;
}

int dm_task_no_flush(struct dm_task *t)
{
	(void)t;
	return 1;
}
