/* SPDX-License-Identifier: GPL-2.0-only */
/* message.h - what was refused, where, and why. */
#ifndef XP_MESSAGE_H
#define XP_MESSAGE_H

#define XP_MESSAGE_MAX	256

/* What was refused, where, and why; one line without a full stop. */
struct xp_message {
	char text[XP_MESSAGE_MAX];
};

#endif /* XP_MESSAGE_H */
