/* SPDX-License-Identifier: GPL-2.0-only */
/* The initramfs of this system: initramfs-tools' or dracut's; and what its images do with a cache. */
#ifndef INITRAMFS_H
#define INITRAMFS_H

#include "lib/exit.h"
#include "lib/known.h"

#include <stdbool.h>

/* Complains if none would start a cache. */
enum xc initramfs_check(void);
/* Would the one that there is look for the memory of a hibernation? */
bool initramfs_restores(void);
/* Until this process ends, no other xpcache makes one, nor begins what ends with it: both would write
 * the same file. Nor does dpkg. Waits, and says so. */
void initramfs_lock(void);
/* Before that, for who has much to do after it. */
void initramfs_unlock(void);
/* The same, if initramfs_refresh() would make one: before that is changed which it is to know. Who does not want
 * to wait has changed nothing there then. */
void initramfs_lock_to_refresh(void);
/* Makes those of all kernels again; takes a minute. */
enum xc initramfs_make(void);
/* The same after a cache came or went, if there is who makes it: what is in it, volume groups and
 * mirrors are looked for there already. XC_FAILED, and said why, where it cannot be made. */
enum xc initramfs_refresh(void);
/* Is there who would? Not in an initramfs itself. */
bool initramfs_refreshes(void);

/* -------------------------------------------------------- images.c ---- */

/* Do they start it, or are to leave it, or were until its end began? */
bool images_know(const struct known *k);
/* All are made with that in the record, which stays so whatever comes next. */
enum xc images_make(struct known *k, enum start_when start);
/* fstab becomes what it was, unless another cache that they know is still to be found by it. */
void images_leave_fstab(const char *uuid);
/* None starts it any more, and then none knows it: now it may be erased, or forgotten. If it fails it can be called again,
 * and whatever is booted meanwhile has all. */
enum xc images_let_go(struct known *k);

#endif /* INITRAMFS_H */
