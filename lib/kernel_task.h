/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - device mapper, among the files that talk to it:
 *
 *   kernel.c         tasks; the devices of caches: found, made, given another table, told, asked
 *   kernel_module.c  the target, and its module
 *   kernel_devices.c what stands beside them: their partitions, and what holds a slow device
 */
#ifndef XP_KERNEL_H
#define XP_KERNEL_H

#include "platform.h"

#include <libdevmapper.h>
#include <sys/sysmacros.h>

struct dm_task;

#define TARGET		"xpcache"
#define LINEAR		"linear"

/* NULL: no device mapper in the kernel (it asks that first), or no memory. */
struct dm_task *task_new(int type, const char *name);
/* Negative errno. ENXIO is device mapper's "no such device". */
int task_run(struct dm_task *t);
/* RESUME and REMOVE. */
int task_simple(int type, const char *name);

/* Of the version of the target that is loaded; it was looked for. */
u32 kernel_target_minor(void);

#endif /* XP_KERNEL_H */
