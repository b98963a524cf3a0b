/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - what a user may set: the table line.
 *
 * Pure functions, callable anywhere. What is refused is refused by -EINVAL and *msg, in words that
 * print.
 */
#ifndef XP_OPTIONS_H
#define XP_OPTIONS_H

#include "platform.h"

struct xp_message;

#define XP_DEFAULT_DIRTY_LOW	10u
#define XP_DEFAULT_DIRTY_HIGH	80u
#define XP_DEFAULT_STREAM_KIB	4096u

/* What an option of the table line or of the command line sets. */
struct xp_tunables {
	u32 dirty_low;		/* as in struct xp_options */
	u32 dirty_high;
	u32 idle_ms;		/* as in struct xp_options */
	u32 histogram;		/* the backend's: 1: how long requests take is recorded; 0: not */
	u32 mark;		/* mark_lba of struct xp_options; start's, not the user's */
	u32 grid;		/* of the superblock, for who sets limits before it is read; start's, too; 0: not said */
	u32 stream_kib;		/* as in struct xp_options */
	u32 writeback_delay;	/* as in struct xp_options */
	u32 mode;		/* enum xp_mode */
	u32 verify;		/* as in struct xp_options; the cache gets what it needs for that */
};

#define XP_TUNABLES	10u

struct xp_tunable {
	const char *name;	/* the table line's; the command line has '-' for '_' */
	u32 min, max, initial;
	size_t offset;		/* in struct xp_tunables */
	bool start;		/* a start sets it, and it holds while the cache runs */
	const char *const *word;	/* its values, up to max, by these words; NULL: numbers */
};

extern const struct xp_tunable xp_tunable_rows[XP_TUNABLES];

void xp_tunables_init(struct xp_tunables *t);
u32 xp_tunable_value(const struct xp_tunables *t, const struct xp_tunable *row);
/* Is it another than the default? */
bool xp_tunable_is_set(const struct xp_tunables *t, const struct xp_tunable *row);
/*
 * Has somebody said it? That is what a start is given, the initial mode as well: without it a start takes the mode that
 * the superblock keeps.
 */
bool xp_tunable_is_said(const struct xp_tunables *t, const struct xp_tunable *row);
/* A value as it is given: a number, or its word. Returns its length; @room: 16 are enough. */
u32 xp_tunable_text(const struct xp_tunable *row, u32 value, char *text, u32 room);
/* One option, by its name; then, after the last, what contradicts what. */
int xp_tunables_set(struct xp_tunables *t, const char *name, const char *word,
		    struct xp_message *msg);
int xp_tunables_check(const struct xp_tunables *t, struct xp_message *msg);
/*
 * What follows the devices in a table line: "", or " 2 dirty_low 20", each
 * option that is not at its default.
 */
#define XP_TUNABLES_TEXT	224u
void xp_tunables_print(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT]);
/* The same for a start: each that somebody has said. */
void xp_tunables_print_said(const struct xp_tunables *t, char text[XP_TUNABLES_TEXT]);

/*
 * "<fast device> <slow device> [<nr args> [<name> <value>]...]" in words. The
 * devices are set even where the options are refused; NULL: missing.
 */
struct xp_table {
	const char *fast, *slow;
	struct xp_tunables tunables;
};
int xp_table_parse(struct xp_table *t, u32 nr, char *const *word, struct xp_message *msg);

#endif /* XP_OPTIONS_H */
