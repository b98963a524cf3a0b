/* SPDX-License-Identifier: GPL-2.0-only */
/* signals.h - signals that would end the program: held back for a while, or only noted. */
#ifndef XP_LIB_SIGNALS_H
#define XP_LIB_SIGNALS_H

#include <stdbool.h>

/* Signals that would end the program wait between these two, which nest. */
void signals_hold(void);
void signals_release(void);

/* Between these two, which nest, those of Ctrl-C and the like are only noted: who works looks whether one came. */
#define NR_CAUGHT	3u
struct sigaction;
void signals_catch(struct sigaction *was);	/* NR_CAUGHT of them */
void signals_let(const struct sigaction *was);
bool signals_came(void);

#endif
