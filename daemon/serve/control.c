// SPDX-License-Identifier: GPL-2.0-only
/*
 * control.c - the socket that the command line asks: a line in, an answer out.
 *
 *	status           as the target prints it, and the number of clients
 *	table            the devices and options, a word and its value in a line
 *	message WORD...  what the device mapper calls a message
 *	resize           the slow device has grown; answered by the sectors that the cache has had, and has now
 *	stop             answered when the cache has stopped; before that, now and then, by a line
 *	                 "wait PID WHAT FOR"
 *
 * The answer is "ok" or "error ERRNO WHY" in a line of its own, then the text, if any, to the end.
 */
#include "daemon/device.h"
#include "daemon/timing.h"
#include "daemon/nbd/server.h"
#include "daemon/ublk/ublk.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "core/command.h"
#include "core/life.h"
#include "core/message.h"
#include "core/options.h"
#include "core/statistics.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#define LINE_MAX_BYTES	256u
#define PATIENCE_S	5
#define RETRY_US	100000	/* too many open files, say */

static void say(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = send(fd, text, left, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		text += n;
		left -= (size_t)n;
	}
}

static void say_error(int fd, int err, const char *why)
{
	char line[XP_MESSAGE_MAX + 32];

	snprintf(line, sizeof(line), "error %d %s\n", -err, why ? why : strerror(-err));
	say(fd, line);
}

static void say_ok(int fd, const char *text)
{
	say(fd, "ok\n");
	say(fd, text);
}

static void status(struct xd_control *c, int fd)
{
	const struct xd_counts *counts = &c->cache->counts;
	const struct xp_requests requests = xd_requests(c->cache);
	struct xp_backend backend = {
		.running = true,
		.uuid = c->cache->sb.uuid,
		.fast_is_memory = c->cache->fast->map,
		.requests = &requests,
		.memory = c->cache->memory_bytes,
		.histogram_memory = xd_timing_bytes(c->cache),
		.writeback_flushes = xd_get(counts->writeback_flushes),
		.fast_bytes_written = xd_get(counts->fast_bytes_written),
		.fast_errors = xd_get(counts->fast_errors),
		.slow_errors = xd_get(counts->slow_errors),
		.failed_since = xd_get(counts->failed_since),
	};
	char text[4096];
	u32 at = xp_status_print(c->cache->core, &backend, text, sizeof(text));

	snprintf(text + at, sizeof(text) - at, " clients %u\n", xd_server_clients(c->server));
	say_ok(fd, text);
}

static void table(struct xd_control *c, int fd)
{
	const char *node = xd_ublk_node(c->ublk);
	char options[XP_TUNABLES_TEXT], text[2 * PATH_MAX + XP_TUNABLES_TEXT + 160];

	xp_tunables_print(&c->now, options);
	snprintf(text, sizeof(text), "fast %s\nslow %s\nuuid %s\nsectors %llu\nclients %u\noptions%s\n%s%s%s",
		 c->cache->fast->dev.path, c->cache->slow->dev.path, text_uuid(c->cache->sb.uuid),
		 (unsigned long long)c->cache->sectors, xd_server_clients(c->server), options,
		 *node ? "ublk " : "", node, *node ? "\n" : "");
	say_ok(fd, text);
}

static void histogram(struct xd_control *c, int fd)
{
	char *text = xd_timing_print(c->cache);

	if (text)
		say_ok(fd, text);
	else
		say_error(fd, -ENOMEM, NULL);
	free(text);
}

/* A block device of ours cannot be told: then nothing is done. */
static void resize(struct xd_control *c, int fd)
{
	u64 was = c->cache->sectors;
	char text[64];
	int err = *xd_ublk_node(c->ublk) ? -EOPNOTSUPP : xd_cache_resize(c->cache);

	if (err) {
		say_error(fd, err, NULL);
		return;
	}
	xd_server_resize(c->server);
	snprintf(text, sizeof(text), "%llu %llu\n", (unsigned long long)was, (unsigned long long)c->cache->sectors);
	say_ok(fd, text);
}

static u32 split(char *line, char *word[LINE_MAX_BYTES / 2])
{
	char *next = NULL;
	u32 n = 0;

	for (char *w = strtok_r(line, " ", &next); w; w = strtok_r(NULL, " ", &next))
		word[n++] = w;
	return n;
}

/* All of the change, or none. */
static int change(struct xd_control *c, enum xp_command command, u32 nr, char **word, struct xp_message *msg)
{
	struct xd_cache *cache = c->cache;
	struct xp_tunables t = c->now;
	int err = xp_command_change(command, &t, nr, word, msg);

	if (err)
		return err;
	if (xp_set_limits(cache->core, &t))
		xd_writeback_kick(cache);
	xd_set(cache->idle_ms, t.idle_ms);
	xd_set(cache->timed, t.histogram);
	c->now = t;
	return 0;
}

