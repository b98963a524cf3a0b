// SPDX-License-Identifier: GPL-2.0-only
/* test_live.c - looks one after another, on a terminal and elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/latency/live.h"
#include "platform.h"

struct counted {
	int looks, fail_at;
};

/* Two lines; the first look of all only remembers. */
static enum xc look(void *ctx, FILE *f)
{
	struct counted *c = ctx;

	if (f)
		fprintf(f, "look %d\nsecond line\n", ++c->looks);
	if (f && c->looks == c->fail_at)
		return complain(XC_FAILED, "here", NULL, "it is gone");
	return XC_OK;
}

/* The program: stdout and stdin are what the test gave it. */
static void run(double interval, u64 count, bool lines, int fail_at)
{
	struct counted c = { .fail_at = fail_at };
	const struct live l = { interval, count, lines, look, &c };

	_exit(live_run(&l));
}

/* ------------------------------------------------------- not a terminal ---- */

static int run_in_pipe(u64 count, bool lines, int fail_at, char *text, size_t len)
{
	size_t have = 0;
	ssize_t n;
	int fd[2], status;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	pid = fork();
	if (!pid) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		run(0.1, count, lines, fail_at);
	}
	close(fd[1]);
	while ((n = read(fd[0], text + have, len - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void elsewhere_looks_follow_one_another(void **state)
{
	char text[4096];

	(void)state;
	assert_int_equal(run_in_pipe(2, false, 0, text, sizeof(text)), XC_OK);
	assert_string_equal(text, "look 1\nsecond line\n\nlook 2\nsecond line\n");
	assert_int_equal(run_in_pipe(2, true, 0, text, sizeof(text)), XC_OK);
	assert_string_equal(text, "look 1\nsecond line\nlook 2\nsecond line\n");
}

static void a_look_that_fails_is_the_last(void **state)
{
	char text[4096];

	(void)state;
	assert_int_equal(run_in_pipe(0, false, 2, text, sizeof(text)), XC_FAILED);
	assert_string_equal(text, "look 1\nsecond line\n");
}

/* ------------------------------------------------------------ a terminal ---- */

struct terminal {
	int fd, slave;		/* its other end stays open: or its settings go */
	pid_t pid;
	struct termios before;
	char text[16384];
	size_t have;
};

static void terminal_begin(struct terminal *t, double interval, u64 count, unsigned short rows)
{
	struct winsize size = { .ws_row = rows, .ws_col = 80 };

	memset(t, 0, sizeof(*t));
	assert_int_equal(openpty(&t->fd, &t->slave, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(t->slave, &t->before), 0);
	t->pid = fork();
	if (!t->pid) {
		setenv("TERM", "xterm", 1);
		login_tty(t->slave);
		run(interval, count, false, 0);
	}
}

/* Reads until @wanted has come. */
static void terminal_expect(struct terminal *t, const char *wanted)
{
	while (!strstr(t->text, wanted)) {
		ssize_t n = read(t->fd, t->text + t->have, sizeof(t->text) - 1 - t->have);

		if (n <= 0)
			fail_msg("\"%s\" does not come, but \"%s\"", wanted, t->text);
		t->have += (size_t)n;
		t->text[t->have] = '\0';
	}
}

/* Its exit code; the terminal must be as it was. */
static int terminal_end(struct terminal *t)
{
	struct termios after;
	int status;

	terminal_expect(t, "\033[?7h\033[?25h");	/* wraps and has a cursor again */
	waitpid(t->pid, &status, 0);
	assert_int_equal(tcgetattr(t->slave, &after), 0);
	assert_int_equal(after.c_lflag, t->before.c_lflag);
	assert_memory_equal(after.c_cc, t->before.c_cc, sizeof(after.c_cc));
	close(t->fd);
	close(t->slave);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void on_a_terminal_a_look_is_drawn_over_the_last(void **state)
{
	static struct terminal t;

	(void)state;
	terminal_begin(&t, 0.1, 2, 24);
	terminal_expect(&t, "look 2");
	assert_non_null(strstr(t.text, "\033[?25l\033[?7l\rlooking ...\033[K\r\n\033[J"));
	assert_non_null(strstr(t.text, "\033[1A\rlook 1\033[K\r\n\rsecond line\033[K\r\n\033[J"));
	assert_non_null(strstr(t.text, "\033[2A\rlook 2\033[K\r\n"));
	assert_int_equal(terminal_end(&t), XC_OK);
}

/* Two rows: room for one line above the cursor; in the end all of it is there. */
static void what_there_is_no_room_for_comes_in_the_end(void **state)
{
	static struct terminal t;

	(void)state;
	terminal_begin(&t, 0.1, 1, 2);
	assert_int_equal(terminal_end(&t), XC_OK);
	assert_non_null(strstr(t.text, "\033[1A\rlook 1\033[K\r\n\033[J"
				       "\033[1A\rlook 1\033[K\r\n\rsecond line\033[K\r\n\033[J"));
}

static void q_ends_it(void **state)
{
	static struct terminal t;

	(void)state;
	terminal_begin(&t, 3600, 0, 24);
	terminal_expect(&t, "looking");
	assert_int_equal(write(t.fd, "xq", 2), 2);
	assert_int_equal(terminal_end(&t), XC_OK);
}

/* As the terminal's line discipline sends it, while it waits and while it looks. */
static void ctrl_c_ends_it_without_an_error(void **state)
{
	static struct terminal t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		terminal_begin(&t, i ? 0.1 : 3600, 0, 24);
		terminal_expect(&t, i ? "look 3" : "looking");
		assert_int_equal(write(t.fd, "\003", 1), 1);
		assert_int_equal(terminal_end(&t), XC_OK);
	}
	terminal_begin(&t, 3600, 0, 24);
	terminal_expect(&t, "looking");
	kill(t.pid, SIGTERM);
	assert_int_equal(terminal_end(&t), XC_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elsewhere_looks_follow_one_another),
		cmocka_unit_test(a_look_that_fails_is_the_last),
		cmocka_unit_test(on_a_terminal_a_look_is_drawn_over_the_last),
		cmocka_unit_test(what_there_is_no_room_for_comes_in_the_end),
		cmocka_unit_test(q_ends_it),
		cmocka_unit_test(ctrl_c_ends_it_without_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
