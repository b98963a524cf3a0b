/* SPDX-License-Identifier: GPL-2.0-only */
/* remote.h - which engine runs a cache: the kernel's target, or xpcached. */
#ifndef XP_LIB_REMOTE_H
#define XP_LIB_REMOTE_H

#include "lib/exit.h"

#include <limits.h>
#include <stdbool.h>

struct device;

bool is_remote(const char *path);	/* an NBD URI */
/* Two URIs that name the same export of the same server, as far as their words tell. */
bool remote_same(const char *a, const char *b);

/* @uri with the paths in its query, of a socket or keys, made to lead from / and not from @folder. */
#define REMOTE_MAX	(4 * PATH_MAX)
void remote_resolve(const char *uri, const char *folder, char text[REMOTE_MAX]);
/* The folder one is in; complains if it is gone. */
enum xc folder_get(char folder[PATH_MAX]);
/* Complains if the slow device at the URI is a running cache's: no lock guards it. */
enum xc remote_check_free(const char *uri);
struct nbd_handle;
/* Complains if what they are reached by cannot be had; else the next two may be called. */
enum xc remote_check_library(const char *uri);
/* Not connected yet; its URI may name files with keys. NULL: no memory. */
struct nbd_handle *remote_new(void);
/* Size and sector of a server's device. Why it cannot be the slow one; NULL: it can. */
const char *remote_learn(struct nbd_handle *nbd, struct device *d);
/* As device_open(); with @files a remote one too, of which only the size is learnt. */
enum xc device_open_any(struct device *d, const char *path, bool files);

#endif
