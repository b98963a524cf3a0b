/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rival.h - the policies that the core is compared with, each written from its published description.
 *
 * The blocks of a trace have been numbered densely: a rival keeps its state in arrays by number, not in a hash. That
 * makes it simple; a real cache would need a hash, and less memory.
 */
#ifndef POLICY_RIVAL_H
#define POLICY_RIVAL_H

#include "xpcache.h"

#define RIVAL_NEVER	0xffffffffu	/* no number of an access, nor of a block */

struct rival {
	const char *name;
	void *(*make)(u32 capacity, u32 nr_ids);	/* NULL: no memory */
	/*
	 * Block @id is used. Was it cached? @next, at which MIN alone looks: the number of its next access, if a miss of
	 * that counts; RIVAL_NEVER if it does not, as of a write, or if there is none.
	 */
	bool (*access)(void *policy, u32 id, u32 next);
	void (*free)(void *policy);
};

extern const struct rival rival_lru, rival_clock, rival_2q, rival_arc, rival_lirs, rival_s3fifo, rival_wtinylfu,
			  rival_sieve, rival_min;
#define RIVALS	9u
extern const struct rival *const rivals[RIVALS];

/* ------------------------------------------------------------- queues ---- */

/* A block is in at most one queue of a set; 0 is in none. */
struct queue {
	u32 head, tail;		/* RIVAL_NEVER: empty; blocks come at the head */
	u32 nr;
};

struct queue_links {
	u32 *prev, *next;	/* prev: towards the head */
	u8 *where;		/* which queue, as the policy numbers them */
};

bool queue_links_make(struct queue_links *l, u32 nr_ids);
void queue_links_free(struct queue_links *l);

/* What a policy begins with whose queues are one set. */
struct rival_base {
	u32 capacity;
	struct queue_links links;
	u8 *mark;		/* a byte a block, of the policy's own meaning */
};

/* A policy of so many bytes, all zeros but for its base. NULL: no memory. */
void *rival_make(size_t size, u32 capacity, u32 nr_ids);
void rival_free(void *policy);
void queue_init(struct queue *q);
void queue_push(struct queue *q, struct queue_links *l, u32 id, u8 where);
void queue_remove(struct queue *q, struct queue_links *l, u32 id);
/* Takes the tail: the queue must have one. */
u32 queue_pop(struct queue *q, struct queue_links *l);

#endif
