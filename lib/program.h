/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - programs that do one verb of another, so that what udev, the initramfs and the data path run loads no
 * library of theirs.
 */
#ifndef XP_LIB_PROGRAM_H
#define XP_LIB_PROGRAM_H

#include "lib/exit.h"

#ifndef XPCACHE_PROGRAMDIR
#define XPCACHE_PROGRAMDIR "/usr/local/libexec/xpcache"	/* the Makefile knows where it installs them */
#endif

/*
 * Becomes the program @name, with the words @argv: the verb, and what follows it. It is beside this one, as in build/,
 * or below the prefix that this one is installed in, or in XPCACHE_PROGRAMDIR. Returns only if it cannot, and said why.
 */
enum xc program_run(const char *name, int argc, char **argv);

#endif
