// SPDX-License-Identifier: GPL-2.0-only
/*
 * fstab of a system that moves onto a cache: lines that name the disk, or a partition of it, in a
 * way that the cache's own devices do not answer to, by path or by the partition table, name it by
 * the UUID of what it holds. That is right before and after. Where else such names stand it is only
 * said what to write.
 */
#include "boot/fstab.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define FSTAB	"/etc/fstab"
#define KEPT	".before-xpcache"
#define CRYPTTAB "/etc/crypttab"
#define RESUME	"/etc/initramfs-tools/conf.d/resume"

static const char *path_of(const struct fstab *f)
{
	return f->path ? f->path : FSTAB;
}

static void path_parallel(const struct fstab *f, const char *suffix, char *path, size_t len)
{
	snprintf(path, len, "%s%s", path_of(f), suffix);
}

/* ------------------------------------------------------------- one line ---- */

#define NAME_SIZE	128

/* Where the first field is; NULL: the line is a comment or empty. */
static const char *first_field(const char *line, size_t *len)
{
	const char *from = line + strspn(line, " \t");

	*len = strcspn(from, " \t\n");
	return *len && *from != '#' ? from : NULL;
}

/* "\040" is a blank, as in /proc/mounts. In place. */
static void decode(char *spec)
{
	char *to = spec;
	unsigned int byte;

	for (char *from = spec; *from; to++) {
		if (sscanf(from, "\\%3o", &byte) == 1 && strspn(from + 1, "01234567") >= 3) {
			*to = (char)byte;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

static bool on_disk(const char *node, dev_t disk)
{
	struct device d;
	bool on = !device_look(&d, node) && d.is_block && d.disk == disk;

	if (d.fd >= 0)
		device_close(&d);
	return on;
}

/* By UUID and LABEL udev finds the cache's device; by these it does not. */
static bool names_it_wrongly(const char *spec)
{
	return !strncmp(spec, "/dev/", 5) || !strncmp(spec, "PARTUUID=", 9) ||
	       !strncmp(spec, "PARTLABEL=", 10) || !strncmp(spec, "ID=", 3);
}

/* The new name instead of the @field of a line in @path, which is @spec; "": it may stay as it is. */
static enum xc new_name(const char *path, dev_t disk, const char *field, size_t len, char spec[PATH_MAX],
			char name[NAME_SIZE])
{
	char *node = NULL, *uuid = NULL;
	enum xc ret = XC_OK;

	*name = '\0';
	if (!field || len >= PATH_MAX)
		return XC_OK;
	snprintf(spec, PATH_MAX, "%.*s", (int)len, field);
	decode(spec);
	if (names_it_wrongly(spec))
		node = blkid_evaluate_spec(spec, NULL);
	if (node && on_disk(node, disk)) {
		uuid = blkid_get_tag_value(NULL, "UUID", node);
		if (uuid)
			snprintf(name, NAME_SIZE, "UUID=%s", uuid);
		else
			ret = complain(XC_REFUSED, path, "name it by UUID or LABEL there",
				       "%s is on the disk and has no UUID", spec);
	}
	free(uuid);
	free(node);
	return ret;
}

static enum xc change_line(struct fstab *f, const char *line, FILE *to)
{
	char spec[PATH_MAX], name[NAME_SIZE];
	size_t len = 0;
	const char *field = first_field(line, &len);
	enum xc ret = new_name(path_of(f), f->disk, field, len, spec, name);

	if (!*name) {
		fputs(line, to);
		return ret;
	}
	f->changes++;
	if (f->tell)
		printf("  %s: %s instead of %s\n", path_of(f), name, spec);
	fprintf(to, "%.*s%s%s", (int)(field - line), line, name, field + len);
	return ret;
}

/* The next line of a file of text. False: there is none, and *@err is 0; or why nobody knows. */
static bool next_line(FILE *from, char **line, size_t *room, int *err)
{
	ssize_t n;

	errno = 0;
	n = getline(line, room, from);
	if (n >= 0 && strlen(*line) == (size_t)n)
		return true;
	*err = n >= 0 ? -EILSEQ : feof(from) && !ferror(from) ? 0 : errno ? -errno : -EIO;
	return false;
}

static enum xc change_all(struct fstab *f, FILE *to)
{
	FILE *from = fopen(path_of(f), "re");
	enum xc ret = XC_OK;
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	if (!from)
		return complain_errno(errno, path_of(f), "cannot read it");
	while (!ret && next_line(from, &line, &room, &err))
		ret = change_line(f, line, to);
	if (err)
		ret = complain_errno(err, path_of(f), "cannot read it");
	free(line);
	fclose(from);
	return ret;
}

/* ------------------------------------------------------------ other files ---- */

static const char *second_field(const char *line, size_t *len)
{
	const char *first = first_field(line, len);

	return first ? first_field(first + *len, len) : NULL;
}

static const char *resume_from(const char *line, size_t *len)
{
	const char *from = line + strspn(line, " \t");

	if (strncmp(from, "RESUME=", 7) != 0)
		return NULL;
	from += 7 + strspn(from + 7, "\"'");
	*len = strcspn(from, "\"' \t\n");
	return from;
}

static enum xc check_other(const char *path, dev_t disk, const char *(*field_in)(const char *line, size_t *len))
{
	char spec[PATH_MAX], name[NAME_SIZE], todo[NAME_SIZE + 32], *line = NULL;
	FILE *from = fopen(path, "re");
	int err = from || errno == ENOENT ? 0 : -errno;
	enum xc ret = XC_OK;
	size_t room = 0;

	while (from && !ret && next_line(from, &line, &room, &err)) {
		size_t len = 0;
		const char *field = field_in(line, &len);

		ret = new_name(path, disk, field, len, spec, name);
		snprintf(todo, sizeof(todo), "write %s there", name);
		if (*name)
			ret = complain(XC_REFUSED, path, todo, "%s is on the disk, and has not that name on the cache",
				       spec);
	}
	if (err)
		ret = complain_errno(err, path, "cannot read it");
	free(line);
	if (from)
		fclose(from);
	return ret;
}

static enum xc check_others(const struct fstab *f)
{
	enum xc ret = check_other(f->crypttab ? f->crypttab : CRYPTTAB, f->disk, second_field);

	return ret ? ret : check_other(f->resume ? f->resume : RESUME, f->disk, resume_from);
}

/* -------------------------------------------------------------- the file ---- */

enum xc fstab_look(struct fstab *f)
{
	FILE *nowhere = fopen("/dev/null", "we");
	enum xc ret;

	if (!nowhere)
		return complain_errno(errno, "/dev/null", "cannot open it");
	f->changes = 0;
	ret = change_all(f, nowhere);
	fclose(nowhere);
	return ret ? ret : check_others(f);
}

static enum xc write_new(struct fstab *f, const char *fresh)
{
	struct stat st;
	FILE *to;
	enum xc ret;

	if (stat(path_of(f), &st))
		return complain_errno(errno, path_of(f), "cannot read it");
	to = fopen(fresh, "we");
	if (!to)
		return complain_errno(errno, fresh, "cannot write it");
	ret = change_all(f, to);
	if (!ret && (fchmod(fileno(to), st.st_mode & 07777) || fflush(to) || ferror(to) || fsync(fileno(to))))
		ret = complain_errno(errno, fresh, "cannot write it");
	fclose(to);
	return ret;
}

enum xc fstab_change(struct fstab *f)
{
	char fresh[PATH_MAX], kept[PATH_MAX];
	enum xc ret;

	path_parallel(f, ".new", fresh, sizeof(fresh));
	path_parallel(f, KEPT, kept, sizeof(kept));
	f->changes = 0;
	ret = write_new(f, fresh);
	if (ret || !f->changes) {
		unlink(fresh);
		return ret;
	}
	unlink(kept);
	if (link(path_of(f), kept) || rename(fresh, path_of(f))) {
		ret = complain_errno(errno, path_of(f), "cannot replace it");
		unlink(fresh);
		unlink(kept);
	}
	return ret;
}

/* ------------------------------------------------------------- and back ---- */

/* Of two lines, or the ends of two files. */
static bool same_but_name(const char *was, const char *is)
{
	size_t was_len = 0, is_len = 0;
	const char *a, *b;

	if (!was || !is)
		return was == is;
	if (!strcmp(was, is))
		return true;
	a = first_field(was, &was_len);
	b = first_field(is, &is_len);
	return a && b && !strncmp(b, "UUID=", 5) && !strcmp(a + was_len, b + is_len);
}

static bool same_but_names(FILE *was, FILE *is)
{
	char *a = NULL, *b = NULL;
	size_t a_room = 0, b_room = 0;
	bool same = true, more = true;
	int err = 0;

	while (same && more) {
		bool has_a = next_line(was, &a, &a_room, &err), has_b = !err && next_line(is, &b, &b_room, &err);

		same = !err && same_but_name(has_a ? a : NULL, has_b ? b : NULL);
		more = has_a;
	}
	free(a);
	free(b);
	return same;
}

static bool unedited(const char *kept, const char *path)
{
	FILE *was = fopen(kept, "re"), *is = fopen(path, "re");
	bool same = was && is && same_but_names(was, is);

	if (was)
		fclose(was);
	if (is)
		fclose(is);
	return same;
}

void fstab_restore(const struct fstab *f)
{
	char kept[PATH_MAX];

	path_parallel(f, KEPT, kept, sizeof(kept));
	if (access(kept, F_OK))
		return;
	if (!unedited(kept, path_of(f)))
		printf("%s: it was changed since, so it stays, and is right; as it was before: %s\n", path_of(f), kept);
	else if (rename(kept, path_of(f)))
		complain_errno(errno, kept, "cannot put it back");
}
