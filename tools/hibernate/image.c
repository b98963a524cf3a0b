// SPDX-License-Identifier: GPL-2.0-only
/* The image of a hibernated machine's memory, as far as one sees it from outside: its signature in
 * the header of the swap that it is in. */
#include "tools/hibernate/image.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/signature.h"
#include "lib/sysfs.h"
#include "lib/user.h"
#include "platform.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <unistd.h>

#define POWER_RESUME	"/sys/power/resume"
#define POWER_OFFSET	"/sys/power/resume_offset"

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* False: there is no such file. */
static bool power_read(const char *path, char *text, size_t len)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(text, (int)len, f);

	if (f)
		fclose(f);
	if (ok)
		text[strcspn(text, "\n")] = '\0';
	return ok;
}

static void power_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		errno = 0;	/* the kernel's log says why */
	if (fd >= 0)
		close(fd);
}

/* ---------------------------------------------------------------- places ---- */

u64 image_offset(void)
{
	char pages[32];

	return power_read(POWER_OFFSET, pages, sizeof(pages)) ? strtoull(pages, NULL, 10) * page_size() : 0;
}

/* What the kernel takes if nobody has told it. */
static dev_t first_swap(void)
{
	FILE *f = fopen("/proc/swaps", "re");
	char line[PATH_MAX + 128], path[PATH_MAX];
	struct stat st;
	dev_t dev = 0;

	while (f && !dev && fgets(line, sizeof(line), f))
		if (sscanf(line, "%4095s", path) == 1 && path[0] == '/' && !stat(path, &st))
			dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
	if (f)
		fclose(f);
	return dev;
}

dev_t image_of_kernel(void)
{
	char dev[32];
	dev_t found;

	return power_read(POWER_RESUME, dev, sizeof(dev)) && device_number(dev, &found) ? found : 0;
}

void image_place_next(struct image_place *p)
{
	p->at = 0;
	p->dev = image_of_kernel();
	if (p->dev)
		p->at = image_offset();
	else
		p->dev = first_swap();
}

u64 image_sector(dev_t part)
{
	char kname[64], start[32];

	return device_kname(part, kname, sizeof(kname)) && sysfs_read(kname, "start", start, sizeof(start)) ?
		strtoull(start, NULL, 10) : 0;
}

/* A disk that is kept for its cache has no links. */
static char *without_links(const char *spec)
{
	static const char *const tag[][2] = {
		{ "/dev/disk/by-uuid/", "UUID" }, { "/dev/disk/by-label/", "LABEL" },
		{ "/dev/disk/by-partuuid/", "PARTUUID" }, { "/dev/disk/by-partlabel/", "PARTLABEL" },
	};
	char text[256];

	for (size_t i = 0; i < sizeof(tag) / sizeof(*tag); i++)
		if (!strncmp(spec, tag[i][0], strlen(tag[i][0]))) {
			snprintf(text, sizeof(text), "%s=%s", tag[i][1], spec + strlen(tag[i][0]));
			return blkid_evaluate_spec(text, NULL);
		}
	return blkid_evaluate_spec(spec, NULL);
}

/* ---------------------------------------------------------------- nowhere ---- */

/* Of no block device ever; and not 0:0, which is the first swap there is. */
#define NOWHERE	"0:1"

static void kept_path(char *path, size_t len)
{
	snprintf(path, len, "%s/resume", user_directory());
}

static bool is_nowhere(void)
{
	char now[32];

	return power_read(POWER_RESUME, now, sizeof(now)) && !strcmp(now, NOWHERE);
}

bool image_nowhere(void)
{
	char path[PATH_MAX], was[32];
	FILE *f;

	if (is_nowhere() || !power_read(POWER_RESUME, was, sizeof(was)))
		return is_nowhere();
	kept_path(path, sizeof(path));
	f = fopen(path, "we");
	if (!f)
		return false;	/* it could not be put back */
	fprintf(f, "%s\n", was);
	fclose(f);
	power_write(POWER_RESUME, NOWHERE);
	return is_nowhere();
}

