// SPDX-License-Identifier: GPL-2.0-only
/* xpcached - the daemon. Its verbs, and what each is given. */
#include "daemon/optional.h"
#include "daemon/verbs.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/process.h"
#include "lib/program.h"
#include "lib/version.h"

#include <stdio.h>
#include <string.h>

/* A program of its own: it needs a web server, and this one is in the data path. */
static enum xc watch_run(int argc, char **argv)
{
	if (HAVE_LIBMICROHTTPD && HAVE_LIBSYSTEMD)
		return program_run("xpcached-watch", argc, argv);
	return complain(XC_FAILED, argv[0], "install its headers, and build xpcached again",
			"this xpcached was built without %s", HAVE_LIBMICROHTTPD ? "libsystemd" : "libmicrohttpd");
}

static const struct verb {
	const char *name, *usage, *description;
	enum xc (*fn)(int argc, char **argv);
} verbs[] = {
	{ "serve", "--fast DEV --slow DEV [OPTION...]",
	  "run a cache in user space, and export it through NBD or ublk", serve_run },
	{ "watch", "[OPTION...]",
	  "watch all running caches: serve a page and metrics, report events", watch_run },
	{ NULL, NULL, NULL, NULL }
};

static void help(void)
{
	printf("xpcached - the daemon of xpcache\n\n");
	for (const struct verb *v = verbs; v->name; v++)
		printf("  xpcached %s %s\n      %s\n", v->name, v->usage, v->description);
}

static bool is_either(const char *word, const char *one, const char *other)
{
	return !strcmp(word, one) || !strcmp(word, other);
}

static enum xc run(int argc, char **argv)
{
	if (argc < 2 || is_either(argv[1], "--help", "help")) {
		help();
		return argc < 2 ? XC_USAGE : XC_OK;
	}
	if (is_either(argv[1], "--version", "-V")) {
		printf("xpcached %s%s%s\n", XPCACHE_VERSION, *XD_WITHOUT ? ", without " : "", *XD_WITHOUT ? &XD_WITHOUT[2] : "");
		return XC_OK;
	}
	for (const struct verb *v = verbs; v->name; v++)
		if (!strcmp(argv[1], v->name))
			return v->fn(argc - 1, argv + 1);
	return complain(XC_USAGE, argv[1], "xpcached --help lists them", "no such verb");
}

int main(int argc, char **argv)
{
	process_begin();
	return process_end(run(argc, argv));
}
