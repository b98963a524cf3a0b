// SPDX-License-Identifier: GPL-2.0-only
/* watch_wear.c - the wear of the fast device, by the log that each NVMe drive keeps. */
#include "daemon/watch/watch.h"
#include "platform.h"
#include "lib/device_name.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

/* NVM Express base specification, "SMART / Health Information". */
enum {
	LOG_WARNING	= 0,
	LOG_SPARE	= 3,
	LOG_SPARE_LIMIT	= 4,
	LOG_USED	= 5,
	LOG_WRITTEN	= 48,	/* 16 bytes, little endian, in 1,000 sectors of 512 bytes */
};
#define LOG_UNIT	512000.0

#define GET_LOG_PAGE	0x02
#define LOG_HEALTH	0x02
#define ALL_NAMESPACES	0xffffffffu

int wear_decode(const u8 log[WEAR_LOG], struct wear *w)
{
	memset(w, 0, sizeof(*w));
	if (log[LOG_SPARE] > 100 || log[LOG_SPARE_LIMIT] > 100)
		return -EPROTO;
	w->warning = log[LOG_WARNING];
	w->spare = log[LOG_SPARE];
	w->spare_limit = log[LOG_SPARE_LIMIT];
	w->used = log[LOG_USED];
	for (int i = 15; i >= 0; i--)
		w->written = w->written * 256 + log[LOG_WRITTEN + i];
	w->written *= LOG_UNIT;
	w->known = true;
	return 0;
}

bool wear_controller(const char *kname, char *path, size_t len)
{
	unsigned int controller, space;
	int end = 0;

	if (sscanf(kname, "nvme%un%u%n", &controller, &space, &end) != 2 ||
	    (kname[end] && kname[end] != 'p'))
		return false;
	snprintf(path, len, "/dev/nvme%u", controller);
	return true;
}

int wear_read(dev_t dev, struct wear *w)
{
	u8 log[WEAR_LOG] = { 0 };
	struct nvme_admin_cmd cmd = {
		.opcode = GET_LOG_PAGE, .nsid = ALL_NAMESPACES,
		.addr = (u64)(uintptr_t)log, .data_len = sizeof(log), .timeout_ms = 2000,
		.cdw10 = LOG_HEALTH | (sizeof(log) / 4 - 1) << 16,
	};
	char kname[64], path[64];
	int fd, err;

	if (!device_kname(dev, kname, sizeof(kname)) || !wear_controller(kname, path, sizeof(path)))
		return -ENODEV;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = ioctl(fd, NVME_IOCTL_ADMIN_CMD, &cmd);
	if (err)	/* above 0: the drive's own word for why */
		err = err < 0 ? -errno : -EIO;
	close(fd);
	return err ? err : wear_decode(log, w);
}

/* A percent of its life took so many bytes; below one percent nothing can be said. */
double wear_left(const struct wear *w)
{
	if (!w->known || !w->used)
		return NAN;
	return w->used >= 100 ? 0 : w->written * (100.0 - w->used) / w->used;
}

/* ----------------------------------------------------------------- rate ---- */

#define RATE_LEAST	3600.0	/* seconds */
#define RATE_HALF	86400.0

static void rate_begin(struct wear_rate *r, double now, u64 bytes)
{
	for (int i = 0; i < 2; i++) {
		r->at[i] = now;
		r->bytes[i] = bytes;
	}
	r->begun = true;
}

double wear_rate(struct wear_rate *r, double now, u64 bytes)
{
	if (!r->begun || bytes < r->bytes[1])	/* the cache was started anew */
		rate_begin(r, now, bytes);
	if (now - r->at[1] >= RATE_HALF) {
		r->at[0] = r->at[1];
		r->bytes[0] = r->bytes[1];
		r->at[1] = now;
		r->bytes[1] = bytes;
	}
	if (now - r->at[0] < RATE_LEAST)
		return NAN;
	return (double)(bytes - r->bytes[0]) / (now - r->at[0]);
}
