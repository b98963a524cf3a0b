/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h - requests kept in memory, so that the core and each rival are given the same ones: those of a trace, or some
 * that are made up.
 */
#ifndef POLICY_LOAD_H
#define POLICY_LOAD_H

#include "message.h"
#include "stream.h"

struct load_request {
	u64 time_ns;		/* of a trace: as in struct trace_op; else 0 */
	u64 sector;
	u32 nr_sectors;
	u8 op;			/* XP_READ, XP_WRITE; XP_FLUSH, which rivals do not see */
};

static inline u32 load_blocks(const struct load_request *q)
{
	return (u32)((q->sector + q->nr_sectors - 1) / XP_BLOCK_SECTORS - q->sector / XP_BLOCK_SECTORS + 1);
}

struct load {
	char name[64];
	struct load_request *request;
	u32 nr, room;
	u32 left_out;		/* requests of a trace that are neither: discards, write zeroes */
	u64 end;		/* sectors of the device, at least */
	u64 read_blocks, written_blocks;	/* touched, once a request */
	u64 read_sectors;
	struct stream stream;	/* an access a block of each request, in order; reads count */
};

/* False: the trace cannot be read, or nothing is touched, and *msg says why. There is nothing to free then. */
bool load_trace(struct load *l, const char *path, struct xp_message *msg);
void load_free(struct load *l);

/* ------------------------------------------------------------- made up ---- */

#define LOADS_MADE	5u

/* Number @i of them: the same at each call. */
void load_make(struct load *l, u32 i);

/* For those that make one: begin, add requests, end. */
void load_init(struct load *l, const char *name);
void load_add(struct load *l, enum xp_op op, u64 sector, u32 nr_sectors);
void load_end(struct load *l);

#endif
