// SPDX-License-Identifier: GPL-2.0-only
/* privileges.c - what the daemon gives up, once it has what it needs. */
#include "daemon/optional.h"
#include "daemon/verbs.h"
#include "lib/complain.h"
#include "lib/exit.h"

#include <sys/prctl.h>
#include <unistd.h>

#if HAVE_LIBCAP_NG
#include <cap-ng.h>

enum xc privileges_keep(int capability, int another)
{
	capng_clear(CAPNG_SELECT_BOTH);
	if (geteuid() == 0 &&
	    capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET,
			  (unsigned int)capability, another, -1))
		return complain(XC_FAILED, NULL, NULL, "cannot give up privileges");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    capng_apply(geteuid() == 0 ? CAPNG_SELECT_BOTH : CAPNG_SELECT_CAPS))
		return complain(XC_FAILED, NULL, NULL, "cannot give up privileges");
	return XC_OK;
}

enum xc privileges_give_up(int capability)
{
	if (capng_get_caps_process() ||
	    capng_update(CAPNG_DROP, CAPNG_EFFECTIVE | CAPNG_PERMITTED, (unsigned int)capability) ||
	    capng_apply(CAPNG_SELECT_CAPS))
		return complain(XC_FAILED, NULL, NULL, "cannot give up privileges");
	return XC_OK;
}

#else

/* New ones it cannot get, at least: that the kernel sees to. */
enum xc privileges_keep(int capability, int another)
{
	(void)capability, (void)another;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return complain(XC_FAILED, NULL, NULL, "cannot give up privileges");
	return XC_OK;
}

enum xc privileges_give_up(int capability)
{
	(void)capability;
	return XC_OK;
}

#endif
