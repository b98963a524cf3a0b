// SPDX-License-Identifier: GPL-2.0-only
/* server.c - the socket that clients connect to, and who has connected. */
#include "daemon/nbd/server.h"
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/nbd/nbd_proto.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/uring_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD_MAX	(32u << 20)	/* what clients that do not ask count on */
#define CLIENTS_MAX	64u
#define RETRY_NS	100000000u
#define LOCK_TRIES	50u
#define LOCK_PAUSE_US	100000u
#define ANSWER_TRIES	10u
#define PATIENCE_S	5	/* with a client that does not take its replies */

/* ----------------------------------------------------------------- listen ---- */

/* Also one that has too many waiting. */
static bool somebody_answers(const struct sockaddr_un *at)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool answers = fd >= 0 && (!connect(fd, (const struct sockaddr *)at, sizeof(*at)) || errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return answers;
}

/* A server that was killed answers until the kernel has ended what it had under way: on a busy machine for a while. */
static bool somebody_stays(const struct sockaddr_un *at)
{
	u32 i;

	for (i = 0; i < ANSWER_TRIES && somebody_answers(at); i++)
		usleep(LOCK_PAUSE_US);
	return i == ANSWER_TRIES;
}

/* The mode is right from the first moment on: by the umask. */
static int bind_private(int fd, const struct sockaddr_un *at)
{
	mode_t before = umask(0177);
	int err = bind(fd, (const struct sockaddr *)at, sizeof(*at)) ? -errno : 0;

	umask(before);
	return err;
}

/* Of two that find a dead socket, the second must find the first one's. Others may have the
 * directory locked for their own reasons: they are waited for, and not for ever. Where it cannot
 * be locked there is no such order. */
static int lock_directory(const char *path)
{
	char copy[PATH_MAX];
	int fd;

	snprintf(copy, sizeof(copy), "%s", path);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (u32 i = 0; fd >= 0 && i < LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; i++)
		usleep(LOCK_PAUSE_US);
	return fd;
}

/* Makes room for a socket at @at. */
static enum xc take_path(const struct sockaddr_un *at)
{
	const char *path = at->sun_path;
	struct stat st;

	if (lstat(path, &st))
		return XC_OK;	/* what is wrong with it, bind() tells */
	if (!S_ISSOCK(st.st_mode))
		return complain(XC_REFUSED, path, "take another path", "there is a file, and it is no socket");
	if (somebody_stays(at))
		return complain(XC_REFUSED, path, "end it, or take another path", "a server listens here");
	unlink(path);
	return XC_OK;
}

static enum xc listen_at(const struct sockaddr_un *at, int *fd)
{
	int err;

	*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd < 0)
		return complain_errno(errno, at->sun_path, "no socket");
	err = bind_private(*fd, at);
	if (!err && listen(*fd, (int)CLIENTS_MAX))
		err = -errno;
	if (!err)
		return XC_OK;
	close(*fd);
	*fd = -1;	/* nobody takes the path away that is another's */
	return complain_errno(err, at->sun_path, "cannot listen here");
}

enum xc xd_listen(const char *path, int *fd)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	enum xc ret;
	int lock;

	if (strlen(path) >= sizeof(at.sun_path))
		return complain(XC_USAGE, path, "take a shorter path",
				"longer than the %zu bytes of a socket's name", sizeof(at.sun_path) - 1);
	memcpy(at.sun_path, path, strlen(path) + 1);
	lock = lock_directory(path);
	ret = take_path(&at);
	if (!ret)
		ret = listen_at(&at, fd);
	if (lock >= 0)
		close(lock);
	return ret;
}

enum xc xd_server_open(struct xd_server *s, struct xd_cache *cache, const char *name,
		       const char *path)
{
	memset(s, 0, sizeof(*s));
	s->cache = cache;
	s->fd = -1;
	s->export = (struct nbd_export){
		.name = name, .description = "xpcache", .bytes = cache->sectors << XP_SECTOR_SHIFT,
		.min_block = max(cache->slow->dev.logical, 1u << XP_SECTOR_SHIFT), .preferred_block = XP_BLOCK_SIZE,
		.max_payload = PAYLOAD_MAX, .multi_conn = true, .can_trim = cache->slow->discard_max != 0,
		.can_zero = true,	/* where the slow device has no such operation it saves the socket the zeroes */
	};
	snprintf(s->path, sizeof(s->path), "%s", path);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->left, NULL);
	return xd_listen(path, &s->fd);
}

