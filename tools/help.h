/* SPDX-License-Identifier: GPL-2.0-only */
/* help.h - what the program can do, in words. */
#ifndef XP_TOOLS_HELP_H
#define XP_TOOLS_HELP_H

#include "lib/exit.h"

#include <stdio.h>

struct verb;

void help_all(FILE *f);
enum xc help_verb(const struct verb *v);
enum xc unknown_verb(const char *name);		/* XC_USAGE, and said so */

#endif
