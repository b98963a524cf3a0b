/* SPDX-License-Identifier: GPL-2.0-only */
/* moves.h - caches that were moving to another fast device when it was interrupted: core/move.h. */
#ifndef XP_LIB_MOVES_H
#define XP_LIB_MOVES_H

#include "lib/exit.h"

#include "platform.h"

#include <stdbool.h>
#include <sys/types.h>

struct cache;
struct caches;
struct xp_sb;

/* Is it refused for that alone? Then this device is not where the cache is, as far as can be seen. */
bool cache_is_elsewhere(const struct cache *c);
/*
 * Where both devices of a move are here, the one that counts is no more refused, with the superblock as it will be:
 * cache_arrive() is still to be called.
 */
void moves_pair(struct caches *all);
/*
 * Before it is used: writes what moves_pair() has foreseen, if it has, and erases the device that the cache has left, if
 * that is here. Complains.
 */
enum xc cache_arrive(struct cache *c);
/* The device @dev, which the cache of the superblock @there has left: its superblocks go. Says so if they cannot. */
void move_erase_left(dev_t dev, const struct xp_sb *there);
/* What to do about one that cache_is_elsewhere(). As text_todo(). */
const char *move_advice(const struct cache *c);

#endif