static void message(struct xd_control *c, int fd, char *line)
{
	char *word[LINE_MAX_BYTES / 2];
	u32 nr = split(line, word);
	struct xp_message msg = { "" };
	enum xp_command command;
	int err = xp_command_parse(&command, nr, word, &msg);

	if (err) {
		say_error(fd, err, msg.text);
		return;
	}
	switch (command) {
	case XP_COMMAND_FLUSH:
	case XP_COMMAND_FLUSH_STOP:
		xp_write_back_all(c->cache->core, command == XP_COMMAND_FLUSH);
		xd_writeback_kick(c->cache);
		break;
	case XP_COMMAND_COMMIT:
		err = xd_cache_commit(c->cache);
		break;
	case XP_COMMAND_HISTOGRAM:
		histogram(c, fd);
		return;
	default:	/* of options */
		err = change(c, command, nr, word, &msg);
		break;
	}
	if (err)
		say_error(fd, err, *msg.text ? msg.text : NULL);
	else
		say_ok(fd, "");
}

/* One line; false: none came in time. */
static bool read_line(int fd, char *line)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	const u64 until = xd_now() + PATIENCE_S * 1000000000ull;
	size_t used = 0;
	ssize_t n;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	while (used < LINE_MAX_BYTES - 1 && xd_now() < until) {
		n = recv(fd, line + used, LINE_MAX_BYTES - 1 - used, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		used += (size_t)n;
		line[used] = '\0';
		if (strchr(line, '\n')) {
			*strchr(line, '\n') = '\0';
			return true;
		}
	}
	return false;
}

/* A second one is not a second signal: that ends the cache at once. */
static bool stop(struct xd_control *c, int fd)
{
	bool first;

	pthread_mutex_lock(&c->lock);
	first = c->stop_fd < 0;
	if (first)
		c->stop_fd = fd;
	pthread_mutex_unlock(&c->lock);
	if (first)
		kill(getpid(), SIGTERM);
	else
		say_error(fd, -EALREADY, "it stops already");
	return first;
}

/* False: the connection stays open, for the answer to "stop". */
static bool serve(struct xd_control *c, int fd)
{
	char line[LINE_MAX_BYTES];

	if (!read_line(fd, line))
		return true;
	if (!strcmp(line, "status")) {
		status(c, fd);
	} else if (!strcmp(line, "table")) {
		table(c, fd);
	} else if (!strncmp(line, "message ", 8)) {
		message(c, fd, line + 8);
	} else if (!strcmp(line, "resize")) {
		resize(c, fd);
	} else if (!strcmp(line, "stop")) {
		return !stop(c, fd);
	} else {
		say_error(fd, -EINVAL, "no such request");
	}
	return true;
}

static void *control_main(void *arg)
{
	struct xd_control *c = arg;

	for (;;) {
		int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0 && (errno == EINVAL || errno == EBADF))
			return NULL;	/* xd_control_stop() */
		if (fd < 0) {
			usleep(RETRY_US);
			continue;
		}
		if (serve(c, fd))
			close(fd);
	}
}

enum xc xd_control_open(struct xd_control *c, const char *path)
{
	c->fd = c->stop_fd = -1;
	snprintf(c->path, sizeof(c->path), "%s", path);
	return xd_listen(path, &c->fd);
}

int xd_control_start(struct xd_control *c)
{
	int err;

	c->now = *c->cache->tunables;
	c->now.mode = xp_mode(c->cache->core);
	err = pthread_create(&c->thread, NULL, control_main, c);

	c->running = !err;
	return -err;
}

void xd_control_stop(struct xd_control *c)
{
	if (c->fd < 0)
		return;
	unlink(c->path);
	shutdown(c->fd, SHUT_RDWR);
	if (c->running)
		pthread_join(c->thread, NULL);
	close(c->fd);
	c->fd = -1;
}

void xd_control_waits(struct xd_control *c, const char *what)
{
	char line[PATH_MAX + 200];

	snprintf(line, sizeof(line), "wait %d %s\n", getpid(), what);
	pthread_mutex_lock(&c->lock);
	if (c->stop_fd >= 0)
		say(c->stop_fd, line);
	pthread_mutex_unlock(&c->lock);
}

void xd_control_stopped(struct xd_control *c, int err)
{
	pthread_mutex_lock(&c->lock);
	if (c->stop_fd >= 0) {
		if (err)
			say_error(c->stop_fd, err, NULL);
		else
			say_ok(c->stop_fd, "");
		close(c->stop_fd);
		c->stop_fd = -1;
	}
	pthread_mutex_unlock(&c->lock);
}
