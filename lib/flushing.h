/* SPDX-License-Identifier: GPL-2.0-only */
/* flushing.h - dirty blocks of a running cache are written back. */
#ifndef XP_LIB_FLUSHING_H
#define XP_LIB_FLUSHING_H

#include "lib/exit.h"
#include "platform.h"

struct user_start;

/* Complains if it is suspended: whoever wants something of the device would wait for ever. */
enum xc flush_awake(const char *name);
/* What programs wrote there without a sync goes to the cache. */
enum xc flush_pages(const char *node);
/* Writes every dirty block back, with a progress bar. */
enum xc flush_home(const char *name);
/* The same for who has caught the signals. */
enum xc flush_to_end(const char *name);
/* The same where another mode has begun it: it goes on if the wait is interrupted. */
enum xc flush_of_mode(const char *name);
/* Until @enough are left or fewer; by @end (seconds_now()), or it complains. */
enum xc flush_nearly(const char *name, u64 enough, double end);
/* The same as flush_home() of a cache that does not run: by a daemon that has no clients, and ends after it. */
enum xc flush_by_user(const char *name, const char *fast, const char *slow, const struct user_start *how);

#endif
