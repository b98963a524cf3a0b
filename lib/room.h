/* SPDX-License-Identifier: GPL-2.0-only */
/* room.h - the blocks of a fast device that is a file, allocated before they are written. */
#ifndef ROOM_H
#define ROOM_H

#include "lib/exit.h"
#include "lib/progress.h"
#include "platform.h"

#include <limits.h>

struct device;

#define ROOM_TEXT	(PATH_MAX + 128)

struct room {
	const char *path, *todo;
	int fd;			/* its own: whoever gives back has none other by then; -1: nothing to do */
	u64 bytes;		/* of the file, that are to be there */
	struct room_hole {
		u64 from, to;	/* bytes */
	} *hole;		/* what was not there before */
	size_t n;
	u64 missing;		/* sum of them, */
	u64 taken;		/* and up to where they may be there now */
	bool blind;		/* what was there before cannot be told, so nothing is given back */
	bool moves;		/* blocks are shared with another file, or compressed */
	struct progress bar;
	double begun, shown;
};

/*
 * Allocates the holes of the first @bytes of a file (of a block device: nothing), with a progress bar if it takes long.
 * What the file holds, and its size, stay. XC_REFUSED and said why: there is no room, and @todo is what to do about it.
 * XC_INTERRUPTED: by Ctrl-C. What was taken is given back then. XC_OK where the file system cannot allocate; that is said.
 * Whatever came of it, room_done().
 */
enum xc room_take(struct room *r, const struct device *d, u64 bytes, const char *todo);
/* The same for good: it is not given back later. */
enum xc room_fill(const struct device *d, u64 bytes, const char *todo);
/* What room_take() has allocated are holes again, whatever was written there. */
void room_give_back(struct room *r);
void room_done(struct room *r);
/* A file that lies in memory, which xpcached maps: holes in one that was used are a loss, and xpcached's to judge. */
bool room_is_memory(int fd);

#endif /* ROOM_H */
