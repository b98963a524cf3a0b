// SPDX-License-Identifier: GPL-2.0-only
/*
 * target.c - the device-mapper target "xpcache": table line, status, messages.
 *
 *	0 <sectors> xpcache <fast device> <slow device> [<nr args> [<name> <value>]...]
 *
 * The fast device holds a cache already (xpcache create). The first resume reads
 * it, not the constructor: when a table is loaded, the same cache may still run
 * under the table that this one replaces.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "timing.h"
#include "command.h"
#include "life.h"
#include "message.h"
#include "statistics.h"

/* ------------------------------------------------------- constructor ---- */

static int parse_table(struct dm_target *ti, struct xp_table *table,
		       unsigned int argc, char **argv)
{
	struct xp_message msg;
	int err = xp_table_parse(table, argc, argv, &msg);

	if (err) {
		DMERR("%s", msg.text);
		ti->error = "Invalid table line";
	}
	return err;
}

static int open_device(struct dm_target *ti, const char *path, struct dm_dev **dev,
		       char *error)
{
	int err = dm_get_device(ti, path, dm_table_get_mode(ti->table), dev);

	if (err)
		ti->error = error;
	return err;
}

static int check_devices(struct xs_cache *cache)
{
	struct dm_target *ti = cache->ti;

	if (xs_fast(cache) == xs_slow(cache)) {
		ti->error = "Fast and slow device are the same";
		return -EINVAL;
	}
	if (bdev_is_zoned(xs_fast(cache)) || bdev_is_zoned(xs_slow(cache))) {
		ti->error = "Zoned devices are not supported";
		return -EINVAL;
	}
	if (max(bdev_logical_block_size(xs_fast(cache)),
		bdev_logical_block_size(xs_slow(cache))) > XP_BLOCK_SIZE) {
		ti->error = "A device's logical sector is larger than 4096 bytes";
		return -EINVAL;
	}
	cache->fast_whole = bdev_logical_block_size(xs_fast(cache)) > bdev_logical_block_size(xs_slow(cache));
	cache->hit_asks = cache->fast_whole || cache->options.verify;
	return 0;
}

static int open_devices(struct xs_cache *cache, const struct xp_table *table)
{
	struct dm_target *ti = cache->ti;
	int err = open_device(ti, table->fast, &cache->fast, "Cannot open the fast device");

	if (!err)
		err = open_device(ti, table->slow, &cache->slow, "Cannot open the slow device");
	if (!err)
		err = check_devices(cache);
	return err;
}

static int alloc_parts(struct xs_cache *cache)
{
	struct dm_target *ti = cache->ti;
	int err = -ENOMEM;

	cache->wq = alloc_workqueue("xpcache", WQ_MEM_RECLAIM | WQ_HIGHPRI | XS_WQ_PERCPU, 0);
	if (cache->wq)
		err = xs_timing_alloc(cache);
	if (!err)
		err = xs_journal_alloc(cache);
	if (!err)
		err = xs_copies_alloc(cache);
	if (!err)
		err = xs_writeback_alloc(cache);
	if (!err)
		err = xs_mark_setup(cache);
	if (!err && cache->options.histogram && xs_timing_switch(cache, true))
		DMWARN("%pg: no memory for histograms: it goes on without", xs_fast(cache));
	if (err)
		ti->error = "Cannot allocate work queues and buffers";
	return err;
}

static void setup(struct xs_cache *cache, struct dm_target *ti)
{
	cache->ti = ti;
	cache->slow_sectors = ti->len;
	cache->started = ktime_get_ns();
	INIT_LIST_HEAD(&cache->registered);
	INIT_LIST_HEAD(&cache->copy_reserve);
	xs_todo_setup(cache);
	xs_throttle_setup(cache);
	xs_clock_setup(cache);
	mutex_init(&cache->now_lock);
}

static void target_dtr(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	if (cache->wq)
		destroy_workqueue(cache->wq);
	xs_writeback_free(cache);
	xs_release(cache);
	xs_copies_free(cache);
	xs_fills_free(cache);
	xs_mark_free(cache);
	xs_timing_free(cache);
	kfree(cache->journal);
	if (cache->slow)
		dm_put_device(ti, cache->slow);
	if (cache->fast)
		dm_put_device(ti, cache->fast);
	kfree(cache);
}

