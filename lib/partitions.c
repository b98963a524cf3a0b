// SPDX-License-Identifier: GPL-2.0-only
/*
 * Partitions of a running cache. The kernel looks for none on a device-mapper device, so each is
 * a linear device of its own, as kpartx would make it: it comes with create and start, and goes
 * with stop and remove. A ublk device has those that the kernel makes.
 */
#include "lib/partitions.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/flushing.h"
#include "lib/kernel.h"
#include "lib/running.h"
#include "lib/signature.h"
#include "lib/sysfs.h"
#include "lib/uuid.h"
#include "platform.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- table ---- */

struct entry {
	u32 number;
	u64 start, sectors;	/* 512 bytes */
};

struct table {
	struct entry *v;
	size_t n;
};

static int fill(struct table *t, blkid_partlist list)
{
	int all = blkid_partlist_numof_partitions(list);

	t->v = calloc((size_t)max(all, 1), sizeof(*t->v));
	if (!t->v)
		return -ENOMEM;
	for (int i = 0; i < all; i++) {
		blkid_partition part = blkid_partlist_get_partition(list, i);

		if (blkid_partition_is_extended(part))
			continue;	/* it holds nothing but others */
		t->v[t->n++] = (struct entry){
			.number = (u32)blkid_partition_get_partno(part),
			.start = (u64)blkid_partition_get_start(part),
			.sectors = (u64)blkid_partition_get_size(part),
		};
	}
	return 0;
}

/* What is a file system, encrypted or half of a mirror as a whole has none: a mirror's table
 * describes the mirror. */
int partitions_alone(blkid_probe pr)
{
	int ret;

	blkid_probe_enable_superblocks(pr, 1);
	blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE);
	blkid_probe_enable_partitions(pr, 1);
	errno = 0;
	ret = blkid_do_safeprobe(pr);
	if (ret == -2)
		return blkid_probe_get_partitions(pr) ? -EUCLEAN : 0;
	if (ret < 0)
		return errno ? -errno : -EIO;
	return !ret && blkid_probe_has_value(pr, "PTTYPE") && !blkid_probe_has_value(pr, "TYPE");
}

/* The first sector ends so with either kind of table. Most disks that have none need one read, and
 * not all those that libblkid does, some of them from the slow device. */
static int may_have_table(int fd)
{
	u8 sector[512];
	ssize_t n;

	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	n = pread(fd, sector, sizeof(sector), 0);
	if (n < 0)
		return -errno;
	return n == sizeof(sector) && sector[510] == 0x55 && sector[511] == 0xaa;
}

static int read_table(int fd, struct table *t)
{
	int ret = may_have_table(fd);
	blkid_partlist list;
	blkid_probe pr;

	if (ret <= 0)
		return ret;
	pr = blkid_new_probe();
	ret = -EIO;
	if (pr && !blkid_probe_set_device(pr, fd, 0, 0))
		ret = partitions_alone(pr);
	if (ret == 1) {
		list = blkid_probe_get_partitions(pr);
		ret = list ? fill(t, list) : -EIO;
	}
	blkid_free_probe(pr);
	return ret;
}

/* free() its v, whatever this returns. */
static enum xc table_of(const char *node, struct table *t)
{
	int fd = open(node, O_RDONLY | O_CLOEXEC), ret;

	*t = (struct table){ NULL, 0 };
	if (fd < 0)
		return complain_errno(errno, node, "cannot look for partitions");
	ret = read_table(fd, t);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);	/* else they stay, and become old */
	close(fd);
	if (ret == -EUCLEAN)
		return complain(XC_FAILED, node, "wipefs shows what; xpcache partitions reads it again",
				"its partitions are not shown, as the disk is more than one thing");
	return ret < 0 ? complain_errno(ret, node, "cannot read the partition table") : XC_OK;
}

/* -------------------------------------------------------- those that are ---- */

static int by_number(const void *a, const void *b)
{
	const struct partition *one = a, *other = b;

	return one->number < other->number ? -1 : one->number > other->number;
}

static int add_of_ublk(const char *kname, void *ctx)
{
	struct partitions *all = ctx;
	struct partition *grown = realloc(all->v, (all->n + 1) * sizeof(*grown)), *p;
	char text[32];

	if (!grown)
		return -ENOMEM;
	all->v = grown;
	p = &grown[all->n++];
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "%s", kname);
	snprintf(p->node, sizeof(p->node), "/dev/%.100s", kname);
	if (sysfs_read(kname, "partition", text, sizeof(text)))
		p->number = (u32)strtoul(text, NULL, 10);
	return 0;
}

int partitions_of(const struct running *r, struct partition **list, size_t *n)
{
	struct partitions all = { NULL, 0 };
	int err = 0;

	if (!r->user)
		err = kernel_partitions(r->uuid, &all.v, &all.n);
	else if (*r->ublk)
		err = device_each_partition(strrchr(r->ublk, '/') + 1, add_of_ublk, &all);
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_number);
	*list = all.v;
	*n = all.n;
	return err;
}

