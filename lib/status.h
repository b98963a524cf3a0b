/* SPDX-License-Identifier: GPL-2.0-only */
/* status.h - what a running cache tells of itself. */
#ifndef XP_LIB_STATUS_H
#define XP_LIB_STATUS_H

#include "platform.h"

struct json_object;

struct status {
	char line[4096];	/* the kernel's words, NUL-separated */
	const char *state;
	const char *name[128], *value[128];
	unsigned int n;
};

int status_read(const char *name, struct status *s);
/* Takes s->line to pieces. -EPROTO: it is no status. */
int status_parse(struct status *s);
u64 status_number(const struct status *s, const char *name);
/* A field by its present name, whatever the backend's age. NULL: it has none. */
const char *status_text(const struct status *s, const char *name);
struct json_object *status_json(const struct status *s);

#endif
