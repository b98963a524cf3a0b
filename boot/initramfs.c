// SPDX-License-Identifier: GPL-2.0-only
/* Who makes the initramfs of this system, and to have it made again. */
#include "boot/initramfs.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/known.h"
#include "lib/user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define DPKG_LOCK	"/var/lib/dpkg/lock-frontend"

static const struct maker {
	const char *program;
	const char *ours;		/* of the package: without it it would forget the cache */
	const char *const args[8];
	const char *packages;		/* what a front end of the package manager locks */
} makers[] = {
	{ "/usr/sbin/update-initramfs", "/usr/share/initramfs-tools/hooks/xpcache",
	  { "update-initramfs", "-u", "-k", "all", NULL }, DPKG_LOCK },
	{ "/usr/bin/dracut", "/usr/lib/dracut/modules.d/90xpcache/module-setup.sh",
	  { "dracut", "--force", "--regenerate-all", NULL }, DPKG_LOCK },
};

/* The tests have one of their own. */
static const struct maker *other_maker(void)
{
	static struct maker other = { .args = { "update-initramfs", "-u", "-k", "all", NULL } };

	other.program = getenv("XPCACHE_INITRAMFS");
	other.packages = getenv("XPCACHE_PACKAGES_LOCK");
	return other.program ? &other : NULL;
}

static const struct maker *maker_here(void)
{
	if (other_maker())
		return other_maker();
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (!access(makers[i].program, X_OK) && !access(makers[i].ours, F_OK))
			return &makers[i];
	return NULL;
}

enum xc initramfs_check(void)
{
	if (maker_here())
		return XC_OK;
	return complain(XC_REFUSED, "initramfs",
			"install the package xpcache, and initramfs-tools or dracut",
			"nothing here would put the cache into it");
}

/* By scripts/local-top/xpcache; others have an update-initramfs too. */
bool initramfs_restores(void)
{
	const struct maker *m = maker_here();

	return m && (m == other_maker() ||
		     (m == &makers[0] && !access("/usr/share/initramfs-tools/scripts/functions", F_OK)));
}

static struct locks {
	bool taken;
	int ours, packages;
} locks = { false, -1, -1 };

static int run(const struct maker *m)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		fcntl(locks.ours, F_SETFD, 0);		/* it goes on if we are killed */
		fcntl(locks.packages, F_SETFD, 0);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv(m->program, (char *const *)m->args);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

bool initramfs_refreshes(void)
{
	return maker_here() && (!known_elsewhere() || other_maker());
}

enum xc initramfs_refresh(void)
{
	if (!initramfs_refreshes())
		return XC_OK;
	printf("the initramfs is made again: it is to know which disks are not to be used alone\n");
	return initramfs_make();
}

static void lock_ours(void)
{
	char path[PATH_MAX];

	mkdir(user_directory(), 0700);
	snprintf(path, sizeof(path), "%s/initramfs.lock", user_directory());
	locks.ours = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (locks.ours < 0 || !flock(locks.ours, LOCK_EX | LOCK_NB))
		return;
	printf("another xpcache makes the initramfs; it is waited for\n");
	fflush(stdout);
	while (flock(locks.ours, LOCK_EX) && errno == EINTR)
		;
}

/*
 * A kernel that is installed meanwhile has an initramfs made for it, and one whose records were read
 * before they changed could come after ours. dpkg takes us for one more front end of it.
 */
static void lock_packages(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	locks.packages = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	if (locks.packages < 0 || !fcntl(locks.packages, F_OFD_SETLK, &whole) || (errno != EAGAIN && errno != EACCES))
		return;
	printf("packages are being installed, or may be; that is waited for: another program has locked %s\n", path);
	fflush(stdout);
	while (fcntl(locks.packages, F_OFD_SETLKW, &whole) && errno == EINTR)
		;
}

/* By dpkg, or by a front end that has its lock: they keep others out. */
static bool called_by_dpkg(void)
{
	static const char *const says[] = { "DPKG_MAINTSCRIPT_PACKAGE", "DPKG_FRONTEND_LOCKED", "DPKG_HOOK_ACTION",
					    "DPKG_SHELL_REASON" };

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (getenv(says[i]))
			return true;
	return false;
}

/* Once: by a second descriptor it would wait for itself. */
void initramfs_lock(void)
{
	const struct maker *m = maker_here();

	if (locks.taken || called_by_dpkg())
		return;
	locks.taken = true;
	lock_ours();
	lock_packages(m ? m->packages : NULL);
}

void initramfs_unlock(void)
{
	if (locks.ours >= 0)
		close(locks.ours);
	if (locks.packages >= 0)
		close(locks.packages);
	locks = (struct locks){ false, -1, -1 };
}

void initramfs_lock_to_refresh(void)
{
	if (initramfs_refreshes())
		initramfs_lock();
}

enum xc initramfs_make(void)
{
	const struct maker *m = maker_here();
	int status;

	if (!m)
		return initramfs_check();
	fflush(stdout);
	initramfs_lock();
	status = run(m);
	if (!status)
		return XC_OK;
	return complain(XC_FAILED, m->program, "its own words are above", "the initramfs could not be made, status %d",
			WIFEXITED(status) ? WEXITSTATUS(status) : status);
}