static const struct partition *find_number(const struct partition *list, size_t n, u32 number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return &list[i];
	return NULL;
}

/* Each has the cache open once. */
u32 partitions_users(const struct running *r)
{
	u32 users = r->open_count;
	struct partition *list;
	size_t n;

	if (!kernel_partitions(r->uuid, &list, &n))
		for (size_t i = 0; i < n; i++)
			users = users - min(users, (u32)list[i].holds) + list[i].open_count;
	free(list);
	return users;
}

/* ------------------------------------------------------------------ shown ---- */

/* Somebody may have made it meanwhile; or it is another device that has the name. */
static enum xc check_taken(const struct running *r, const char *name, u32 number)
{
	struct partition *list;
	bool ours;
	size_t n;

	ours = !kernel_partitions(r->uuid, &list, &n) && find_number(list, n, number);
	free(list);
	return ours ? XC_OK :
	       complain(XC_REFUSED, name, "dmsetup rename that one, then xpcache partitions",
			"the partition is not shown, as another device has its name");
}

static enum xc show(const struct running *r, const struct entry *e)
{
	char name[sizeof(r->name) + 16], uuid[64 + UUID_HEX];
	int err;

	snprintf(name, sizeof(name), "%sp%u", r->name, e->number);
	snprintf(uuid, sizeof(uuid), KERNEL_PARTITION "%s", e->number, r->uuid);
	if (e->start >= r->sectors || e->sectors > r->sectors - e->start)
		return complain(XC_FAILED, name, "mend the partition table, then xpcache partitions",
				"the partition is not shown, as it reaches beyond the end of the disk");
	err = kernel_linear(name, uuid, r->dev, e->start, e->sectors);
	if (err == -EBUSY)
		return check_taken(r, name, e->number);
	return err ? complain_errno(err, name, "cannot show the partition") : XC_OK;
}

static bool is_in(const struct table *t, const struct partition *p)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i].number == p->number)
			return t->v[i].start == p->start && t->v[i].sectors == p->sectors;
	return false;
}

static enum xc take_away(const struct partition *p)
{
	const struct device d = { .is_block = true, .dev = p->dev };
	char kname[64], who[PATH_MAX];
	int err = kernel_take_away(p->name);

	if (err != -EBUSY)
		return err && err != -ENXIO ? complain_errno(err, p->name, "cannot take the partition away") : XC_OK;
	return complain(XC_REFUSED, p->name, "end that first", "in use, %s",
			(device_kname(p->dev, kname, sizeof(kname)) && claim_holder(kname, who, sizeof(who))) ||
			claim_opener(&d, who, sizeof(who)) ? who : "open elsewhere");
}

/* What the table has no more, or elsewhere by now. */
static enum xc take_old_away(const struct table *t, const struct partition *list, size_t n)
{
	enum xc ret = XC_OK, one;

	for (size_t i = 0; i < n; i++) {
		one = is_in(t, &list[i]) ? XC_OK : take_away(&list[i]);
		ret = ret ? ret : one;
	}
	return ret;
}

static enum xc show_missing(const struct running *r, const struct table *t)
{
	enum xc ret = XC_OK, one;
	struct partition *list;
	size_t n;
	int err = kernel_partitions(r->uuid, &list, &n);

	if (err)
		ret = complain_errno(err, r->name, "cannot ask the device mapper for its partitions");
	for (size_t i = 0; i < t->n && !err; i++) {
		one = find_number(list, n, t->v[i].number) ? XC_OK : show(r, &t->v[i]);
		ret = ret ? ret : one;
	}
	free(list);
	return ret;
}

enum xc partitions_show(const struct running *r)
{
	struct partition *list;
	struct table t = { NULL, 0 };
	enum xc ret, missing;
	char node[512];
	size_t n;

	if (r->user)
		return XC_OK;
	running_node(r, node, sizeof(node));
	ret = flush_awake(r->name);
	if (!ret)
		ret = table_of(node, &t);
	if (!ret) {
		if (!kernel_partitions(r->uuid, &list, &n))
			ret = take_old_away(&t, list, n);
		free(list);
		missing = show_missing(r, &t);
		ret = ret ? ret : missing;
	}
	free(t.v);
	return ret;
}

enum xc partitions_started(const char *uuid)
{
	struct running r;

	return kernel_find(NULL, uuid, &r) == 1 ? partitions_show(&r) : XC_OK;
}

/* ----------------------------------------------------------------- hidden ---- */

