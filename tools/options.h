/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - what the words of the command line ask for. */
#ifndef XP_TOOLS_OPTIONS_H
#define XP_TOOLS_OPTIONS_H

#include "core/options.h"

struct user_start;

struct options {
	const char *arg;	/* what is not an option: a cache's name, a device or a verb */
	const char *fast, *slow, *name;
	const char *format;	/* xp_sb_format() after a stop; NULL: as it is */
	const char *engine;	/* "kernel", "user", "auto"; NULL: auto */
	bool begin, end, restore;	/* hibernate */
	bool force, discard_dirty, prefer_cache, no_start, offline, all, boot, needed, hide, undo, yes, convert;
	bool accept_loss, accept_older, rescue;
	bool json, data, help, ublk;
	char **words;		/* bench: all of what arg is the first of */
	unsigned int nr_words;
	/* bench: words that were stored, read as main() has read these. */
	bool (*parse)(int argc, char **argv, struct options *opt);
	int argc;		/* and the command as it was given */
	char **argv;
	struct bench_options {
		const char *test, *seconds, *rate, *size, *depth, *threads, *range, *seed;
		const char *engine, *places, *output, *resume, *html;
		bool quick, destructive, buffered, precondition;
	} bench;
	bool tuned;		/* one of the tunables was given, */
	bool tuned_run;		/* one that no superblock keeps: another than the mode */
	bool csv, hgrm, total;
	int class;		/* enum xp_class; -1: none was given */
	double interval, wait;	/* seconds; 0: none was given */
	u64 count;		/* looks; 0: no end */
	u64 fast_size;		/* bytes, whole blocks; 0: none was given */
	struct xp_tunables tunables;
};

/* How xpcached is to run a cache, by what they say. */
struct user_start user_start_of(const struct options *opt);

#endif
