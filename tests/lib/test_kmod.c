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
static const char *instead;	/* what a shell does in its place; NULL: it is not there */

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
	char shell[] = "/bin/sh", option[] = "-c", script[256];
	char *const words[] = { shell, option, script, NULL };

	assert_string_equal(path, argv[0]);
	assert_null(argv[3]);
	snprintf(called, sizeof(called), "%s %s %s", argv[0], argv[1], argv[2]);
	if (!instead)
		return ENOENT;
	snprintf(script, sizeof(script), "%s", instead);
	return __real_posix_spawn(pid, shell, actions, attributes, words, envp);
}

static void modprobe_in_its_place(void **state)
{
	(void)state;
	assert_int_equal(kmod_load(), -ELIBACC);
	instead = "echo modprobe: WARNING: an old name >&2";
	assert_int_equal(kernel_load("a-module"), 0);
	assert_string_equal(called, "/sbin/modprobe -q a-module");
	instead = "exit 1";
	assert_int_equal(kernel_load("another"), -ENOENT);
	assert_string_equal(called, "/sbin/modprobe -q another");
	instead = NULL;
	assert_int_equal(kernel_load("another"), -ENOENT);
}

/* As modprobe of kmod and of busybox say it. */
static void its_reason_is_told(void **state)
{
	static const struct {
		const char *script;
		int err;
	} t[] = {
		{ "echo \"modprobe: ERROR: could not insert 'dm_xpcache': Key was rejected by service\" >&2; exit 1", -EKEYREJECTED },
		{ "echo \"modprobe: ERROR: could not insert 'dm_xpcache': Operation not permitted\" >&2; exit 1", -EPERM },
		{ "echo \"modprobe: can't load module dm-xpcache (extra/dm-xpcache.ko): Exec format error\" >&2; exit 1", -ENOEXEC },
		{ "echo 'modprobe: WARNING: an old name' >&2; echo 'modprobe: ERROR: x: Cannot allocate memory' >&2; exit 1", -ENOMEM },
		{ "echo 'modprobe: ERROR: no idea' >&2; exit 1", -EIO },
		{ "echo >&2; exit 1", -EIO },
		{ "kill -KILL $$", -EIO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		instead = t[i].script;
		assert_int_equal(kernel_load("a-module"), t[i].err);
	}
}

/* What it prints comes in addition to a complaint of one line. */
static void it_prints_nothing(void **state)
{
	FILE *printed = tmpfile();
	int err_fd = dup(STDERR_FILENO);

	(void)state;
	assert_true(printed && err_fd >= 0);
	assert_int_equal(dup2(fileno(printed), STDERR_FILENO), STDERR_FILENO);
	instead = "echo modprobe: ERROR: no idea >&2; exit 1";
	kernel_load("a-module");
	dup2(err_fd, STDERR_FILENO);
	close(err_fd);
	fseek(printed, 0, SEEK_END);
	assert_int_equal(ftell(printed), 0);
	fclose(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modprobe_in_its_place),
		cmocka_unit_test(its_reason_is_told),
		cmocka_unit_test(it_prints_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
