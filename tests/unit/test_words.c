// SPDX-License-Identifier: GPL-2.0-only
/* What of others' text is shown, and what a cache may be called. */
#include "fixture.h"
#include "superblock.h"
#include "words.h"

#define BLOCKS 8192u

static const char *cleaned(const char *text)
{
	static char buf[128];
	bool changed;

	snprintf(buf, sizeof(buf), "%s", text);
	changed = xp_words_clean(buf, sizeof(buf));
	assert_int_equal(changed, strcmp(buf, text) != 0);
	return buf;
}

static void what_prints_stays(void **state)
{
	static const char *const kept[] = {
		"", "Samsung SSD 980 PRO", "/dev/disk/by-id/x", "\"<&>'\\%n$(x)`", "langsam-\xc3\xa9", "\xe7\xa3\x81\xe7\x9b\x98",
		"\xf0\x9f\x92\xbe", "\xc2\xa0", "\xed\x9f\xbf\xee\x80\x80", "\xf4\x8f\xbf\xbf", "\xe2\x80\x94", "\xd9\x85",
	};

	(void)state;
	for (u32 i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_string_equal(cleaned(kept[i]), kept[i]);
}

static void what_does_something_goes(void **state)
{
	(void)state;
	for (int i = 1; i < 0x20; i++)
		assert_string_equal(cleaned((char[]){ 'a', (char)i, 'b', 0 }), "a?b");
	assert_string_equal(cleaned("\x7f"), "?");
	for (int i = 0x80; i < 0xa0; i++) {	/* C1, as UTF-8 and as a byte */
		assert_string_equal(cleaned((char[]){ '\xc2', (char)i, 'b', 0 }), "??b");
		assert_string_equal(cleaned((char[]){ (char)i, 'b', 0 }), "?b");
	}
	assert_string_equal(cleaned("\x1b]0;owned\a\x1b[2Jx\n"), "?]0;owned??[2Jx?");
	assert_string_equal(cleaned("\xd8\x9cx"), "??x");	/* U+061C */
	for (int i = 0x8e; i <= 0x8f; i++)	/* marks */
		assert_string_equal(cleaned((char[]){ '\xe2', '\x80', (char)i, 0 }), "???");
	for (int i = 0xa8; i <= 0xae; i++)	/* ends of lines, embeddings, overrides */
		assert_string_equal(cleaned((char[]){ '\xe2', '\x80', (char)i, 0 }), "???");
	for (int i = 0xa6; i <= 0xa9; i++)	/* isolates */
		assert_string_equal(cleaned((char[]){ '\xe2', '\x81', (char)i, 0 }), "???");
}

static void what_is_no_utf8_goes(void **state)
{
	static const struct {
		const char *text, *shown;
	} bad[] = {
		{ "slow\xe4", "slow?" }, { "\xff\xfe", "??" }, { "\xc0\x8a", "??" }, { "\xc1\xbf", "??" },
		{ "\xe0\x80\x8a", "???" }, { "\xe0\x9f\xbf", "???" }, { "\xed\xa0\x80", "???" }, { "\xed\xbf\xbf", "???" },
		{ "\xf0\x80\x80\x8a", "????" }, { "\xf0\x8f\xbf\xbf", "????" }, { "\xf4\x90\x80\x80", "????" }, { "\xf5\x80\x80\x80", "????" },
		{ "\xc3", "?" }, { "\xe7\xa3", "??" }, { "\xf0\x9f\x92", "???" }, { "\xc3x", "?x" }, { "\xe7\xa3x", "??x" },
		{ "\xc3\xc3\xa9", "?\xc3\xa9" }, { "\x80\xbf", "??" },
	};

	(void)state;
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_string_equal(cleaned(bad[i].text), bad[i].shown);
}

/* A field without a NUL, or with half a character at its end. */
static void it_ends_within_its_room(void **state)
{
	char field[8];

	(void)state;
	memcpy(field, "12345678", 8);
	assert_true(xp_words_clean(field, 8));
	assert_string_equal(field, "1234567");
	memcpy(field, "12345\xc3\xa9\xe7", 8);
	assert_true(xp_words_clean(field, 8));
	assert_string_equal(field, "12345\xc3\xa9");
	memcpy(field, "123456\xc3\xa9", 8);
	assert_true(xp_words_clean(field, 8));
	assert_string_equal(field, "123456?");
	memcpy(field, "1\x00\x1b", 3);
	assert_false(xp_words_clean(field, 8));
	assert_int_equal(field[2], 0x1b);	/* behind the end nobody reads */
	field[0] = 'x';
	assert_true(xp_words_clean(field, 1));
	assert_string_equal(field, "");
	assert_false(xp_words_clean(field, 0));
}

/* From any bytes comes what comes out as it goes in. */
static void whatever_comes_is_clean(void **state)
{
	u64 x = 88172645463325252ull;
	char field[24];

	(void)state;
	for (u32 n = 0; n < 200000; n++) {
		for (u32 i = 0; i < sizeof(field); i++) {
			static const u8 often[] = { 0xc2, 0xe2, 0x80, 0x81, 0xae, 0xf0, 0x9f, 0x1b };

			x ^= x << 13; x ^= x >> 7; x ^= x << 17;
			field[i] = (char)(x & 0x100 ? often[x & 7] : x & 0xff);
		}
		xp_words_clean(field, sizeof(field));
		assert_false(xp_words_clean(field, sizeof(field)));
		for (u32 i = 0; field[i]; i++)
			assert_true((u8)field[i] >= 0x20 && field[i] != 0x7f);
	}
}

static void names(void **state)
{
	static const char *const good[] = { "a", "xpcache0", "A.b_c-9", "_", "1234567890123456789012345678901", "controls" };
	static const char *const bad[] = { "", "-a", ".a", "..", "a/b", "a b", "a\n", "control", "\xc3\xa9", "12345678901234567890123456789012" };

	(void)state;
	for (u32 i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(xp_name_valid(good[i]));
	for (u32 i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(xp_name_valid(bad[i]));
}

/* A superblock of this name, sealed, as it is read. */
static void read_named(const char name[XP_NAME_LEN], const char *shown)
{
	static struct fixture f;
	struct xp_sb sb;

	fixture_setup(&f, BLOCKS, 100000);
	memcpy(f.sb.name, name, XP_NAME_LEN);
	memset(f.sb.slow.path, 0x1b, sizeof(f.sb.slow.path));
	memset(f.sb.slow.hwid, '\n', sizeof(f.sb.slow.hwid));
	memset(f.sb.slow.content, 0x9b, sizeof(f.sb.slow.content));
	xp_sb_write(&f.media, &f.sb);
	assert_int_equal(xp_sb_read(&f.media, BLOCKS, &sb, &f.msg), 0);
	assert_string_equal((char *)sb.name, shown);
	assert_true(xp_name_valid((char *)sb.name));
	assert_int_equal(strspn((char *)sb.slow.path, "?"), sizeof(sb.slow.path) - 1);
	assert_int_equal(strspn((char *)sb.slow.hwid, "?"), sizeof(sb.slow.hwid) - 1);
	assert_int_equal(strspn((char *)sb.slow.content, "?"), sizeof(sb.slow.content) - 1);
	assert_false(xp_sb_clean(&sb));
	fixture_teardown(&f);
}

static void a_superblock_is_clean_and_opens(void **state)
{
	(void)state;
	read_named("archive\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "archive");
	read_named("\x1b]0;owned\a\x1b[2J../../x\n\0\0\0\0\0\0\0\0\0\0", "__0_owned___2J.._.._x_");
	read_named("-rf\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "_rf");
	read_named("..\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "_.");
	read_named("control\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "_ontrol");
	read_named("\0\x1b[2J behind the end\0\0\0\0\0\0\0\0\0\0\0", "_");
	read_named("12345678901234567890123456789012", "1234567890123456789012345678901");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_prints_stays),
		cmocka_unit_test(what_does_something_goes),
		cmocka_unit_test(what_is_no_utf8_goes),
		cmocka_unit_test(it_ends_within_its_room),
		cmocka_unit_test(whatever_comes_is_clean),
		cmocka_unit_test(names),
		cmocka_unit_test(a_superblock_is_clean_and_opens),
	};

	return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}
