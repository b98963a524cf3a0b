// SPDX-License-Identifier: GPL-2.0-only
/*
 * The initramfs images of all kernels, and a cache that they start: how it ends.
 *
 * An image is as old as its making, and each may be booted. If one that starts the cache could be
 * followed by one that knows of none, / would be on what the disk alone has.
 */
#include "boot/fstab.h"
#include "boot/initramfs.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool images_know(const struct known *k)
{
	return k->start == START_IN_INITRAMFS || k->start == START_TO_LEAVE || k->start == START_GONE;
}

enum xc images_make(struct known *k, enum start_when start)
{
	enum xc ret;
	int err;

	k->start = start;
	err = known_write(k);
	if (err)
		return complain_errno(err, "/etc/xpcache", "cannot note what the boot is to do with the cache");
	/* The boot menu is not made anew for this: any kernel may be its default. Read by boot/'s hooks. */
	if (start == START_IN_INITRAMFS)
		setenv("XPCACHE_EVERY_KERNEL", "1", 1);
	ret = initramfs_make();
	unsetenv("XPCACHE_EVERY_KERNEL");
	sync();
	return ret;
}

/* fstab as it was leads past each of them. */
void images_leave_fstab(const char *uuid)
{
	bool others = known_elsewhere();
	struct known *list;
	size_t n = known_all(&list);

	for (size_t i = 0; i < n; i++)
		others |= images_know(&list[i]) && strcmp(list[i].uuid, uuid) != 0;
	free(list);
	if (!others)
		fstab_restore(&(struct fstab){ .path = NULL });
}

/*
 * In the order in which a boot in between is right, whichever kernel is chosen, and in which this can be
 * called again: no image that is there starts it any more, and then it can have nothing dirty; none waits
 * for it.
 */
enum xc images_let_go(struct known *k)
{
	enum xc ret = XC_OK;

	if (k->start != START_GONE)	/* be it to leave already: that may have been cut short */
		ret = images_make(k, START_TO_LEAVE);
	if (!ret)
		images_leave_fstab(k->uuid);
	if (!ret)
		ret = images_make(k, START_GONE);
	if (ret) {	/* some wait for it still: they are to bring all home, and so is the next */
		k->start = START_TO_LEAVE;
		known_write(k);
	}
	return ret;
}
