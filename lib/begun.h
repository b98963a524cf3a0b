/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * begun.h - a hibernation, or a detach, has begun with a cache: a file in /run says so, which lasts as long as the memory of
 * the machine.
 */
#ifndef XP_LIB_BEGUN_H
#define XP_LIB_BEGUN_H

#include "lib/exit.h"

#include <stdbool.h>

struct running;
struct xp_tunables;

/*
 * In /run, which is as long as the machine's memory: a hibernate has begun with it, and what limits it had. @alone: its
 * user has detached it, and no hibernate.
 */
int begun_keep(const struct running *r, bool alone);
/*
 * Its device is being suspended, and led elsewhere: until that is over whoever finds it suspended may resume it. Negative
 * errno.
 */
int begun_turn(const struct running *r);
void begun_turned(const struct running *r);
bool begun_turns(const struct running *r);
bool begun_is_alone(const struct running *r);
void begun_forget(const struct running *r);
void begun_forget_of(const char *uuid);	/* it has started or stopped: it is no killed hibernate's any more */
void begun_tunables(const struct running *r, struct xp_tunables *t);	/* stay, if it is not known */
/* What reattaches it; static. */
const char *begun_way_back(const struct running *r);
enum xc say_asleep(const char *name);	/* complains */

#endif
