/* SPDX-License-Identifier: GPL-2.0-only */
/* partitions.h - partitions of a running cache. */
#ifndef XP_LIB_PARTITIONS_H
#define XP_LIB_PARTITIONS_H

#include "lib/exit.h"
#include "platform.h"

struct partition;
struct running;

/* Those that there are, by number; of a cache with a ublk device the kernel's own. -errno. */
int partitions_of(const struct running *r, struct partition **list, size_t *n);
/* Has what libblkid looks at a partition table, and is it nothing else as a whole? 0 or 1; -EUCLEAN: both. */
struct blkid_struct_probe;
int partitions_alone(struct blkid_struct_probe *probe);
/* Each of the table becomes /dev/mapper/NAMEpN, if it is not there, and what the table has no more
 * goes. Complains of those that cannot: the others are as they should be. Of a cache that the
 * kernel does not run these two do nothing. */
enum xc partitions_show(const struct running *r);
/* The same of the cache with this UUID. */
enum xc partitions_started(const char *uuid);

struct partitions {
	struct partition *v;
	size_t n;
};

/* They go, and what programs wrote to the cache itself, which they kept open, is written out.
 * Complains if one is in use, or if that was lost (@force: goes on); then all are there again.
 * free() hidden->v. */
enum xc partitions_hide(const struct running *r, bool force, struct partitions *hidden);
/* They are there again, without a look at a device that may have failed. */
void partitions_back(const struct running *r, struct partitions *hidden);
/* Complains if one is open. */
enum xc partitions_closed(const struct running *r);
/* How many have the cache open, or a partition of it. */
u32 partitions_users(const struct running *r);
/* What to use from now on, instead of what: a line for each. False: there is none. */
bool partitions_tell(const struct running *r);

#endif
