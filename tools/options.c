// SPDX-License-Identifier: GPL-2.0-only
/* What the words of a command line ask for, as others want to know it. */
#include "tools/options.h"
#include "lib/user.h"

struct user_start user_start_of(const struct options *opt)
{
	return (struct user_start){
		.offline = opt->offline, .ublk = opt->ublk, .force = opt->force, .tunables = opt->tunables,
	};
}
