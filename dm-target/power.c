// SPDX-License-Identifier: GPL-2.0-only
/*
 * power.c - a machine that hibernates.
 *
 * The image of its memory would have the map of each cache in it, and come back when the devices
 * have gone on without it: by this life's end, which still writes, or by another life in between. So
 * no image is made with a cache in it, and none is restored where one has been started. The tool
 * turns each into a linear device before (xpcache hibernate --begin); here is who insists on that.
 *
 * Suspend to memory needs nothing: the devices stop, and what was acknowledged and flushed is durable.
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
