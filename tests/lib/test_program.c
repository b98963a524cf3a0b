// SPDX-License-Identifier: GPL-2.0-only
/* test_program.c - where the program of a verb is looked for. No file is; what is there the tests say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define INSTALLED	XPCACHE_PROGRAMDIR "/xpcache-verb"

static const char *self;		/* NULL: no /proc tells it */
static const char *there[2];		/* the files that are */
static char become[256];

ssize_t __wrap_readlink(const char *path, char *to, size_t room);
int __wrap_access(const char *path, int mode);
int __wrap_execv(const char *path, char *const argv[]);

ssize_t __wrap_readlink(const char *path, char *to, size_t room)
{
	assert_string_equal(path, "/proc/self/exe");
	if (!self) {
		errno = ENOENT;
		return -1;
	}
	assert_true(strlen(self) < room);
	memcpy(to, self, strlen(self));
	return (ssize_t)strlen(self);
}

int __wrap_access(const char *path, int mode)
{
	assert_int_equal(mode, X_OK);
	for (size_t i = 0; i < sizeof(there) / sizeof(*there); i++)
		if (there[i] && !strcmp(path, there[i]))
			return 0;
	errno = ENOENT;
	return -1;
}

int __wrap_execv(const char *path, char *const argv[])
{
	snprintf(become, sizeof(become), "%s %s %s", path, argv[1], argv[2]);
	assert_null(argv[3]);
	errno = ENOEXEC;
	return -1;
}

/* What runs instead of a program at @from; "": nothing is found. */
static const char *program_of(const char *from, const char *file, const char *other)
{
	char verb[] = "verb", word[] = "word", *argv[] = { verb, word };

	self = from;
	there[0] = file;
	there[1] = other;
	*become = '\0';
	assert_int_equal(program_run("xpcache-verb", 2, argv), XC_FAILED);
	return become;
}

static void beside_it(void **state)
{
	(void)state;
	assert_string_equal(program_of("/a/build/xpcache", "/a/build/xpcache-verb", INSTALLED), "/a/build/xpcache-verb verb word");
}

static void below_its_prefix(void **state)
{
	(void)state;
	assert_string_equal(program_of("/a/sbin/xpcache", "/a/sbin/../libexec/xpcache/xpcache-verb", INSTALLED),
			    "/a/sbin/../libexec/xpcache/xpcache-verb verb word");
	assert_string_equal(program_of("/a/sbin/xpcache", "/a/sbin/../lib/xpcache/xpcache-verb", INSTALLED),
			    "/a/sbin/../lib/xpcache/xpcache-verb verb word");
}

static void where_make_installs_it(void **state)
{
	(void)state;
	assert_string_equal(program_of("/elsewhere/xpcache", INSTALLED, NULL), INSTALLED " verb word");
	assert_string_equal(program_of(NULL, INSTALLED, "xpcache-verb"), INSTALLED " verb word");
}

/* Not in the folder that the caller happens to be in. */
static void nowhere_else(void **state)
{
	(void)state;
	assert_string_equal(program_of("/elsewhere/xpcache", "xpcache-verb", "/a/build/xpcache-verb"), "");
	assert_string_equal(program_of(NULL, "xpcache-verb", "../lib/xpcache/xpcache-verb"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beside_it),
		cmocka_unit_test(below_its_prefix),
		cmocka_unit_test(where_make_installs_it),
		cmocka_unit_test(nowhere_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
