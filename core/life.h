/* SPDX-License-Identifier: GPL-2.0-only */
/* life.h - a cache from its memory to its end: options, recovery, close. */
#ifndef XP_LIFE_H
#define XP_LIFE_H

#include "platform.h"

struct xp;
struct xp_media;
struct xp_message;
struct xp_sb;
struct xp_tunables;

struct xp_options {
	bool volatile_fast;	/* the fast device has a volatile write cache */
	bool fast_at_once;	/* a write of it has ended as soon as it is submitted: it costs less
				 * than the copy and the checksum of one that goes beside its record */
	/*
	 * The fast device takes single sectors, and each is old or new after a cut, or a write of it that has failed: not
	 * where it is memory, nor where a sector of its medium is longer than one of its interface and written where it is
	 */
	bool fast_sectors;
	bool fast_whole;	/* it takes whole blocks alone */
	bool slow_fua;		/* a FUA write to the slow device is durable by itself, and fails for itself alone */
	bool slow_discards;	/* pass discards of unmapped blocks to the slow device */
	/*
	 * With fast_at_once, of a cache with XP_INCOMPAT_GROWS; NULL: journal blocks are written
	 * whole. Stores a few bytes, from byte @at of the fast device on, that are durable when it
	 * returns 0: then nobody has to ask for a journal block that they belong to. Else any of
	 * them may have landed, and they go to another one. Under the core's lock: any context,
	 * sleeps never.
	 */
	int (*store)(void *ctx, u64 at, const void *from, u32 bytes);
	void *store_ctx;
	u32 dirty_low;		/* percent of slots: writeback above */
	u32 dirty_high;		/* percent: writers are slowed towards, and held at, it */
	/* all dirty blocks are written back once callers have sent the slow device nothing for so long; 0: never */
	u32 idle_ms;
	/* s: ... but not before the cache has had dirty blocks for so long, unless the device was used since the last time */
	u32 writeback_delay;
	u8 mode;		/* enum xp_mode */
	bool slow_is_flash;	/* it says that it does not rotate */
	/* a longer stream passes, of reads or of writes; 0: single reads that are longer than 256 KiB */
	u32 stream_kib;
	u64 mark_lba;		/* where a mark may be written; 0: nowhere */
	u64 slow_sectors;	/* size of the slow device now, by its own count; 0: as the superblock has it */
	u32 accept;		/* XP_ACCEPT_*: what recovery may lose; the user has said so */
	/* of a cache with XP_INCOMPAT_SUMS: keep sums, and compare what is read */
	bool verify;
	bool anew;		/* a recovery says all once more: no record that there was stays in the ring */
};

/*
 * dirty_low, dirty_high, idle_ms, writeback_delay, stream_kib and mode change while the cache runs. True: more is dirty
 * than is to be, and xp_writeback_wanted() may have become true; who slows writers asks xp_pressure() again by
 * itself. The superblock has another mode after the next xp_tick(). Any context.
 */
bool xp_set_limits(struct xp *c, const struct xp_tunables *t);
/* enum xp_mode, since xp_recover(): never XP_MODE_KEPT. Any context. */
u32 xp_mode(const struct xp *c);

/* A fast device that cannot be read everywhere: recovery goes on without */
#define XP_ACCEPT_LOSS	1u	/* ... journal blocks that it needs, or that may have been the last commit */
#define XP_ACCEPT_OLDER	2u	/* ... a slot above durable_seq: the block's older version holds */

/*
 * Bytes of memory for a cache of this superblock, with xp_options.verify or not; the backend gives
 * them zeroed and aligned to 4096 to xp_init() and frees them after the last call.
 */
u64 xp_memory(const struct xp_sb *sb, bool verify);
struct xp *xp_init(void *mem, const struct xp_sb *sb, const struct xp_options *opt);

/*
 * Reads the journal and rebuilds the map. May sleep; before the first request.
 * @scratch: xp_recover_memory() bytes.
 * @restate: write what was decided and begin a new incarnation; required before
 * xp_submit(). False: look only (check, dump). Before the first xp_submit() the
 * backend also flushes the slow device: writes around the cache that an earlier
 * life acknowledged may still be in its volatile cache, and nobody knows.
 * What cannot be read, and is not needed, is overwritten while restating: it may be readable again
 * some day. Refused with *msg, and nothing was written:
 *  -EUCLEAN: damaged metadata. What is damaged is an error of who wrote it, or of the device.
 *  -EBADMSG: journal blocks cannot be read, and the records in each, of at most XP_SPOKEN_OF blocks, are not known:
 *            so many blocks may be older than what was promised, or missing. XP_ACCEPT_LOSS
 *            goes on; xp_mapping.doubtful says of which that may be so.
 *  -EIO: there is no journal block to begin with, and some cannot be read.
 *  -ENOSPC: the slow device is shorter than it was (xp_options.slow_sectors), and dirty blocks
 *           reach past its end.
 * With @restate the superblock has the present size of the slow device afterwards, and no block is
 * mapped that is not whole on it. Another error of @m->write_slow, or -EIO: a dirty one of those
 * cannot be written back. Or with the error of a write.
 */
#ifndef XP_RECOVER_CHUNK	/* the simulator tries a few */
#define XP_RECOVER_CHUNK	64u	/* blocks read at once */
#endif
u64 xp_recover_memory(const struct xp_sb *sb);
int xp_recover(struct xp *c, const struct xp_media *m, void *scratch,
	       bool restate, struct xp_message *msg);
/* Dirty blocks whose slots xp_recover() believed, and that are errors until they are written anew. Any context. */
u32 xp_unread(const struct xp *c);

/*
 * After the last request has ended: nothing acknowledged is still only in
 * memory when this returns 0. -EIO also where the slow device has lost what it was sent around
 * the cache, and no FLUSH has said so. May sleep; writes through @m.
 */
int xp_close(struct xp *c, const struct xp_media *m);

#endif /* XP_LIFE_H */
