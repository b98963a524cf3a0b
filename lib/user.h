/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user.h - caches of the user-space engine: xpcached serves each on NAME.sock and answers us on NAME.control,
 * both in a directory of this user's own.
 */
#ifndef XP_LIB_USER_H
#define XP_LIB_USER_H

#include "lib/exit.h"
#include "core/command.h"
#include "core/options.h"

struct running;

/* As those of kernel.c, of the caches that this user's xpcached runs. -ENXIO: it does not. */
const char *user_directory(void);	/* of their sockets */
void user_uri(const char *name, char *uri, size_t len);
int user_find(const char *name, const char *uuid, struct running *r);
int user_list(struct running **list, size_t *n);
bool user_has(const char *name);
int user_tell(const char *name, const char *message);	/* that has no answer */
/* Its slow device has grown: sectors that the cache had, and has now. xd_cache_resize()'s errors. */
int user_resize(const char *name, u64 *was, u64 *is);
int user_ask(const char *name, const char *message, char **answer);
int user_status(const char *name, char *line, size_t len);
void user_log(const char *name, char *path, size_t len);

/* "dirty-low" of dirty_low: a tunable's option, without the dashes before it. */
#define TUNABLE_OPTION	32u
void tunable_option(const struct xp_tunable *row, char text[TUNABLE_OPTION]);
bool tunable_is_users(const struct xp_tunable *row);	/* else each start chooses it */
void tunables_of_running(struct xp_tunables *t);	/* as its table line says: in write-back, if that has no mode */
bool user_can_start(void);	/* is xpcached installed? */

/* How xpcached runs a cache. */
struct user_start {
	bool offline;		/* no client can connect */
	bool ublk, force;
	struct xp_tunables tunables;
};

/* Returns when clients can connect. */
enum xc user_create(const char *name, const char *fast, const char *slow, const struct user_start *how);
enum xc user_stop(const char *name, bool losing);

#endif
