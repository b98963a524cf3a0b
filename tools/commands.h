/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * commands.h - the command line as two tables, of verbs and of options: help, parser, completion and the manual
 * page's test read them.
 */
#ifndef XP_TOOLS_COMMANDS_H
#define XP_TOOLS_COMMANDS_H

#include "lib/exit.h"
#include "core/options.h"

#include <stdbool.h>
#include <stddef.h>

struct options;

enum {
	OPT_FAST	= 1 << 0,
	OPT_SLOW	= 1 << 1,
	OPT_NAME	= 1 << 2,
	OPT_FORCE	= 1 << 3,
	OPT_DISCARD	= 1 << 4,
	OPT_NO_START	= 1 << 5,
	OPT_ALL		= 1 << 6,
	OPT_JSON	= 1 << 7,
	OPT_LIMITS	= 1 << 8,
	OPT_DATA	= 1 << 9,
	OPT_HELP	= 1 << 10,
	OPT_LIVE	= 1 << 11,
	OPT_SHAPE	= 1 << 12,
	OPT_FORMAT	= 1 << 13,
	OPT_BENCH	= 1 << 14,
	OPT_ENGINE	= 1 << 15,
	OPT_OFFLINE	= 1 << 16,
	OPT_UBLK	= 1 << 17,
	OPT_PREFER	= 1 << 18,
	OPT_NEEDED	= 1 << 19,
	OPT_HIDE	= 1 << 20,
	OPT_BOOT	= 1 << 23,
	OPT_WAIT	= 1 << 21,
	OPT_ADOPT	= 1 << 22,
	OPT_SLEEP	= 1 << 24,
	OPT_ACCEPT	= 1 << 25,
	OPT_RESCUE	= 1 << 26,
	OPT_SIZE	= 1 << 27,
	OPT_CONVERT	= 1 << 29,
	OPT_BACK	= 1 << 30,
	OPT_SET		= 1 << 28,	/* those of OPT_LIMITS, as words: dirty-low=20 */
};

/* TUNABLE, CLASS: the core knows the rest. Of what an option does: verb_texts[] comes first. */
enum option_kind { FLAG, TEXT, TUNABLE, SECONDS, NUMBER, CLASS, SIZE };

struct option_row {
	const char *name, *value;	/* value: its name in the help */
	unsigned int bit;
	enum option_kind kind;
	size_t offset;
	const char *help;
};

enum arg { ARG_NONE, ARG_MAY, ARG_MUST, ARG_WORDS, ARG_ANY };	/* ARG_WORDS, ARG_ANY: as many as one likes, one at least or none */
enum needs { NEEDS_NOTHING, NEEDS_ROOT };

struct verb {
	const char *name;
	enum xc (*fn)(struct options *opt);
	const char *usage;
	const char *description;
	enum needs needs;	/* create asks for itself: --no-start does not */
	enum arg arg;
	unsigned int options;
};

extern const struct option_row option_table[];
extern const size_t nr_options;
extern const struct verb verb_table[];
extern const size_t nr_verbs;

const struct verb *verb_find(const char *name);		/* NULL: there is none */
const struct verb *verb_of(const char *word);		/* the same of the first word; also --help, -V and their like */
bool verb_takes(const struct verb *v, const struct option_row *row);
/* What @option does for @v; NULL: what all of them do together. @other: where there is no text of its own. */
const char *verb_text(const struct verb *v, const char *option, const char *other);
/* Of an option of kind TUNABLE. */
const struct xp_tunable *option_tunable(const struct option_row *row);

#endif
