// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_http.c - who may ask the watcher, and for what: by libmicrohttpd, in our own loop.
 *
 * Nothing can be changed by asking. A connection is for one request, and ends when it has
 * taken too long, whatever comes meanwhile; there is room for so many, of so many bytes.
 */
#include "daemon/watch/watch.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/progress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS	16
#define CONNECTION_BYTES 16384	/* headers, and what is being sent */
#define CONNECTION_SECONDS 20.0
#define IDLE_SECONDS	5u
#define HOST_LEN	256

struct http {
	const struct http_options *opt;
	struct watch *w;
	struct MHD_Daemon *mhd;
	int fd;
	struct {
		struct MHD_Connection *connection;
		double since;
	} open[CONNECTIONS];
};

/* watch_page.S */
extern const char watch_page[], watch_page_end[];

/* ------------------------------------------------------------------ host ---- */

/* "name:port", "[address]:port", or without the port. False: it is none. */
static bool host_name(const char *host, char *name, size_t len)
{
	const char *end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	size_t n;

	if (!end)
		return false;
	host += *host == '[';
	n = (size_t)(end - host);
	end += *end == ']';
	if (!n || n >= len || (*end && (*end != ':' || end[1 + strspn(end + 1, "0123456789")])))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return true;
}

bool http_host_allowed(const struct http_options *opt, const char *host)
{
	char name[HOST_LEN], number[sizeof(struct in6_addr)];

	if (!host || !host_name(host, name, sizeof(name)))
		return false;
	if (inet_pton(AF_INET, name, number) == 1 || inet_pton(AF_INET6, name, number) == 1 ||
	    !strcasecmp(name, "localhost"))
		return true;
	for (unsigned int i = 0; i < opt->names; i++)
		if (!strcasecmp(name, opt->name[i]))
			return true;
	return false;
}

