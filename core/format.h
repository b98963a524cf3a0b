/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * format.h - every byte that xpcache keeps on the fast device.
 *
 * All integers are little-endian. A block is 4096 bytes, the unit that every
 * NVMe and persistent-memory device accepts and that a file system's page is.
 * docs/FORMAT.md says the same in words, with a worked example.
 *
 *   block 0                 superblock, first copy
 *   block 8 (32 KiB)        fingerprint of the slow device, first copy
 *   block 12 (48 KiB)       hint of what the cached blocks are worth; it may go on in free slots
 *   block 16 (64 KiB)       superblock, second copy: another flash page
 *   block 24 (96 KiB)       fingerprint, second copy
 *   blocks 28 to 31         who sleeps in a hibernation, of one system each
 *   block 32                scratch area, for benchmarks of the raw device
 *   journal_start           the journal ring
 *   data_start              slot 0, aligned to 1 MiB
 *
 * And one block of the slow device, at times: struct xp_mark.
 */
#ifndef XP_FORMAT_H
#define XP_FORMAT_H

#include "block.h"
#include "platform.h"

#define XP_SB_BLOCK_A		0u
#define XP_SB_BLOCK_B		16u
#define XP_FP_BLOCK_A		8u
#define XP_FP_BLOCK_B		24u
#define XP_HINT_BLOCK		12u
#define XP_SLEEP_BLOCK		28u
#define XP_SLEEP_NOTES		4u
#define XP_SCRATCH_START	32u
#define XP_SCRATCH_BLOCKS	224u		/* 896 KiB */
#define XP_DATA_ALIGN		256u		/* blocks: 1 MiB */

#define XP_SB_MAGIC		"xpcache\n"	/* 8 bytes, no terminator */
#define XP_NAME_LEN		32u		/* with a NUL */
#define XP_SB_VERSION		2u
#define XP_FP_MAGIC		"xpfinger"	/* 8 bytes, no terminator */
#define XP_HINT_MAGIC		"xpranked"	/* 8 bytes, no terminator */
#define XP_SLEEP_MAGIC		"xpasleep"	/* 8 bytes, no terminator */
#define XP_MARK_MAGIC		"xppassed"	/* 8 bytes, no terminator */
#define XP_MARK_VERSION		1u
#define XP_ERASED_MAGIC		0x53524550u	/* "PERS": no block, but a place of the ring that a recovery has erased; then zeros */
#define XP_JOURNAL_MAGIC	0x4c4e4a50u	/* "PJNL" on the medium; and xp_sb.grid is added to it */

/* Features. A reader that does not know a bit of
 *   compat     may use the cache;
 *   ro_compat  may read it (check, dump, bring it home) but not write it;
 *   incompat   must not touch it. */
#define XP_COMPAT_PART		(1ull << 0)	/* the cache has fast_blocks of the fast device, as its user said, and no more */
#define XP_COMPAT_KNOWN		XP_COMPAT_PART
#define XP_RO_COMPAT_KNOWN	0ull
#define XP_INCOMPAT_MARK	(1ull << 0)	/* a mark on the slow device may say that writes have passed it */
#define XP_INCOMPAT_GROWS	(1ull << 1)	/* journal blocks may have records behind their count */
#define XP_INCOMPAT_BAD		(1ull << 2)	/* struct xp_sb_bad speaks: numbers of the journal are skipped */
#define XP_INCOMPAT_SUMS	(1ull << 3)	/* MAP records may carry a sum of their slot's data */
#define XP_INCOMPAT_MODE	(1ull << 4)	/* mode speaks: it is not write-back */
#define XP_INCOMPAT_UNREAD	(1ull << 5)	/* MAP records may be UNREAD */
#define XP_INCOMPAT_AWAY	(1ull << 6)	/* the cache has moved to another device: move.h */
#define XP_INCOMPAT_COMING	(1ull << 7)	/* it moves to this one, if that from which it comes is AWAY */
#define XP_INCOMPAT_PARTS	(1ull << 8)	/* MAP records may say that their slot lacks sectors */
#define XP_INCOMPAT_GRID	(1ull << 9)	/* grid speaks: the blocks of the cache do not begin with the slow device */
#define XP_INCOMPAT_RUNS	(1ull << 10)	/* records may be RUNs */
#define XP_INCOMPAT_NEW		(XP_INCOMPAT_MARK | XP_INCOMPAT_GROWS | XP_INCOMPAT_PARTS | \
				 XP_INCOMPAT_RUNS)	/* of a cache as it is made */
