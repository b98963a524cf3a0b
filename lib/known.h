/* SPDX-License-Identifier: GPL-2.0-only */
/* known.h - the caches this machine knows, running or not: one file each in /etc/xpcache. */
#ifndef XP_LIB_KNOWN_H
#define XP_LIB_KNOWN_H

#include "lib/uuid.h"
#include "core/format.h"
#include "core/options.h"

enum start_when {
	START_NOT, START_AT_BOOT, START_IN_INITRAMFS,
	START_TO_LEAVE,		/* in the initramfs: / moves back to the disk alone */
	START_GONE,		/* never: its end has begun, no image takes it in, nothing is kept for it */
};

/* A cache of this machine, whether its devices are here or not. */
struct known {
	char name[XP_NAME_LEN], uuid[UUID_HEX];
	enum start_when start;
	struct xp_tunables limits;	/* of a start that is given none */
	bool limits_wrong;	/* the record has others, which cannot be read; these are the defaults */
	struct xp_sb_slow slow;
};

/* All of them; free() the result. Complains of records that cannot be read, once. */
size_t known_all(struct known **list);
bool known_elsewhere(void);	/* not those that the machine boots with */
size_t known_broken(void);	/* how many of those, the last time, do not say that they are not to start */
/* How many there are of the name; the one of the uuid. */
unsigned int known_find(const char *name_or_uuid, struct known *k);
/* For a start that is given none: as they were given to create, or are edited since. They stay if it is not known. */
void known_limits(const char *uuid, struct xp_tunables *limits);
bool known_is_noted(const char *uuid);	/* be it in a record that cannot be read */
/* Whole or not at all. Negative errno. */
int known_write(const struct known *k);
/* What is noted of the cache of that superblock. */
void known_of(struct known *k, const struct xp_sb *sb, enum start_when start, const struct xp_tunables *limits);
/* Notes a cache that is not known yet: true; complains if it cannot. */
bool known_note(const struct xp_sb *sb, bool user, const struct xp_tunables *limits);
/* Its slow device has another size, in the record too if there is one. */
void known_resized(const char *uuid, u64 sectors);
/* The same of who has taken @slow as long as it is, and says so; as long as it was: nothing. */
void known_take_size(const char *uuid, const char *name, const char *slow, u64 sectors, u64 was);
int known_forget(const char *uuid);	/* 0: it is not known any more. Negative errno */
/* Who starts it, or keeps its slow device, or lets it go for good, does that alone. -1: another
 * does, or it is not known. */
int known_lock(const char *uuid, bool wait);
void known_unlock(int lock);
/* Of this boot: what it had is home, it does not run, and its slow device is used alone. */
int left_write(const char *uuid);
bool left_is(const char *uuid);
bool left_find(char uuid[UUID_HEX]);	/* one of them, if any */
void left_forget(const char *uuid);

#endif
