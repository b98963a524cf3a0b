// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_output.c - the files that bench writes, and what it never writes over.
 *
 * A result goes to a new file beside its own, which takes its place once it is on the disk:
 * a full disk or a power cut leaves the older one. A device, or what is measured, is no
 * place for a result, whatever name it is given by.
 */
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_html.h"
#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ----------------------------------------------------------- where ---- */

static bool is_measured(const struct bench *b, const struct stat *st)
{
	for (u32 i = 0; i < b->nr_targets; i++) {
		const struct device *d = &b->target[i].dev;

		if (!d->is_block && d->dev == st->st_dev && d->ino == st->st_ino)
			return true;
	}
	return false;
}

static enum xc check_found(const struct bench *b, const char *path, const struct stat *st)
{
	char who[PATH_MAX];

	if (S_ISCHR(st->st_mode) || S_ISFIFO(st->st_mode))
		return XC_OK;
	if (!S_ISREG(st->st_mode))
		return complain(XC_REFUSED, path, "give a file for the result", "not a file");
	if (is_measured(b, st))
		return complain(XC_REFUSED, path, "give another file for the result",
				"this is what is to be measured");
	if (claim_loop(st->st_dev, st->st_ino, who, sizeof(who)))
		return complain(XC_REFUSED, path, "give another file for the result", "in use, %s", who);
	return XC_OK;
}

static enum xc check(const struct bench *b, const char *path)
{
	struct stat st;

	if (!stat(path, &st))
		return check_found(b, path, &st);
	return errno == ENOENT ? XC_OK : complain_errno(errno, path, "cannot write there");
}

bool bench_output_is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISREG(st.st_mode);
}

/* ------------------------------------------------------ a new file ---- */

/* Where a link leads, so that it stays one. */
static void real_path(const char *path, char real[PATH_MAX])
{
	if (!realpath(path, real))
		snprintf(real, PATH_MAX, "%s", path);
}

/* What another session left there unfinished goes; anything else is somebody's. */
static enum xc open_fresh(const struct bench *b, const char *fresh, int *fd)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	enum xc ret;

	*fd = -1;
	if (!lstat(fresh, &st)) {
		if (!S_ISREG(st.st_mode))
			return complain(XC_REFUSED, fresh, "remove it, or give another file for the result",
					"the result is written there first, but it is no file");
		ret = check_found(b, fresh, &st);
		if (ret)
			return ret;
		unlink(fresh);
	}
	*fd = open(fresh, flags, 0666);
	return *fd < 0 ? complain_errno(errno, fresh, "cannot write there") : XC_OK;
}

enum xc bench_output_ready(const struct bench *b, const char *path)
{
	char real[PATH_MAX], fresh[PATH_MAX + 8];
	enum xc ret = check(b, path);
	int fd;

	if (ret || !bench_output_is_file(path))
		return ret;
	real_path(path, real);
	snprintf(fresh, sizeof(fresh), "%s.new", real);
	ret = open_fresh(b, fresh, &fd);
	if (fd < 0)
		return ret;
	close(fd);
	unlink(fresh);
	return XC_OK;
}

/* --------------------------------------------------------- writing ---- */

static int print_to(struct json_object *result, enum bench_form form, FILE *f)
{
	return form == BENCH_PAGE ? bench_html(result, f) : bench_result_print(result, form, f);
}

/* The folder's own entry, so that what is removed afterwards is not missed. */
static void sync_folder(char *path)
{
	int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

static int print_and_sync(struct json_object *result, enum bench_form form, int fd)
{
	FILE *f = fdopen(fd, "w");
	int err;

	if (!f) {
		err = -errno;
		close(fd);
		return err;
	}
	err = print_to(result, form, f);
	if (!err && fsync(fd))
		err = -errno;
	if (fclose(f) && !err)
		err = -errno;
	return err;
}

static enum xc write_file(const struct bench *b, struct json_object *result, enum bench_form form,
			  const char *path)
{
	char real[PATH_MAX], fresh[PATH_MAX + 8];
	struct stat st;
	enum xc ret;
	int fd, err;

	real_path(path, real);
	snprintf(fresh, sizeof(fresh), "%s.new", real);
	ret = open_fresh(b, fresh, &fd);
	if (fd < 0)
		return ret;
	if (!stat(real, &st))
		fchmod(fd, st.st_mode & 0777);
	err = print_and_sync(result, form, fd);
	if (!err && rename(fresh, real))
		err = -errno;
	if (err) {
		unlink(fresh);
		return complain_errno(err, path, "cannot write");
	}
	sync_folder(real);
	return XC_OK;
}

/* A terminal, a pipe: there is nothing to replace. */
static enum xc write_through(struct json_object *result, enum bench_form form, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;
	struct stat st;
	FILE *f;

	if (fd < 0)
		return complain_errno(errno, path, "cannot write");
	if (fstat(fd, &st) || !(S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))) {
		close(fd);
		return complain(XC_REFUSED, path, "give a file for the result", "it has become another");
	}
	f = fdopen(fd, "w");
	err = f ? print_to(result, form, f) : -errno;
	if ((f ? fclose(f) : close(fd)) && !err)
		err = -errno;
	return err ? complain_errno(err, path, "cannot write") : XC_OK;
}

enum xc bench_output_write(const struct bench *b, struct json_object *result, enum bench_form form,
			   const char *path)
{
	enum xc ret;
	int err;

	if (!path) {
		err = print_to(result, form, stdout);
		return err ? complain_errno(err, "stdout", "cannot write") : XC_OK;
	}
	ret = check(b, path);
	if (ret)
		return ret;
	return bench_output_is_file(path) ? write_file(b, result, form, path) :
					    write_through(result, form, path);
}
