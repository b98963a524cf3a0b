/* SPDX-License-Identifier: GPL-2.0-only */
/* format.h - a cache of an older version becomes one of this, and one of this such a one. */
#ifndef XP_TOOLS_FORMAT_H
#define XP_TOOLS_FORMAT_H

#include "lib/exit.h"

struct cache;
struct options;
struct running;

/* Before it starts: if @opt says so, or the user on the terminal. */
enum xc format_convert(struct cache *c, const struct options *opt);
/* Before the running cache is stopped: complains if it cannot have the format of @opt then. */
enum xc format_check(const struct running *r, const struct options *opt);
/* It is stopped; @r has the paths of its devices. What cannot be said in the format of @opt is written back first. */
enum xc format_back(const struct running *r, const struct options *opt);

#endif
