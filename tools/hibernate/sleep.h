/* SPDX-License-Identifier: GPL-2.0-only */
/* sleep.h - hibernate --begin and --end: a machine that hibernates has no cache. */
#ifndef XP_TOOLS_HIBERNATE_SLEEP_H
#define XP_TOOLS_HIBERNATE_SLEEP_H

#include "lib/exit.h"

#include <stdbool.h>

struct options;
struct running;

/* One that a killed hibernate has left suspended goes on first. */
bool sleep_is_asleep(const char *name_or_uuid);
/* The same, and not detached by its user: one that he detached only he attaches. */
bool sleep_is_for_start(const char *name_or_uuid);
/* Complains if another program has suspended it, or loaded a table for it. */
enum xc sleep_check_active(const struct running *r);
/* One that is attached is detached for its user, and no hibernation. Complains. */
enum xc sleep_alone(const struct running *r);
/* As hibernate --end, of one cache. */
enum xc sleep_wake(const char *name, const struct options *opt);
/* Nobody sleeps or wakes one until it is closed; -1: it cannot be had. */
int sleep_lock(void);
void sleep_has_stopped(const char *uuid);
enum xc hibernate_check(const struct options *opt);
enum xc hibernate_run(struct options *opt);

#endif