/* Not where an image is: the kernel looks there at once, and would restore it; nor what is suspended, where
 * it would wait. */
static void tell_kernel(dev_t dev)
{
	struct image_place p = { .dev = dev, .at = image_offset() };
	char text[32];
	int image = dev ? image_look(&p) : 0;

	if (image > 0 || image == -EBUSY)
		return;
	snprintf(text, sizeof(text), "%u:%u", major(dev), minor(dev));
	power_write(POWER_RESUME, text);
}

void image_place_back(void)
{
	char path[PATH_MAX], was[32];
	dev_t dev;

	kept_path(path, sizeof(path));
	if (is_nowhere() && power_read(path, was, sizeof(was)) && device_number(was, &dev)) {
		tell_kernel(dev);
		if (is_nowhere() && !dev)	/* 6.1 takes no 0:0 */
			tell_kernel(first_swap());
	}
	if (!is_nowhere())
		unlink(path);
}

/* ------------------------------------------------------------- signature ---- */

/* The last of the header's page: what it was, then what it is. */
#define SIGNATURE	10

struct page_end {
	char was[SIGNATURE], is[SIGNATURE];
};

static bool is_image(const struct page_end *e)
{
	static const char *const known[] = { "S1SUSPEND", "S2SUSPEND", "ULSUSPEND", "LINHIB0001" };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!memcmp(e->is, known[i], strlen(known[i])))
			return true;
	return false;
}

/* Of mkswap, in the same page. */
#define UUID_AT	(1024 + 3 * sizeof(u32))

struct page {
	int fd;
	u8 *data;
	struct page_end *end;
};

static void page_close(struct page *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->data);
}

/* Past the page cache: a kernel writes its image so. Whatever came of it, page_close(). */
static int page_read(struct page *p, const struct image_place *place, int flags)
{
	char kname[64], node[PATH_MAX];
	void *data = NULL;

	p->fd = -1;
	p->data = NULL;
	if (!device_kname(place->dev, kname, sizeof(kname)))
		return -ENODEV;
	if (device_is_suspended(kname))
		return -EBUSY;
	device_node(kname, node, sizeof(node));
	if (posix_memalign(&data, page_size(), page_size()))
		return -ENOMEM;
	p->data = data;
	p->end = (struct page_end *)(p->data + page_size() - sizeof(*p->end));
	p->fd = open(node, flags | O_DIRECT | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0)
		return -errno;
	return pread(p->fd, p->data, page_size(), (off_t)place->at) == (ssize_t)page_size() ? 0 : -EIO;
}

static bool is_swap(const struct page_end *e)
{
	return !memcmp(e->is, "SWAPSPACE2", SIGNATURE) || !memcmp(e->is, "SWAP-SPACE", SIGNATURE);
}

int image_look(struct image_place *place)
{
	struct page p;
	int err = page_read(&p, place, O_RDONLY), image = err;

	if (!err) {
		image = is_image(p.end) ? 1 : is_swap(p.end) ? 0 : -ENOENT;
		memcpy(place->uuid, p.data + UUID_AT, sizeof(place->uuid));
	}
	page_close(&p);
	return image;
}

struct search {
	const u8 *uuid;
	struct image_place *place;
	bool found;
};

static int look_there(const char *kname, void *ctx)
{
	struct search *s = ctx;
	char dev[32];
	int image;

	if (!sysfs_read(kname, "dev", dev, sizeof(dev)) || !device_number(dev, &s->place->dev))
		return 0;
	image = image_look(s->place);
	if (image < 0 || memcmp(s->place->uuid, s->uuid, sizeof(s->place->uuid)) != 0)
		return 0;
	s->found = true;
	return image;
}

