// SPDX-License-Identifier: GPL-2.0-only
/*
 * needs.c - what the kernel must have: each function that the module calls, with its
 * prototype, and fields and flags that older kernels lack. It is compiled before the rest,
 * and Kbuild reports the line that fails as the interface that is missing. The version of a
 * kernel says little, since interfaces are backported. Interfaces with more than one form
 * are in probes.c.
 *
 * NEEDS takes the address of a function, NEEDS_USE uses a macro or an inline function.
 * tests/vm/imports compares the imports of this file's object with those of the module, and
 * finds a function that is called and not named here.
 */
#include <linux/bio.h>
#include <linux/blk-cgroup.h>
#include <linux/blkdev.h>
#include <linux/crc32.h>
#include <linux/dax.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/ratelimit.h>
#include <linux/suspend.h>
#include <linux/timekeeping.h>
#include <linux/vmalloc.h>
#include <linux/xxhash.h>

#include "has.h"
#include "platform.h"

#define DM_MSG_PREFIX "xpcache"

#define NEEDS(name, type, args)	static void __used need_##name(void *p) { typeof(type args) *f = name; KEEP(f); }
#define NEEDS_USE(name, code)	static void __used use_##name(void *p) { code; }
#define KEEP(value)	WRITE_ONCE(*(unsigned long *)p, (unsigned long)(value))
#define NEEDS_FIELD(name, of)	static bool __maybe_unused need_##name(struct of *p) { return !!p->name; }
#define NEEDS_FLAG(name)	static u64 need_##name __maybe_unused = name

/* bio */
NEEDS(bio_init, void, (struct bio *, struct block_device *, struct bio_vec *, unsigned short, blk_opf_t))
NEEDS(bio_alloc_bioset, struct bio *, (struct block_device *, unsigned short, blk_opf_t, gfp_t, struct bio_set *))
NEEDS(bio_uninit, void, (struct bio *))
NEEDS(bio_put, void, (struct bio *))
NEEDS(bio_endio, void, (struct bio *))
NEEDS(__bio_add_page, void, (struct bio *, struct page *, unsigned int, unsigned int))
NEEDS(bio_associate_blkg_from_css, void, (struct bio *, struct cgroup_subsys_state *))
NEEDS(bioset_init, int, (struct bio_set *, unsigned int, unsigned int, int))
NEEDS(bioset_exit, void, (struct bio_set *))
NEEDS(submit_bio, void, (struct bio *))
NEEDS(submit_bio_noacct, void, (struct bio *))
NEEDS(submit_bio_wait, int, (struct bio *))
NEEDS(blk_status_to_errno, int, (blk_status_t))
NEEDS(errno_to_blk_status, blk_status_t, (int))
NEEDS_USE(bio_set_dev, bio_set_dev((struct bio *)p, p))
NEEDS_USE(bio_wouldblock_error, bio_wouldblock_error(p))
NEEDS_USE(bio_advance_iter_single, bio_advance_iter_single(p, p, 0))
NEEDS_USE(zero_fill_bio, zero_fill_bio(p))
NEEDS_USE(blk_start_plug, blk_start_plug(p); blk_finish_plug(p))
NEEDS_USE(blkcg_root_css, KEEP(blkcg_root_css))

/* Block device */
NEEDS(blkdev_issue_flush, int, (struct block_device *))
NEEDS(bdev_nr_sectors, sector_t, (struct block_device *))
NEEDS(bdev_max_discard_sectors, unsigned int, (struct block_device *))
NEEDS(bdev_write_zeroes_sectors, unsigned int, (struct block_device *))
NEEDS(bdev_write_cache, bool, (struct block_device *))
#ifdef HAS_BDEV_ROT
NEEDS(bdev_rot, bool, (struct block_device *))
#else
NEEDS(bdev_nonrot, bool, (struct block_device *))
#endif
NEEDS(bdev_stable_writes, bool, (struct block_device *))
NEEDS(bdev_nowait, bool, (struct block_device *))
NEEDS_FIELD(bb, gendisk)
NEEDS_FIELD(max_hw_discard_sectors, queue_limits)

