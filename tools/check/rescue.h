/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rescue.h - rescue: all that can be read of a cache that does not run goes home, and what cannot be, or may be
 * old, is listed.
 */
#ifndef XP_TOOLS_CHECK_RESCUE_H
#define XP_TOOLS_CHECK_RESCUE_H

#include "lib/exit.h"

struct options;

/* flush --offline --rescue: all that can be read goes home, and nothing is written to the fast device. */
enum xc rescue_run(const struct options *opt);

#endif
