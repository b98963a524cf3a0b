// SPDX-License-Identifier: GPL-2.0-only
/*
 * running.c - a device mapper with the caches that the file list in the directory RUNNING names,
 * a line each; preloaded, so that what asks or follows running caches can be tested without one.
 *
 * Their answers are the files NAME.status and NAME.histogram there, read each time; or those from
 * NAME.status.1 on, one after another, of which the last one stays. Without any there is the error
 * of a module that does not know the message. Each question adds a line to the file asked. With a
 * file asleep the caches' devices lead to their slow devices alone.
 * Changes nothing, and everybody is root here.
 */
#include <errno.h>
#include <libdevmapper.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHES	100

struct dm_task {
	int type, err;
	char name[64], message[32], *answer;
	char names[CACHES * 64];
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

/* NULL: there is none. */
static char *whole(const char *name)
{
	FILE *f = open_in(name, "r");
	char *text;
	long len;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	len = ftell(f);
	rewind(f);
	text = malloc((size_t)len + 1);
	text[fread(text, 1, (size_t)len, f)] = '\0';
	fclose(f);
	return text;
}

/* Its line in the list, from 1; 0: it is not there. */
static int number(const char *name)
{
	char *list = whole("list"), *next;
	int n = 0, at = 0;

	for (char *w = list ? strtok_r(list, "\n", &next) : NULL; w; w = strtok_r(NULL, "\n", &next)) {
		n++;
		if (!strcmp(w, name))
			at = n;
	}
	free(list);
	return at;
}

/* @n 0: without a number. NULL: there is none. */
static char *numbered(const char *name, const char *what, int n)
{
	char file[128], number[16] = "";

	if (n)
		snprintf(number, sizeof(number), ".%d", n);
	snprintf(file, sizeof(file), "%s.%s%s", name, what, number);
	return whole(file);
}

/* *@n: the number of the last one. */
static char *answer(const char *name, const char *what, int *n)
{
	char *text = numbered(name, what, *n + 1);

	if (!text)
		return numbered(name, what, *n);
	++*n;
	return text;
}

static void ask(struct dm_task *t, const char *what, int *n)
{
	FILE *f = open_in("asked", "a");

	fprintf(f, "%s %s\n", what, t->name);
	fclose(f);
	t->answer = answer(t->name, what, n);
	t->err = t->answer ? 0 : EINVAL;
}

/* Records of 64 bytes. */
static void list_names(struct dm_task *t)
{
	char *list = whole("list"), *next;
	struct dm_names *last = NULL;
	size_t n = 0;

	memset(t->names, 0, sizeof(t->names));
	for (char *w = list ? strtok_r(list, "\n", &next) : NULL; w && n < CACHES;
	     w = strtok_r(NULL, "\n", &next)) {
		struct dm_names *names = (void *)(t->names + 64 * n++);

		names->dev = 1;
		snprintf((char *)names + offsetof(struct dm_names, name), 40, "%s", w);
		if (last)
			last->next = 64;
		last = names;
	}
	free(list);
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
		ask(t, "status", &statuses);
	else if (t->type == DM_DEVICE_TARGET_MSG)
		ask(t, t->message, &messages);
	else if (t->type == DM_DEVICE_LIST)
		list_names(t);
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
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->err = number(name) ? 0 : ENXIO;
	return 1;
}

const char *dm_task_get_name(const struct dm_task *t)
{
	return t->name;
}

const char *dm_task_get_uuid(const struct dm_task *t)
{
	static char uuid[64];

	snprintf(uuid, sizeof(uuid), "XPCACHE-%032x", (unsigned int)number(t->name));
	return uuid;
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
	return (struct dm_names *)(void *)t->names;
}

void *dm_get_next_target(struct dm_task *t, void *next, uint64_t *start, uint64_t *len,
			 char **type, char **params)
{
	static char target[16], table[32];
	char *asleep = whole("asleep");

	(void)next;
	*start = 0;
	*len = 524288;
	*type = target;
	snprintf(target, sizeof(target), asleep ? "linear" : "xpcache");
	snprintf(table, sizeof(table), asleep ? "4095:2 0" : "4095:1 4095:2");
	free(asleep);
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