/* Device mapper */
NEEDS(dm_register_target, int, (struct target_type *))
NEEDS(dm_unregister_target, void, (struct target_type *))
NEEDS_USE(dm_get_device, dm_get_device(p, p, dm_table_get_mode(p), p))
NEEDS(dm_put_device, void, (struct dm_target *, struct dm_dev *))
NEEDS(dm_table_get_md, struct mapped_device *, (struct dm_table *))
NEEDS(dm_table_device_name, const char *, (struct dm_table *))
NEEDS(dm_copy_name_and_uuid, int, (struct mapped_device *, char *, char *))
NEEDS(dm_disk, struct gendisk *, (struct mapped_device *))
NEEDS(dm_per_bio_data, void *, (struct bio *, size_t))
NEEDS(dm_submit_bio_remap, void, (struct bio *, struct bio *))
NEEDS(dm_accept_partial_bio, void, (struct bio *, unsigned int))
NEEDS_USE(DMERR_LIMIT, DMERR_LIMIT("%p", p))
NEEDS_FIELD(dax_dev, dm_dev)
NEEDS_FIELD(accounts_remapped_io, dm_target)
NEEDS_FIELD(presuspend_undo, target_type)
NEEDS_FLAG(DM_TARGET_NOWAIT);
NEEDS_FLAG(STATUSTYPE_IMA);

/* Persistent memory */
NEEDS(dax_read_lock, int, (void))
NEEDS(dax_read_unlock, void, (int))
NEEDS(dax_alive, bool, (struct dax_device *))
NEEDS(dax_synchronous, bool, (struct dax_device *))
NEEDS(dax_flush, void, (struct dax_device *, void *, size_t))
NEEDS_USE(dax_direct_access, KEEP(dax_direct_access(p, 0, 1, DAX_ACCESS, p, NULL)))
NEEDS_USE(memcpy_flushcache, memcpy_flushcache(p, p, 4096))
NEEDS_USE(copy_mc_to_kernel, KEEP(copy_mc_to_kernel(p, p, 4096)))
NEEDS_FLAG(DAX_ACCESS);

/* Memory */
NEEDS(kfree, void, (const void *))
NEEDS(kvfree, void, (const void *))
NEEDS(vfree, void, (const void *))
NEEDS(vmalloc_to_page, struct page *, (const void *))
NEEDS(memcpy_page, void, (struct page *, size_t, struct page *, size_t, size_t))
NEEDS_USE(kmalloc, KEEP(kmalloc((size_t)p, GFP_NOIO)))
NEEDS_USE(kzalloc, KEEP(kzalloc(8, GFP_NOIO)))
NEEDS_USE(kcalloc, KEEP(kcalloc((size_t)p, 8, GFP_NOIO)))
NEEDS_USE(kvcalloc, KEEP(kvcalloc((size_t)p, 8, GFP_KERNEL)))
NEEDS_USE(kvmalloc, KEEP(kvmalloc((size_t)p, GFP_KERNEL)))
NEEDS_USE(kvzalloc_node, KEEP(kvzalloc_node((size_t)p, GFP_KERNEL, 0)))
NEEDS_USE(__vmalloc, KEEP(__vmalloc((size_t)p, GFP_KERNEL)))
NEEDS_USE(alloc_page, KEEP(alloc_page(GFP_NOIO)))
NEEDS_USE(__get_free_page, KEEP(__get_free_page(GFP_NOIO)))
NEEDS_USE(__free_page, __free_page(p))
NEEDS_USE(free_page, free_page(*(unsigned long *)p))
NEEDS_USE(alloc_percpu, u64 __percpu *all = alloc_percpu(u64); int cpu;
	  for_each_possible_cpu(cpu) KEEP(per_cpu_ptr(all, cpu));
	  KEEP(get_cpu_ptr(all)); put_cpu_ptr(all); free_percpu(all))
NEEDS_USE(clear_highpage, clear_highpage(p))
NEEDS_USE(flush_dcache_page, flush_dcache_page(p))
NEEDS_USE(flush_kernel_vmap_range, flush_kernel_vmap_range(p, 0))
NEEDS_USE(invalidate_kernel_vmap_range, invalidate_kernel_vmap_range(p, 0))
NEEDS(is_vmalloc_addr, bool, (const void *))
NEEDS_USE(copy_page, copy_page(p, p))
NEEDS_USE(virt_to_page, KEEP(virt_to_page(p)))
NEEDS_USE(memalloc_noio_save, memalloc_noio_restore(memalloc_noio_save()))

/* Work, waiting, locks */
NEEDS(destroy_workqueue, void, (struct workqueue_struct *))
NEEDS(flush_work, bool, (struct work_struct *))
NEEDS(flush_delayed_work, bool, (struct delayed_work *))
NEEDS(cancel_work_sync, bool, (struct work_struct *))
NEEDS(cancel_delayed_work_sync, bool, (struct delayed_work *))
NEEDS(complete, void, (struct completion *))
NEEDS(wait_for_completion_io, void, (struct completion *))
NEEDS(synchronize_rcu, void, (void))
NEEDS(msleep, void, (unsigned int))
NEEDS_USE(alloc_workqueue, KEEP(alloc_workqueue("%p", WQ_MEM_RECLAIM | WQ_HIGHPRI, 0, p)))
NEEDS_USE(queue_work, queue_work(p, p))
NEEDS_USE(queue_delayed_work, queue_delayed_work(p, p, 1))
NEEDS_USE(mod_delayed_work, mod_delayed_work(p, p, 1))
NEEDS_USE(INIT_DELAYED_WORK, INIT_DELAYED_WORK((struct delayed_work *)p, p))
NEEDS_USE(COMPLETION_INITIALIZER_ONSTACK,
	  KEEP(COMPLETION_INITIALIZER_ONSTACK(*(struct completion *)p).done))
