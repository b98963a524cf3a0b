// SPDX-License-Identifier: GPL-2.0-only
/* Running caches, whichever engine runs them: the kernel's, or this user's xpcached. */
#include "lib/running.h"
#include "lib/device_name.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/user.h"
#include "lib/uuid.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

int running_find(const char *name, const char *uuid, struct running *r)
{
	int user = user_find(name, uuid, r), kernel;

	if (user == 1)
		return user;
	kernel = kernel_find(name, uuid, r);	/* whatever an xpcached does that does not answer */
	return kernel == 1 || !user ? kernel : user;
}

/* The kernel's only for those who may ask it. */
int running_list(struct running **list, size_t *n)
{
	struct running *kernel = NULL, *all;
	size_t nr_kernel = 0;
	int err = user_list(list, n), no_kernel = geteuid() == 0 ? kernel_list(&kernel, &nr_kernel) : 0;

	if (!err && nr_kernel) {
		all = realloc(*list, (*n + nr_kernel) * sizeof(*all));
		if (all) {
			memcpy(all + *n, kernel, nr_kernel * sizeof(*all));
			*list = all;
			*n += nr_kernel;
		}
		err = all ? 0 : -ENOMEM;
	}
	free(kernel);
	if (err || (no_kernel && no_kernel != -ENODEV))	/* without a device mapper nothing runs there */
		return err ? err : no_kernel;
	return 0;
}

int running_tell(const char *name, const char *message)
{
	return user_has(name) ? user_tell(name, message) : kernel_tell(name, message);
}

int running_message(const char *name, enum xp_command command)
{
	return running_tell(name, xp_command_name(command));
}

int running_named(const char *name, struct running *r)
{
	int ret = running_find(name, NULL, r);

	return ret != 1 && strlen(name) == UUID_HEX - 1 ? running_find(NULL, name, r) : ret;
}

int running_ask(const char *name, const char *message, char **answer)
{
	return user_has(name) ? user_ask(name, message, answer) : kernel_ask(name, message, answer);
}

int running_status(const char *name, char *line, size_t len)
{
	return user_has(name) ? user_status(name, line, len) : kernel_status(name, line, len);
}

enum xc running_remove(const char *name, bool losing)
{
	return user_has(name) ? user_stop(name, losing) : kernel_remove(name);
}

bool running_has_name(const char *name)
{
	return user_has(name) || (geteuid() == 0 && kernel_has_name(name));
}

const char *running_log(const char *name, const char *rest)
{
	static char text[6 * PATH_MAX];
	char path[PATH_MAX];

	user_log(name, path, sizeof(path));
	snprintf(text, sizeof(text), "%s tells more%s", user_has(name) ? path : "dmesg", rest);
	return text;
}

void running_node(const struct running *r, char *node, size_t len)
{
	if (*r->ublk)
		snprintf(node, len, "%s", r->ublk);
	else if (r->user)
		user_uri(r->name, node, len);
	else
		snprintf(node, len, "/dev/mapper/%s", r->name);
}

static void node_of(dev_t dev, char *path, size_t len)
{
	if (!device_node_of(dev, path, len))
		snprintf(path, len, "the device");
}

void running_paths(struct running *r)
{
	if (r->user)
		return;
	node_of(r->fast, r->fast_path, sizeof(r->fast_path));
	node_of(r->slow, r->slow_path, sizeof(r->slow_path));
}
