// SPDX-License-Identifier: GPL-2.0-only
/* bench_html.c - the page of `xpcache bench`: tools/bench/report/ with the result inside. */
#include "tools/bench/bench_html.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BENCH_VERSION	1	/* of the JSON that the page knows */

/* bench_page.S */
extern const char bench_page_before[], bench_page_before_end[];
extern const char bench_page_after[], bench_page_after_end[];

/* '<' stands in strings only, and "</script" or "<!--" would end more than the string. */
static void put_json(const char *text, FILE *f)
{
	for (size_t n; *text; text += n) {
		n = strcspn(text, "<");
		fwrite(text, 1, n, f);
		if (text[n] == '<') {
			fputs("\\u003c", f);
			n++;
		}
	}
}

int bench_html(struct json_object *result, FILE *f)
{
	const char *json = json_object_to_json_string_ext(result, JSON_C_TO_STRING_PLAIN);

	if (!json)
		return -ENOMEM;
	errno = 0;
	fwrite(bench_page_before, 1, (size_t)(bench_page_before_end - bench_page_before), f);
	put_json(json, f);
	fwrite(bench_page_after, 1, (size_t)(bench_page_after_end - bench_page_after), f);
	return fflush(f) || ferror(f) ? -(errno ? errno : EIO) : 0;
}

/* ------------------------------------------------- of a stored result ---- */

static enum xc read_result(const char *path, struct json_object **result)
{
	struct json_object *version;

	*result = json_load(path);
	if (!*result && errno)
		return complain_errno(errno, path, "cannot read the result");
	if (!json_object_object_get_ex(*result, "xpcache_bench", &version))
		return complain(XC_USAGE, path, "give a file that xpcache bench --json wrote",
				"not a result of xpcache bench");
	if (json_object_get_int(version) != BENCH_VERSION)
		return complain(XC_USAGE, path, "use the xpcache that wrote it",
				"a result of version %d, this xpcache knows %d",
				json_object_get_int(version), BENCH_VERSION);
	return XC_OK;
}

/* A page goes to a file or down a pipe; not over a disk, and not over what it is made of. */
static enum xc check_page(const char *result, const char *page)
{
	struct stat from, to;

	if (stat(page, &to))
		return XC_OK;
	if (!S_ISREG(to.st_mode) && !S_ISCHR(to.st_mode) && !S_ISFIFO(to.st_mode))
		return complain(XC_REFUSED, page, "give a file for the page", "not a file");
	if (!stat(result, &from) && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		return complain(XC_REFUSED, page, "give another file for the page",
				"this is the result itself");
	return XC_OK;
}

static enum xc write_page(struct json_object *result, const char *page)
{
	FILE *f = page ? fopen(page, "we") : stdout;
	int err;

	if (!f)
		return complain_errno(errno, page, "cannot write the page");
	err = bench_html(result, f);
	if (page && fclose(f) && !err)
		err = -errno;
	return err ? complain_errno(err, page ? page : "standard output", "cannot write the page") : XC_OK;
}

enum xc bench_html_from_file(const char *result, const char *page)
{
	struct json_object *o = NULL;
	enum xc ret = read_result(result, &o);

	if (!ret && page)
		ret = check_page(result, page);
	if (!ret)
		ret = write_page(o, page);
	json_object_put(o);
	return ret;
}
