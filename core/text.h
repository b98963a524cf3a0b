/* SPDX-License-Identifier: GPL-2.0-only */
/* text.h - words and numbers into a buffer that may be too short: what is missing is counted. */
#ifndef XP_TEXT_H
#define XP_TEXT_H

#include "platform.h"

struct xp_text {
	char *text;
	u32 room, needs;	/* bytes with the NUL; without it */
};

static inline void text_word(struct xp_text *t, const char *word)
{
	u32 at = min(t->needs, t->room);

	t->needs += (u32)snprintf(t->text + at, t->room - at, "%s", word);
}

static inline void text_number(struct xp_text *t, const char *before, u64 n)
{
	u32 at = min(t->needs, t->room);

	t->needs += (u32)snprintf(t->text + at, t->room - at, "%s%llu", before,
				  (unsigned long long)n);
}

#endif /* XP_TEXT_H */
