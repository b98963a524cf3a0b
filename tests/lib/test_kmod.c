// SPDX-License-Identifier: GPL-2.0-only
/* test_kmod.c - where libkmod is not, modprobe loads a module: neither is this machine's here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lib/kernel.h"
#include "lib/kmod.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char called[128];
static char *instead;		/* what runs in its place */

void *__wrap_dlopen(const char *name, int flags);
int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);
int __real_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);

void *__wrap_dlopen(const char *name, int flags)
{
	(void)flags;
	assert_string_equal(name, "libkmod.so.2");
	return NULL;
}

int __wrap_posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
	char *const words[] = { instead, NULL };

	assert_string_equal(path, argv[0]);
	assert_null(argv[3]);
	snprintf(called, sizeof(called), "%s %s %s", argv[0], argv[1], argv[2]);
	return instead ? __real_posix_spawn(pid, instead, actions, attributes, words, envp) : ENOENT;
}

static void modprobe_in_its_place(void **state)
{
	char true_path[] = "/bin/true", false_path[] = "/bin/false";

	(void)state;
	assert_int_equal(kmod_load(), -ELIBACC);
	instead = true_path;
	assert_int_equal(kernel_load("a-module"), 0);
	assert_string_equal(called, "/sbin/modprobe -q a-module");
	instead = false_path;
	assert_int_equal(kernel_load("another"), -ENOENT);
	assert_string_equal(called, "/sbin/modprobe -q another");
	instead = NULL;
	assert_int_equal(kernel_load("another"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modprobe_in_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
