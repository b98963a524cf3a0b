// SPDX-License-Identifier: GPL-2.0-only
/* kill9_victim.c - the daemon's process, and its control socket. */
#include "kill9.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_BUSY	3	/* XC_REFUSED: a device is in use */

static void exec_daemon(void)
{
	char *argv[64] = { (char *)kill9.daemon, "serve", "--fast", (char *)kill9.fast, "--slow",
			   (char *)kill9.slow, "--socket", (char *)kill9.socket, "--control",
			   (char *)kill9.control };
	int fd = open(kill9.log, O_WRONLY | O_CREAT | O_APPEND, 0600), n = 10, ends[2];

	if (kill9.mute && !pipe(ends)) {
		close(ends[0]);
		fd = ends[1];
	}
	for (char **o = kill9.options; *o && n < 62; o++)
		argv[n++] = *o;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (kill9.shim) {
		setenv("LD_PRELOAD", kill9.shim, 1);
		setenv("FAULTY", kill9.fault, 1);
	}
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	execv(kill9.daemon, argv);
	_exit(127);
}

/* Before it is ready: clients_connect() waits for that. */
void victim_start(void)
{
	unlink(kill9.socket);
	unlink(kill9.control);
	kill9.let_go = false;
	kill9.pid = fork();
	if (kill9.pid < 0)
		err(1, "fork");
	if (!kill9.pid)
		exec_daemon();
}

void victim_fails(bool on)
{
	sim.faulted |= on;
	if (on)
		close(open(kill9.flag, O_CREAT | O_WRONLY, 0600));
	else
		unlink(kill9.flag);
}

/* While it is expected to. What the one before has handed to the kernel may hold the
 * devices a little longer than itself: then it is started again. */
bool victim_runs(void)
{
	int status;

	if (!kill9.pid || waitpid(kill9.pid, &status, WNOHANG) != kill9.pid)
		return kill9.pid;
	kill9.pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BUSY) {
		tally.held++;
		usleep(2000);
		victim_start();
		return true;
	}
	if (WIFSIGNALED(status))
		violation(P_HOST, "the daemon died of signal %d: see %s", WTERMSIG(status), kill9.log);
	else if (!kill9.let_go)
		violation(P_HOST, "the daemon ended with %d: see %s", WEXITSTATUS(status), kill9.log);
	return false;
}

/* True: it had stopped by itself before, well. */
bool victim_kill(void)
{
	int status = 0;

	kill9.let_go = true;
	kill(kill9.pid, SIGKILL);
	while (waitpid(kill9.pid, &status, 0) < 0 && errno == EINTR)
		;
	kill9.pid = 0;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		violation(P_HOST, "the daemon died of signal %d: see %s", WTERMSIG(status), kill9.log);
	if (WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) != EXIT_BUSY &&
	    !kill9.faulty)
		violation(P_HOST, "the daemon ended with %d: see %s", WEXITSTATUS(status), kill9.log);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* ---------------------------------------------------------------- control ---- */

static int control_ask(const char *line)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", kill9.control);
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    dprintf(fd, "%s\n", line) < 0)
		violation(P_HOST, "control socket: %s", strerror(errno));
	return fd;
}

void victim_tell(const char *line, char *answer, size_t room)
{
	int fd = control_ask(line);
	size_t used = 0;
	ssize_t n;

	while (used < room - 1 && (n = read(fd, answer + used, room - 1 - used)) > 0)
		used += (size_t)n;
	close(fd);
	answer[used] = '\0';
	if (strncmp(answer, "ok\n", 3))
		violation(P_HOST, "control socket: \"%s\" is answered by \"%s\"", line, answer);
}

u64 victim_count(const char *status, const char *name)
{
	char word[32];
	const char *at;

	snprintf(word, sizeof(word), " %s ", name);
	at = strstr(status, word);
	if (!at)
		violation(P_HOST, "control socket: the status tells no %s: \"%s\"", name, status);
	return strtoull(at + strlen(word), NULL, 10);
}

/* By the socket, or as the service manager does it. */
void victim_stop_begin(void)
{
	kill9.let_go = true;
	if (chance(&kill9.rng, 2))
		kill(kill9.pid, SIGTERM);
	else
		close(control_ask("stop"));
}

#define PATIENCE_NS	30000000000ull

bool victim_stop_end(void)
{
	u64 begun = now_ns();
	int status;

	while (waitpid(kill9.pid, &status, WNOHANG) != kill9.pid) {
		if (now_ns() - begun > PATIENCE_NS)
			violation(P_LIVES, "the daemon was told to stop, and does not");
		usleep(1000);
	}
	kill9.pid = 0;
	if (WIFSIGNALED(status))
		violation(P_HOST, "the daemon died of signal %d as it stopped: see %s",
			  WTERMSIG(status), kill9.log);
	return !WEXITSTATUS(status);
}
