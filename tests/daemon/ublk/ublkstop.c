// SPDX-License-Identifier: GPL-2.0-only
/* ublkstop N - takes the block device /dev/ublkbN away from whoever serves it. */
#include "daemon/ublk/ublk.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "platform.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct ublksrv_ctrl_cmd cmd = { .queue_id = (u16)-1 };
	struct xd_ublk_control c;
	int err;

	if (argc != 2)
		return XC_USAGE;
	cmd.dev_id = (u32)atoi(argv[1]);
	if (xd_ublk_control_open(&c))
		return XC_FAILED;
	err = xd_ublk_control_start(&c);
	if (!err)
		err = xd_ublk_ask(&c, UBLK_CMD_STOP_DEV, &cmd, NULL, NULL);
	xd_ublk_control_close(&c);
	return err ? complain_errno(err, argv[1], "it cannot be stopped") : XC_OK;
}
