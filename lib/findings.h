/* SPDX-License-Identifier: GPL-2.0-only */
/* findings.h - what check found: lines for people as they come, or JSON at the end. */
#ifndef XP_FINDINGS_H
#define XP_FINDINGS_H

#include "platform.h"

struct xp_sb;

struct json_object;

struct findings {
	struct json_object *json;	/* NULL: for people */
	u64 problems;
	char first[512];		/* of them, in words */
	char last[512];			/* of all findings */
};

void findings_begin(struct findings *f, bool json);
/* Whose they are: the first line. @sb: NULL if none will do. */
void findings_subject(struct findings *f, const char *path, const struct xp_sb *sb);

/* For people only: this is as it should be. */
void finding_sound(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Worth knowing, and no damage. */
void finding_note(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void finding_problem(struct findings *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* For programs only: {"@part": {"@name": @n}} */
void finding_number(struct findings *f, const char *part, const char *name, u64 n);
void finding_truth(struct findings *f, const char *part, const char *name, bool yes);

/* Frees the JSON; prints it if @complete. */
void findings_end(struct findings *f, bool complete);

#endif /* XP_FINDINGS_H */