static void describe_target(struct dm_target *ti)
{
	struct xs_cache *cache = ti->private;

	ti->per_io_data_size = sizeof(struct xs_io);
	ti->num_flush_bios = 1;
	ti->num_write_zeroes_bios = 1;
	ti->flush_supported = true;
	ti->discards_supported = bdev_max_discard_sectors(xs_slow(cache)) != 0;
	ti->num_discard_bios = ti->discards_supported;
	ti->accounts_remapped_io = true;
}

static int target_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct xs_cache *cache = kzalloc(sizeof(*cache), GFP_KERNEL);
	struct xp_table table;
	int err;

	if (!cache) {
		ti->error = "Cannot allocate the cache";
		return -ENOMEM;
	}
	ti->private = cache;
	setup(cache, ti);
	err = parse_table(ti, &table, argc, argv);
	cache->options = cache->now = table.tunables;
	xs_clock_idle_after(cache, table.tunables.idle_ms);
	if (!err)
		err = open_devices(cache, &table);
	if (!err)
		err = alloc_parts(cache);
	if (err) {
		target_dtr(ti);
		return err;
	}
	describe_target(ti);
	return 0;
}

/* ------------------------------------------------------------ status ---- */

struct line {
	char *text;
	unsigned int len, max;
};

static __printf(2, 3) void put(struct line *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	l->len += vscnprintf(l->text + l->len, l->max - l->len, format, args);
	va_end(args);
}

/*
 * The core, or NULL before the first resume has ended. Status and messages come
 * at any time: the device mapper orders neither with a resume. This acquire
 * pairs with the release of recover(). Before the release the first resume has
 * written the fields that struct xs_cache lists as its own: uuid, dax,
 * not_memory, memory_bytes. They may be read only after this has returned a
 * core; read before, they may be those of a moment without one.
 */
static struct xp *recovered_core(const struct xs_cache *cache)
{
	return smp_load_acquire(&cache->core);	/* with recover() */
}

static void put_info(struct line *l, struct xs_cache *cache)
{
	const struct xs_counts *c = &cache->counts;
	struct xp *core = recovered_core(cache);
	struct xp_requests requests;
	struct xp_backend backend;

	if (!core) {
		put(l, "loading");
		return;
	}
	requests = xs_requests(cache);
	backend = (struct xp_backend) {
		/* Pairs with the WRITE_ONCE() of lifecycle.c; nothing is read by its value. */
		.running = READ_ONCE(cache->active),
		.uuid = cache->uuid,
		.fast_is_memory = cache->dax,
		.not_memory = cache->not_memory,
		.memory = cache->memory_bytes,
		.requests = &requests,
		.histogram_memory = xs_timing_bytes(cache),
		.writeback_flushes = atomic64_read(&c->writeback_flushes),
		.fast_bytes_written = atomic64_read(&c->fast_bytes_written),
		.fast_errors = atomic64_read(&c->fast_errors),
		.slow_errors = atomic64_read(&c->slow_errors),
		.failed_since = atomic64_read(&c->failed_since),
	};
	xp_status_print(core, &backend, l->text, l->max);
}

/* The mode may be the one that the superblock keeps. */
static struct xp_tunables options_now(struct xs_cache *cache)
{
	struct xp_tunables t = cache->now;
	struct xp *core = recovered_core(cache);

	lockdep_assert_held(&cache->now_lock);
	if (core)
		t.mode = xp_mode(core);
	return t;
}

/* As they are now, for the next load: messages may have changed some since this one. */
static void put_table(struct line *l, struct xs_cache *cache)
{
	struct xp_tunables tunables;
	char options[XP_TUNABLES_TEXT];

	mutex_lock(&cache->now_lock);
	tunables = options_now(cache);
	mutex_unlock(&cache->now_lock);
	xp_tunables_print(&tunables, options);
	put(l, "%s %s%s", cache->fast->name, cache->slow->name, options);
}

/*
 * What IMA measures when the table is loaded: before the first resume, hence nothing
 * that is read from a device. All options, at their default or not: a verifier need not
 * know the defaults of this version.
 */
