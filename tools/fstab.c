// SPDX-License-Identifier: GPL-2.0-only
/*
 * fstab of a system that moves onto a cache: lines that name the disk, or a partition of it, in a
 * way that the cache's own devices do not answer to, by path or by the partition table, name it by
 * the UUID of what it holds. That is right before and after.
 */
#include "fstab.h"

#include <blkid/blkid.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FSTAB	"/etc/fstab"
#define KEPT	"/etc/fstab.before-xpcache"

/* ------------------------------------------------------------- one line ---- */

/* Where the first field is; NULL: the line is a comment or empty. */
static const char *first_field(const char *line, size_t *len)
{
	const char *from = line + strspn(line, " \t");

	*len = strcspn(from, " \t\n");
	return *len && *from != '#' ? from : NULL;
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

/* The new first field; "": the line may stay as it is. */
static enum xc new_name(const char *spec, dev_t disk, char *name, size_t len)
{
	char *node = names_it_wrongly(spec) ? blkid_evaluate_spec(spec, NULL) : NULL;
	char *uuid = NULL;
	enum xc ret = XC_OK;

	*name = '\0';
	if (node && on_disk(node, disk)) {
		uuid = blkid_get_tag_value(NULL, "UUID", node);
		if (uuid)
			snprintf(name, len, "UUID=%s", uuid);
		else
			ret = complain(XC_REFUSED, FSTAB, "name it by UUID or LABEL there",
				       "%s is on the disk and has no UUID", spec);
	}
	free(uuid);
	free(node);
	return ret;
}

static enum xc change_line(struct fstab *f, const char *line, FILE *to)
{
	char spec[PATH_MAX], name[128] = "";
	enum xc ret = XC_OK;
	size_t len = 0;
	const char *field = first_field(line, &len);

	if (field && len < sizeof(spec)) {
		snprintf(spec, sizeof(spec), "%.*s", (int)len, field);
		ret = new_name(spec, f->disk, name, sizeof(name));
	}
	if (!*name) {
		fputs(line, to);
		return ret;
	}
	f->changes++;
	if (f->tell)
		printf("  %s: %s instead of %s\n", FSTAB, name, spec);
	fprintf(to, "%.*s%s%s", (int)(field - line), line, name, field + len);
	return ret;
}

static enum xc change_all(struct fstab *f, FILE *to)
{
	FILE *from = fopen(FSTAB, "re");
	enum xc ret = XC_OK;
	char *line = NULL;
	size_t room = 0;

	if (!from)
		return complain_errno(errno, FSTAB, "cannot read it");
	while (!ret && getline(&line, &room, from) > 0)
		ret = change_line(f, line, to);
	free(line);
	fclose(from);
	return ret;
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
	return ret;
}

/* The old one is kept beside it, for fstab_restore(). */
enum xc fstab_change(struct fstab *f)
{
	static const char fresh[] = FSTAB ".new";
	struct stat st;
	FILE *to;
	enum xc ret;

	f->changes = 0;
	to = fopen(fresh, "we");
	if (!to || stat(FSTAB, &st))
		return complain_errno(errno, fresh, "cannot write it");
	ret = change_all(f, to);
	if (fchmod(fileno(to), st.st_mode & 07777) || fflush(to) || fsync(fileno(to)))
		ret = complain_errno(errno, fresh, "cannot write it");
	fclose(to);
	if (ret || !f->changes) {
		unlink(fresh);
		return ret;
	}
	unlink(KEPT);
	if (link(FSTAB, KEPT) || rename(fresh, FSTAB))
		return complain_errno(errno, FSTAB, "cannot replace it");
	return XC_OK;
}

/* Is @now the line @was, or what we made of it? */
static bool same_but_name(const char *was, const char *now)
{
	size_t was_len, now_len;
	const char *a = first_field(was, &was_len), *b = first_field(now, &now_len);

	return !strcmp(was, now) ||
	       (a && b && !strncmp(b, "UUID=", 5) && !strcmp(a + was_len, b + now_len));
}

/* Nobody else has changed it since. */
static bool is_ours(FILE *was, FILE *now)
{
	char *a = NULL, *b = NULL;
	size_t room_a = 0, room_b = 0;
	ssize_t got_a, got_b;
	bool same;

	do {
		got_a = getline(&a, &room_a, was);
		got_b = getline(&b, &room_b, now);
		same = got_a > 0 && got_b > 0 && same_but_name(a, b);
	} while (same);
	free(a);
	free(b);
	return got_a <= 0 && got_b <= 0;
}

static bool unchanged(void)
{
	FILE *was = fopen(KEPT, "re"), *now = fopen(FSTAB, "re");
	bool same = was && now && is_ours(was, now);

	if (was)
		fclose(was);
	if (now)
		fclose(now);
	return same;
}

void fstab_restore(void)
{
	if (access(KEPT, F_OK))
		return;
	if (!unchanged())
		printf("%s: it was changed since, so it stays, and is right; as it was before: %s\n", FSTAB, KEPT);
	else if (rename(KEPT, FSTAB))
		complain_errno(errno, KEPT, "cannot put it back as " FSTAB);
}
