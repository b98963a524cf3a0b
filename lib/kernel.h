/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - device mapper: the devices of caches, created, removed, told and asked; what stands beside them; the target.
 */
#ifndef XP_LIB_KERNEL_H
#define XP_LIB_KERNEL_H

#include "lib/exit.h"
#include "core/command.h"

#include <sys/types.h>

struct xp_sb;
struct xp_tunables;
struct device;
struct running;

/* Is there a device mapper, and the target? Loads the modules if it can. */
enum xc kernel_ready(void);
bool kernel_has_target(void);	/* without a complaint */
const char *kernel_no_target(void);	/* why it has not; static */
bool kernel_refuses_sleep(void);	/* to hibernate with a cache */
int kernel_load(const char *module);	/* negative errno */
/* 1: *r filled; 0: no such device; negative errno. */
int kernel_find(const char *name, const char *uuid, struct running *r);
/* All running caches; free() the result. */
int kernel_list(struct running **list, size_t *n);
/* Takes away the devices of creates and starts that were killed half-way: they
 * hold the disks. Before anything looks for who uses those. */
void kernel_sweep(void);

enum xc kernel_create(const struct xp_sb *sb, const char *name,
		      const struct device *fast, const struct device *slow,
		      const struct xp_tunables *limits);

enum xc kernel_remove(const char *name);
/* Another table for its next resume: linear over the slow device, or the cache on @fast again. -errno. */
int kernel_load_linear(const struct running *r);
int kernel_load_cache(const struct running *r, const struct device *fast, const struct xp_tunables *limits);
/* Likewise: the one that it has, with another length. -EINVAL: that is none of ours. */
int kernel_load_longer(const char *name, u64 sectors);
int kernel_clear(const char *name);	/* or none */
bool kernel_loads_linear(const char *name);	/* is that it? */
int kernel_suspend(const char *name);	/* -EINTR: a signal came */
int kernel_resume(const char *name);
bool kernel_is_loading(const char *name);	/* its first resume has not come, or has failed */
/* Until kernel_unlock() no other program makes a device of ours, takes a cache away, or gives one another table. */
int kernel_lock(void);
void kernel_unlock(int lock);
/* Keeps the slow device of a cache that does not run: while a device of ours has it, no mount,
 * no swap, no RAID and no volume group can take it or a partition of it. A cache's start can. */
int kernel_hold(const char *uuid, dev_t slow);
/* The device that is held, or was until now; 0: none. */
dev_t kernel_is_held(const char *uuid);
dev_t kernel_let_go(const char *uuid);
bool kernel_is_hold(const char *uuid);	/* by the uuid of a dm device */
/* Calls @fn with the uuid of each cache that something is kept for. */
void kernel_each_hold(void (*fn)(const char *uuid));
/* Negative errno. */
int kernel_tell(const char *name, const char *message);	/* that has no answer */
int kernel_message(const char *name, enum xp_command command);
/* The answer of the target to a message; malloc()ed into *answer. 0 or -errno. */
int kernel_ask(const char *name, const char *message, char **answer);
/* -EMSGSIZE: longer than @len. */
int kernel_status(const char *name, char *line, size_t len);
/* What the target prints as its table, into @r; takes @params to pieces. */
void table_read(char *params, struct running *r);
/* The kernel's log from its end on; -1: not readable. And the first that our target has said since, "" if nothing: closes
 * it. */
int kernel_log_open(void);
void kernel_log_reason(int fd, char *buf, size_t len);
/* What our target said in a record of it; false: nothing. */
bool kmsg_said(const char *record, char *buf, size_t len);
/* True if some dm device, ours or not, has the name. */
bool kernel_has_name(const char *name);
/* A device-mapper UUID: of a cache, or of a partition of one. */
bool kernel_is_ours(const char *uuid);
bool kernel_is_partition(const char *uuid);

/* A partition of a running cache: a linear device, of this UUID, as kpartx has them. */
#define KERNEL_PARTITION	"part%u-XPCACHE-"

struct partition {
	char name[128], node[160];
	dev_t dev;
	u32 number, open_count;
	u64 start, sectors;	/* 512 bytes */
	bool holds;		/* it has the cache open: not if it is half-made */
};

/* Those of the cache with this UUID that there are, in no order; free() the result. -errno. */
int kernel_partitions(const char *cache, struct partition **list, size_t *n);
/* A device that shows a part of another. -errno; -EBUSY: there is one of the name, or of the UUID. */
int kernel_linear(const char *name, const char *uuid, dev_t of, u64 start, u64 sectors);
int kernel_take_away(const char *name);

#endif
