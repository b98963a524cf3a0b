// SPDX-License-Identifier: GPL-2.0-only
/* Which engine a cache is for: the one that --engine names, or the one that its devices and the user allow. */
#include "lib/engine_choice.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/remote.h"
#include "lib/user.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* What the kernel cannot have: files, remote disks, and whatever root alone may give it. */
static bool only_user(const char *fast, const char *slow)
{
	return is_file(fast) || is_file(slow) || (slow && is_remote(slow)) || geteuid() != 0;
}

static bool takes_user(bool ublk, const char *fast, const char *slow)
{
	if (ublk || only_user(fast, slow))
		return true;
	if (kernel_has_target() || !user_can_start())
		return false;
	printf("%s: the engine in user space runs it\n", kernel_no_target());
	return true;
}

enum xc engine_choose(const char *word, bool ublk, const char *fast, const char *slow, bool *user)
{
	if (!word)
		word = "auto";
	*user = !strcmp(word, "user");
	if (ublk && !strcmp(word, "kernel"))
		return complain(XC_USAGE, "--ublk", "give --engine user, or none", "the kernel's engine needs no such device");
	if (*user || !strcmp(word, "kernel"))
		return XC_OK;
	if (strcmp(word, "auto") != 0)
		return complain(XC_USAGE, "--engine", "kernel, user or auto", "there is no engine \"%s\"", word);
	*user = takes_user(ublk, fast, slow);
	return XC_OK;
}
