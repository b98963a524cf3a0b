// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_memory.c - a fast device that is memory: a DAX file on persistent memory, or a file of a
 * memory file system, mapped. An operation is a copy, and over when it returns.
 *
 * libpmem knows how to make bytes durable in persistent memory: they are flushed out of the
 * processor's caches as they are copied, and waited for. A file of tmpfs outlives the program,
 * nothing more.
 *
 * Where another device answers with an error, memory raises SIGBUS: over poison, and where the
 * file has no page and gets none. A copy that meets it is an operation that failed, and the
 * daemon goes on. Nothing but such a copy touches the mapping.
 */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/optional.h"
#include "core/message.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

#if HAVE_LIBPMEM
#include <libpmem.h>
#endif

/* ----------------------------------------------------------------- SIGBUS ---- */

/* A copy that is under way. */
struct guard {
	sigjmp_buf back;
	const struct xd_device *d;
	const u8 *at;		/* it was stopped, */
	int code;		/* by this si_code */
};

static __thread struct guard *volatile guard;	/* of this thread; NULL: it is in none */

/* That some memory went bad, which nobody has touched, is news and not a fault: whoever touches
 * it hears of it. Whatever else is not of such a copy ends us, as if nobody had caught it:
 * nothing else is here that could go on without what it was to read. */
static void caught(int sig, siginfo_t *info, void *context)
{
	const u8 *at = info->si_addr;
	struct guard *g = guard;

	(void)context;
	if (info->si_code == BUS_MCEERR_AO)
		return;
	if (!g || info->si_code <= 0 || at < g->d->map || at >= g->d->map + g->d->map_bytes) {
		signal(sig, SIG_DFL);
		raise(sig);
		return;
	}
	g->at = at;
	g->code = info->si_code;
	siglongjmp(g->back, 1);
}

static int catch_faults(void)
{
	const struct sigaction action = { .sa_sigaction = caught, .sa_flags = SA_SIGINFO };
	static bool done;

	if (!done && sigaction(SIGBUS, &action, NULL))
		return -errno;
	done = true;
	return 0;
}

/* The jump out of the handler restores no mask: that would be a system call for each copy. */
static void catch_again(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* -------------------------------------------------------------------- cut ---- */

/* Something of the file is missing that was there when it was mapped. */
static bool lacks_pages(const struct xd_device *d)
{
	struct stat st;

	return fstat(d->dev.fd, &st) || (u64)st.st_size < d->used_bytes ||
	       (u64)st.st_blocks < d->map_sectors;
}

/* What is missing comes back as zeros, if somebody makes the file longer again or a page is
 * stored to, and zeros are no data of ours: once cut, nothing of it is believed any more. A
 * second is the time in which that could go unnoticed: nobody is told of a file that changes
 * its size. */
static void memory_watch(struct xd_device *d)
{
	if (xd_get(d->cut) || !lacks_pages(d) || __atomic_exchange_n(&d->cut, true, __ATOMIC_SEQ_CST))
		return;
	xd_log_event("%s: the file was cut while it is the fast device: what it held there is lost, and all that it is asked fails; bring the file back whole, and start the cache again",
		     d->dev.path);
}

/* Who asked tells of each error; of where it comes from this tells once. */
static void tell_fault(struct xd_device *d, const struct guard *g)
{
	if (__atomic_exchange_n(&d->faulted, true, __ATOMIC_RELAXED))
		return;
	xd_log_event("%s: SIGBUS at byte %llu, code %d%s, address %p: the memory cannot be used there",
		     d->dev.path, (unsigned long long)(g->at - d->map), g->code,
		     g->code == BUS_MCEERR_AR ? " (poison)" : "", (const void *)g->at);
}

/* ------------------------------------------------------------------- copy ---- */

enum way { LOAD, LOAD_DURABLE, STORE };

#if HAVE_LIBPMEM
static void *map_file(struct xd_device *d, size_t *bytes, int *is_pmem)
{
	return pmem_map_file(d->dev.path, 0, 0, 0, bytes, is_pmem);
}

/*
 * LOAD_DURABLE: what a life that was killed has stored, and not yet flushed, is still in the
 * processor's caches and looks like any other. It is written back before anybody builds on it.
 */
static void copy(struct xd_device *d, enum way way, u8 *at, void *data, u32 bytes)
{
	if (way == STORE && d->is_pmem) {
		pmem_memcpy_persist(at, data, bytes);
		return;
	}
	if (way == STORE) {
		memcpy(at, data, bytes);
		return;
	}
	if (way == LOAD_DURABLE && d->is_pmem)
		pmem_persist(at, bytes);
	memcpy(data, at, bytes);
}

#else

static bool may_be_synced(struct xd_device *d, size_t bytes)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, d->dev.fd, 0);

	if (map == MAP_FAILED)
		return false;
	munmap(map, bytes);
	return true;
}

/* Without libpmem nothing here knows how to make a store durable: persistent memory is used as a file. */
static void *map_file(struct xd_device *d, size_t *bytes, int *is_pmem)
{
	struct stat st;
	void *map;

	if (fstat(d->dev.fd, &st))
		return NULL;
	*bytes = (size_t)st.st_size;
	*is_pmem = 0;
	if (may_be_synced(d, *bytes))
		xd_log_event("%s: persistent memory is used as any file, which is slower: this xpcached was built without libpmem",
			     d->dev.path);
	map = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->dev.fd, 0);
	return map == MAP_FAILED ? NULL : map;
}

