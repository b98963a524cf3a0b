// SPDX-License-Identifier: GPL-2.0-only
/* test_json.c - a file is JSON if all of it is one value, however its bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/json.h"
#include "platform.h"

static struct json_object *load(const void *text, size_t len)
{
	char path[] = "/tmp/xpcache-json-XXXXXX";
	int fd = mkstemp(path);
	struct json_object *value;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), len);
	close(fd);
	errno = EINTR;
	value = json_load(path);
	unlink(path);
	return value;
}

static void is_json(const char *text, size_t len)
{
	struct json_object *value = load(text, len);

	assert_non_null(value);
	json_object_put(value);
}

static void is_none(const void *text, size_t len)
{
	assert_null(load(text, len));
	assert_int_equal(errno, 0);
}

#define TEXT(text)	text, strlen(text)

static void one_value(void **state)
{
	(void)state;
	is_json(TEXT("{}"));
	is_json(TEXT(" [ 1, 2 ]\n\n\t "));
	is_none(TEXT(""));
	is_none(TEXT("\n"));
	is_none(TEXT("{"));
	is_none(TEXT("{} {}"));
	is_none(TEXT("{}x"));
	is_none(TEXT("[ 1 ]\n}"));
	is_none("{}\0", 3);
}

/* What is on a disk begins with a digit one time in twenty. */
static void bytes(void **state)
{
	unsigned char disk[512];

	(void)state;
	for (unsigned int first = 0; first < 256; first++) {
		memset(disk, 0xc3, sizeof(disk));
		disk[0] = (unsigned char)first;
		is_none(disk, sizeof(disk));
	}
}

/* The value, and what is behind it, lie across what is read at once. */
static void long_ones(void **state)
{
	const size_t max = (1 << 15) + 2;
	char *text = malloc(max);

	(void)state;
	assert_non_null(text);
	for (size_t len = (1 << 14) - 2; len <= max; len += len == (1 << 14) + 2 ? (1 << 14) - 4 : 1) {
		memset(text, 'x', len);
		memcpy(text, "[\"", 2);
		memcpy(text + len - 2, "\"]", 2);
		is_json(text, len);
		memset(text, ' ', len);
		memcpy(text, "[]", 2);
		is_json(text, len);
		text[len - 1] = '0';
		is_none(text, len);
	}
	free(text);
}

static void unreadable(void **state)
{
	(void)state;
	assert_null(json_load("/nonexistent/file"));
	assert_int_equal(errno, ENOENT);
	assert_null(json_load("/"));
	assert_int_equal(errno, EISDIR);
}

/* Whoever has written them. */
static void texts_are_clean(void **state)
{
	static const char words[] = "{\"a\": [\"\\u001b[2J\\nx\", {\"b\": \"\\u009b\\u202e\\u0000 behind\"}], \"c\": \"\xc3\xa9\"}";
	struct json_object *o = load(words, strlen(words)), *a, *b;

	(void)state;
	assert_non_null(o);
	a = json_object_object_get(o, "a");
	assert_string_equal(json_object_get_string(json_object_array_get_idx(a, 0)), "?[2J?x");
	b = json_object_object_get(json_object_array_get_idx(a, 1), "b");
	assert_string_equal(json_object_get_string(b), "?????");
	assert_string_equal(json_object_get_string(json_object_object_get(o, "c")), "\xc3\xa9");
	json_object_put(o);
	o = json_words("/dev/\x1b\xff\xc3\xa9");
	assert_string_equal(json_object_get_string(o), "/dev/??\xc3\xa9");
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value),
		cmocka_unit_test(bytes),
		cmocka_unit_test(long_ones),
		cmocka_unit_test(unreadable),
		cmocka_unit_test(texts_are_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
