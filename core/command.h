/* SPDX-License-Identifier: GPL-2.0-only */
/* command.h - what a running cache can be told: its messages, whose words options.c knows. */
#ifndef XP_COMMAND_H
#define XP_COMMAND_H

#include "platform.h"

struct xp_message;

enum xp_command {
	XP_COMMAND_FLUSH,	/* write all dirty blocks back, until there is none */
	XP_COMMAND_FLUSH_STOP,	/* no longer */
	XP_COMMAND_COMMIT,	/* make durable what was acknowledged */
	XP_COMMAND_HISTOGRAM,	/* tell how long requests took; the others have no answer */
	XP_COMMAND_HISTOGRAM_ON, /* record it */
	XP_COMMAND_HISTOGRAM_OFF,
	XP_COMMAND_STREAM_KIB,	/* change the option of that name; the only one with a value */
};
#define XP_COMMANDS	7u

const char *xp_command_name(enum xp_command command);
/* @value is set for a command that has one. */
int xp_command_parse(enum xp_command *command, u32 *value, u32 nr, char *const *word,
		     struct xp_message *msg);

#endif /* XP_COMMAND_H */
