// SPDX-License-Identifier: GPL-2.0-only
/* kmod.c - libkmod, loaded when a module is first to be; and modprobe where it is not there. */
#include "lib/kmod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ERRNO_END	134	/* beyond the last of Linux */

struct kmod_calls libkmod;

static bool load(void)
{
	void *library = dlopen("libkmod.so.2", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return false;
#define KMOD_FIND(name) libkmod.name = (typeof(libkmod.name))dlsym(library, "kmod_" #name);
	KMOD_CALLS(KMOD_FIND)
#undef KMOD_FIND
#define KMOD_FOUND(name) && libkmod.name
	return true KMOD_CALLS(KMOD_FOUND);
#undef KMOD_FOUND
}

int kmod_load(void)
{
	static enum { NOT_YET, THERE, NOT_THERE } state;

	if (state == NOT_YET)
		state = load() ? THERE : NOT_THERE;
	return state == THERE ? 0 : -ELIBACC;
}

/* 0, or what ended it before it could say anything. */
static int modprobe(const char *module, int output, int *status)
{
	char *words[] = { "/sbin/modprobe", "-q", (char *)(uintptr_t)module, NULL };	/* udev has no PATH */
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	if (!err)
		err = posix_spawn(&pid, words[0], &actions, NULL, words, environ);
	posix_spawn_file_actions_destroy(&actions);
	while (!err && waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			err = errno;
	return -err;
}

/* "modprobe: ERROR: could not insert 'dm_xpcache': Key was rejected by service": of its last line. */
static int reason_of(char *words)
{
	const char *reason;
	char *end = words + strlen(words);

	while (end > words && end[-1] == '\n')
		*--end = '\0';
	reason = strrchr(words, ':');
	for (int err = 1; reason && err < ERRNO_END; err++)
		if (!strcmp(reason + 1 + (reason[1] == ' '), strerror(err)))
			return -err;
	return -EIO;
}

int kmod_probe(const char *module)
{
	int said[2], status = 0, err;
	char words[512];
	ssize_t n;

	if (pipe2(said, O_CLOEXEC | O_NONBLOCK))	/* no more is waited for than modprobe itself */
		return -errno;
	err = modprobe(module, said[1], &status);
	n = read(said[0], words, sizeof(words) - 1);
	close(said[0]);
	close(said[1]);
	if (err || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return err;
	if (WIFEXITED(status) && n <= 0)
		return -ENOENT;	/* by -q it says nothing of a module that is not there */
	words[n > 0 ? n : 0] = '\0';
	return reason_of(words);
}