#define XP_INCOMPAT_KNOWN	(XP_INCOMPAT_NEW | XP_INCOMPAT_BAD | XP_INCOMPAT_SUMS | XP_INCOMPAT_MODE | \
				 XP_INCOMPAT_UNREAD | XP_INCOMPAT_GRID)

/* lbas of a journal record and of the in-memory map have 40 bits: 4 PiB. */
#define XP_MAX_LBAS		(1ull << 40)
#define XP_MAX_SLOTS		(1u << 31)	/* 8 TiB of fast device; fewer than that */
#define XP_MAX_RING		(XP_MAX_SLOTS - 1)
#define XP_MAX_SEQ		(1ull << 54)	/* of seq and incarnation: more is damage */
#define XP_MIN_SLOTS		8u

/* Who the slow device is. It is never written to but for the mark (struct xp_mark), so it is known by what it
 * says of itself; empty strings are unknown. NUL-padded. */
struct xp_sb_slow {
	__le64	sectors;		/*   0 size, 512-byte sectors */
	__le32	logical_size;		/*   8 logical sector, bytes */
	__le32	reserved;		/*  12 zero */
	u8	hwid[96];		/*  16 WWID, or model and serial number */
	u8	content[64];		/* 112 partition-table or file-system UUID at create, "TYPE:UUID" */
	u8	path[64];		/* 176 its name when the cache was made; for messages only */
};					/* 240 */

/*
 * What the fast device cannot write. A number of the journal that belongs to a bad place is given to
 * no block, from the moment on that the superblock with that place is durable; what lies there says
 * nothing. A bad slot is handed out to nobody. Zeros in a superblock without XP_INCOMPAT_BAD.
 */
#define XP_BAD_PLACES	32u
#define XP_BAD_SLOTS	768u

struct xp_sb_bad {
	__le32	nr_places;		/*   0 */
	__le32	nr_slots;		/*   4 */
	__le32	place[XP_BAD_PLACES];	/*   8 of the ring, counted from its first block; each once */
	__le32	slot[XP_BAD_SLOTS];	/* 136 each once */
	__le32	losing;			/* 3208 1: a recovery goes on without what it could not read, and has not ended */
					/*      (struct xp_sb_loss); 0 */
	__le32	reserved;		/* 3212 zero */
};					/* 3216 */

/*
 * What the user was asked about, whose consent a recovery that has not ended has (xp_sb_bad.losing). It erases the traces of
 * that, so a later one could not find the head again. Of no meaning else; a head of 0: of a version that did not note it.
 */
#define XP_LOSS_HOLES	24u

struct xp_sb_loss {
	__le64	head;			/*   0 the journal block that it began with */
	__le64	incarnation;		/*   8 of the newest block of the ring then: what it writes itself is newer */
	__le32	behind;			/*  16 unreadable places behind it, where newer blocks may have been */
	__le32	lost;			/*  20 journal blocks without which the cache goes on, at most; of those before it that were */
					/*     cut, too */
	__le32	nr_holes;		/*  24 blocks that the chain of its head lacked */
	__le32	reserved;		/*  28 zero */
	__le64	hole[XP_LOSS_HOLES];	/*  32 the newest of these; then zeros */
};					/* 224 */

/* When a write ends, and where it goes. The superblock has it, too: XP_INCOMPAT_MODE. */
enum xp_mode {
	XP_MODE_KEPT,		/* of an option: as the superblock has it; there: write-back, as it was made */
	XP_MODE_WRITEBACK,	/* into the cache, which has it */
	XP_MODE_WRITETHROUGH,	/* into the cache; both have it */
	XP_MODE_WRITEAROUND,	/* to the slow device, which has it; what the cache had of it is dropped */
	XP_MODES
};

