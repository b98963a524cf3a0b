/* SPDX-License-Identifier: GPL-2.0-only */
/* words.h - text that others chose, where it is read. */
#ifndef XP_WORDS_H
#define XP_WORDS_H

#include "platform.h"

/*
 * May a cache be called so? 1 to 31 letters, digits, '_', '.' and '-', the first no '.' or '-'; not
 * "control".
 */
bool xp_name_valid(const char *name);
/*
 * Text that others chose, where it is read. It ends with the first NUL, at @room - 1 bytes at the
 * latest. Each byte that is not UTF-8, or of a character that controls a terminal, ends a line or
 * turns the direction of writing, becomes a '?'. True: there was one, or it was longer. Any
 * context.
 */
bool xp_words_clean(char *text, u32 room);
/*
 * The bytes of the character at @text, of at most @room, if it may stay; 0: its first byte becomes
 * a '?'.
 */
u32 xp_words_char(const char *text, u32 room);

#endif /* XP_WORDS_H */
