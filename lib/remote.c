// SPDX-License-Identifier: GPL-2.0-only
/* Which engine runs a cache: the kernel's target, or xpcached. */
#include "lib/remote.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/nbd.h"
#include "lib/running.h"
#include "lib/user.h"
#include "core/block.h"
#include "core/bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

bool is_remote(const char *path)
{
	return !strncmp(path, "nbd://", 6) || !strncmp(path, "nbds://", 7) ||
	       !strncmp(path, "nbd+unix://", 11) || !strncmp(path, "nbds+unix://", 12);
}

struct place {
	char server[PATH_MAX];	/* host:port, or the socket's path */
	char export[PATH_MAX];
};

enum xc folder_get(char folder[PATH_MAX])
{
	if (getcwd(folder, PATH_MAX) && *folder == '/')
		return XC_OK;
	return complain(XC_FAILED, NULL, "cd elsewhere, or give paths that begin with /", "the folder that one is in is gone");
}

/* A path, as a word of a query. */
static void append_encoded(char *text, size_t len, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
	size_t at = strlen(text);

	for (; *path && at + 3 < len; path++)
		at += (size_t)snprintf(text + at, len - at, strchr(plain, *path) ? "%c" : "%%%02X", (unsigned char)*path);
}

static void decode(char *text)
{
	unsigned int byte;
	char *to = text;

	for (; *text; text++)
		if (*text == '%' && sscanf(text + 1, "%2x", &byte) == 1 && byte && strspn(text + 1, "0123456789abcdefABCDEF") >= 2) {
			*to++ = (char)byte;
			text += 2;
		} else {
			*to++ = *text;
		}
	*to = '\0';
}

/* Of a word of a query that is a path from the folder one is in: what comes before the path; else 0. */
static size_t before_path(const char *word)
{
	static const char *const keys[] = { "socket=", "tls-certificates=", "tls-psk-file=" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t len = strlen(keys[i]);

		if (!strncmp(word, keys[i], len))
			return word[len] == '/' || !strncasecmp(word + len, "%2f", 3) ? 0 : len;
	}
	return 0;
}

void remote_resolve(const char *uri, const char *folder, char text[REMOTE_MAX])
{
	size_t n = strcspn(uri, "?"), at, key;

	snprintf(text, REMOTE_MAX, "%.*s", (int)n, uri);
	for (uri += n; *uri; uri += n) {
		n = 1 + strcspn(uri + 1, "&;");
		key = before_path(uri + 1);
		at = strlen(text);
		snprintf(text + at, REMOTE_MAX - at, "%.*s", (int)(1 + key), uri);
		if (key) {
			append_encoded(text, REMOTE_MAX, folder);
			append_encoded(text, REMOTE_MAX, "/");
		}
		at = strlen(text);
		snprintf(text + at, REMOTE_MAX - at, "%.*s", (int)(n - 1 - key), uri + 1 + key);
	}
}

/* The words of "?socket=path" or "&socket=path". */
static void take_socket(struct place *p, const char *query)
{
	const char *at = query ? strstr(query, "socket=") : NULL;

	if (!at)
		return;
	snprintf(p->server, sizeof(p->server), "%.*s", (int)strcspn(at + 7, "&;"), at + 7);
	decode(p->server);
}

/* nbd[s][+unix]://[user@]host[:port]/export[?query] */
static void take_apart(const char *uri, struct place *p)
{
	const char *host = strstr(uri, "://") + 3, *path = host + strcspn(host, "/?");
	const char *at = memchr(host, '@', (size_t)(path - host)), *export = path + (*path == '/');
	const char *port;

	host = at ? at + 1 : host;
	snprintf(p->server, sizeof(p->server), "%.*s", (int)(path - host), host);
	snprintf(p->export, sizeof(p->export), "%.*s", (int)strcspn(export, "?"), export);
	port = strrchr(p->server, ':');
	if (port && strchr(port, ']'))
		port = NULL;	/* of an IPv6 address */
	if (!port)
		snprintf(p->server + strlen(p->server), sizeof(p->server) - strlen(p->server), ":10809");
	take_socket(p, strchr(path, '?'));
}

bool remote_same(const char *a, const char *b)
{
	char folder[PATH_MAX], whole[REMOTE_MAX];
	struct place one, other;

	if (!is_remote(a) || !is_remote(b))
		return false;
	if (!getcwd(folder, sizeof(folder)))
		*folder = '\0';
	remote_resolve(a, folder, whole);
	take_apart(whole, &one);
	remote_resolve(b, folder, whole);
	take_apart(whole, &other);
	return !strcasecmp(one.server, other.server) && !strcmp(one.export, other.export);
}

enum xc remote_check_free(const char *uri)
{
	struct running *all;
	enum xc ret = XC_OK;
	size_t n;
	int err;

	if (!is_remote(uri))
		return XC_OK;
	err = user_list(&all, &n);
	if (err)
		ret = complain_errno(err, user_directory(), "cannot ask the running caches for their slow devices");
	for (size_t i = 0; i < n && !ret; i++)
		if (remote_same(uri, all[i].slow_path))
			ret = complain(XC_REFUSED, uri, text_todo("xpcache remove %s first", all[i].name),
				       "it is the slow device of the xpcache %s, which runs", all[i].name);
	free(all);
	return ret;
}

enum xc remote_check_library(const char *uri)
{
	return nbd_load() ? complain(XC_FAILED, uri, "install libnbd (libnbd0 of Debian)",
				     "a remote disk needs libnbd, and libnbd.so.0 cannot be loaded") : XC_OK;
}

/* The URI is the user's own, so it may. */
struct nbd_handle *remote_new(void)
{
	struct nbd_handle *nbd = libnbd.create();

	if (nbd)
		libnbd.set_uri_allow_local_file(nbd, true);
	return nbd;
}

const char *remote_learn(struct nbd_handle *nbd, struct device *d)
{
	int64_t bytes = libnbd.get_size(nbd), least = libnbd.get_block_size(nbd, LIBNBD_SIZE_MINIMUM);
	int64_t most = libnbd.get_block_size(nbd, LIBNBD_SIZE_MAXIMUM);

	if (bytes < 0)
		return nbd_why();
	if (libnbd.is_read_only(nbd) > 0)
		return "the server lets nobody write";
	if (least > (int64_t)XP_BLOCK_SIZE || (least > 0 && bytes % least))
		return "the server takes no requests of 4 KiB";
	if (most > 0 && most < (int64_t)(XP_RUN_MAX << XP_BLOCK_SHIFT))
		return "the server takes no requests of 1 MiB";
	d->sectors = (u64)bytes >> XP_SECTOR_SHIFT;
	d->logical = (u32)max(least, (int64_t)1 << XP_SECTOR_SHIFT);
	return NULL;
}

enum xc device_open_any(struct device *d, const char *path, bool files)
{
	struct nbd_handle *nbd;
	const char *unfit;

	if (!files || !is_remote(path))
		return device_open(d, path, files);
	memset(d, 0, sizeof(*d));
	snprintf(d->path, sizeof(d->path), "%s", path);
	d->fd = -1;
	d->remote = true;
	if (remote_check_library(path))
		return XC_FAILED;
	nbd = remote_new();
	if (!nbd)
		return complain_errno(ENOMEM, path, "cannot connect");
	unfit = libnbd.connect_uri(nbd, path) ? nbd_why() : remote_learn(nbd, d);
	if (unfit)
		complain(XC_FAILED, path, "is its server running, and the right one?", "%s", unfit);
	libnbd.shutdown(nbd, 0);
	libnbd.close(nbd);
	return unfit ? XC_FAILED : XC_OK;
}
