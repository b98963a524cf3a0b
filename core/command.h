/* SPDX-License-Identifier: GPL-2.0-only */
/* command.h - what a running cache can be told: its messages, whose words options.c knows. */
#ifndef XP_COMMAND_H
#define XP_COMMAND_H

#include "platform.h"

struct xp_message;
struct xp_tunables;

enum xp_command {
	XP_COMMAND_FLUSH,	/* write all dirty blocks back, until there is none */
	XP_COMMAND_FLUSH_STOP,	/* no longer */
	XP_COMMAND_COMMIT,	/* make durable what was acknowledged */
	XP_COMMAND_HISTOGRAM,	/* tell how long requests took; the others have no answer */
	/* change options: */
	XP_COMMAND_HISTOGRAM_ON, /* record it */
	XP_COMMAND_HISTOGRAM_OFF,
	XP_COMMAND_STREAM_KIB,	/* that of the name */
	XP_COMMAND_SET,		/* those named; all of them or none */
};
#define XP_COMMANDS	8u

const char *xp_command_name(enum xp_command command);
/* Which one it is, with as many words as it takes. */
int xp_command_parse(enum xp_command *command, u32 nr, char *const *word, struct xp_message *msg);
/* Of one that changes options, with its words: from those that hold to those that are to hold. */
int xp_command_change(enum xp_command command, struct xp_tunables *t, u32 nr, char *const *word,
		      struct xp_message *msg);

#endif /* XP_COMMAND_H */