void xd_server_resize(struct xd_server *s)
{
	xd_set(s->export.bytes, s->cache->sectors << XP_SECTOR_SHIFT);
}

/* ----------------------------------------------------------------- accept ---- */

static void add_connection(struct xd_server *s, int fd)
{
	struct xd_loop *loop = &s->cache->loop[s->next_loop++ % s->cache->nr_loops];
	struct xd_connection *c = NULL;

	pthread_mutex_lock(&s->lock);
	if (!s->closing && s->nr_connections < CLIENTS_MAX)
		c = xd_connection_new(s, loop, fd);
	if (c) {
		c->next = s->connections;
		c->back = &s->connections;
		if (c->next)
			c->next->back = &c->next;
		s->connections = c;
		s->nr_connections++;
		xd_loop_call(loop, &c->call);
	}
	pthread_mutex_unlock(&s->lock);
	if (!c)
		close(fd);
}

static void accept_arm(struct xd_server *s)
{
	io_uring_prep_accept(xd_loop_sqe(xd_first_loop(s->cache), &s->accepted), s->fd, NULL, NULL,
			     SOCK_CLOEXEC);
}

static void accepted(struct xd_event *event, int res)
{
	struct xd_server *s = container_of(event, struct xd_server, accepted);

	if (res >= 0)
		add_connection(s, res);
	if (!xd_get(s->closing)) {
		if (res >= 0)
			accept_arm(s);
		else	/* too many open files, say: they do not become fewer at once */
			xd_timer_arm(xd_first_loop(s->cache), &s->retry, RETRY_NS);
		return;
	}
	pthread_mutex_lock(&s->lock);
	s->accepting = false;
	pthread_cond_signal(&s->left);
	pthread_mutex_unlock(&s->lock);
}

static void accept_again(struct xd_event *event, int res)
{
	struct xd_server *s = container_of(event, struct xd_server, retry.event);

	(void)res;
	s->retry.armed = false;
	if (!xd_get(s->closing))
		accept_arm(s);
	else
		accepted(&s->accepted, -ECANCELED);
}

static void accept_begin(struct xd_call *call)
{
	accept_arm(container_of(call, struct xd_server, accept_call));
}

void xd_server_start(struct xd_server *s)
{
	s->accepted.end = accepted;
	s->retry.event.end = accept_again;
	s->accept_call.fn = accept_begin;
	s->accepting = true;
	xd_loop_call(xd_first_loop(s->cache), &s->accept_call);
}

/* ------------------------------------------------------------------- stop ---- */

void xd_server_gone(struct xd_connection *c)
{
	struct xd_server *s = c->server;
	bool called;

	pthread_mutex_lock(&s->lock);
	called = c->called;
	if (!called) {
		*c->back = c->next;
		if (c->next)
			c->next->back = c->back;
		s->nr_connections--;
		close(c->fd);
		pthread_cond_signal(&s->left);
	}
	pthread_mutex_unlock(&s->lock);
	if (!called)
		xd_connection_free(c);
}

void xd_server_called(struct xd_connection *c)
{
	pthread_mutex_lock(&c->server->lock);
	c->called = false;
	pthread_mutex_unlock(&c->server->lock);
}

u32 xd_server_clients(struct xd_server *s)
{
	u32 n;

	if (s->fd < 0)
		return 0;
	pthread_mutex_lock(&s->lock);
	n = s->nr_connections;
	pthread_mutex_unlock(&s->lock);
	return n;
}

/* With the lock held. */
static void send_away(struct xd_server *s)
{
	for (struct xd_connection *c = s->connections; c; c = c->next)
		xd_connection_leave(c);
}

/* The same. */
static void wait_until_gone(struct xd_server *s)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	while (s->nr_connections || s->accepting) {
		if (xd_get(s->impatient)) {
			pthread_cond_wait(&s->left, &s->lock);
		} else if (pthread_cond_clockwait(&s->left, &s->lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT) {
			xd_set(s->impatient, true);
			send_away(s);
		}
	}
}

void xd_server_stop(struct xd_server *s)
{
	if (s->fd < 0)
		return;
	unlink(s->path);
	pthread_mutex_lock(&s->lock);
	xd_set(s->closing, true);
	shutdown(s->fd, SHUT_RDWR);	/* ends the accept */
	send_away(s);
	wait_until_gone(s);
	pthread_mutex_unlock(&s->lock);
	close(s->fd);
	s->fd = -1;
}
