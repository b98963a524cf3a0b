/* SPDX-License-Identifier: GPL-2.0-only */
/* json.h - a file of JSON, whole. */
#ifndef XP_JSON_H
#define XP_JSON_H

#include <json-c/json.h>

/* For json_object_put(). NULL: cannot be read, errno says why; or it is not JSON, errno is 0. */
struct json_object *json_load(const char *path);

#endif /* XP_JSON_H */