struct xp_sb {
	u8	magic[8];		/*   0 XP_SB_MAGIC */
	__le32	version;		/*   8 XP_SB_VERSION */
	__le32	flags;			/*  12 zero */
	__le64	compat;			/*  16 */
	__le64	ro_compat;		/*  24 */
	__le64	incompat;		/*  32 */
	u8	uuid[16];		/*  40 of this cache; in every journal block too */
	u8	name[XP_NAME_LEN];	/*  56 NUL-padded; the name under /dev/mapper: xp_name_valid() */
	__le64	created;		/*  88 seconds since 1970 */
	__le64	generation;		/*  96 of the superblock: the higher of two valid copies counts */
	__le64	fast_blocks;		/* 104 of the fast device, from its first on, are the cache's: all when it was laid out, or XP_COMPAT_PART */
	__le64	scratch_start;		/* 112 block */
	__le64	scratch_blocks;		/* 120 */
	__le64	journal_start;		/* 128 block */
	__le64	journal_blocks;		/* 136 */
	__le64	data_start;		/* 144 block */
	__le64	nr_slots;		/* 152 */
	struct xp_sb_slow slow;		/* 160 */
	struct xp_sb_bad bad;		/* 400 */
	__le64	slow_was;		/* 3616 sectors that it had before it was shortened to slow.sectors, while records */
					/*      in the journal may still name blocks up to there; else 0 */
	u8	mode;			/* 3624 enum xp_mode, with XP_INCOMPAT_MODE: when writes end (mode.c); else 0 */
	u8	grid;			/* 3625 sectors of the slow device before the first whole block of the cache, 1 to 7, with */
					/*      XP_INCOMPAT_GRID; else 0 */
	u8	reserved[6];		/* 3626 zero */
	__le64	move;			/* 3632 number of the last move, that both of its devices have; 0: there was none */
	struct xp_sb_loss loss;		/* 3640 */
	u8	reserved2[224];		/* 3864 zero */
	__le64	checksum;		/* 4088 XXH64, seed 0, of bytes 0 to 4087 */
};

/* Why XXH64: Linux has xxh64 but no XXH3, and both sides must compute it. Nobody waits for
 * this one; for what syncs wait for there is checksum.c. */

/* What the slow device held when the cache came to rest: who writes to it without the cache, by
 * a file system or a partition editor, changes one of these. Not there, or of an earlier rest, it
 * says nothing; so no feature bit speaks of it. Whoever starts a cache without a look at it does
 * what was always done, but for XP_FP_STALE. */
struct xp_fp_block {
	__le64	lba;			/*  0 */
	__le64	hash;			/*  8 XXH64, seed 0, of its 4096 bytes on the slow device; beyond the end, */
					/*    and where a boot loader lies, zeros */
};

#define XP_FP_BLOCKS	251u		/* (4088 - 64) / 16 */
#define XP_FP_NOTED	250u		/* that are noted: the last one's place is for sb.fast_blocks */

/* The slow device was found to be another, and dirty blocks have begun to go home all the same:
 * wherever the journal ends by now, what is clean is of no use. */
#define XP_FP_STALE	0x01

struct xp_fp {
	u8	magic[8];		/*   0 XP_FP_MAGIC */
	u8	uuid[16];		/*   8 of the cache */
	__le64	serial;			/*  24 the higher of two valid copies counts */
	__le64	taken;			/*  32 seconds since 1970 */
	__le64	incarnation;		/*  40 of the newest journal block then, */
	__le64	seq;			/*  48 and its number: a journal that ends later was started since */
	__le32	count;			/*  56 blocks that follow, by lba */
	__le32	flags;			/*  60 XP_FP_*, others zero */
	struct xp_fp_block block[XP_FP_BLOCKS];	/* 64; where count leaves out the last, its lba is sb.fast_blocks: xp_fp_fast_blocks() */
	__le64	mark;			/* 4080 lba where a mark may be (struct xp_mark); 0: nowhere */
	__le64	checksum;		/* 4088 XXH64, seed 0, of bytes 0 to 4087 */
};

/*
 * The rank (rank.h) that each slot had when the cache was stopped. It is of use to the life that
 * follows at once, which finds the journal end where it did, and to no other. Not there, torn or of
 * an earlier stop, it says nothing; so no feature bit speaks of it, and a version that does not
 * know it makes it stale by its first start. What does not fit lies in slots that were free: no
 * mapping names them (I1), and whoever is given one of them writes over it.
 */
#define XP_HINT_BYTES		4016u
#ifndef XP_HINT_RANKS		/* the simulator puts few in a block */
#define XP_HINT_RANKS		(2 * XP_HINT_BYTES)
#endif