static int pmem_unmap(void *map, size_t bytes)
{
	return munmap(map, bytes);
}

static void copy(struct xd_device *d, enum way way, u8 *at, void *data, u32 bytes)
{
	(void)d;
	if (way == STORE)
		memcpy(at, data, bytes);
	else
		memcpy(data, at, bytes);
}

#endif

/* False: it has met SIGBUS. The guard is the caller's: a jump leaves it as the handler wrote it. */
static bool guarded_copy(struct guard *g, enum way way, struct xd_device *d, u8 *at, void *data, u32 bytes)
{
	if (sigsetjmp(g->back, 0)) {
		guard = NULL;
		catch_again();
		return false;
	}
	guard = g;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	copy(d, way, at, data, bytes);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	guard = NULL;
	return true;
}

static int move(struct xd_device *d, enum way way, u64 offset, void *data, u32 bytes)
{
	struct guard g;

	if (xd_get(d->cut) || offset > d->map_bytes || bytes > d->map_bytes - offset)
		return -EIO;
	g.d = d;
	if (guarded_copy(&g, way, d, d->map + offset, data, bytes))
		return 0;
	memory_watch(d);
	tell_fault(d, &g);
	return -EIO;
}

/* Poison goes away when the file system writes over it, whole blocks, if the kernel can clear it
 * (from 6.0 on) and the memory too. Whether it has, a second attempt tells. */
static int store(struct xd_device *d, u64 offset, const void *data, u32 bytes)
{
	void *from = (void *)(uintptr_t)data;
	int err = move(d, STORE, offset, from, bytes);

	if (!err || xd_get(d->cut) || (bytes | offset) % XP_BLOCK_SIZE ||
	    pwrite(d->dev.fd, data, bytes, (off_t)offset) != (ssize_t)bytes)
		return err;
	return move(d, STORE, offset, from, bytes);
}

int xd_memory_store(void *ctx, u64 at, const void *from, u32 bytes)
{
	struct xd_cache *cache = ctx;
	int err = move(cache->fast, STORE, at, (void *)(uintptr_t)from, bytes);

	if (!err)
		xd_count(cache->counts.fast_bytes_written, bytes);
	return err;
}

/* ------------------------------------------------------------- operations ---- */

static void memory_submit(struct xd_op *op)
{
	struct xd_device *d = op->dev;
	int err = 0;

	if (op->kind == XD_READ)
		err = move(d, LOAD, op->offset, op->data, op->bytes);
	else if (op->kind == XD_WRITE)
		err = store(d, op->offset, op->data, op->bytes);
	else if (op->kind != XD_FLUSH)
		err = -EOPNOTSUPP;	/* nobody asks it of a fast device */
	xd_op_end(op, err);
}

static int memory_pread(struct xd_device *d, void *buf, u32 bytes, u64 offset)
{
	return move(d, LOAD_DURABLE, offset, buf, bytes);
}

static int memory_pwrite(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	return store(d, offset, buf, bytes);
}

/* Whatever has ended is durable already. */
static int memory_flush(struct xd_device *d)
{
	(void)d;
	return 0;
}

static void memory_close(struct xd_device *d)
{
	pmem_unmap(d->map, d->map_bytes);
}

const struct xd_device_ops xd_memory_ops = {
	.submit = memory_submit,
	.watch = memory_watch,
	.pread = memory_pread,
	.pwrite = memory_pwrite,
	.flush = memory_flush,
	.close = memory_close,
};

/* ------------------------------------------------------------------- open ---- */

static bool in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

int xd_memory_fill(struct xd_device *d, u64 bytes, bool used, struct xp_message *msg)
{
	struct stat st;
	int err = fstat(d->dev.fd, &st) ? -errno : 0;

	if (!err && used && (u64)st.st_blocks < bytes >> XP_SECTOR_SHIFT) {
		snprintf(msg->text, sizeof(msg->text),
			 "the fast device has lost a part of its file, %llu of %llu KiB are there: bring it back whole, or give up what it held (xpcache create --force --discard-dirty)",
			 (unsigned long long)st.st_blocks / 2, (unsigned long long)bytes >> 10);
		return -ENODATA;
	}
	if (!err && (fallocate(d->dev.fd, 0, 0, (off_t)bytes) || fstat(d->dev.fd, &st)))
		err = -errno;
	if (err)
		snprintf(msg->text, sizeof(msg->text), "the fast device's file cannot get all of its room: %s",
			 strerror(-err));
	if (!err) {
		d->used_bytes = bytes;
		d->map_sectors = min((u64)st.st_blocks, bytes >> XP_SECTOR_SHIFT);
	}
	return err;
}

int xd_memory_open(struct xd_device *d)
{
	int is_pmem = 0, err;
	size_t mapped;

	if (d->dev.is_block)
		return -ENOTSUP;
	d->map = map_file(d, &mapped, &is_pmem);
	if (!d->map)
		return -errno;
	d->map_bytes = mapped;
	err = is_pmem || in_memory(d->dev.fd) ? 0 : -ENOTSUP;
	if (!err)
		err = catch_faults();
	if (err) {
		pmem_unmap(d->map, mapped);
		d->map = NULL;
		return err;
	}
	d->is_pmem = is_pmem;
	d->volatile_cache = false;
	d->ops = &xd_memory_ops;
	return 0;
}
