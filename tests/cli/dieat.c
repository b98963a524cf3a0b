// SPDX-License-Identifier: GPL-2.0-only
/*
 * dieat - preloaded: the program is killed before its n-th write to a file,
 * n being DIEAT; or, with DIEAT_SIGNAL, gets that signal and goes on. With
 * DIEAT_OF only the program of that name, and not what it starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t at)
{
	static ssize_t (*next)(int, const void *, size_t, off64_t);
	static int n;
	const char *die = getenv("DIEAT"), *sig = getenv("DIEAT_SIGNAL"), *of = getenv("DIEAT_OF");

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pwrite64");
	if (of && strcmp(of, program_invocation_short_name) != 0)
		die = NULL;
	if (die && ++n == atoi(die))
		kill(getpid(), sig ? atoi(sig) : SIGKILL);
	return next(fd, buf, len, at);
}
