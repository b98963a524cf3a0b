// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches of the user-space engine: xpcached serves each on NAME.sock and answers us on
 * NAME.control, both in a directory of this user's own.
 */
#include "lib/user.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/kernel.h"
#include "lib/offline.h"
#include "lib/progress.h"
#include "lib/remote.h"
#include "lib/running.h"
#include "lib/ublk_client.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTROL		".control"
#define LOG	".log"
#define SOCKET		".sock"
#define ANSWER_MAX	(4u << 20)
#define PATIENCE_S	60	/* a flush of a slow disk takes its time */

/* ------------------------------------------------------------- directory ---- */

const char *user_directory(void)
{
	static char path[256];
	const char *base = getenv("XPCACHE_RUNTIME_DIR"), *xdg = getenv("XDG_RUNTIME_DIR");

	if (base && *base)
		snprintf(path, sizeof(path), "%s", base);
	else if (geteuid() == 0)
		snprintf(path, sizeof(path), "/run/xpcache");
	else if (xdg && *xdg)
		snprintf(path, sizeof(path), "%s/xpcache", xdg);
	else
		snprintf(path, sizeof(path), "/tmp/xpcache-%u", (unsigned int)geteuid());
	return path;
}

/* Ours alone: who could put a socket there could answer for us. */
static bool directory_is_ours(void)
{
	struct stat st;

	return !lstat(user_directory(), &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

static enum xc make_directory(void)
{
	const char *path = user_directory();

	if (mkdir(path, 0700) && errno != EEXIST)
		return complain_errno(errno, path, "cannot make the directory for sockets");
	if (!directory_is_ours())
		return complain(XC_REFUSED, path, "set XPCACHE_RUNTIME_DIR to a directory of your own",
				"others may write here, or it is no directory");
	return XC_OK;
}

static void path_of(char *path, size_t len, const char *name, const char *suffix)
{
	snprintf(path, len, "%s/%s%s", user_directory(), name, suffix);
}

void user_uri(const char *name, char *uri, size_t len)
{
	snprintf(uri, len, "nbd+unix:///?socket=%s/%s" SOCKET, user_directory(), name);
}

void user_log(const char *name, char *path, size_t len)
{
	path_of(path, len, name, LOG);
}

/* ------------------------------------------------------------------- ask ---- */

/* -ENXIO: no cache of this name runs here. */
static int connect_to(const char *name)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char path[512];
	int fd;

	path_of(path, sizeof(path), name, CONTROL);
	if (strlen(path) >= sizeof(at.sun_path) || strchr(name, '/') || !directory_is_ours())
		return -ENXIO;
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at))) {
		int err = errno == ENOENT || errno == ECONNREFUSED ? ENXIO : errno;

		close(fd);
		return -err;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* For a byte more, and the end of the text. */
static int make_room(char **text, size_t used, size_t *room)
{
	char *grown;

	if (*text && *room - used >= 2)
		return 0;
	*room *= 2;
	grown = *room <= ANSWER_MAX ? realloc(*text, *room) : NULL;
	if (!grown)
		return -ENOMEM;
	*text = grown;
	return 0;
}

/* All until the other end closes; malloc()ed. */
static int read_answer(int fd, char **text)
{
	size_t used = 0, room = 4096;
	ssize_t n;

	for (*text = NULL;; used += (size_t)n) {
		if (make_room(text, used, &room))
			return -ENOMEM;
		n = recv(fd, *text + used, room - used - 1, 0);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		else if (n == 0)
			break;
	}
	(*text)[used] = '\0';
	return 0;
}

/* "ok", or "error ERRNO WHY", in the first line; the rest stays. */
static int first_line(char *text)
{
	char *rest = text ? strchr(text, '\n') : NULL;
	int err;

	if (!rest)
		return -EPROTO;
	*rest++ = '\0';
	if (sscanf(text, "error %d", &err) == 1)
		return err > 0 ? -err : -EPROTO;
	if (strcmp(text, "ok") != 0)
		return -EPROTO;
	memmove(text, rest, strlen(rest) + 1);
	return 0;
}

static int ask(const char *name, const char *request, char **answer)
{
	char line[160];
	int fd = connect_to(name), err;

	*answer = NULL;
	if (fd < 0)
		return fd;
	snprintf(line, sizeof(line), "%s\n", request);
	err = send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 ? -errno : read_answer(fd, answer);
	close(fd);
	return err ? err : first_line(*answer);
}

int user_ask(const char *name, const char *message, char **answer)
{
	char request[128];

	snprintf(request, sizeof(request), "message %s", message);
	return ask(name, request, answer);
}

int user_tell(const char *name, const char *message)
{
	char *answer;
	int err = user_ask(name, message, &answer);

	free(answer);
	return err;
}

int user_resize(const char *name, u64 *was, u64 *is)
{
	char *answer;
	int err = ask(name, "resize", &answer);

	if (!err && sscanf(answer, "%" SCNu64 " %" SCNu64, was, is) != 2)
		err = -EPROTO;
	free(answer);
	return err;
}

int user_status(const char *name, char *line, size_t len)
{
	char *answer;
	int err = ask(name, "status", &answer);

	if (!err && answer) {
		err = strlen(answer) < len ? 0 : -EMSGSIZE;
		snprintf(line, len, "%s", answer);
		line[strcspn(line, "\n")] = '\0';
	}
	free(answer);
	return err;
}

/* -ETIMEDOUT: it has not ended, and *waits is what for; "": it has not said. */
static int hear_end(FILE *f, char *waits, size_t len)
{
	char line[PATH_MAX + 200];

	errno = 0;
	if (!fgets(line, sizeof(line), f))
		return errno == EAGAIN ? -ETIMEDOUT : errno ? -errno : -EPROTO;
	if (strncmp(line, "wait ", 5) != 0)
		return first_line(line);
	snprintf(waits, len, "%.*s", (int)strcspn(line + 5, "\n"), line + 5);
	return -ETIMEDOUT;
}

/* Says what it waits for as long as it waits. 0, or -errno; -ETIMEDOUT: it still does. */
static int stop_and_wait(const char *name, char *waits, size_t len)
{
	double until = seconds_now() + PATIENCE_S;
	int fd = connect_to(name), err = -ETIMEDOUT;
	FILE *f;

	if (fd < 0)
		return fd;
	f = fdopen(fd, "r+e");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	if (send(fd, "stop\n", 5, MSG_NOSIGNAL) < 0)
		err = -errno;
	while (err == -ETIMEDOUT && seconds_now() < until) {
		err = hear_end(f, waits, len);
		if (err == -ETIMEDOUT && *waits)
			printf("%s: stops, and waits for %s\n", name, strchr(waits, ' ') + 1);
		fflush(stdout);
	}
	fclose(f);
	return err;
}

/* ------------------------------------------------------------------ find ---- */

static void learn_line(struct running *r, char *line)
{
	char *value = strchr(line, ' '), words[XP_TUNABLES_TEXT + 16];

	if (!value)
		return;
	*value++ = '\0';
	if (!strcmp(line, "fast")) {
		snprintf(r->fast_path, sizeof(r->fast_path), "%s", value);
	} else if (!strcmp(line, "slow")) {
		snprintf(r->slow_path, sizeof(r->slow_path), "%s", value);
	} else if (!strcmp(line, "sectors")) {
		r->sectors = strtoull(value, NULL, 10);
	} else if (!strcmp(line, "clients")) {
		r->open_count = (u32)strtoul(value, NULL, 10);
	} else if (!strcmp(line, "ublk")) {
		snprintf(r->ublk, sizeof(r->ublk), "%s", value);
		r->open_count += ublk_held(r->ublk);
	} else if (!strcmp(line, "uuid")) {
		snprintf(r->uuid, sizeof(r->uuid), "%s", value);
	} else if (!strcmp(line, "options")) {
		snprintf(words, sizeof(words), "0:0 0:0 %s", value);
		table_read(words, r);
	}
}

/* 0, or -errno: then *r is as it was. */
static int learn(const char *name, struct running *r)
{
	char *answer, *line, *next;
	int err = ask(name, "table", &answer);

	if (!err && answer) {
		memset(r, 0, sizeof(*r));
		snprintf(r->name, sizeof(r->name), "%s", name);
		r->user = true;
		xp_tunables_init(&r->tunables);
		r->tunables_known = true;
		for (line = strtok_r(answer, "\n", &next); line; line = strtok_r(NULL, "\n", &next))
			learn_line(r, line);
		tunables_of_running(&r->tunables);
		r->fast = r->slow = 0;
	}
	free(answer);
	return err;
}

static int append(struct running **list, size_t *n, const struct running *r)
{
	struct running *grown = realloc(*list, (*n + 1) * sizeof(*r));

	if (!grown)
		return -ENOMEM;
	*list = grown;
	grown[(*n)++] = *r;
	return 0;
}

/* One that runs and does not answer is an error. */
static int list_one(struct running **list, size_t *n, const char *file)
{
	const char *end = strstr(file, CONTROL);
	struct running r;
	char name[256];
	int err;

	if (!end || end[strlen(CONTROL)])
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(end - file), file);
	err = learn(name, &r);
	if (err == -ENXIO || err == -EPROTO || err == -ECONNRESET)
		return 0;	/* killed, or about to end */
	return err ? err : append(list, n, &r);
}

