// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which disk is this, whatever it is called today?
 *
 * By what the hardware says of itself (a WWID, or model and serial number).
 * Where the hardware says nothing, by what the disk held when the cache was made;
 * that changes in use, so it never overrules hardware. Not by its size: a volume
 * that was extended is the same one.
 */
#include "lib/identity.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/figures.h"
#include "lib/signature.h"
#include "lib/sysfs.h"
#include "core/format.h"
#include "core/words.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Words separated by one blank, only what prints. */
static void squeeze(char *s)
{
	char *to = s;

	for (char *p = s; *p; p++) {
		char ch = isgraph((unsigned char)*p) ? *p : ' ';

		if (ch != ' ' || (to > s && to[-1] != ' '))
			*to++ = ch;
	}
	while (to > s && to[-1] == ' ')
		to--;
	*to = '\0';
}

/* SCSI's page 0x80: four bytes of header, then the serial number. */
static bool scsi_serial(const char *kname, char *buf, size_t len)
{
	char path[PATH_MAX];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/block/%s/device/vpd_pg80", kname);
	f = fopen(path, "re");
	if (!f)
		return false;
	memset(buf, 0, len);
	n = fseek(f, 4, SEEK_SET) ? 0 : fread(buf, 1, len - 1, f);
	fclose(f);
	if (n)
		squeeze(buf);
	return n && *buf;
}

static bool model_and_serial(const char *kname, char *buf, size_t len)
{
	char model[128] = "", serial[128];

	if (!sysfs_read(kname, "device/serial", serial, sizeof(serial)) &&
	    !sysfs_read(kname, "serial", serial, sizeof(serial)) &&
	    !scsi_serial(kname, serial, sizeof(serial)))
		return false;	/* a model alone is many disks */
	if (!sysfs_read(kname, "device/model", model, sizeof(model)))
		sysfs_read(kname, "device/name", model, sizeof(model));
	snprintf(buf, len, "%s%s%s", model, *model ? "_" : "", serial);
	return true;
}

static bool hardware(const char *kname, char *buf, size_t len)
{
	static const char *const attr[] = {
		"wwid",			/* NVMe */
		"device/wwid",		/* SCSI, SATA, USB */
		"dm/uuid", "md/uuid",	/* LVM, crypt, RAID as the slow device */
		"device/cid",		/* SD, eMMC */
	};

	for (size_t i = 0; i < sizeof(attr) / sizeof(*attr); i++)
		if (sysfs_read(kname, attr[i], buf, len))
			return true;
	return model_and_serial(kname, buf, len);
}

/* A name too long for its field keeps its beginning and a hash of all of it. Clean: as it will be read. */
static void store(u8 *field, size_t size, const char *text)
{
	size_t len = strlen(text);
	u64 hash = xp_xxh64(text, len);

	memset(field, 0, size);
	if (len < size)
		snprintf((char *)field, size, "%s", text);
	else
		snprintf((char *)field, size, "%.*s~%016" PRIx64, (int)size - 18, text, hash);
	xp_words_clean((char *)field, (u32)size);
}

static void hardware_of(const struct device *d, char *buf, size_t len)
{
	char disk[64], name[512];

	*buf = '\0';
	if (!d->is_block || !device_kname(d->disk, disk, sizeof(disk)) ||
	    !hardware(disk, name, sizeof(name)))
		return;
	squeeze(name);
	if (d->partition)
		snprintf(buf, len, "part%u of %s", d->partition, name);
	else
		snprintf(buf, len, "%s", name);
}

void identity_unread(const struct device *d, struct xp_sb_slow *id)
{
	char text[600];

	memset(id, 0, sizeof(*id));
	id->sectors = cpu_to_le64(d->sectors);
	id->logical_size = cpu_to_le32(d->logical);
	hardware_of(d, text, sizeof(text));
	store(id->hwid, sizeof(id->hwid), text);
	store(id->path, sizeof(id->path), d->path);
}

static void read_content(const struct device *d, struct xp_sb_slow *id)
{
	char text[600] = "";

	if (d->fd >= 0)
		signature_content(d->fd, text, sizeof(text));
	store(id->content, sizeof(id->content), text);
}

void identity_of(const struct device *d, struct xp_sb_slow *id)
{
	identity_unread(d, id);
	read_content(d, id);
}

static const char *field(const u8 *text)
{
	return (const char *)text;	/* NUL-padded, and xp_sb_verify() sees to it */
}

bool identity_known(const struct xp_sb_slow *id)
{
	return id->hwid[0] || id->content[0];
}

const char *identity_text(const struct xp_sb_slow *id)
{
	static char text[256];
	const char *name = field(id->hwid);

	if (!*name)
		name = field(id->content);
	snprintf(text, sizeof(text), "%.95s%s%s, was %.63s", name, *name ? ", " : "",
		 text_bytes(le64_to_cpu(id->sectors) << XP_SECTOR_SHIFT), field(id->path));
	return text;
}

bool identity_same(const struct xp_sb_slow *id, const struct device *d,
		   bool loose, char *why, size_t len)
{
	struct xp_sb_slow now;

	if (d->logical != le32_to_cpu(id->logical_size)) {
		snprintf(why, len, "its logical sector is %u bytes, that of the cache's slow device was %u",
			 d->logical, le32_to_cpu(id->logical_size));
		return false;
	}
	identity_unread(d, &now);
	if (now.hwid[0] && id->hwid[0]) {
		if (!memcmp(now.hwid, id->hwid, sizeof(now.hwid)))
			return true;
		snprintf(why, len, "it is \"%.95s\", the cache's slow device was \"%.95s\"",
			 field(now.hwid), field(id->hwid));
		return false;
	}
	read_content(d, &now);
	if (id->content[0] && !memcmp(now.content, id->content, sizeof(now.content)))
		return true;
	if (loose && (!id->content[0] || !now.content[0]))
		return true;
	snprintf(why, len, "it holds \"%.63s\", the cache's slow device held \"%.63s\"",
		 field(now.content), field(id->content));
	return false;
}