static void put_measured(struct line *l, const struct dm_target *ti)
{
	const struct xs_cache *cache = ti->private;
	const struct target_type *type = ti->type;
	u32 i;

	put(l, "target_name=%s,target_version=%u.%u.%u,fast_device=%s,slow_device=%s",
	    type->name, type->version[0], type->version[1], type->version[2],
	    cache->fast->name, cache->slow->name);
	for (i = 0; i < XP_TUNABLES; i++) {
		const struct xp_tunable *row = &xp_tunable_rows[i];
		char value[16];

		xp_tunable_text(row, xp_tunable_value(&cache->options, row), value, sizeof(value));
		put(l, ",%s=%s", row->name, value);
	}
	put(l, ";");
}

static void target_status(struct dm_target *ti, status_type_t type,
			  unsigned int flags, char *result, unsigned int maxlen)
{
	struct line line = { .text = result, .max = maxlen };

	*result = 0;
	switch (type) {
	case STATUSTYPE_INFO:
		put_info(&line, ti->private);
		break;
	case STATUSTYPE_TABLE:
		put_table(&line, ti->private);
		break;
	case STATUSTYPE_IMA:
		put_measured(&line, ti);
		break;
	}
}

/* ---------------------------------------------------------- messages ---- */

/*
 * A suspended cache has committed everything, unless the close of its journal failed.
 * During the suspend the result is not known. dm waits for messages that came before.
 */
static int commit(struct xs_cache *cache)
{
	/* With xs_presuspend(): an at_rest that is seen is not that of an earlier suspend. */
	if (!smp_load_acquire(&cache->suspending))
		return xs_commit(cache);
	/* With xs_postsuspend(), which has stored close_err before. */
	return smp_load_acquire(&cache->at_rest) ? cache->close_err : -EAGAIN;
}

/* Memory for histograms may be missing; then nothing has changed. */
static int apply(struct xs_cache *cache, const struct xp_tunables *t, bool switches)
{
	int err = switches ? xs_timing_switch(cache, t->histogram) : 0;

	lockdep_assert_held(&cache->now_lock);
	if (err)
		return err;
	if (xp_set_limits(cache->core, t))
		xs_writeback_kick(cache);
	if (t->idle_ms != cache->now.idle_ms)
		xs_clock_idle_after(cache, t->idle_ms);
	xs_clock_records(cache);	/* the superblock is told another mode by a tick */
	cache->now = *t;
	return 0;
}

static int change(struct xs_cache *cache, enum xp_command command, unsigned int argc, char **argv)
{
	struct xp_tunables t;
	struct xp_message msg;
	int err;

	mutex_lock(&cache->now_lock);
	t = options_now(cache);
	err = xp_command_change(command, &t, argc, argv, &msg);
	if (err)
		DMERR("%pg: %s", xs_fast(cache), msg.text);
	else	/* said again, it may find the memory that the start has not found */
		err = apply(cache, &t, t.histogram != cache->now.histogram ||
			    command == XP_COMMAND_HISTOGRAM_ON);
	mutex_unlock(&cache->now_lock);
	return err;
}

/* 1: there is an answer. */
static int perform(struct xs_cache *cache, enum xp_command command, unsigned int argc, char **argv,
		   char *answer, u32 room)
{
	int err;

	switch (command) {
	case XP_COMMAND_FLUSH:
		xs_writeback_flush(cache, true);
		return 0;
	case XP_COMMAND_FLUSH_STOP:
		xs_writeback_flush(cache, false);
		return 0;
	case XP_COMMAND_COMMIT:
		return commit(cache);
	case XP_COMMAND_HISTOGRAM:
		err = xs_timing_print(cache, answer, room);
		return err ? err : 1;
	case XP_COMMAND_HISTOGRAM_ON:
	case XP_COMMAND_HISTOGRAM_OFF:
	case XP_COMMAND_STREAM_KIB:
	case XP_COMMAND_SET:
		return change(cache, command, argc, argv);
	}
	return -EINVAL;
}

static int target_message(struct dm_target *ti, unsigned int argc, char **argv,
			  char *result, unsigned int maxlen)
{
	struct xs_cache *cache = ti->private;
	enum xp_command command;
	struct xp_message msg;
	int err = xp_command_parse(&command, argc, argv, &msg);

	if (err) {
		DMERR("%pg: %s", xs_fast(cache), msg.text);
		return err;
	}
	if (!recovered_core(cache)) {
		DMERR("%pg: message %s before the first resume", xs_fast(cache),
		      xp_command_name(command));
		return -ENXIO;
	}
	return perform(cache, command, argc, argv, result, maxlen);
}

/* ------------------------------------------------------------ limits ---- */

