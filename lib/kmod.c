// SPDX-License-Identifier: GPL-2.0-only
/* kmod.c - libkmod, loaded when a module is first to be; and modprobe where it is not there. */
#include "lib/kmod.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

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

int kmod_probe(const char *module)
{
	char *words[] = { "/sbin/modprobe", "-q", (char *)(uintptr_t)module, NULL };	/* udev has no PATH */
	int status, err;
	pid_t pid;

	err = posix_spawn(&pid, words[0], NULL, NULL, words, environ);
	if (err)
		return -err;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ENOENT;
}
