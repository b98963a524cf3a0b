// SPDX-License-Identifier: GPL-2.0-only
/*
 * ublk.c - the block device: its start and its end.
 *
 * Start: ADD_DEV gives a character device; each loop asks for requests through it; START_DEV makes
 * the block device, and reads its partitions through us before it returns. Stop: STOP_DEV waits for
 * what is under way and ends all that the loops have asked; DEL_DEV takes the number away.
 */
#include "daemon/ublk/ublk.h"
#include "daemon/engine.h"
#include "daemon/ublk/ublk_proto.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER	57
#endif

#define PATIENCE	30	/* looks, ten a second: at a number that somebody keeps */

enum xc xd_ublk_open(struct xd_ublk *u)
{
	enum xc ret;

	memset(u, 0, sizeof(*u));
	u->fd = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->changed, NULL);
	ret = xd_ublk_control_open(&u->control);
	/* The kernel may write to our device to have memory free: what we need must not wait for that. */
	if (!ret && prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0))
		xd_log("where memory is short the block device may stand still: %s", strerror(errno));
	return ret;
}

/* ------------------------------------------------------------------ threads ---- */

void xd_ublk_queue_fetched(struct xd_ublk *u)
{
	pthread_mutex_lock(&u->lock);
	u->fetched++;
	pthread_cond_signal(&u->changed);
	pthread_mutex_unlock(&u->lock);
}

void xd_ublk_queue_over(struct xd_ublk *u)
{
	pthread_mutex_lock(&u->lock);
	u->queues--;
	if (!u->queues && xd_get(u->live) && !u->stopping) {
		xd_set(u->taken, true);
		xd_log("%s: somebody has taken it away; the cache runs on without it", u->node);
	}
	pthread_cond_signal(&u->changed);
	pthread_mutex_unlock(&u->lock);
}

const char *xd_ublk_node(const struct xd_ublk *u)
{
	return xd_get(u->taken) ? "" : u->node;
}

static void start_queues(struct xd_ublk *u)
{
	pthread_mutex_lock(&u->lock);
	u->queues = u->info.nr_hw_queues;
	for (u32 i = 0; i < u->cache->nr_loops; i++)
		xd_ublk_queue_start(&u->queue[i]);
	while (u->fetched < u->cache->nr_loops)
		pthread_cond_wait(&u->changed, &u->lock);
	pthread_mutex_unlock(&u->lock);
}

static void wait_for_queues(struct xd_ublk *u)
{
	pthread_mutex_lock(&u->lock);
	while (u->queues)
		pthread_cond_wait(&u->changed, &u->lock);
	pthread_mutex_unlock(&u->lock);
}

/* ----------------------------------------------------------------- commands ---- */

static int ask(struct xd_ublk *u, u32 nr, u64 word, bool (*patience)(void *ctx), void *ctx)
{
	const struct ublksrv_ctrl_cmd cmd = { .dev_id = u->info.dev_id, .queue_id = (u16)-1, .data[0] = word };

	return xd_ublk_ask(&u->control, nr, &cmd, patience, ctx);
}

static bool some_looks(void *ctx)
{
	return ++*(u32 *)ctx < PATIENCE;
}

/* The device is gone when it is told to; what may last is that its number is free again, while
 * somebody has what was there open. */
static int delete(struct xd_ublk *u, u32 id)
{
	const struct ublksrv_ctrl_cmd cmd = { .dev_id = id, .queue_id = (u16)-1 };
	u32 looks = 0;
	int err = xd_ublk_ask(&u->control, UBLK_CMD_DEL_DEV, &cmd, some_looks, &looks);

	return err == -ETIMEDOUT || err == -ENODEV ? 0 : err;
}

static bool nothing_failed(void *ctx)
{
	struct xd_ublk *u = ctx;

	return !xd_get(u->failed);
}

/* ---------------------------------------------------------------- leftovers ---- */

/* Whose a device is: the driver keeps a word for us. */
static u64 mark_of(const struct xd_cache *cache)
{
	u64 mark;

	memcpy(&mark, cache->sb.uuid, sizeof(mark));
	return mark;
}

static bool is_leftover(struct xd_ublk *u, u32 id)
{
	struct ublksrv_ctrl_dev_info info = { 0 };
	const struct ublksrv_ctrl_cmd cmd = { .dev_id = id, .queue_id = (u16)-1,
					      .addr = (u64)(uintptr_t)&info, .len = sizeof(info) };

	return !xd_ublk_ask(&u->control, UBLK_CMD_GET_DEV_INFO, &cmd, NULL, NULL) &&
	       info.state == UBLK_S_DEV_DEAD && info.ublksrv_flags == mark_of(u->cache);
}

/* What a daemon that was killed has left of this cache's device: its number, and nothing behind it.
 * Nobody else runs the cache, or we would not have its devices. */
