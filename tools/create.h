/* SPDX-License-Identifier: GPL-2.0-only */
/* create.h - create: a new cache. */
#ifndef XP_TOOLS_CREATE_H
#define XP_TOOLS_CREATE_H

#include "lib/exit.h"

struct options;
struct xp_sb;

/* A cache of a slow device that is in use: not started, and the device is only looked at. */
enum xc create_adopted(const struct options *opt, const char *slow, struct xp_sb *sb);

#endif