NEEDS_USE(init_waitqueue_head, init_waitqueue_head((struct wait_queue_head *)p))
NEEDS_USE(wake_up_all, wake_up_all((struct wait_queue_head *)p))
NEEDS_USE(wait_event, wait_event(*(struct wait_queue_head *)p, READ_ONCE(*(int *)p)))
NEEDS_USE(wait_event_idle_timeout, wait_event_idle_timeout(*(struct wait_queue_head *)p, READ_ONCE(*(int *)p), 1))
NEEDS_USE(mutex_lock, mutex_init((struct mutex *)p); mutex_lock(p); mutex_unlock(p))
NEEDS_USE(spin_lock_init, spin_lock_init((spinlock_t *)p))
NEEDS_USE(lockdep_assert_held, lockdep_assert_held((spinlock_t *)p))
NEEDS_USE(spin_lock, spin_lock(p); spin_unlock(p))
NEEDS_USE(spin_lock_irq, spin_lock_irq(p); spin_unlock_irq(p))
NEEDS_USE(spin_lock_irqsave, unsigned long f; spin_lock_irqsave((spinlock_t *)p, f);
	  spin_unlock_irqrestore(p, f))
NEEDS_USE(rcu_read_lock, rcu_read_lock(); rcu_read_unlock())
NEEDS_USE(num_possible_cpus, KEEP(num_possible_cpus()))
NEEDS_USE(cpu_to_node, KEEP(cpu_to_node(raw_smp_processor_id())))
NEEDS_USE(cond_resched, cond_resched())
NEEDS_USE(usleep_range, usleep_range(1, 2))
NEEDS_USE(WARN_ON, WARN_ON(p))
NEEDS_USE(list_add, list_add(p, p); list_del(p))
NEEDS_USE(current, KEEP(in_task() && current))

/* Time */
NEEDS(ktime_get, ktime_t, (void))
NEEDS(ktime_get_real_seconds, time64_t, (void))
#ifdef HAS_SNAPSHOT_ID
NEEDS(ktime_get_snapshot_id, void, (clockid_t, struct system_time_snapshot *))
#else
NEEDS(ktime_get_snapshot, void, (struct system_time_snapshot *))
#endif
NEEDS_USE(msecs_to_jiffies, KEEP(jiffies + msecs_to_jiffies(*(unsigned int *)p)))
#ifdef CONFIG_X86_64
NEEDS(check_tsc_unstable, int, (void))
NEEDS_USE(tsc_khz, KEEP(tsc_khz))
NEEDS_USE(cpu_feature_enabled, KEEP(cpu_feature_enabled(X86_FEATURE_XMM4_2)))
#endif
#ifdef CONFIG_ARM64
NEEDS_USE(cpus_have_cap, KEEP(cpus_have_cap(ARM64_HAS_CRC32)))
#endif
NEEDS_USE(get_cycles, KEEP(get_cycles()))
NEEDS_USE(static_branch_enable, struct static_key_false *key = p;
	  static_branch_enable(key); static_branch_disable(key); KEEP(static_key_enabled(key)))

/* Sums, words, what is left */
NEEDS(xxh64, u64, (const void *, size_t, u64))
NEEDS(memset, void *, (void *, int, size_t))
NEEDS(memcmp, int, (const void *, const void *, size_t))
NEEDS(strcmp, int, (const char *, const char *))
NEEDS(strcasecmp, int, (const char *, const char *))
NEEDS(snprintf, int, (char *, size_t, const char *, ...))
NEEDS(scnprintf, int, (char *, size_t, const char *, ...))
NEEDS(vscnprintf, int, (char *, size_t, const char *, va_list))
#ifdef XP_DEBUG
NEEDS(sscanf, int, (const char *, const char *, ...))
NEEDS(sysfs_emit, int, (char *, const char *, ...))
#endif
NEEDS(register_pm_notifier, int, (struct notifier_block *))
NEEDS(unregister_pm_notifier, int, (struct notifier_block *))
#ifdef HAS_CRC32C_LE
NEEDS(__crc32c_le, u32, (u32, const u8 *, size_t))
#else
NEEDS(crc32c, u32, (u32, const void *, size_t))
#endif
