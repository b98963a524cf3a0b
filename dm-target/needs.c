// SPDX-License-Identifier: GPL-2.0-only
/*
 * needs.c - what came late to the kernel, or has had other shapes. Compiled before the rest, and
 * for its errors only: Kbuild tells the line that fails as what is missing. So a kernel is asked
 * for what it has and not for its version, which says little where interfaces are backported.
 */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/crc32.h>
#include <linux/dax.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/xxhash.h>

#define NEEDS(name, type, args)	static void __maybe_unused need_##name(typeof(type args) *f) { f = name; (void)f; }
#define NEEDS_FIELD(name, of)	static bool __maybe_unused need_##name(struct of *p) { return !!p->name; }
#define NEEDS_FLAG(name)	static u64 need_##name __maybe_unused = name

NEEDS(bio_init, void, (struct bio *, struct block_device *, struct bio_vec *, unsigned short, blk_opf_t))
NEEDS(bio_alloc_bioset, struct bio *, (struct block_device *, unsigned short, blk_opf_t, gfp_t, struct bio_set *))
NEEDS(bioset_init, int, (struct bio_set *, unsigned int, unsigned int, int))
NEEDS(bio_associate_blkg_from_css, void, (struct bio *, struct cgroup_subsys_state *))
NEEDS(submit_bio_noacct, void, (struct bio *))
NEEDS(blkdev_issue_flush, int, (struct block_device *))
NEEDS(bdev_nr_sectors, sector_t, (struct block_device *))
NEEDS(bdev_max_discard_sectors, unsigned int, (struct block_device *))
NEEDS(bdev_write_zeroes_sectors, unsigned int, (struct block_device *))
NEEDS(bdev_write_cache, bool, (struct block_device *))
NEEDS(bdev_nonrot, bool, (struct block_device *))
NEEDS(bdev_stable_writes, bool, (struct block_device *))
NEEDS(bdev_nowait, bool, (struct block_device *))
NEEDS(bdev_alignment_offset, int, (struct block_device *))
NEEDS(dm_submit_bio_remap, void, (struct bio *, struct bio *))
NEEDS(dm_accept_partial_bio, void, (struct bio *, unsigned int))
NEEDS(memcpy_page, void, (struct page *, size_t, struct page *, size_t, size_t))
NEEDS(dax_read_lock, int, (void))
NEEDS(dax_alive, bool, (struct dax_device *))
NEEDS(dax_synchronous, bool, (struct dax_device *))
NEEDS(dax_flush, void, (struct dax_device *, void *, size_t))
NEEDS(xxh64, u64, (const void *, size_t, u64))
NEEDS_FIELD(dax_dev, dm_dev)
NEEDS_FIELD(bb, gendisk)
NEEDS_FIELD(accounts_remapped_io, dm_target)
NEEDS_FIELD(presuspend_undo, target_type)
NEEDS_FIELD(max_hw_discard_sectors, queue_limits)
NEEDS_FLAG(DM_TARGET_NOWAIT);
NEEDS_FLAG(DAX_ACCESS);
