// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's driver for block devices of user space, by which xpcached gives one. */
#include "lib/ublk_client.h"
#include "lib/claim.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/uring.h"

#include <limits.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CONTROL	"/dev/ublk-control"

enum xc ublk_ready(void)
{
	struct utsname uts;
	int err;

	if (access(CONTROL, F_OK) && geteuid() == 0)
		kernel_load("ublk_drv");
	if (access(CONTROL, F_OK)) {
		uname(&uts);
		return complain(XC_FAILED, CONTROL, "modprobe ublk_drv; it takes Linux 6.x with CONFIG_BLK_DEV_UBLK",
				"no ublk in the running kernel (%s)", uts.release);
	}
	if (geteuid() != 0)
		return complain(XC_FAILED, "--ublk", "run it with sudo", "only root can do this");
	err = uring_usable();
	if (err)
		return complain(XC_FAILED, "--ublk", "without it NBD clients use the cache", "its driver takes io_uring alone: %s", uring_why(err));
	return XC_OK;
}

enum xc ublk_closed(const char *node)
{
	struct device d;
	enum xc ret = device_open(&d, node, false);

	if (!ret)
		ret = claim_check(&d);
	if (!ret)
		ret = claim_closed(&d);
	if (!ret)
		ret = device_reopen(&d, DEVICE_CLAIM);	/* a mount that only others see */
	device_close(&d);
	return ret;
}

bool ublk_held(const char *node)
{
	char who[PATH_MAX];
	struct device d;
	bool held;

	if (device_look(&d, node))
		return false;
	held = claim_held(&d, who, sizeof(who));
	device_close(&d);
	return held;
}
