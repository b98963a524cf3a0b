/* SPDX-License-Identifier: GPL-2.0-only */
/* json.h - a file of JSON, whole; and texts that are put into it. */
#ifndef XP_JSON_H
#define XP_JSON_H

#include "platform.h"

#include <json-c/json.h>

struct json_object;
struct xp_tunable;

/* For json_object_put(). Its texts are clean (xp_words_clean()): whoever has written it, they may be shown. NULL: cannot
 * be read, errno says why; or it is not JSON, errno is 0. */
struct json_object *json_load(const char *path);

/* Any text, a path of the user's own as well: JSON is UTF-8, so what is none becomes '?'. */
struct json_object *json_words(const char *text);

/* The value of an option: a number, or its word. */
struct json_object *json_tunable(const struct xp_tunable *row, u32 value);

#endif /* XP_JSON_H */
