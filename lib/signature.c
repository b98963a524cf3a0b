// SPDX-License-Identifier: GPL-2.0-only
/* What libblkid sees on a device: file systems, RAID and LVM members, partition tables. */
#include "lib/signature.h"
#include "core/words.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* With O_DIRECT libblkid of Debian 12 (util-linux 2.38) reads nothing, and says so to nobody: it is off meanwhile. */
struct probe {
	blkid_probe pr;
	int fd, flags;
};

static void probe_free(struct probe *p)
{
	blkid_free_probe(p->pr);
	if (p->flags & O_DIRECT)
		fcntl(p->fd, F_SETFL, p->flags);
}

static blkid_probe probe_new(struct probe *p, int fd, u64 bytes)
{
	blkid_probe pr = blkid_new_probe();

	*p = (struct probe){ .pr = pr, .fd = fd, .flags = fcntl(fd, F_GETFL) };
	if (p->flags < 0)
		p->flags = 0;
	if (p->flags & O_DIRECT)
		fcntl(fd, F_SETFL, p->flags & ~O_DIRECT);
	if (!pr || blkid_probe_set_device(pr, fd, 0, (blkid_loff_t)bytes)) {
		probe_free(p);
		return NULL;
	}
	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID |
					      BLKID_SUBLKS_USAGE | BLKID_SUBLKS_MAGIC);
	blkid_probe_enable_partitions(pr, 1);
	blkid_probe_set_partitions_flags(pr, BLKID_PARTS_MAGIC);
	return pr;
}

static const char *value(blkid_probe pr, const char *name)
{
	const char *v;

	return blkid_probe_lookup_value(pr, name, &v, NULL) ? NULL : v;
}

/* The words for what the probe found last. */
static void describe(blkid_probe pr, char *buf, size_t len)
{
	const char *type = value(pr, "TYPE"), *table = value(pr, "PTTYPE");
	const char *usage = value(pr, "USAGE");
	size_t have = strlen(buf);

	snprintf(buf + have, len - have, "%s%s%s", have ? ", " : "",
		 type ? type : table ? table : "unknown",
		 !type ? " partition table" :
		 usage && !strcmp(usage, "filesystem") ? " file system" : " signature");
}

int signature_list(int fd, u64 bytes, char *buf, size_t len)
{
	struct probe p;
	blkid_probe pr = probe_new(&p, fd, bytes);
	int n = 0, ret;

	*buf = '\0';
	if (!pr)
		return -EIO;
	while ((ret = blkid_do_probe(pr)) == 0) {
		describe(pr, buf, len);
		n++;
	}
	probe_free(&p);
	return ret < 0 ? -EIO : n;
}

/* A found signature is overwritten and looked for again: some have copies. */
int signature_wipe(int fd, u64 bytes)
{
	struct probe p;
	blkid_probe pr = probe_new(&p, fd, bytes);
	int ret;

	if (!pr)
		return -EIO;
	while ((ret = blkid_do_probe(pr)) == 0) {
		if (blkid_do_wipe(pr, 0) || blkid_probe_step_back(pr)) {
			ret = -1;
			break;
		}
	}
	probe_free(&p);
	return ret < 0 ? -EIO : 0;
}

void signature_content(int fd, char *buf, size_t len)
{
	struct probe p;
	blkid_probe pr = probe_new(&p, fd, 0);
	const char *kind, *uuid;

	*buf = '\0';
	if (!pr)
		return;
	if (blkid_do_safeprobe(pr) == 0) {
		bool table = value(pr, "PTUUID");

		kind = value(pr, table ? "PTTYPE" : "TYPE");
		uuid = value(pr, table ? "PTUUID" : "UUID");
		if (kind && uuid)
			snprintf(buf, len, "%s:%s", kind, uuid);
		xp_words_clean(buf, (u32)len);	/* some UUIDs are text, as it is on the disk */
	}
	probe_free(&p);
}
