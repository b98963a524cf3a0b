/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * exit.h - exit codes of the programs, and what functions return.
 *
 * A function that can fail returns an exit code of the program and has then said why, once; what returns a negative
 * errno has said nothing.
 */
#ifndef XP_LIB_EXIT_H
#define XP_LIB_EXIT_H

/* Exit codes; help.c and docs/xpcache.8 describe them. */
enum xc {
	XC_OK		= 0,
	XC_FAILED	= 1,	/* I/O or system error */
	XC_USAGE	= 2,	/* the command line is wrong */
	XC_REFUSED	= 3,	/* would lose or disturb data */
	XC_DAMAGED	= 4,	/* metadata damaged, or not known to this version */
	XC_NOT_FOUND	= 5,	/* no such cache or device */
	XC_SLOWER	= 6,	/* bench diff: a percentile or a mean got worse */
	XC_INTERRUPTED	= 130,	/* Ctrl-C; nothing is lost */
};


#endif
