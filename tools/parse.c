// SPDX-License-Identifier: GPL-2.0-only
/* What the words of a command line ask for. */
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/figures.h"
#include "lib/latency/timing.h"
#include "tools/commands.h"
#include "tools/help.h"
#include "tools/hibernate/sleep.h"
#include "tools/nearest.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/block.h"
#include "core/class.h"
#include "core/message.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static enum xc set_tunable(struct options *opt, const struct option_row *row, const char *text)
{
	const struct xp_tunable *t = option_tunable(row);
	char option[64], todo[64];
	struct xp_message msg;

	opt->tuned = true;
	opt->tuned_run |= !t->word;
	if (!xp_tunables_set(&opt->tunables, t->name, text, &msg))
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	snprintf(todo, sizeof(todo), "give another %s", row->value);
	return complain(XC_USAGE, option, t->word ? "give one of them" : todo, "%s", msg.text);
}

static enum xc set_seconds(double *to, const struct option_row *row, const char *text)
{
	char *end, option[32];

	*to = strtod(text, &end);
	if (*text >= '0' && *text <= '9' && !*end && *to >= 0.1 && *to <= 86400)
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	return complain(XC_USAGE, option, "give another SECONDS",
			"it is 0.1 to 86400 seconds, not \"%s\"", text);
}

static enum xc set_number(u64 *to, const char *text)
{
	size_t len = strlen(text);

	*to = strspn(text, "0123456789") == len && len < 10 ? strtoull(text, NULL, 10) : 0;
	if (*to)
		return XC_OK;
	return complain(XC_USAGE, "--count", "give another N",
			"a count is a number from 1 to 999999999, not \"%s\"", text);
}

/* The least and the most are the devices': fast_size_blocks(). */
static enum xc set_size(u64 *to, const struct option_row *row, const char *text)
{
	char option[32];

	if (bytes_read(text, to) && *to && !(*to % XP_BLOCK_SIZE))
		return XC_OK;
	snprintf(option, sizeof(option), "--%s", row->name);
	return complain(XC_USAGE, option, text_todo("--%s 50G, say: a multiple of 4K", row->name), "not a size: \"%.40s\"", text);
}

static enum xc set_class(int *to, const char *text)
{
	char all[256] = "one of";
	enum xp_class class;

	if (!timing_class(text, strlen(text), &class)) {
		*to = class;
		return XC_OK;
	}
	for (u32 i = 0; i < XP_CLASSES; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s", xp_class_name[i]);
	return complain(XC_USAGE, "--class", all, "there is no class \"%s\"", text);
}

static enum xc set_option(struct options *opt, const struct option_row *row, const char *text)
{
	void *to = (char *)opt + row->offset;

	switch (row->kind) {
	case TUNABLE:
		return set_tunable(opt, row, text);
	case SECONDS:
		return set_seconds(to, row, text);
	case NUMBER:
		return set_number(to, text);
	case CLASS:
		return set_class(to, text);
	case SIZE:
		return set_size(to, row, text);
	case FLAG:
		*(bool *)to = true;
		return XC_OK;
	case TEXT:
		*(const char **)to = text;
	}
	return XC_OK;
}

/* What contradicts what. */
static enum xc check_options(const struct verb *v, const struct options *opt)
{
	const char *const path[] = { opt->arg, opt->fast, opt->slow };
	struct xp_message msg;