static bool is_open(const struct running *r, const struct partition *p)
{
	struct partition *list;
	const struct partition *now;
	bool open;
	size_t n;

	open = !kernel_partitions(r->uuid, &list, &n) && (now = find_number(list, n, p->number)) &&
	       now->open_count;
	free(list);
	return open;
}

/* After an unmount udev takes a look at it, for some milliseconds. */
static enum xc check_closed(const struct running *r, const struct partition *p)
{
	const struct timespec pause = { .tv_nsec = 50 * 1000000L };
	const struct device d = { .is_block = true, .dev = p->dev };
	char kname[64], who[PATH_MAX];

	if (device_kname(p->dev, kname, sizeof(kname)) && claim_holder(kname, who, sizeof(who)))
		return complain(XC_REFUSED, p->name,
				strstr(who, "swap") ? "swapoff it first" :
				strstr(who, "mounted") ? "unmount it first" : "take that apart first",
				"in use, %s", who);
	for (int i = 0; p->open_count && is_open(r, p); i++) {
		if (i == 40)
			return complain(XC_REFUSED, p->name, "end that first", "in use, %s",
					claim_opener(&d, who, sizeof(who)) ? who : "open elsewhere");
		nanosleep(&pause, NULL);
	}
	return XC_OK;
}

static enum xc all_closed(const struct running *r, const struct partition *list, size_t n)
{
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n && !ret; i++)
		ret = check_closed(r, &list[i]);
	return ret;
}

/* Those of the kernel's own driver are its user's: ublk_closed() looks at them. */
static enum xc list_ours(const struct running *r, struct partition **list, size_t *n)
{
	int err = 0;

	*list = NULL;
	*n = 0;
	if (!r->user)
		err = partitions_of(r, list, n);
	return err ? complain_errno(err, r->name, "cannot ask the device mapper for its partitions") : XC_OK;
}

enum xc partitions_closed(const struct running *r)
{
	struct partition *list;
	size_t n;
	enum xc ret = list_ours(r, &list, &n);

	if (!ret)
		ret = all_closed(r, list, n);
	free(list);
	return ret;
}

/* While it is open by them the last who closes the cache does not make it write its pages. */
static enum xc write_out(const struct running *r, bool force)
{
	enum xc ret = r->asleep ? XC_OK : flush_awake(r->name);
	char node[512];

	if (ret)
		return ret;
	running_node(r, node, sizeof(node));
	ret = flush_pages(node);
	return force ? XC_OK : ret;
}

void partitions_back(const struct running *r, struct partitions *hidden)
{
	for (size_t i = 0; i < hidden->n; i++)
		if (hidden->v[i].sectors)	/* else it was never more than a name */
			show(r, &(struct entry){ hidden->v[i].number, hidden->v[i].start, hidden->v[i].sectors });
	hidden->n = 0;
}

enum xc partitions_hide(const struct running *r, bool force, struct partitions *hidden)
{
	size_t n;
	enum xc ret = list_ours(r, &hidden->v, &n);

	hidden->n = 0;
	if (!ret && n)
		ret = all_closed(r, hidden->v, n);
	if (!ret && n)
		ret = write_out(r, force);
	while (!ret && hidden->n < n) {
		ret = take_away(&hidden->v[hidden->n]);
		hidden->n += !ret;
	}
	if (ret)
		partitions_back(r, hidden);
	return ret;
}

/* ------------------------------------------------------------------ words ---- */

/* What the kernel calls that partition of the slow disk: sda1, but nvme0n1p1. "": it has none. */
static void name_on_slow(const struct running *r, u32 number, char *node, size_t len)
{
	char disk[64], kname[96], text[32];
	size_t last;

	*node = '\0';
	if (r->user || !device_kname(r->slow, disk, sizeof(disk)))
		return;
	last = strlen(disk) - 1;
	snprintf(kname, sizeof(kname), "%s%s%u", disk, disk[last] >= '0' && disk[last] <= '9' ? "p" : "", number);
	if (sysfs_read(kname, "partition", text, sizeof(text)))
		device_node(kname, node, len);
}

static void tell(const struct running *r, const struct partition *p)
{
	char slow[PATH_MAX], content[128] = "";
	int fd = open(p->node, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		signature_content(fd, content, sizeof(content));
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	content[strcspn(content, ":")] = '\0';
	name_on_slow(r, p->number, slow, sizeof(slow));
	printf("  %s%s%s%s%s\n", p->node, *slow ? " and not " : "", slow, *content ? ": " : "", content);
	if (!strcmp(content, "LVM2_member"))
		printf("    LVM sees it twice, and changes nothing, until /etc/lvm/lvmlocal.conf says:\n"
		       "    devices { global_filter = [ \"r|^/dev/xpcache/|\" ] }\n");
}

bool partitions_tell(const struct running *r)
{
	struct partition *list;
	size_t n;

	if (partitions_of(r, &list, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		tell(r, &list[i]);
	free(list);
	return n;
}
