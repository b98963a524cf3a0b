/* SPDX-License-Identifier: GPL-2.0-only */
/* running.h - running caches, whichever engine runs them: the kernel's, or this user's xpcached. */
#ifndef XP_LIB_RUNNING_H
#define XP_LIB_RUNNING_H

#include "lib/exit.h"
#include "lib/uuid.h"
#include "core/command.h"
#include "core/options.h"

#include <limits.h>
#include <sys/types.h>

struct running {
	char name[128];
	char uuid[UUID_HEX];	/* of the cache; "" for another dm device */
	dev_t dev, fast, slow;	/* fast and slow: 0 unknown */
	u32 open_count;
	u64 sectors;
	struct xp_tunables tunables;
	bool tunables_known;	/* false: the module is not of this version */
	bool user;		/* of the user-space engine; then dev, fast and slow are 0, */
	char fast_path[PATH_MAX], slow_path[PATH_MAX];	/* and these are known */
	char ublk[64];		/* its block device; "": it has only a socket */
	bool asleep;		/* its device leads to the slow one alone; fast is 0 */
	bool suspended;		/* of a device mapper's device: now, */
	bool reloads;		/* and another table is loaded for its next resume */
};

/* The same of all, by name: no two have the same. */
int running_find(const char *name, const char *uuid, struct running *r);
int running_named(const char *name, struct running *r);	/* the uuid will do */
int running_list(struct running **list, size_t *n);
int running_tell(const char *name, const char *message);	/* that has no answer */
int running_message(const char *name, enum xp_command command);
int running_ask(const char *name, const char *message, char **answer);
int running_status(const char *name, char *line, size_t len);
/* @losing: what it cannot make durable by now. */
enum xc running_remove(const char *name, bool losing);
bool running_has_name(const char *name);
/* "PLACE tells more@rest": where its errors are told. Static. */
const char *running_log(const char *name, const char *rest);
/* What programs open: /dev/mapper/NAME, /dev/ublkbN, or an NBD URI. */
void running_node(const struct running *r, char *node, size_t len);
/* Makes its fast_path and slow_path known, which the kernel knows as numbers. */
void running_paths(struct running *r);

#endif
