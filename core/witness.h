/* SPDX-License-Identifier: GPL-2.0-only */
/* witness.h - who looks on while recovery decides, and decides nothing. */
#ifndef XP_WITNESS_H
#define XP_WITNESS_H

#include "platform.h"

struct xp_jblock;
struct xp_message;

/* What lies in one place of the journal ring. */
enum xp_place {
	XP_PLACE_VALID,
	XP_PLACE_EMPTY,		/* zeros: never written, or erased by an older version */
	XP_PLACE_ERASED,	/* by a recovery */
	/* no journal block: never written, on a device that held something */
	XP_PLACE_NOISE,
	XP_PLACE_TORN,		/* its checksum is wrong: half a write, or damage */
	XP_PLACE_OTHER,		/* of a cache that was here before */
	XP_PLACE_MISPLACED,	/* its number belongs elsewhere in the ring */
	XP_PLACE_SENSELESS,	/* its checksum is right, its header contradicts itself */
	XP_PLACE_UNREADABLE,	/* the device gives an error; the witness gets no block */
	/* given up, as it could not be written: whatever lies there; likewise */
	XP_PLACE_BAD,
	XP_PLACES,
};

/* A valid block, as its header tells. */
struct xp_ring_block {
	u64 seq;		/* 0: not valid */
	u64 tail;
	u64 durable;
	u64 incarnation;
	u32 count, records;	/* of its header; and with those that it has grown by */
	u32 before;		/* what it says of the records of the block before it */
	bool unreadable;
	bool hole;		/* missed in the chain that was taken (XP_ACCEPT_LOSS) */
};

/* What replay made of a record. */
enum xp_verdict {
	XP_REPLAYED,		/* UNREAD: whether it is so still is asked at the end (xp_mapping.unread) */
	XP_NO_DATA,		/* not proven durable, and its slot holds something else: the
				 * older version holds */
	XP_UNREADABLE_DATA,	/* not proven durable, and its slot cannot be read: it holds, and the block
				 * cannot be read until it is written anew; with XP_ACCEPT_OLDER the older one */
	XP_MOOT,		/* CLEAN or ZERO of what is not the block's mapping */
	XP_REFUSED,
};

struct xp_said {
	xp_lba_t lba;
	xp_slot_t slot;
	u8 kind, flags;
	u8 lacks;		/* of a MAP: a bit for each sector that the slot has not (part.h) */
	u8 verdict;		/* enum xp_verdict */
	u32 index;		/* in its block */
	u32 sum;		/* 0: it has none */
	u64 hash;
	u64 seq;		/* its block */
};

/* Who looks on while recovery decides, and decides nothing. Told in this order: */
struct xp_witness {
	void *ctx;
	/* 1. scan: each place of the ring; @b NULL: it cannot be read */
	void (*place)(void *ctx, u64 position, enum xp_place place,
		      const struct xp_jblock *b);
	/*
	 * 2. pick: blocks from the newest on, and where their chains break; 0: not
	 * at all, this one is taken
	 */
	void (*candidate)(void *ctx, const struct xp_ring_block *b, u64 breaks_at);
	/*
	 * 3. replay: each record of that chain. Goes on after one that was refused,
	 * for *@why, so that all are told
	 */
	void (*record)(void *ctx, const struct xp_said *said,
		       const struct xp_message *why);
};

#endif /* XP_WITNESS_H */
