/* SPDX-License-Identifier: GPL-2.0-only */
/* memory.h - what the machine has of it. */
#ifndef XP_LIB_MEMORY_H
#define XP_LIB_MEMORY_H

#include "platform.h"

/* Bytes; 0: unknown. */
struct memory {
	u64 total, available;
	u64 unwritten;		/* of the available: dirty pages, which somebody must write first */
};

void memory_look(struct memory *m);

#endif
