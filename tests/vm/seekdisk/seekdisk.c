// SPDX-License-Identifier: GPL-2.0-only
/*
 * seekdisk.c - a hard disk with one arm, in memory: /dev/seekdisk. For Linux 6.12, in a virtual machine of the tests.
 *
 * A request takes its bytes at `mbps`, and unless it begins where the last one ended, the way of the arm of 1 ms +
 * 9 ms x sqrt(distance / size), and up to a whole turn of 8.3 ms, by a fixed sequence. A disk that reads ahead has the
 * next `ahead_kib` pass below its head anyway: a read that begins there takes as long as what it leaves out.
 * Requests are served in the order in which they arrive; the scheduler above may sort and merge them. A FLUSH takes
 * `flush_us`. What was served is counted, reads and writes apart: parameters that only tell.
 *
 * tests/policy/disk.h is the same disk for the policy alone, with half a turn each time.
 */
#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#define ARM_NS		1000000u
#define STROKE_NS	9000000u
#define TURN_NS		8300000u

static uint mib = 1024, mbps = 150, flush_us = 8000, ahead_kib;
module_param(mib, uint, 0444);
module_param(mbps, uint, 0644);
module_param(flush_us, uint, 0644);
module_param(ahead_kib, uint, 0644);

static unsigned long long served[2], seeks[2], bytes[2], flushes;
module_param_array(served, ullong, NULL, 0444);
module_param_array(seeks, ullong, NULL, 0444);
module_param_array(bytes, ullong, NULL, 0444);
module_param(flushes, ullong, 0444);

struct command {
	struct hrtimer timer;
};

static u8 *memory;
static struct gendisk *disk;
static struct blk_mq_tag_set tags;
static int major;

static DEFINE_SPINLOCK(lock);	/* of the counters and of these */
static sector_t head;		/* where the last request ended */
static ktime_t busy;		/* until then */
static u32 turn = 1;

static enum hrtimer_restart end_command(struct hrtimer *timer)
{
	blk_mq_end_request(blk_mq_rq_from_pdu(container_of(timer, struct command, timer)), BLK_STS_OK);
	return HRTIMER_NORESTART;
}

static void copy(struct request *rq)
{
	u8 *at = memory + (blk_rq_pos(rq) << SECTOR_SHIFT);
	struct req_iterator iter;
	struct bio_vec bvec;

	rq_for_each_segment(bvec, rq, iter) {
		if (rq_data_dir(rq) == WRITE)
			memcpy_from_bvec(at, &bvec);
		else
			memcpy_to_bvec(&bvec, at);
		at += bvec.bv_len;
	}
}

static u64 transfer_ns(u64 nr_bytes)
{
	return div_u64(nr_bytes * 1000, mbps);
}

/* From where the last request ended to @pos. */
static u64 way_ns(struct request *rq, sector_t pos)
{
	u64 gap = pos > head ? pos - head : head - pos;

	if (!gap)
		return 0;
	if (req_op(rq) == REQ_OP_READ && pos > head && gap <= (u64)ahead_kib << 1)
		return transfer_ns(gap << SECTOR_SHIFT);
	seeks[rq_data_dir(rq)]++;
	turn = turn * 1664525 + 1013904223;
	return ARM_NS + STROKE_NS / 1000 * int_sqrt64(div_u64(gap * 1000000, mib << 11)) +
	       mul_u32_u32(turn >> 16, TURN_NS) / 65536;
}

static u64 service_ns(struct request *rq)
{
	u64 ns;

	if (req_op(rq) == REQ_OP_FLUSH) {
		flushes++;
		return flush_us * 1000ull;
	}
	ns = way_ns(rq, blk_rq_pos(rq)) + transfer_ns(blk_rq_bytes(rq));
	served[rq_data_dir(rq)]++;
	bytes[rq_data_dir(rq)] += blk_rq_bytes(rq);
	head = blk_rq_pos(rq) + blk_rq_sectors(rq);
	return ns;
}

static blk_status_t queue_command(struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	struct request *rq = bd->rq;
	struct command *command = blk_mq_rq_to_pdu(rq);
	unsigned long flags;
	ktime_t end;

	blk_mq_start_request(rq);
	if (req_op(rq) != REQ_OP_FLUSH)
		copy(rq);
	spin_lock_irqsave(&lock, flags);
	end = max(busy, ktime_get());
	end = ktime_add_ns(end, service_ns(rq));
	busy = end;
	spin_unlock_irqrestore(&lock, flags);
	hrtimer_start(&command->timer, end, HRTIMER_MODE_ABS);
	return BLK_STS_OK;
}

static int init_command(struct blk_mq_tag_set *set, struct request *rq, unsigned int hctx, unsigned int node)
{
	struct command *command = blk_mq_rq_to_pdu(rq);

	hrtimer_init(&command->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	command->timer.function = end_command;
	return 0;
}

static const struct blk_mq_ops queue_ops = {
	.queue_rq = queue_command,
	.init_request = init_command,
};

static const struct block_device_operations disk_ops = {
	.owner = THIS_MODULE,
};

static int add(void)
{
	struct queue_limits limits = {
		.logical_block_size = 4096,
		.physical_block_size = 4096,
		.max_hw_sectors = 2048,
		.max_segments = USHRT_MAX,
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_ROTATIONAL,
	};
	int err;

	disk = blk_mq_alloc_disk(&tags, &limits, NULL);
	if (IS_ERR(disk))
		return PTR_ERR(disk);
	disk->fops = &disk_ops;
	disk->major = major;
	disk->minors = 1;
	strscpy(disk->disk_name, "seekdisk", sizeof(disk->disk_name));
	set_capacity(disk, (sector_t)mib << 11);
	err = add_disk(disk);
	if (err)
		put_disk(disk);
	return err;
}

static int __init start(void)
{
	int err = -ENOMEM;

	memory = vzalloc((size_t)mib << 20);
	if (!memory)
		return err;
	err = register_blkdev(0, "seekdisk");
	if (err < 0)
		goto free;
	major = err;
	tags.ops = &queue_ops;
	tags.nr_hw_queues = 1;
	tags.queue_depth = 32;
	tags.numa_node = NUMA_NO_NODE;
	tags.cmd_size = sizeof(struct command);
	tags.flags = BLK_MQ_F_SHOULD_MERGE;
	err = blk_mq_alloc_tag_set(&tags);
	if (err)
		goto unregister;
	err = add();
	if (!err)
		return 0;
	blk_mq_free_tag_set(&tags);
unregister:
	unregister_blkdev(major, "seekdisk");
free:
	vfree(memory);
	return err;
}

static void __exit stop(void)
{
	del_gendisk(disk);
	put_disk(disk);
	blk_mq_free_tag_set(&tags);
	unregister_blkdev(major, "seekdisk");
	vfree(memory);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("A hard disk in memory that seeks");
MODULE_LICENSE("GPL");
