/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h - a running cache as others meet it.
 *
 *	serve.c           the verb: options, devices, signals
 *	server.c          the socket that clients connect to
 *	connection.c  one client: its requests and replies; over nbd_proto.h
 *	ublk.h            the block device, if there is one
 *	control.c         the other socket: status, messages, as the device mapper has them
 */
#ifndef XD_SERVER_H
#define XD_SERVER_H

#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/nbd/nbd_proto.h"
#include "lib/exit.h"
#include "core/options.h"
#include "platform.h"

struct xd_connection;

struct xd_server {
	struct xd_cache *cache;
	struct nbd_export export;
	char path[108];		/* of the socket */
	int fd;
	struct xd_event accepted;	/* on the first loop */
	struct xd_timer retry;		/* of an accept that failed */
	struct xd_call accept_call;
	u32 next_loop;
	bool closing;		/* atomic */
	bool impatient;		/* atomic: clients that do not take their replies are left alone */

	pthread_mutex_t lock;	/* what follows */
	pthread_cond_t left;	/* a client has gone, or the socket */
	struct xd_connection *connections;
	u32 nr_connections;
	bool accepting;
};

/* Binds and listens, mode 0600. Says why not. */
enum xc xd_server_open(struct xd_server *s, struct xd_cache *cache, const char *name,
		       const char *path);
void xd_server_start(struct xd_server *s);
/* No more clients; those there are get replies to what they have asked, if they take them within
 * some seconds, and are let go. Waits. */
void xd_server_stop(struct xd_server *s);
u32 xd_server_clients(struct xd_server *s);
/* Who connects from now on is told the present size of the cache. */
void xd_server_resize(struct xd_server *s);

/* connection.c. On @loop's thread; the connection is of the server's list until it ends. */
struct xd_connection {
	struct xd_connection *next, **back;	/* of the server's lock */
	struct xd_server *server;
	struct xd_loop *loop;
	struct xd_call call;	/* to begin it; to end it */
	int fd;
	bool called;		/* of the server's lock: to leave, and has not heard it yet */
};
struct xd_connection *xd_connection_new(struct xd_server *s, struct xd_loop *loop, int fd);
void xd_connection_free(struct xd_connection *c);
void xd_connection_begin(struct xd_call *call);
/* As xd_server_stop() wants it; from any thread, with the server's lock held. */
void xd_connection_leave(struct xd_connection *c);
/* It has heard that it shall leave. */
void xd_server_called(struct xd_connection *c);
/* It is over; frees it, unless it has yet to hear that it shall leave: then it comes again. */
void xd_server_gone(struct xd_connection *c);

/* control.c */
struct xd_ublk;

struct xd_control {
	struct xd_cache *cache;
	struct xd_server *server;
	const struct xd_ublk *ublk;
	char path[108];
	int fd;
	int stop_fd;		/* who has said "stop", and waits; -1: nobody; of .lock */
	pthread_mutex_t lock;
	pthread_t thread;
	bool running;
	struct xp_tunables now;	/* options, as messages have changed them; of the thread */
};
/* Listens. Says why not. */
enum xc xd_control_open(struct xd_control *c, const char *path);
int xd_control_start(struct xd_control *c);
void xd_control_stop(struct xd_control *c);
/* To who has said "stop": that it lasts, and why; that it is over. Of two threads. */
void xd_control_waits(struct xd_control *c, const char *what);
void xd_control_stopped(struct xd_control *c, int err);

/* A unix socket that listens at @path, mode 0600; replaces one that nobody answers at. */
enum xc xd_listen(const char *path, int *fd);

#endif /* XD_SERVER_H */
