// SPDX-License-Identifier: GPL-2.0-only
/* help, version: what the tables of commands.h say. */
#include "lib/complain.h"
#include "lib/version.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/nearest.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/format.h"

#include <string.h>

#define HELP_COLUMNS	80
#define HELP_INDENT	25u	/* of what an option does */

/* From column @indent on, in as many lines as it takes; the first has @at columns already. */
static void put_words(FILE *f, size_t at, size_t indent, const char *text)
{
	for (size_t len; *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		if (at > indent && at + 1 + len > HELP_COLUMNS) {
			putc('\n', f);
			at = 0;
		}
		at += (size_t)fprintf(f, "%*s%.*s", at < indent ? (int)(indent - at) : at > 0, "", (int)len, text);
	}
	putc('\n', f);
}

static void help_option(const struct verb *v, const struct option_row *o)
{
	bool word = v->options & OPT_SET && o->bit == OPT_LIMITS;
	char name[64], text[256], initial[16];
	size_t len;

	len = (size_t)snprintf(name, sizeof(name), "  %s%s%s%s", word ? "" : "--", o->name, word ? "=" : o->value ? " " : "",
			       o->value ? o->value : "");
	snprintf(text, sizeof(text), "%s", o->kind == TUNABLE ? o->help : verb_text(v, o->name, o->help));
	if (o->kind == TUNABLE) {
		xp_tunable_text(option_tunable(o), option_tunable(o)->initial, initial, sizeof(initial));
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (default %s)", initial);
	}
	fputs(name, stdout);
	if (len >= HELP_INDENT) {	/* it has a line of its own */
		putchar('\n');
		len = 0;
	}
	put_words(stdout, len, HELP_INDENT, text);
}

void help_all(FILE *f)
{
	fprintf(f, "xpcache: a crash-consistent cache on a fast device, in front of a slow one\n\n");
	for (size_t i = 0; i < nr_verbs; i++) {
		fprintf(f, "  xpcache %-10s %s\n", verb_table[i].name, verb_table[i].usage);
		put_words(f, 0, 22, verb_table[i].description);
	}
	fprintf(f, "\nxpcache VERB --help lists the options of a verb. Exit codes: 0 done, 1 I/O or\n"
		   "system error, 2 wrong usage, 3 refused to protect data, 4 metadata damaged or\n"
		   "unknown, 5 no such cache or device, 6 bench diff found something slower,\n"
		   "130 interrupted. Manual: man xpcache\n");
}

static void help_options(const struct verb *v)
{
	const unsigned int options = v->options | (v->options & OPT_SET ? OPT_LIMITS : 0);
	const char *together = verb_text(v, NULL, "");

	printf("xpcache %s %s\n", v->name, v->usage);
	put_words(stdout, 0, 2, v->description);
	for (size_t i = 0; i < nr_options; i++)
		if (options & option_table[i].bit)
			help_option(v, &option_table[i]);
	if (*together)
		put_words(stdout, 0, 0, together);
}

/* Of bench, whoever has its tests says all of it. */
enum xc help_verb(const struct verb *v)
{
	if (v->options & OPT_BENCH)
		return bench_help(help_options, v);
	help_options(v);
	return XC_OK;
}

enum xc unknown_verb(const char *name)
{
	struct nearest n = { .word = name };

	for (size_t i = 0; i < nr_verbs; i++)
		nearest_try(&n, verb_table[i].name);
	return complain(XC_USAGE, name, text_todo("%sxpcache help shows all", nearest_text(&n)), "no such verb");
}

enum xc help_run(struct options *opt)
{
	const struct verb *v = opt->arg ? verb_find(opt->arg) : NULL;

	if (opt->arg && !v)
		return unknown_verb(opt->arg);
	if (v)
		return help_verb(v);
	help_all(stdout);
	return XC_OK;
}

enum xc version_run(struct options *opt)
{
	(void)opt;
	printf("xpcache %s, format %u\n", XPCACHE_VERSION, XP_SB_VERSION);
	return XC_OK;
}
