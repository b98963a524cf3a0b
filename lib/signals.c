// SPDX-License-Identifier: GPL-2.0-only
/* Signals that would end the program: held back for a while, or only noted. */
#include "lib/signals.h"
#include "platform.h"

#include <signal.h>

static sigset_t held;
static unsigned int holds;

void signals_hold(void)
{
	sigset_t set;

	if (holds++)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &held);
}

void signals_release(void)
{
	if (!--holds)
		sigprocmask(SIG_SETMASK, &held, NULL);
}

static const int caught[NR_CAUGHT] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t came;

static void on_signal(int sig)
{
	(void)sig;
	came = 1;
}

bool signals_came(void)
{
	return came;
}

/* A second time it changes nothing. */
void signals_catch(struct sigaction *was)
{
	const struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	for (u32 i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i], &act, &was[i]);
	if (was[0].sa_handler != on_signal)
		came = 0;
}

void signals_let(const struct sigaction *was)
{
	for (u32 i = 0; i < NR_CAUGHT; i++)
		sigaction(caught[i], &was[i], NULL);
}