static void sweep(struct xd_ublk *u)
{
	DIR *dir = opendir("/sys/class/ublk-char");
	struct dirent *e;
	u32 id;

	while (dir && (e = readdir(dir)))
		if (sscanf(e->d_name, "ublkc%u", &id) == 1 && is_leftover(u, id))
			delete(u, id);
	if (dir)
		closedir(dir);
}

/* -------------------------------------------------------------------- start ---- */

static int add(struct xd_ublk *u)
{
	struct ublksrv_ctrl_cmd cmd = { .dev_id = (u32)-1, .queue_id = (u16)-1,
					.addr = (u64)(uintptr_t)&u->info, .len = sizeof(u->info) };
	int err;

	u->info = (struct ublksrv_ctrl_dev_info){
		.nr_hw_queues = (u16)u->cache->nr_loops, .queue_depth = UBLK_DEPTH,
		.max_io_buf_bytes = UBLK_BYTES_MAX, .dev_id = (u32)-1, .flags = UBLK_F_NEED_GET_DATA,
		.ublksrv_flags = mark_of(u->cache),
	};
	err = xd_ublk_ask(&u->control, UBLK_CMD_ADD_DEV, &cmd, NULL, NULL);
	if (err)
		return err;
	u->added = true;
	snprintf(u->node, sizeof(u->node), "/dev/ublkb%u", u->info.dev_id);
	return u->info.flags & UBLK_F_NEED_GET_DATA ? 0 : -EOPNOTSUPP;
}

static int set_params(struct xd_ublk *u)
{
	struct ublk_params p;
	struct ublksrv_ctrl_cmd cmd = { .dev_id = u->info.dev_id, .queue_id = (u16)-1,
					.addr = (u64)(uintptr_t)&p, .len = sizeof(p) };

	xd_ublk_params(&p, u->cache->sectors, u->cache->slow);
	return xd_ublk_ask(&u->control, UBLK_CMD_SET_PARAMS, &cmd, NULL, NULL);
}

static int open_device(struct xd_ublk *u)
{
	char path[32];
	int err = 0;

	snprintf(path, sizeof(path), "/dev/ublkc%u", u->info.dev_id);
	u->fd = open(path, O_RDWR | O_CLOEXEC);
	if (u->fd < 0)
		return -errno;
	for (u32 i = 0; i < u->cache->nr_loops && !err; i++)
		err = xd_ublk_queue_init(&u->queue[i], u, (u16)i);
	return err;
}

static int start(struct xd_ublk *u)
{
	int err = xd_ublk_control_start(&u->control);

	if (err)
		return err;
	sweep(u);
	err = add(u);
	if (!err)
		err = set_params(u);
	if (!err)
		err = open_device(u);
	if (err)
		return err;
	/* Nor must what we need be on a disk behind our own device. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		xd_log("%s: it is not kept in memory: %s", u->node, strerror(errno));
	start_queues(u);
	if (xd_get(u->failed))
		return xd_get(u->failed);
	err = ask(u, UBLK_CMD_START_DEV, (u64)getpid(), nothing_failed, u);
	if (err)
		return xd_get(u->failed) ? xd_get(u->failed) : err;
	xd_set(u->live, true);
	return 0;
}

enum xc xd_ublk_start(struct xd_ublk *u, struct xd_cache *cache)
{
	int err;

	u->cache = cache;
	err = start(u);
	if (err)
		return complain_errno(err, "/dev/ublk-control", "no block device can be had");
	if (access(u->node, F_OK))	/* devtmpfs has it by now */
		return complain(XC_FAILED, u->node, "is devtmpfs mounted at /dev?",
				"the kernel made it, and it is not there");
	return XC_OK;
}

/* --------------------------------------------------------------------- stop ---- */

static void warn_if_held(const struct xd_ublk *u)
{
	char who[PATH_MAX];
	struct device d;

	if (!u->live || device_look(&d, u->node))
		return;
	if (claim_held(&d, who, sizeof(who)))
		xd_log("%s: %s, and taken away all the same: what is not written by now may be lost", u->node, who);
	device_close(&d);
}

static int stop_device(struct xd_ublk *u)
{
	int err;

	warn_if_held(u);
	pthread_mutex_lock(&u->lock);
	u->stopping = true;
	pthread_mutex_unlock(&u->lock);
	err = ask(u, UBLK_CMD_STOP_DEV, 0, NULL, NULL);
	if (!err)
		wait_for_queues(u);
	return err;
}

static int remove_device(struct xd_ublk *u)
{
	int err = stop_device(u);

	if (err)	/* what the loops have asked is with the driver, and stays ours */
		return err;
	for (u32 i = 0; i < u->cache->nr_loops; i++)
		xd_ublk_queue_free(&u->queue[i]);
	if (u->fd >= 0)
		close(u->fd);
	return delete(u, u->info.dev_id);
}

void xd_ublk_stop(struct xd_ublk *u)
{
	int err = u->added ? remove_device(u) : 0;

	if (err)
		xd_log("%s: the driver does not take it away: %s", u->node, strerror(-err));
	xd_ublk_control_close(&u->control);
}