struct xp_hint {
	u8	magic[8];		/*   0 XP_HINT_MAGIC */
	u8	uuid[16];		/*   8 of the cache */
	__le64	incarnation;		/*  24 of the newest journal block then, */
	__le64	seq;			/*  32 and its number: a journal that ends elsewhere was started since */
	__le32	first;			/*  40 slot of the first rank: those before it are in the blocks before this one */
	__le32	count;			/*  44 ranks in this block, at least one */
	__le32	next;			/*  48 slot that holds the block behind this one, */
	__le32	nr_next;		/*  52 and how many side by side, from that on, are those behind it; 0: it is the last */
	__le32	alloc_hand;		/*  56 slot where slots are handed out next; nr_slots: the first */
	__le32	main_hand;		/*  60 slots where the hands of rank.h are */
	__le32	new_hand;		/*  64 */
	__le32	young_hand;		/*  68 */
	u8	rank[XP_HINT_BYTES];	/*  72 two a byte, the first in the low half: class * 4 + frequency */
	__le64	checksum;		/* 4088 XXH64, seed 0, of bytes 0 to 4087 */
};

/*
 * The machine was about to hibernate, and its memory, when that comes back, uses the slow device
 * alone. It may come back as long as this cache, and the others that slept with it, have not been
 * started since: then their journals end where they did. No copy, and no feature bit: whoever starts
 * the cache without a look at it moves the end of its journal. One for each swap, as a system that
 * sleeps elsewhere may know this cache too.
 */
#define XP_SLEEP_ELSEWHERE	(~0ull)

struct xp_sleep {
	u8	magic[8];		/*   0 XP_SLEEP_MAGIC */
	u8	uuid[16];		/*   8 of the cache */
	__le64	id;			/*  24 of this sleep: grows; nanoseconds since 1970, about */
	__le32	caches;			/*  32 that sleep together */
	__le32	reserved;		/*  36 zero */
	__le64	incarnation;		/*  40 of the newest journal block then, */
	__le64	seq;			/*  48 and its number */
	__le64	swap;			/*  56 sector of the slow device where the swap's device begins, that the image goes to; */
	__le64	image;			/*  64 and how many bytes behind that its signature's page. swap: ..._ELSEWHERE */
	u8	swap_uuid[16];		/*  72 of the swap, in that page */
	u8	reserved2[4000];	/*  88 zero */
	__le64	checksum;		/* 4088 XXH64, seed 0, of bytes 0 to 4087 */
};

/*
 * On the SLOW device, in a block of no partition and no table, zeros before: writes have gone past
 * the cache since its fast device was gone, with nothing dirty on it. Nothing that this has is of
 * use when it is there again: what it has clean is old, and what it has dirty by a journal block
 * after seq was never acknowledged. Whoever starts the cache makes it forget, then erases this.
 */
struct xp_mark {
	u8	magic[8];		/*   0 XP_MARK_MAGIC */
	__le32	version;		/*   8 XP_MARK_VERSION */
	__le32	reserved;		/*  12 zero */
	u8	uuid[16];		/*  16 of the cache */
	__le64	incarnation;		/*  32 of the journal then, */
	__le64	seq;			/*  40 and its newest block known to be durable */
	u8	reserved2[4040];	/*  48 zero */
	__le64	checksum;		/* 4088 XXH64, seed 0, of bytes 0 to 4087 */
};

struct xp_jheader {
	__le32	magic;			/*  0 XP_JOURNAL_MAGIC + xp_sb.grid */
	__le16	count;			/*  4 records of which checksum speaks, at most XP_RECORDS */
	__le16	before;			/*  6 records of the block before this one, if it has grown; else zero */
	u8	uuid[16];		/*  8 of the cache */
	__le64	incarnation;		/* 24 grows at each recovery, and when blocks are given other places */
	__le64	seq;			/* 32 lies at journal_start + seq % journal_blocks */
	__le64	tail_seq;		/* 40 oldest block a recovery from this one needs */
	__le64	durable_seq;		/* 48 this block and all before it, and the data they name, are durable */
	__le64	checksum;		/* 56 xp_checksum() of the header with this field zero, and count records */
};

/* What a record says. MAP and UNMAP hold whatever was mapped before: a slot is
 * reused only after one of them, so a replay that took an older mapping for the
 * block, because a checksum failed on a slot since reused, is set right by it.
 * CLEAN and ZERO apply only while the slot they name is the block's mapping. */
enum xp_kind {
	XP_REC_MAP	= 1,		/* the block lives in the slot */
	XP_REC_CLEAN	= 2,		/* the slow device holds the same */
	XP_REC_UNMAP	= 3,		/* the block lives in no slot (it did in this one) */
	XP_REC_ZERO	= 4,		/* the block reads as zeros; the slot is kept to say so */
};

