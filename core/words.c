// SPDX-License-Identifier: GPL-2.0-only
/*
 * words.c - text that others chose: what of it may be shown.
 *
 * A name in the superblock of any attached disk comes to a terminal of root's, to a log, to an
 * exposition of metrics, to JSON. An escape sequence must not reach the first, a forged line not
 * the second, and JSON is UTF-8. So such text is cleaned where it is read, and nobody who prints
 * it has to think of it.
 */
#include "format.h"
#include "superblock.h"
#include "words.h"

/* The names of caches: they become names of devices, of sockets, of files and of services. */
static bool fits_name(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '_' || ch == '.' || ch == '-';
}

static bool begins_name(char ch)
{
	return fits_name(ch) && ch != '-' && ch != '.';
}

/* /dev/mapper/control is the device mapper's own. */
static bool is_taken(const char *name)
{
	return !strcmp(name, "control");
}

bool xp_name_valid(const char *name)
{
	u32 i;

	if (!begins_name(name[0]) || is_taken(name))
		return false;
	for (i = 1; i < XP_NAME_LEN && name[i]; i++)
		if (!fits_name(name[i]))
			return false;
	return i < XP_NAME_LEN;
}

/* Bytes of the character that begins with @first, as UTF-8 has it; 0: none does. */
static u32 char_length(u8 first)
{
	if (first < 0x80)
		return 1;
	/* continues one, or could only begin an overlong one */
	if (first < 0xc2 || first > 0xf4)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/*
 * Of a character of @len bytes. False: not all of them are there, or another encoding is shorter,
 * or there is none.
 */
static bool decode(const u8 *text, u32 room, u32 len, u32 *code)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	u32 n = len == 1 ? text[0] : text[0] & (0x7fu >> len), i;

	if (len > room)
		return false;
	for (i = 1; i < len; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return false;
		n = n << 6 | (text[i] & 0x3f);
	}
	*code = n;
	return n >= least[len] && n <= 0x10ffff && (n < 0xd800 || n > 0xdfff);
}

/* What moves a cursor, ends a line, or makes what is beside it stand in another order. */
static bool does_something(u32 code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

u32 xp_words_char(const char *text, u32 room)
{
	const u8 *at = (const u8 *)text;
	u32 len = room ? char_length(at[0]) : 0, code;

	return len && decode(at, room, len, &code) && !does_something(code) ? len : 0;
}

bool xp_words_clean(char *text, u32 room)
{
	bool cleaned = false;
	u32 i = 0, len;

	while (i + 1 < room && text[i]) {
		len = xp_words_char(text + i, room - 1 - i);
		if (!len) {
			text[i] = '?';
			cleaned = true;
		}
		i += len ? len : 1;
	}
	if (room && text[i]) {
		text[i] = '\0';
		cleaned = true;
	}
	return cleaned;
}

/* It can be given to any verb, and is a word of a shell. */
static bool clean_name(char *name)
{
	u32 i;

	if (xp_name_valid(name))
		return false;
	for (i = 0; i < XP_NAME_LEN - 1 && name[i]; i++)
		if (!fits_name(name[i]))
			name[i] = '_';
	memset(name + i, 0, XP_NAME_LEN - i);
	if (!begins_name(name[0]) || is_taken(name))
		name[0] = '_';
	return true;
}

bool xp_sb_clean(struct xp_sb *sb)
{
	bool cleaned = clean_name((char *)sb->name);

	cleaned |= xp_words_clean((char *)sb->slow.hwid, sizeof(sb->slow.hwid));
	cleaned |= xp_words_clean((char *)sb->slow.content, sizeof(sb->slow.content));
	cleaned |= xp_words_clean((char *)sb->slow.path, sizeof(sb->slow.path));
	return cleaned;
}
