/* SPDX-License-Identifier: GPL-2.0-only */
/* rules.h - which options of a verb need each other, and which exclude each other, as tables. */
#ifndef XP_TOOLS_RULES_H
#define XP_TOOLS_RULES_H

#include "lib/exit.h"
#include "platform.h"

struct options;

/* What was given on the command line. */
enum {
	GIVEN_ARG	= 1 << 0,
	GIVEN_FAST	= 1 << 1,
	GIVEN_SLOW	= 1 << 2,
	GIVEN_NAME	= 1 << 3,
	GIVEN_ALL	= 1 << 4,
	GIVEN_BOOT	= 1 << 5,
	GIVEN_WAIT	= 1 << 6,
	GIVEN_DISCARD	= 1 << 7,
	GIVEN_PREFER	= 1 << 8,
	GIVEN_OFFLINE	= 1 << 9,
	GIVEN_RESCUE	= 1 << 10,
	GIVEN_JSON	= 1 << 11,
	GIVEN_FAST_SIZE	= 1 << 12,
	GIVEN_NO_START	= 1 << 13,
	GIVEN_TUNED_RUN	= 1 << 14,
	GIVEN_UBLK	= 1 << 15,

	GIVEN_ANY	= 0,	/* as @given of a rule: whatever was given */
};

/* Refused if one of @given was given, and one of @with (0: no matter), and none of @without. */
struct rule {
	u32 given, with, without;
	const char *where, *todo, *what;	/* of the complaint */
};

/* Complains of the first of @n rules that was broken. */
enum xc rules_check(const struct rule *rules, size_t n, const struct options *opt);

#endif
