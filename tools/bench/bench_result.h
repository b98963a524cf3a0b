/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bench_result.h - a result by itself, as JSON: its members, what is read off it, and how it is told.
 *
 *   bench_result.c    its members; reading and printing it
 *   bench_curves.c    warm-up, working set, writes, fill: read off the runs
 *   bench_warnings.c  what the runs are reason to warn of; bench_host.c: and the machine
 *   bench_show.c      the same for people
 *   bench_diff.c      two results beside each other; bench_chance.c: what chance does
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "lib/exit.h"
#include "platform.h"

#include <stdio.h>

struct json_object;
struct xp_histogram;

/* --------------------------------------------------- bench_result.c ---- */

/* The hit ratio since the last look (or -1: there were no reads) is the last one's of @seconds;
 * those that nobody looked at are null. */
void bench_result_hits(struct json_object *hits, u32 seconds, double ratio);
/* Adds @run to what "runs" has of its id: the next round of it, or the first. */
void bench_result_take(struct json_object *runs, struct json_object *run);
struct json_object *bench_result_find(struct json_object *runs, const char *id);
void bench_result_add(struct json_object *o, const char *name, struct json_object *value);
struct json_object *bench_result_get(struct json_object *o, const char *name);	/* or NULL */
double bench_result_number(struct json_object *o, const char *name);		/* or 0 */
const char *bench_result_text(struct json_object *o, const char *name);		/* or "" */
void bench_result_warn(struct json_object *result, const char *code, const char *text, ...)
	__attribute__((format(printf, 3, 4)));
/* A histogram of a run's member "read", "write", ...; false: it has none. */
bool bench_result_timing(struct json_object *run, const char *member, struct xp_histogram *h);
enum xc bench_result_load(const char *path, struct json_object **result);
enum bench_form { BENCH_JSON, BENCH_CSV, BENCH_HGRM, BENCH_PAGE };
/* As one of the first three. Negative errno. */
int bench_result_print(struct json_object *result, enum bench_form form, FILE *f);

/* --------------------------------------------------- bench_curves.c ---- */

/* "writes", "warmup", "working_set" and "fill" of the result, from its runs. */
void bench_curves(struct json_object *result);

#define BENCH_WARM	0.9	/* of a set's warming: less is no warm set */

/* -------------------------------------------------- bench_warnings.c ---- */

/* Adds what its runs are reason to warn of. */
void bench_warnings(struct json_object *result);
void bench_host_warn(struct json_object *result);

/* ----------------------------------------------------- bench_diff.c ---- */

enum xc bench_diff(const char *a, const char *b, bool json);

/* --------------------------------------------------- bench_chance.c ---- */

/* Beyond so many standard errors, to either side, is the part @outside of chance. */
double bench_chance_t(u32 dof, double outside);

/* ----------------------------------------------------- bench_show.c ---- */

void bench_show(struct json_object *result);
const char *bench_text_time(double ns);	/* "10.4 us", by the eighth next call gone */

#endif /* BENCH_RESULT_H */
