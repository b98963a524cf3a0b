/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replug.h - a running cache one of whose devices was pulled out, and is here again, as another device: it has
 * no way to take that back, and start would find it running.
 */
#ifndef XP_TOOLS_REPLUG_H
#define XP_TOOLS_REPLUG_H

#include "lib/exit.h"

struct options;

/* Of a running cache that start is asked for: stops it if a device of it was pulled out and is here again. */
enum xc replug_end(struct options *opt);

#endif
