// SPDX-License-Identifier: GPL-2.0-only
/*
 * power.c - refuses to hibernate with a cache in memory.
 *
 * The memory image would contain the map of each cache. The devices change after
 * the image is made: this kernel still writes, or another one runs before the
 * restore. The map would then be wrong. So no image is made while a cache is in
 * memory, and none is restored after one has been started. The command line
 * replaces each cache by a linear device first (xpcache hibernate --begin).
 *
 * Suspend to memory needs nothing: the devices stop with the machine.
 */
#include <linux/suspend.h>

#include "backend.h"

static int power_notify(struct notifier_block *nb, unsigned long event, void *data)
{
	bool closed = true;

	switch (event) {
	case PM_HIBERNATION_PREPARE:
		closed = xs_registry_close("a cache does not outlive a hibernation, which is refused: xpcache hibernate --begin comes first");
		break;
	case PM_RESTORE_PREPARE:
		closed = xs_registry_close("an image of memory is not restored where a cache has been started");
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		xs_registry_open();
		break;
	}
	return notifier_from_errno(closed ? 0 : -EBUSY);
}

static struct notifier_block power_notifier = {
	.notifier_call = power_notify,
};

int xs_power_init(void)
{
	return register_pm_notifier(&power_notifier);
}

void xs_power_exit(void)
{
	unregister_pm_notifier(&power_notifier);
}