/*
 * With @data the device mapper stacks limits: a caller's pages go to either device, and both
 * limits hold (except for a larger logical sector of the fast device: target_io_hints()).
 * Without @data it asks whether any device needs a property, or whether all have a
 * feature. Needs of the fast device must be reported. Features that it lacks do not matter:
 * it gets no zeroes and no discards, and NOWAIT is handled in fastpath.c.
 */
static bool speaks_of_fast(const struct xs_cache *cache, const void *data)
{
	return data || bdev_stable_writes(xs_fast(cache)) || xs_rotational(xs_fast(cache));
}

static int target_iterate_devices(struct dm_target *ti,
				  iterate_devices_callout_fn fn, void *data)
{
	struct xs_cache *cache = ti->private;
	sector_t fast_len = round_down(bdev_nr_sectors(xs_fast(cache)), XP_BLOCK_SECTORS);
	int ret = fn(ti, cache->slow, 0, ti->len, data);

	if (!ret && speaks_of_fast(cache, data))
		ret = fn(ti, cache->fast, 0, fast_len, data);
	return ret;
}

/*
 * Any sector of the slow device can be written; whole blocks are faster. If the fast
 * device takes whole blocks alone, other requests use private buffers (io.c). Limits of
 * requests without data are those of the slow device.
 */
static void target_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct xs_cache *cache = ti->private;
	const struct queue_limits *slow = &bdev_get_queue(xs_slow(cache))->limits;

	limits->logical_block_size = slow->logical_block_size;
	if (cache->fast_whole)	/* dm-crypt asks for this alignment with large sectors */
		limits->dma_alignment = slow->dma_alignment;
	limits->physical_block_size = max(limits->physical_block_size, XP_BLOCK_SIZE);
	limits->io_min = max(limits->io_min, XP_BLOCK_SIZE);
	limits->alignment_offset = cache->options.grid << SECTOR_SHIFT;
	limits->discard_granularity = max(slow->discard_granularity, XP_BLOCK_SIZE);
	limits->discard_alignment = limits->alignment_offset;
	limits->max_discard_sectors = slow->max_discard_sectors;
	limits->max_hw_discard_sectors = slow->max_hw_discard_sectors;
	limits->max_write_zeroes_sectors = slow->max_write_zeroes_sectors;
#ifdef BLK_FEAT_STABLE_WRITES	/* only integrity profiles need it, and dm does not stack it */
	if (bdev_stable_writes(xs_fast(cache)) || bdev_stable_writes(xs_slow(cache)))
		limits->features |= BLK_FEAT_STABLE_WRITES;
#endif
#ifdef BLK_FEAT_NOWAIT
	limits->features |= slow->features & BLK_FEAT_NOWAIT;	/* as above */
#endif
}

static struct target_type xpcache_target = {
	.name = "xpcache",
	/* 1.1: mark; 1.2: no image of memory; 1.3: status names; 1.4: counts; 1.5: stream_kib; 1.6: set; 1.7: writeback_delay; 1.8: mode; 1.9: grid */
	.version = { 1, 9, 0 },
	.features = DM_TARGET_SINGLETON | DM_TARGET_ALWAYS_WRITEABLE | DM_TARGET_NOWAIT,
	.module = THIS_MODULE,
	.ctr = target_ctr,
	.dtr = target_dtr,
	.map = xs_map,
	.end_io = xs_end_io,
	.presuspend = xs_presuspend,
	.presuspend_undo = xs_presuspend_undo,
	.postsuspend = xs_postsuspend,
	.preresume = xs_preresume,
	.resume = xs_resume,
	.status = target_status,
	.message = target_message,
	.iterate_devices = target_iterate_devices,
	.io_hints = target_io_hints,
};

static int __init xpcache_module_init(void)
{
	int err;

	xs_timing_init();
	err = xs_power_init();
	if (err)
		return err;
	err = dm_register_target(&xpcache_target);
	if (err)
		xs_power_exit();
	return err;
}

static void __exit xpcache_module_exit(void)
{
	dm_unregister_target(&xpcache_target);
	xs_power_exit();
}

module_init(xpcache_module_init);
module_exit(xpcache_module_exit);

MODULE_DESCRIPTION("Device-mapper write-back block cache, crash-consistent for every 4 KiB block");
MODULE_AUTHOR("The xpcache maintainers");
MODULE_LICENSE("GPL");