int user_list(struct running **list, size_t *n)
{
	DIR *dir = opendir(user_directory());
	struct dirent *e;
	int err = 0;

	*list = NULL;
	*n = 0;
	while (dir && !err && (e = readdir(dir)))
		err = list_one(list, n, e->d_name);
	if (dir)
		closedir(dir);
	return err;
}

/* 1: it runs; 0: it does not. */
static int find_named(const char *name, struct running *r)
{
	int err = learn(name, r);

	return err == -ENXIO ? 0 : err ? err : 1;
}

int user_find(const char *name, const char *uuid, struct running *r)
{
	struct running *all;
	bool found = false;
	size_t n;
	int err;

	if (name)
		return find_named(name, r);
	err = user_list(&all, &n);
	for (size_t i = 0; i < n && !found; i++) {
		found = !strcmp(all[i].uuid, uuid);
		if (found)
			*r = all[i];
	}
	free(all);
	return err ? err : found;
}

/* What the daemon could not make durable; not that nothing is known of it. */
static bool is_loss(int err)
{
	return err != -ETIMEDOUT && err != -EPROTO && err != -ECONNREFUSED && err != -ENOENT;
}

enum xc user_stop(const char *name, bool losing)
{
	char waits[PATH_MAX + 200] = "";
	struct running r = { .name = "" };
	int found = find_named(name, &r), err = stop_and_wait(name, waits, sizeof(waits));

