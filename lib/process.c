// SPDX-License-Identifier: GPL-2.0-only
/* What each of the programs does first and last: standard streams, and signals that would end it. */
#include "lib/process.h"
#include "lib/complain.h"
#include "lib/exit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Whoever was started without one of them would get a device in its place, and what is said would be
 * written there. Each is opened the wrong way round, so that its use fails as that of a closed one.
 */
static void fill_streams(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", wrong_way[fd]) < 0)
			errno = 0;	/* no /dev: then there are no devices */
}

static void pass_over(int sig)
{
	(void)sig;
}

/*
 * A reader that went away (SIGPIPE) and a limit on the size of files (SIGXFSZ) are errors of one write. A handler
 * and not SIG_IGN: programs that are started get the default again, on which scripts rely.
 */
static void pass_over_signals(void)
{
	static const int signals[] = { SIGPIPE, SIGXFSZ };
	const struct sigaction act = { .sa_handler = pass_over, .sa_flags = SA_RESTART };
	struct sigaction was;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &was) && was.sa_handler == SIG_DFL)
			sigaction(signals[i], &act, NULL);
}

/* The files are of the size that they keep. What the caller may raise he need not. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

void process_begin(void)
{
	fill_streams();
	pass_over_signals();
	raise_file_limit();
}

/* ------------------------------------------------------------- output ---- */

static int why;		/* errno of output that is lost; 0: none is */

/* Of what printf() has sent by itself the reason is forgotten: one more byte meets the same. */
static int ask_again(void)
{
	clearerr(stdout);
	putchar('\n');
	return fflush(stdout) ? errno : EIO;
}

bool output_fails(void)
{
	if (!why && fflush(stdout))
		why = errno;
	else if (!why && ferror(stdout))
		why = ask_again();
	return why;
}

enum xc output_complain(void)
{
	return complain_errno(why, "stdout", "cannot write");
}

/* A network file system and a quota may tell when the file is closed, and not before. */
enum xc process_end(enum xc ret)
{
	if (!output_fails() && close(STDOUT_FILENO) && errno != EBADF)
		why = errno;
	return why && !ret ? output_complain() : ret;
}
