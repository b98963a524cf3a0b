/* SPDX-License-Identifier: GPL-2.0-only */
/* bench_html.h - what `xpcache bench` measured as one HTML page that needs nothing else. */
#ifndef BENCH_HTML_H
#define BENCH_HTML_H

#include "lib/exit.h"

#include <json-c/json.h>
#include <stdio.h>

struct json_object;

/* Writes the page of @result, which is of "xpcache_bench": 1, to @f. 0 or -errno. */
int bench_html(struct json_object *result, FILE *f);

/* The same of a stored result; @page NULL: to stdout. */
enum xc bench_html_from_file(const char *result, const char *page);

#endif /* BENCH_HTML_H */