#define XP_REC_DIRTY	0x01		/* MAP: the slow device does not hold it */
#define XP_REC_ZEROS	0x02		/* MAP: the state after ZERO, carried over */
#define XP_REC_CHECKED	0x04		/* MAP: hash is xp_checksum() of the slot's data */
#define XP_REC_SUMMED	0x08		/* MAP: sum is xp_sum() of that; XP_INCOMPAT_SUMS */
#define XP_REC_UNREAD	0x10		/* MAP, DIRTY and CHECKED: a recovery could not read the slot. Until one finds there what
					 * hash is of, the block is an error; XP_INCOMPAT_UNREAD */
#define XP_REC_RUN	0x20		/* MAP that is DIRTY or has no other flag, CLEAN: the same of each of the sum blocks behind
					 * lba, in as many slots behind slot; XP_INCOMPAT_RUNS */

/*
 * A block that lies in memory grows: records are stored behind its last one, each with a tag that
 * only this record at this place of this block has (xp_tag()). One that is torn, or was there
 * before, has another: there the block ends. The block that follows says how many there were.
 * Memory takes 8 bytes whole, and a line of 64 costs it what a block of 4096 costs a disk: so a
 * sync there stores 24 bytes.
 */
struct xp_record {
	__le64	lba;			/*  0 bits 0-39 lba; 40-47 kind; 48-55 flags; 56-63 of a MAP that is DIRTY and no more: a bit */
					/*    for each sector that the slot lacks, not all; XP_INCOMPAT_PARTS. Else zero */
	__le32	slot;			/*  8 */
	__le32	sum;			/* 12 of the 4096 bytes, never zero, when SUMMED; of a RUN the blocks less one, 1 to 255; else */
					/*    zero */
	__le64	hash;			/* 16 of the 4096 bytes, when CHECKED; behind count the tag; else zero */
};

#define XP_RECORDS	168u		/* (4096 - 64) / 24 */
#define XP_RUN_RECORD	256u		/* blocks of a RUN, at most */
#define XP_SPOKEN_OF	348u		/* blocks that the records of a journal block speak of, at most, as caches write them */

struct xp_jblock {
	struct xp_jheader head;
	struct xp_record rec[XP_RECORDS];
};

static_assert(sizeof(struct xp_sb_slow) == 240, "slow identity");
static_assert(sizeof(struct xp_sb) == 4096, "superblock is one block");
static_assert(offsetof(struct xp_sb, slow) == 160, "superblock layout");
static_assert(sizeof(struct xp_sb_bad) == 3216, "bad places and slots");
static_assert(offsetof(struct xp_sb, bad) == 400, "superblock layout");
static_assert(offsetof(struct xp_sb, move) == 3632, "superblock layout");
static_assert(sizeof(struct xp_sb_loss) == 224, "a loss");
static_assert(offsetof(struct xp_sb, loss) == 3640, "superblock layout");
static_assert(offsetof(struct xp_sb, checksum) == 4088, "superblock layout");
static_assert(sizeof(struct xp_fp) == 4096, "fingerprint is one block");
static_assert(offsetof(struct xp_fp, block) == 64, "fingerprint layout");
static_assert(offsetof(struct xp_fp, mark) == 4080, "fingerprint layout");
static_assert(sizeof(struct xp_hint) == XP_BLOCK_SIZE, "hint is one block");
static_assert(offsetof(struct xp_hint, rank) == 72, "hint layout");
static_assert(offsetof(struct xp_hint, checksum) == 4088, "hint layout");
static_assert(sizeof(struct xp_sleep) == XP_BLOCK_SIZE, "sleep is one block");
static_assert(offsetof(struct xp_sleep, checksum) == 4088, "sleep layout");
static_assert(sizeof(struct xp_mark) == XP_BLOCK_SIZE, "mark is one block");
static_assert(offsetof(struct xp_mark, checksum) == 4088, "mark layout");
static_assert(sizeof(struct xp_jheader) == 64, "journal header");
static_assert(offsetof(struct xp_jheader, checksum) == 56, "journal header");
static_assert(sizeof(struct xp_record) == 24, "journal record");
static_assert(sizeof(struct xp_jblock) == XP_BLOCK_SIZE, "journal block");

#endif /* XP_FORMAT_H */
