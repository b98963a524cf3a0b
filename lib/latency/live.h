/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h - one look after another, until Ctrl-C: what histogram and top have in common.
 *
 * On a terminal each look is drawn over the one before; the last stays to be read, and the
 * terminal is as it was. Elsewhere they follow one another.
 */
#ifndef LIVE_H
#define LIVE_H

#include "lib/exit.h"
#include "platform.h"

#include <stdio.h>

struct live {
	double interval;	/* seconds */
	u64 count;		/* looks; 0: until Ctrl-C or q, which is no error */
	bool lines;		/* for programs: never drawn over, nothing between two looks */
	/* What there is to see now, into @f, or a complaint. The first time @f is NULL: the
	 * others show what came since then. */
	enum xc (*look)(void *ctx, FILE *f);
	void *ctx;
};

enum xc live_run(const struct live *l);

#endif /* LIVE_H */
