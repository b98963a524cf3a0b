// SPDX-License-Identifier: GPL-2.0-only
/* notify.c - what the service manager is told. */
#include "daemon/serve/notify.h"

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A path, or with "@" first an abstract name, without a NUL at its end. 0: nobody asked. */
static socklen_t manager(struct sockaddr_un *to)
{
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;

	if (len < 2 || (*name != '/' && *name != '@') || len >= sizeof(to->sun_path))
		return 0;
	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	memcpy(to->sun_path, name, len);
	if (*name != '@')
		return sizeof(*to);
	to->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

void notify(const char *format, ...)
{
	char text[PATH_MAX + 256];
	struct sockaddr_un to;
	socklen_t len = manager(&to);
	va_list args;
	int fd;

	if (!len)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&to, len);
	close(fd);
}
