/* SPDX-License-Identifier: GPL-2.0-only */
/* fixture.h - a cache over plain memory, for tests of one thing at a time. */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "cache.h"
#include "look.h"
#include "media.h"
#include "message.h"

struct fixture {
	u8 *fast;			/* what is on the medium */
	u64 fast_blocks;
	struct xp_media media;
	struct xp_sb sb;
	struct xp_options opt;
	struct xp_message msg;
	void *memory;
	struct xp *c;
	struct xp_todo todo;
	u32 media_writes;
	const bool *refuses;	/* a block that takes no journal block; NULL: none */
};

/* A formatted and started cache of a slow device of @lbas blocks. Returns 0, as a setup of cmocka does. */
int fixture_setup(struct fixture *f, u64 fast_blocks, u64 lbas);
void fixture_teardown(struct fixture *f);
/* A test of the file's cache f: cmocka hands it to the setup and to the teardown as their *state. */
#define TEST_WITH(name, setup, teardown) cmocka_unit_test_prestate_setup_teardown(name, setup, teardown, &f)
/* ... whose setup() the file has. */
#define T(name) TEST_WITH(name, setup, teardown)
int teardown(void **state);
int teardown_audited(void **state);	/* ... which fails the test if the ranks are wrong */
/* Forgets memory and starts again from the medium: recovery's answer. */
int fixture_restart(struct fixture *f);
void fixture_reopen(struct fixture *f);	/* ... which must succeed */
/* So many reads it begins with: both copies of the fingerprint, which is none, and all of the ring. */
u32 scan_reads(const struct fixture *f);
/* ... which must fail, and say @why. */
void restart_refused(struct fixture *f, const char *why);

/* Writes what the todo asks of the journal to the medium, and completes it. */
void write_journal(struct fixture *f);
/* Fails what it asks, this once. */
void fail_journal(struct fixture *f);
/* The device is gone: whatever it asks fails, until it asks no more. */
void fail_journal_for_good(struct fixture *f);
/* The fast device refuses the data of a write, and takes the journal: its answer is that it is ready again. */
void refuse_write(struct fixture *f, struct xp_req *req);
/* The cache's, live; the superblock has it then. */
void change_mode(struct fixture *f, enum xp_mode mode);
/* A request of whole blocks; its answer. */
enum xp_act submit(struct fixture *f, struct xp_req *req, enum xp_op op,
		   u64 sector, u32 nr_sectors, bool fua);
/* A write of blocks filled with @byte, to its end. Returns what the core asked for. */
enum xp_act write_blocks(struct fixture *f, u64 lba, u32 nr, int byte);
/* A write beside its record, as a power cut leaves it that comes before its end: both are on the medium. */
xp_slot_t write_under_way(struct fixture *f, u64 lba, int byte);
void flush(struct fixture *f);
/* A batch to its end, of which each run and the flush at the end had an error,
 * or none had. */
void writeback_batch(struct fixture *f, int err);
/* The same in two steps: the errors of its runs and of its flush, and when that ended (seconds). */
void batch_begin(struct fixture *f);
void batch_end(struct fixture *f, int run_err, int flush_err, u64 now);
/* A read miss with its fill, to its end. */
void fill_block(struct fixture *f, u64 lba, int byte);
struct xp_jblock *ring_block(struct fixture *f, u64 seq);
/* After a change of it. */
void reseal(struct xp_jblock *b);
u8 *slot_data(struct fixture *f, xp_slot_t slot);
/* First byte of the block's slot, or -1 when it is not mapped. */
int mapped_byte(struct fixture *f, u64 lba);
bool mapped_dirty(struct fixture *f, u64 lba);
/* Of a block that is mapped. */
struct xp_mapping mapping_of(struct fixture *f, u64 lba);
/* How many requests hold the slot of a block, which must be mapped. */
u32 pins_of(struct fixture *f, u64 lba);
struct xp_stats stats_of(const struct fixture *f);

#endif