	for (size_t i = 0; i < sizeof(path) / sizeof(*path); i++)
		if (path_check(path[i]))
			return XC_USAGE;
	if (v->fn == histogram_run)
		return histogram_check(opt);
	if (v->fn == set_run)
		return set_check(opt);
	if (v->fn == hibernate_run)
		return hibernate_check(opt);
	if (opt->prefer_cache && opt->discard_dirty)
		return complain(XC_USAGE, "--prefer-cache", "give one", "--discard-dirty says the opposite");
	if (!xp_tunables_check(&opt->tunables, &msg))
		return XC_OK;
	return complain(XC_USAGE, "--dirty-low", "give a lower one, or a higher --dirty-high",
			"%s", msg.text);
}

/* The long options of one verb; val is the row of the table, beyond any character. */
enum { ROW = 256 };

static void long_options(const struct verb *v, struct option *out)
{
	for (size_t i = 0; i < nr_options; i++) {
		const struct option_row *row = &option_table[i];

		if (!verb_takes(v, row))
			continue;
		*out++ = (struct option){ row->name, row->kind == FLAG ? no_argument :
					  required_argument, NULL, ROW + i };
	}
	memset(out, 0, sizeof(*out));
}

/* "mode" of "--mode=x". */
static void name_of_option(const char *word, char *name, size_t len)
{
	word += strspn(word, "-");
	snprintf(name, len, "%.*s", (int)strcspn(word, "="), word);
}

/* In a word of several letters getopt stands before the word still. */
static enum xc wrong_option(const struct verb *v, const char *word, const char *todo)
{
	char letter[] = { '-', (char)optopt, '\0' };
	struct nearest n = { .before = "--" };
	char name[64];

	if (optopt && optopt < ROW)
		return complain(XC_USAGE, letter, todo, "wrong option");
	name_of_option(word, name, sizeof(name));
	n.word = name;
	for (size_t i = 0; i < nr_options; i++)
		if (verb_takes(v, &option_table[i]))
			nearest_try(&n, option_table[i].name);
	return complain(XC_USAGE, word, text_todo("%s%s", nearest_text(&n), todo), "wrong option");
}

static enum xc parse_options(const struct verb *v, int argc, char **argv, struct options *opt)
{
	struct option longs[nr_options + 1];
	enum xc ret = XC_OK;
	char todo[64];
	int c;

	long_options(v, longs);
	snprintf(todo, sizeof(todo), "xpcache %s --help shows all", v->name);
	opterr = 0;
	optind = 0;	/* begin anew */
	while (!ret && (c = getopt_long(argc, argv, v->options & OPT_BENCH ? ":ho:" : ":h", longs, NULL)) != -1) {
		if (c == 'h')
			opt->help = true;
		else if (c == 'o')
			opt->bench.output = optarg;
		else if (c == ':')
			ret = complain(XC_USAGE, argv[optind - 1], todo, "a value is missing");
		else if (c == '?')
			ret = wrong_option(v, argv[optind - 1], todo);
		else
			ret = set_option(opt, &option_table[c - ROW], optarg);
	}
	return ret;
}

/* Those that are no options. */
static enum xc check_left(const struct verb *v, char **words, int left)
{
	char usage[128];

	snprintf(usage, sizeof(usage), "xpcache %s %s", v->name, v->usage);
	if (left > (v->arg != ARG_NONE) && v->arg < ARG_WORDS)
		return complain(XC_USAGE, words[v->arg != ARG_NONE], usage, "one word too many");
	if ((v->arg == ARG_MUST || v->arg == ARG_WORDS) && !left)
		return complain(XC_USAGE, v->name, usage, "a name or a device is missing");
	if (left && !*words[0])
		return complain(XC_USAGE, v->name, usage, "the name is empty");
	return XC_OK;
}

static enum xc parse(const struct verb *v, int argc, char **argv, struct options *opt)
{
	enum xc ret = parse_options(v, argc, argv, opt);
	int left = argc - optind;

	if (ret || opt->help)
		return ret;
	opt->arg = left ? argv[optind] : NULL;
	opt->words = argv + optind;
	opt->nr_words = (unsigned int)left;
	opt->argc = argc;
	opt->argv = argv;
	return check_left(v, opt->words, left);
}

static bool words_are_right(int argc, char **argv, struct options *opt)
{
	return parse_words(argc, argv, opt);
}

const struct verb *parse_words(int argc, char **argv, struct options *opt)
{
	const struct verb *v = verb_of(argv[0]);

	memset(opt, 0, sizeof(*opt));
	opt->parse = words_are_right;
	opt->class = -1;
	xp_tunables_init(&opt->tunables);
	if (!v)
		unknown_verb(argv[0]);
	else if (parse(v, argc, argv, opt) || (!opt->help && check_options(v, opt)))
		v = NULL;
	return v;
}
