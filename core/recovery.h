/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recovery.h - what the steps of a recovery hand on; the map of core/recovery*.c.
 */
#ifndef XP_RECOVERY_H
#define XP_RECOVERY_H

#include "journal.h"
#include "media.h"
#include "message.h"
#include "witness.h"

#define RECORDS_CHECKED_MAX	(2 * XP_WINDOW * XP_RECORDS)
#define DISPLACED_MAX		(2 * XP_WINDOW * XP_SPOKEN_OF)
/* with those that are proven after all, of a whole table (unread.h), and a short block */
#define DECIDED_MAX		(3 * RECORDS_CHECKED_MAX + 1)

#define PLAIN_FLAGS	(2 * XP_REC_CHECKED)

struct decided {
	u64 lba;
	u32 slot;
	bool rejected;		/* its data has not landed; or */
	/* the slot cannot be read, and the user takes the older version */
	bool passed_over;
};

/* The caller's scratch memory, and what the steps hand on. */
struct recovery {
	struct xp *c;
	const struct xp_media *m;
	struct xp_message *msg;
	const struct xp_witness *witness;	/* NULL: nobody looks on */
	u8 *chunk;			/* XP_RECOVER_CHUNK blocks */
	u8 *block;			/* one more */
	struct xp_ring_block *ring;
	/* checked records above durable; UNREAD ones that are proven; and the short block, if it was clean */
	struct decided *decided;
	u32 nr_decided;
	/* lbas whose slots later records give to others, and that are yet to be said anew */
	u64 *displaced;
	u32 nr_displaced;
	struct xp_message conflict;	/* of the first */
	u32 nr_refused;			/* records, before a witness or where losses are accepted */
	struct xp_message first;	/* of them */
	struct xp_ring_block head;
	struct xp_sb_loss loss;		/* of it, and with what was accepted before */
	u64 nr_unreadable;		/* places of the ring */
	bool any_may_be_missing;	/* no chain is there without: recovery_pick() */
	/* the newest that the chain has been replayed over; 0: none */
	u64 hole;
	u64 leave;			/* no later recovery would get over this block; 0: none */
	bool chain_alone;	/* of the ring nothing else was read: recovery_scan() */
	bool took_back;		/* a bad place: the superblock is about to say so */
	/* of the slow device, as the superblock has it; and the most that records may speak of */
	u64 sectors, was;
	u64 whole;		/* blocks that it holds whole, as it was and as it is */
	u64 plain_from, plain_nr;	/* of these, what replay_plain() takes */
	union xp_word plain_word[PLAIN_FLAGS];	/* and what it makes of a slot, by the record's flags */
	bool any_outside;	/* a block behind the whole ones has been mapped */
	bool any_held;		/* a slot is, while the chain is replayed */
	bool has_unread;		/* records of the chain are UNREAD */
	xp_slot_t short_block;		/* dirty, and not whole (step 6) */
};

static inline const struct xp_ring_block *ring_at(const struct recovery *r, u64 seq)
{
	return &r->ring[seq % r->c->journal.blocks];
}

static inline struct xp_jblock *chunk_block(const struct recovery *r, u32 i)
{
	return (struct xp_jblock *)(r->chunk + i * XP_BLOCK_SIZE);
}

/* One that fails may be all that is bad of @nr: then each is read alone. */
static inline int read_place(struct recovery *r, u64 position, u32 i, bool together)
{
	return together ? 0 :
	       r->m->read(r->m->ctx, r->c->journal.start + position + i, 1, chunk_block(r, i));
}

/* recovery.c */
/* Does the user go on without it? */
bool recovery_accepts(const struct recovery *r, u32 what);
/* -EUCLEAN, and why: block @seq of the journal is damaged. */
int recovery_refuse(struct recovery *r, const char *what, u64 seq, u64 detail);
/* -EBADMSG, and why: it cannot be read. */
int recovery_refuse_loss(struct recovery *r, u64 seq, const char *what);
/* Steps 1 to 3, with the caller's scratch memory: nothing is written. */
int recovery_rebuild(struct recovery *r, void *scratch);
/* The journal goes on behind @head. */
void recovery_begin_after(struct xp *c, const struct xp_ring_block *head);
/* MAPPED -> FREE: nothing is in flight. */
void recovery_unmap(struct xp *c, xp_slot_t slot);

/* recovery_scan.c */
void recovery_scan(struct recovery *r);
enum xp_place recovery_judge_place(const struct xp *c, struct xp_jblock *b, u64 position);

/* recovery_pick.c: r->head */
int recovery_pick(struct recovery *r);
/* A block of the chain of @head that is not there, or the one behind it; 0: there is none. */
u64 recovery_chain_breaks_at(const struct recovery *r, const struct xp_ring_block *head);

/* recovery_replay.c */
int recovery_replay(struct recovery *r);

/* recovery_erase.c */
int recovery_erase_leftovers(struct recovery *r);
int recovery_erase_holes(struct recovery *r);
int recovery_mend_fingerprint(struct recovery *r);

/* recovery_restate.c */
/* Writes what the todo holds, and what that adds. */
int recovery_write_out(struct xp *c, const struct xp_media *m, struct xp_todo *todo);
int recovery_seal_and_write(struct xp *c, const struct xp_media *m);
int recovery_restate(struct recovery *r);

/* recovery_slow.c */
/* None of the records stays in the ring: they may speak of what is past the end of the slow device, or it is asked for. */
bool recovery_leaves_all(const struct recovery *r);
/* Of the slow device: recovery.whole. */
u64 recovery_whole_blocks(const struct recovery *r);
/* Before anything is written. */
int recovery_fit(struct recovery *r);
int recovery_write_back_short(struct recovery *r);

#endif /* XP_RECOVERY_H */
