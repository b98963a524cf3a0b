/* SPDX-License-Identifier: GPL-2.0-only */
/* verbs.h - what xpcached can be told; argv[0] is the verb. They return its exit code. */
#ifndef XD_VERBS_H
#define XD_VERBS_H

#include "lib/exit.h"

enum xc serve_run(int argc, char **argv);

/* privileges.c: all capabilities but one or two (-1: no other), and any way to new ones. Before the
 * first thread. */
enum xc privileges_keep(int capability, int another);
/* One more, of the calling thread. */
enum xc privileges_give_up(int capability);

#endif /* XD_VERBS_H */