/* --------------------------------------------------------------- answers ---- */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int code, const char *type,
			      struct MHD_Response *r)
{
	enum MHD_Result ret;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Content-Type", type);
	MHD_add_response_header(r, "Cache-Control", "no-store");
	MHD_add_response_header(r, "Connection", "close");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	MHD_add_response_header(r, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; "
				"script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
				"img-src data:");
	if (code == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	ret = MHD_queue_response(c, code, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int code, const char *text)
{
	return answer(c, code, "text/plain; charset=utf-8",
		      MHD_create_response_from_buffer(strlen(text), (void *)text,
						      MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result give_page(struct http *h, struct MHD_Connection *c)
{
	(void)h;
	return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8",
		      MHD_create_response_from_buffer((size_t)(watch_page_end - watch_page),
						      (void *)watch_page, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result give_metrics(struct http *h, struct MHD_Connection *c)
{
	enum metrics_format format = metrics_wanted(MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept"));
	char *text = NULL;
	size_t len;
	FILE *f;

	if (watch_refresh(h->w))
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the device mapper does not answer\n");
	f = open_memstream(&text, &len);
	if (!f)
		return MHD_NO;
	metrics_write(h->w, f, format);
	if (fclose(f)) {
		free(text);
		return MHD_NO;
	}
	return answer(c, MHD_HTTP_OK, metrics_type(format),
		      MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result give_live(struct http *h, struct MHD_Connection *c)
{
	const char *uuid = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "cache");
	const char *since = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "since");
	struct json_object *o;
	const char *text;
	size_t len;
	enum MHD_Result ret;

	h->w->viewed_at = seconds_now();
	o = live_json(h->w, uuid, since ? strtod(since, NULL) : 0);
	text = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN, &len);
	ret = text ? answer(c, MHD_HTTP_OK, "application/json",
			    MHD_create_response_from_buffer(len, (void *)text, MHD_RESPMEM_MUST_COPY)) :
		     MHD_NO;
	json_object_put(o);
	return ret;
}

static const struct {
	const char *path;
	enum MHD_Result (*give)(struct http *h, struct MHD_Connection *c);
} places[] = {
	{ "/", give_page },
	{ "/metrics", give_metrics },
	{ "/live.json", give_live },
};

/* Called when the headers are there; what may come after them is not read. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_size, void **state)
{
	struct http *h = ctx;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
	if (!http_host_allowed(h->opt, MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host")))
		return refuse(c, MHD_HTTP_FORBIDDEN, "not known by this name: ask by a number or as "
			      "localhost, or start xpcached watch with --name NAME\n");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (!strcmp(url, places[i].path))
			return places[i].give(h, c);
	return refuse(c, MHD_HTTP_NOT_FOUND, "there are /, /metrics and /live.json\n");
}

/* ----------------------------------------------------------- connections ---- */

static void on_connection(void *ctx, struct MHD_Connection *c, void **state,
			  enum MHD_ConnectionNotificationCode what)
{
	struct MHD_Connection *wanted = what == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c;
	struct http *h = ctx;

	(void)state;
	for (int i = 0; i < CONNECTIONS; i++) {
		if (h->open[i].connection != wanted)
			continue;
		h->open[i].connection = wanted ? NULL : c;
		h->open[i].since = seconds_now();
		return;
	}
}

/* A timeout of libmicrohttpd's begins anew with every byte that comes. */
void http_sweep(struct http *h)
{
	double now = seconds_now();

	for (int i = 0; i < CONNECTIONS; i++) {
		const union MHD_ConnectionInfo *info;

		if (!h->open[i].connection || now - h->open[i].since < CONNECTION_SECONDS)
			continue;
		info = MHD_get_connection_info(h->open[i].connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		if (info)
			shutdown(info->connect_fd, SHUT_RDWR);
	}
}

int http_fd(const struct http *h)
{
	return MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

bool http_run(struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;

	MHD_run(h->mhd);
	return MHD_get_timeout(h->mhd, &ms) == MHD_YES && !ms;
}

/* ---------------------------------------------------------------- listen ---- */

static enum xc bad_address(const char *text)
{
	complain(XC_USAGE, "--listen", "as in 127.0.0.1:" WATCH_PORT " or [::1]:" WATCH_PORT,
		 "not a numeric address and a port: \"%s\"", text);
	return XC_USAGE;
}

static bool is_port(const char *text)
{
	return *text && !text[strspn(text, "0123456789")] && strlen(text) <= 5 && atoi(text) <= 65535;
}

/* "ADDRESS:PORT", or "[ADDRESS]:PORT". */
static bool split(const char *text, char *address, size_t len, const char **port)
{
	const char *colon = strrchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : 0;
	bool bracket = *text == '[';

	if (!n || n >= len || (bracket && (n < 3 || text[n - 1] != ']')) || !is_port(colon + 1))
		return false;
	snprintf(address, len, "%.*s", (int)(bracket ? n - 2 : n), text + bracket);
	*port = colon + 1;
	return true;
}

/* A number, so that nobody need be asked what it means. */
static enum xc resolve(const char *text, struct addrinfo **to)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM,
	};
	const char *port;
	char address[64];

	if (!split(text, address, sizeof(address), &port) || getaddrinfo(address, port, &hints, to))
		return bad_address(text);
	if (((*to)->ai_family == AF_INET6) != (*text == '[')) {
		freeaddrinfo(*to);
		return bad_address(text);
	}
	return XC_OK;
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
}

/* Where it has come to: port 0 is any that is free. */
static void name_socket(int fd, char *where, size_t len)
{
	struct sockaddr_storage a = { 0 };
	socklen_t size = sizeof(a);
	char host[64] = "?", port[8] = "?";

	getsockname(fd, (struct sockaddr *)&a, &size);
	getnameinfo((struct sockaddr *)&a, size, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(where, len, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static enum xc listen_at(const char *text, int *fd)
{
	struct addrinfo *a;
	enum xc ret = resolve(text, &a);
	const int on = 1;

	if (ret)
		return ret;
	*fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*fd < 0)
		ret = complain_errno(errno, text, "cannot make a socket");
	else if (setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		 bind(*fd, a->ai_addr, a->ai_addrlen) || listen(*fd, 2 * CONNECTIONS))
		ret = complain(XC_FAILED, text, "give another by --listen", "cannot listen: %s",
			       strerror(errno));
	else if (!is_loopback(a->ai_addr))
		fprintf(stderr, "xpcached: listens at %s: whoever reaches that can read how the caches do\n",
			text);
	freeaddrinfo(a);
	if (ret && *fd >= 0)
		close(*fd);
	return ret;
}

enum xc http_open(struct http **to, const struct http_options *opt, struct watch *w,
		  char *where, size_t len)
{
	struct http *h = calloc(1, sizeof(*h));
	enum xc ret;

	if (!h)
		return complain_errno(ENOMEM, NULL, "cannot listen");
	h->opt = opt;
	h->w = w;
	ret = listen_at(opt->listen, &h->fd);
	if (ret) {
		free(h);
		return ret;
	}
	h->mhd = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
				  MHD_OPTION_LISTEN_SOCKET, h->fd,
				  MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				  MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
				  MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
	if (!h->mhd) {
		close(h->fd);
		free(h);
		return complain(XC_FAILED, opt->listen, NULL, "libmicrohttpd does not start");
	}
	name_socket(h->fd, where, len);
	*to = h;
	return XC_OK;
}

/* Its socket with it. */
void http_close(struct http *h)
{
	MHD_stop_daemon(h->mhd);
	free(h);
}