int image_find(const u8 uuid[SWAP_UUID], u64 at, struct image_place *p)
{
	struct search s = { .uuid = uuid, .place = p };

	p->at = at;
	if (device_each(look_there, &s) > 0)
		return 1;
	return s.found ? 0 : -ENOENT;
}

/* 16 bytes out of "8c3ef3cd-...", as mkswap's and others' are written. */
static bool read_uuid(const char *text, u8 uuid[SWAP_UUID])
{
	size_t n = 0;
	int taken;

	for (; n < SWAP_UUID && sscanf(text, "%2hhx%n", &uuid[n], &taken) == 1 && taken == 2; n++)
		text += 2 + (text[2] == '-');
	return n == SWAP_UUID && !*text;
}

struct owners {
	u8 uuid[SWAP_UUID];
	dev_t dev;
	u32 n;
};

static int is_owner(const char *kname, void *ctx)
{
	struct image_place p = { .at = 0 };
	struct owners *o = ctx;
	char dev[32];

	if (sysfs_read(kname, "dev", dev, sizeof(dev)) && device_number(dev, &p.dev) && image_look(&p) >= 0 &&
	    !memcmp(p.uuid, o->uuid, sizeof(p.uuid))) {
		o->dev = p.dev;
		o->n++;
	}
	return 0;
}

/* A member of a mirror begins as the mirror does. */
static bool is_nothing_else(dev_t dev)
{
	char node[PATH_MAX], what[128] = "";
	int fd = device_node_of(dev, node, sizeof(node)) ? open(node, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

	if (fd < 0)
		return false;
	signature_content(fd, what, sizeof(what));
	close(fd);
	return !strncmp(what, "swap:", 5) || !strncmp(what, "swsuspend:", 10);
}

/* The swap of that UUID, by one read of each device; libblkid makes thirty. 0: there is none, as it is a file
 * system's where swap is a file; or libblkid is to tell, since two say it, or one says more. */
static dev_t swap_named(const char *spec)
{
	static const char *const tag[] = { "UUID=", "/dev/disk/by-uuid/" };
	struct owners o = { .n = 0 };

	for (size_t i = 0; i < sizeof(tag) / sizeof(*tag); i++)
		if (!strncmp(spec, tag[i], strlen(tag[i])) && read_uuid(spec + strlen(tag[i]), o.uuid))
			device_each(is_owner, &o);
	return o.n == 1 && is_nothing_else(o.dev) ? o.dev : 0;
}

dev_t image_named(const char *spec)
{
	dev_t dev = swap_named(spec);
	struct stat st;
	char *node;

	if (dev)
		return dev;
	node = without_links(spec);
	if (node && !stat(node, &st) && S_ISBLK(st.st_mode))
		dev = st.st_rdev;
	free(node);
	return dev;
}

int image_erase(const struct image_place *place)
{
	struct page p;
	int err = page_read(&p, place, O_RDWR);

	if (!err) {
		memcpy(p.end->is, memcmp(p.end->was, "SWAP", 4) ? "\0\0\0\0\0\0\0\0\0" : p.end->was, SIGNATURE);
		if (pwrite(p.fd, p.data, page_size(), (off_t)place->at) != (ssize_t)page_size() || fsync(p.fd))
			err = errno ? -errno : -EIO;
	}
	page_close(&p);
	return err;
}

/* What was configured is so again: hibernation asks for it. */
void image_restore(const struct image_place *p)
{
	char offset[32] = "0", now[32];
	dev_t was = image_of_kernel();

	power_read(POWER_OFFSET, offset, sizeof(offset));
	snprintf(now, sizeof(now), "%" PRIu64, p->at / page_size());
	power_write(POWER_OFFSET, now);
	snprintf(now, sizeof(now), "%u:%u", major(p->dev), minor(p->dev));
	power_write(POWER_RESUME, now);
	power_write(POWER_OFFSET, offset);
	tell_kernel(was);
}
