/* SPDX-License-Identifier: GPL-2.0-only */
/* offline.h - a cache at rest: its map rebuilt by the core's own recovery, looking only. */
#ifndef XP_LIB_OFFLINE_H
#define XP_LIB_OFFLINE_H

#include "lib/exit.h"
#include "lib/media.h"
#include "lib/uuid.h"
#include "core/format.h"
#include "core/message.h"
#include "core/statistics.h"

struct xp_mapping;
struct xp_witness;
struct cache;
struct device;
struct xp;

struct offline {
	struct media media;
	struct xp_sb sb;
	struct xp *core;
	void *memory, *scratch;
	struct xp_stats stats;
	struct xp_message message;	/* why not, when a call failed */
	bool anew;			/* xp_options.anew; to be set after offline_open(), */
	u32 accept;			/* XP_ACCEPT_*: likewise, */
	const char *slow;		/* and this, for complaints: its slow device, if it is known */
};

/* Superblock only, then the map as well. Negative errno; see message. Whatever
 * came of them, offline_close(). */
int offline_open(struct offline *o, const struct device *d);
int offline_load(struct offline *o);
/* The same, before a witness; may be asked again, with another o->accept. */
int offline_look(struct offline *o, const struct xp_witness *witness);
/* Its 4096 bytes, as far as it has them: what a slot lacks may be unreadable. 0, or negative errno. */
int offline_read_slot(struct offline *o, const struct xp_mapping *map, void *data);
/* In place of these: what was decided is written, as by a start. The device must be open for writing. */
int offline_restate(struct offline *o);
void offline_close(struct offline *o);
/* What can be done with a cache whose journal cannot be read; @slow, here and below: NULL if nobody has named it. Then it
 * is looked for, and is DEV if it is not found. As text_todo(). */
const char *loss_advice(const char *fast, const char *slow);
/* ... whose slow device is too short for its dirty blocks. */
const char *shorter_advice(const char *fast, const char *slow);
/* "--fast FAST --slow SLOW", to be typed, until the next call. */
const char *text_devices(const char *fast, const char *slow);
/* What ends the use of the device that a cache may be running on. As text_todo(). */
const char *text_stop(const struct device *fast);
/* "xpcache start NAME", with the devices that it would not find by itself; until the next call. */
const char *text_start(const char *name, const char *fast, const char *slow);
const char *text_resize(const char *name, const char *fast, const char *slow);

/* What of a cache would be lost with the device it is on. */
struct cache_there {
	char what[96];		/* "the fast device of the xpcache xpcache0" */
	char uuid[UUID_HEX], name[XP_NAME_LEN];	/* "": cannot be told */
	bool known;		/* false: damaged, or not of this version; its dirty blocks */
	u64 dirty;		/* cannot be told */
	bool moves;		/* the cache has moved from it, or was to move to it: it has nothing */
};

/* False: there is none. */
bool cache_look(const struct device *fast, struct cache_there *c);
/* The exit code and the complaint for what they returned. */
enum xc offline_complain(const struct offline *o, const struct device *d, int err);
/* The dirty blocks of a cache that does not run. False: they cannot be told. */
bool cache_dirty(const struct cache *c, u64 *dirty);
/* It does not run, and has nothing dirty. */
bool cache_is_home(const struct cache *c);

#endif