	if (err == -ETIMEDOUT && *waits)
		return complain(XC_FAILED, name, "it goes on stopping; a second SIGTERM to that process ends it at once, and loses what was not flushed",
				"it waits for %s (process %d)", strchr(waits, ' ') + 1, atoi(waits));
	if (err == -EALREADY)
		return complain(XC_REFUSED, name, "wait, or see its log", "it stops already");
	if (err == -EINTR)
		return complain(XC_FAILED, name, found == 1 ? text_todo("%s brings it back", text_start(name, r.fast_path, r.slow_path)) : NULL,
				"ended at once, by a second signal");
	return err && !(losing && is_loss(err)) ? complain_errno(err, name, "it did not stop in order") : XC_OK;
}

bool user_has(const char *name)
{
	int fd = connect_to(name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ----------------------------------------------------------------- start ---- */

static bool try_program(char *path, size_t len, const char *directory)
{
	return snprintf(path, len, "%s/xpcached", directory) < (int)len && !access(path, X_OK);
}

/* Beside us, where it was built or installed, or where the shell would find it. */
static bool find_program(char *path, size_t len)
{
	const char *from = getenv("PATH");
	char words[4096], *word, *next;
	ssize_t n = readlink("/proc/self/exe", words, sizeof(words) - 1);

	words[n > 0 ? n : 0] = '\0';
	word = strrchr(words, '/');
	if (word) {
		*word = '\0';
		if (try_program(path, len, words))
			return true;
	}
	snprintf(words, sizeof(words), "%s", from ? from : "");
	for (word = strtok_r(words, ":", &next); word; word = strtok_r(NULL, ":", &next))
		if (try_program(path, len, word))
			return true;
	return false;
}

bool user_can_start(void)
{
	char program[PATH_MAX];

	return find_program(program, sizeof(program));
}

struct words {
	char *v[32];
	char text[16][PATH_MAX + 32];
	u32 n, used;
};

static void add(struct words *w, const char *option, const char *value)
{
	w->v[w->n++] = (char *)(uintptr_t)option;
	if (value)
		w->v[w->n++] = (char *)(uintptr_t)value;
	w->v[w->n] = NULL;
}

static const char *keep(struct words *w, const char *format, const char *a, const char *b)
{
	snprintf(w->text[w->used], sizeof(w->text[0]), format, a, b);
	return w->text[w->used++];
}

/* The daemon may outlive this directory. */
static const char *absolute(struct words *w, const char *path)
{
	char full[PATH_MAX];

	return is_remote(path) || !realpath(path, full) ? path : keep(w, "%s%s", full, "");
}

void tunable_option(const struct xp_tunable *row, char text[TUNABLE_OPTION])
{
	snprintf(text, TUNABLE_OPTION, "%s", row->name);
	for (char *p = text; *p; p++)
		if (*p == '_')
			*p = '-';
}

bool tunable_is_users(const struct xp_tunable *row)
{
	return row->offset != offsetof(struct xp_tunables, mark) && row->offset != offsetof(struct xp_tunables, grid);
}

/* It goes without saying, and so does an engine that knows no modes. */
void tunables_of_running(struct xp_tunables *t)
{
	if (t->mode == XP_MODE_KEPT)
		t->mode = XP_MODE_WRITEBACK;
}

static void add_tunables(struct words *w, const struct xp_tunables *t)
{
	for (u32 i = 0; i < XP_TUNABLES; i++) {
		const struct xp_tunable *row = &xp_tunable_rows[i];
		char option[TUNABLE_OPTION], value[16];

		if (!xp_tunable_is_said(t, row))
			continue;
		tunable_option(row, option);
		xp_tunable_text(row, xp_tunable_value(t, row), value, sizeof(value));
		add(w, keep(w, "--%s%s", option, ""), keep(w, "%s%s", value, ""));
	}
}

/* Its own words say why not. */
static enum xc run_program(char **argv)
{
	char program[PATH_MAX];
	int status;
	pid_t pid;

	if (!find_program(program, sizeof(program)))
		return complain(XC_FAILED, "xpcached", "install it beside xpcache", "the daemon is not there");
	argv[0] = program;
	pid = fork();
	if (pid == 0) {
		/* What is open here, by our caller, is none of its business: a lock, a file on what is to be unmounted. */
		close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
		execv(program, argv);
		complain_errno(errno, program, "cannot run the daemon");
		_exit(XC_FAILED);
	}
	if (pid < 0)
		return complain_errno(errno, NULL, "cannot fork");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return complain_errno(errno, program, "cannot wait for it");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return complain(XC_FAILED, program, NULL, "ended by signal %d", WTERMSIG(status));
}

enum xc user_create(const char *name, const char *fast, const char *slow, const struct user_start *how)
{
	struct words *w = calloc(1, sizeof(*w));
	const char *dir = user_directory();
	enum xc ret = make_directory();

	if (!w)
		return complain_errno(ENOMEM, NULL, "no memory");
	if (!ret) {
		add(w, "xpcached", "serve");
		add(w, "--fast", absolute(w, fast));
		add(w, "--slow", absolute(w, slow));
		if (!how->offline)
			add(w, "--socket", keep(w, "%s/%s" SOCKET, dir, name));
		add(w, "--control", keep(w, "%s/%s" CONTROL, dir, name));
		add(w, "--log", keep(w, "%s/%s" LOG, dir, name));
		add(w, "--detach", NULL);
		if (how->ublk)
			add(w, "--ublk", NULL);
		if (how->force)
			add(w, "--force", NULL);
		add_tunables(w, &how->tunables);
		ret = run_program(w->v);
	}
	free(w);
	return ret;
}
