/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process.h - what each of the programs does first and last: standard streams, and signals that would end it.
 */
#ifndef XP_LIB_PROCESS_H
#define XP_LIB_PROCESS_H

#include "lib/exit.h"

#include <stdbool.h>

/* First in main(), before anything is opened or said. */
void process_begin(void);
/* Last in main(): @ret, or XC_FAILED, and said why, where all went well but for the output. Ends stdout. */
enum xc process_end(enum xc ret);
/* What was printed up to now cannot all be written; then, the complaint about it. For verbs that end early because
 * of it: process_end() is for all the others. */
bool output_fails(void);
enum xc output_complain(void);

#endif
