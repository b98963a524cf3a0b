/* SPDX-License-Identifier: GPL-2.0-only */
/* json.h - a file of JSON, whole; and texts that are put into it. */
#ifndef XP_JSON_H
#define XP_JSON_H

#include <json-c/json.h>

struct json_object;

/* For json_object_put(). Its texts are clean (xp_words_clean()): whoever has written it, they may be shown. NULL: cannot
 * be read, errno says why; or it is not JSON, errno is 0. */
struct json_object *json_load(const char *path);

/* Any text, a path of the user's own as well: JSON is UTF-8, so what is none becomes '?'. */
struct json_object *json_words(const char *text);

#endif /* XP_JSON_H */
