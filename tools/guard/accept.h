/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accept.h - a cache whose fast device cannot be read everywhere goes on without, if the user says so: it is
 * recovered here, before it starts, and tells what is lost.
 */
#ifndef XP_TOOLS_GUARD_ACCEPT_H
#define XP_TOOLS_GUARD_ACCEPT_H

#include "lib/exit.h"
#include "platform.h"

struct cache;
struct options;

/* Of --accept-loss, --accept-older: XP_ACCEPT_*. */
u32 accept_of(const struct options *opt);
/* Complains if they are given where they cannot be: they are said of one cache that does not run. @todo: what to do. */
enum xc accept_check_none(const struct options *opt, const char *todo);
/* Complains of what is asked of a stopped cache only, whether it may be lost or goes over what the disk has. */
enum xc accept_check_running(const struct options *opt, const char *todo);
/* Before @c starts: recovers it here as far as they say, and tells what is lost. After it the journal is as any. */
enum xc accept_losses(const struct cache *c, const char *slow, const struct options *opt);

#endif
