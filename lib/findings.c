// SPDX-License-Identifier: GPL-2.0-only
/* What check found, for people or for programs. */
#include "lib/findings.h"
#include "lib/colour.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "core/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void findings_begin(struct findings *f, bool json)
{
	memset(f, 0, sizeof(*f));
	if (!json)
		return;
	f->json = json_object_new_object();
	json_object_object_add(f->json, "problems", json_object_new_array());
	json_object_object_add(f->json, "notes", json_object_new_array());
}

static void add_string(struct findings *f, const char *name, const char *text)
{
	json_object_object_add(f->json, name, json_words(text));
}

void findings_subject(struct findings *f, const char *path, const struct xp_sb *sb)
{
	char name[XP_NAME_LEN] = "";

	if (sb)
		snprintf(name, sizeof(name), "%.31s", (const char *)sb->name);
	if (f->json) {
		add_string(f, "device", path);
		add_string(f, "name", name);
		add_string(f, "uuid", sb ? text_uuid(sb->uuid) : "");
	} else if (sb) {
		printf("%s: the xpcache %s, %s\n", path, name, text_uuid(sb->uuid));
	} else {
		printf("%s: an xpcache, but not one that can be used\n", path);
	}
}

void finding_sound(struct findings *f, const char *fmt, ...)
{
	va_list args;

	if (f->json)
		return;
	printf("  %sok%s          ", colour_good(), colour_off());
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

/* One more in the list, or a line of its own. */
static void add_finding(struct findings *f, const char *list, const char *line, const char *fmt,
			va_list args)
{
	vsnprintf(f->last, sizeof(f->last), fmt, args);
	if (f->json)
		json_object_array_add(json_object_object_get(f->json, list),
				      json_words(f->last));
	else
		printf("  %s%s\n", line, f->last);
}

void finding_note(struct findings *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_finding(f, "notes", "note        ", fmt, args);
	va_end(args);
}

void finding_problem(struct findings *f, const char *fmt, ...)
{
	char line[64];
	va_list args;

	snprintf(line, sizeof(line), "%sdamaged%s     ", colour_bad(), colour_off());
	va_start(args, fmt);
	add_finding(f, "problems", line, fmt, args);
	va_end(args);
	if (!f->problems++)
		memcpy(f->first, f->last, sizeof(f->first));
}

static struct json_object *part_of(struct findings *f, const char *part)
{
	struct json_object *o;

	if (!json_object_object_get_ex(f->json, part, &o)) {
		o = json_object_new_object();
		json_object_object_add(f->json, part, o);
	}
	return o;
}

void finding_number(struct findings *f, const char *part, const char *name, u64 n)
{
	if (f->json)
		json_object_object_add(part_of(f, part), name, json_object_new_uint64(n));
}

void finding_truth(struct findings *f, const char *part, const char *name, bool yes)
{
	if (f->json)
		json_object_object_add(part_of(f, part), name, json_object_new_boolean(yes));
}

void findings_end(struct findings *f, bool complete)
{
	if (!f->json)
		return;
	json_object_object_add(f->json, "sound", json_object_new_boolean(!f->problems));
	if (complete)
		printf("%s\n", json_object_to_json_string_ext(f->json, JSON_C_TO_STRING_PRETTY |
							      JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(f->json);
	f->json = NULL;
}
