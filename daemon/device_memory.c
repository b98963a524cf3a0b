// SPDX-License-Identifier: GPL-2.0-only
/*
 * device_memory.c - a fast device that is memory: a DAX file on persistent memory, or a file of a
 * memory file system, mapped. An operation is a memcpy, and over when it returns.
 *
 * libpmem knows how to make bytes durable in persistent memory: they are flushed out of the
 * processor's caches as they are copied. A file of tmpfs outlives the program, nothing more.
 */
#include "engine.h"

#include <fcntl.h>
#include <libpmem.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

static void copy_in(struct xd_device *d, u64 offset, const void *data, u32 bytes)
{
	if (d->is_pmem)
		pmem_memcpy_persist(d->map + offset, data, bytes);
	else
		memcpy(d->map + offset, data, bytes);
}

static void memory_submit(struct xd_op *op)
{
	struct xd_device *d = op->dev;
	int err = 0;

	if (op->offset > d->map_bytes || op->bytes > d->map_bytes - op->offset)
		err = -EIO;
	else if (op->kind == XD_READ)
		memcpy(op->data, d->map + op->offset, op->bytes);
	else if (op->kind == XD_WRITE)
		copy_in(d, op->offset, op->data, op->bytes);
	else if (op->kind != XD_FLUSH)
		err = -EOPNOTSUPP;	/* nobody asks it of a fast device */
	xd_op_end(op, err);
}

static int memory_pread(struct xd_device *d, void *buf, u32 bytes, u64 offset)
{
	memcpy(buf, d->map + offset, bytes);
	return 0;
}

static int memory_pwrite(struct xd_device *d, const void *buf, u32 bytes, u64 offset)
{
	copy_in(d, offset, buf, bytes);
	return 0;
}

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
	.pread = memory_pread,
	.pwrite = memory_pwrite,
	.flush = memory_flush,
	.close = memory_close,
};

static bool in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

/* A hole that cannot be filled later would be the end of us: SIGBUS. */
int xd_memory_open(struct xd_device *d)
{
	u64 bytes = d->dev.sectors << XP_SECTOR_SHIFT;
	int is_pmem = 0;
	size_t mapped;

	if (d->dev.is_block)
		return -ENOTSUP;
	d->map = pmem_map_file(d->dev.path, 0, 0, 0, &mapped, &is_pmem);
	if (!d->map)
		return -errno;
	if (!is_pmem && !in_memory(d->dev.fd)) {
		pmem_unmap(d->map, mapped);
		d->map = NULL;
		return -ENOTSUP;
	}
	if (fallocate(d->dev.fd, 0, 0, (off_t)bytes)) {
		int err = -errno;

		pmem_unmap(d->map, mapped);
		d->map = NULL;
		return err;
	}
	d->map_bytes = bytes;
	d->is_pmem = is_pmem;
	d->volatile_cache = false;
	d->ops = &xd_memory_ops;
	return 0;
}
