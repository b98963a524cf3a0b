// SPDX-License-Identifier: GPL-2.0-only
/*
 * ublk_queue.c - requests of the block device, and their answers, on one loop.
 *
 *	FETCH -> a read, or what has no data ----------------> engine -> COMMIT_AND_FETCH -> ...
 *	      `-> a write -> NEED_GET_DATA with a buffer -> its data -> engine -'
 *
 * The driver copies (there are no pages of others here, so nothing can change under a hash): a
 * write's data when NEED_GET_DATA is under way, a read's while it takes COMMIT_AND_FETCH from the
 * submission queue. So a buffer is a request's and not a tag's, as a miss wants it that is
 * written to the cache from there (fill.c), and a read costs no system call of its own. Reading
 * and writing the data by pread() and pwrite() (UBLK_F_USER_COPY) would cost one for each.
 */
#include "daemon/engine.h"
#include "daemon/ring.h"
#include "daemon/ublk/ublk.h"
#include "daemon/ublk/ublk_proto.h"
#include "daemon/verbs.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>

struct xd_ublk_tag {
	struct xd_io io;
	struct xd_event event;
	struct xd_ublk_queue *queue;
	u16 number;
};

/* Stands for a buffer that could not be had: the driver goes on, and the request fails. */
static u8 nowhere[UBLK_BYTES_MAX] __attribute__((aligned(4096)));

/* --------------------------------------------------------------- commands ---- */

static void command(struct xd_ublk_tag *t, u32 nr, int result, const u8 *data)
{
	struct xd_ublk_queue *q = t->queue;
	const struct ublksrv_io_cmd cmd = {
		.q_id = q->number, .tag = t->number, .result = result, .addr = (u64)(uintptr_t)data,
	};

	ublk_prepare(xd_loop_sqe(q->loop, &t->event), q->ublk->fd,
		     ublk_io_op(nr, !q->ublk->control.plain), &cmd, sizeof(cmd));
}

static void taken(struct xd_call *call)
{
	struct xd_ublk_queue *q = container_of(call, struct xd_ublk_queue, taken_call);

	while (q->taken) {
		struct xd_buffer *b = q->taken;

		q->taken = b->next;
		xd_buffer_put(b);
	}
}

static void put_when_taken(struct xd_ublk_queue *q, struct xd_buffer *b)
{
	if (!q->taken)
		xd_loop_submitted(q->loop, &q->taken_call);
	b->next = q->taken;
	q->taken = b;
}

static void drop_buffer(struct xd_ublk_tag *t)
{
	if (t->io.buffer)
		xd_buffer_put(t->io.buffer);
	t->io.buffer = NULL;
}

static void answer(struct xd_ublk_tag *t, int result)
{
	struct xd_buffer *b = t->io.buffer;

	if (t->io.op != XP_READ) {
		command(t, UBLK_IO_COMMIT_AND_FETCH_REQ, result, NULL);
		drop_buffer(t);
		return;
	}
	command(t, UBLK_IO_COMMIT_AND_FETCH_REQ, result, b ? b->data : nowhere);
	t->io.buffer = NULL;
	if (b)
		put_when_taken(t->queue, b);
}

/* --------------------------------------------------------------- requests ---- */

static void ended(struct xd_io *io)
{
	answer(container_of(io, struct xd_ublk_tag, io), xd_ublk_result(io));
}

static void get_buffer(struct xd_ublk_tag *t, u32 nr_sectors)
{
	drop_buffer(t);		/* of a write that the driver put off, and sent another before it */
	t->io.buffer = xd_buffer_get(t->queue->loop, nr_sectors << XP_SECTOR_SHIFT);
}

static void get_data(struct xd_ublk_tag *t)
{
	get_buffer(t, t->queue->desc[t->number].nr_sectors);
	command(t, UBLK_IO_NEED_GET_DATA, 0, t->io.buffer ? t->io.buffer->data : nowhere);
}

static void perform(struct xd_ublk_tag *t)
{
	const struct ublksrv_io_desc *desc = &t->queue->desc[t->number];
	struct xd_io *io = &t->io;
	bool known = xd_ublk_translate(desc, io);

	if (!known)
		io->op = XP_FLUSH;	/* no data */
	if (io->op == XP_READ)
		get_buffer(t, io->nr_sectors);
	else if (io->op != XP_WRITE)
		drop_buffer(t);
	if (!known)
		answer(t, -EOPNOTSUPP);
	else if ((io->op == XP_READ || io->op == XP_WRITE) && !io->buffer)
		answer(t, -ENOMEM);
	else
		xd_submit(io);
}

/* The driver has ended the command, and does not want another. */
static void tag_over(struct xd_ublk_tag *t, int res)
{
	struct xd_ublk_queue *q = t->queue;
	struct xd_ublk *u = q->ublk;

	if (res != UBLK_IO_RES_ABORT) {
		if (xd_get(u->live) && !xd_get(u->failed))	/* else it is told why there is no device */
			xd_log("%s: the driver refuses a command: %s", u->node, strerror(-res));
		xd_set(u->failed, res);
	}
	drop_buffer(t);
	if (!--q->waiting)
		xd_ublk_queue_over(u);
}

static void came(struct xd_event *event, int res)
{
	struct xd_ublk_tag *t = container_of(event, struct xd_ublk_tag, event);

	if (res == UBLK_IO_RES_OK)
		perform(t);
	else if (res == UBLK_IO_RES_NEED_GET_DATA)
		get_data(t);
	else
		tag_over(t, res);
}

/* -------------------------------------------------------- start and stop ---- */

/* The driver looks at who fetches: it lets the kernel look for partitions only if all its
 * servers are privileged at that moment. */
static void fetch(struct xd_call *call)
{
	struct xd_ublk_queue *q = container_of(call, struct xd_ublk_queue, fetch_call);

	for (u32 i = 0; q->desc && i < UBLK_DEPTH; i++)
		command(&q->tags[i], UBLK_IO_FETCH_REQ, 0, NULL);
	while (xd_ring_unsent(&q->loop->ring))
		xd_ring_submit(&q->loop->ring);
	if (privileges_give_up(CAP_SYS_ADMIN))
		xd_set(q->ublk->failed, -EPERM);
	xd_ublk_queue_fetched(q->ublk);
}

void xd_ublk_queue_start(struct xd_ublk_queue *q)
{
	q->fetch_call.fn = fetch;
	xd_loop_call(q->loop, &q->fetch_call);
}

static size_t up_to_pages(size_t bytes)
{
	return (bytes + XP_BLOCK_SIZE - 1) & ~((size_t)XP_BLOCK_SIZE - 1);
}

/* What the driver says of its requests is at a place of the file that leaves room for the deepest
 * queue there may be. */
static int map_descriptions(struct xd_ublk_queue *q)
{
	off_t each = (off_t)up_to_pages(UBLK_MAX_QUEUE_DEPTH * sizeof(*q->desc));
	void *map = mmap(NULL, up_to_pages(UBLK_DEPTH * sizeof(*q->desc)), PROT_READ, MAP_SHARED | MAP_POPULATE,
			 q->ublk->fd, UBLKSRV_CMD_BUF_OFFSET + q->number * each);

	if (map == MAP_FAILED)
		return -errno;
	q->desc = map;
	return 0;
}

int xd_ublk_queue_init(struct xd_ublk_queue *q, struct xd_ublk *u, u16 number)
{
	*q = (struct xd_ublk_queue){ .ublk = u, .loop = &u->cache->loop[number], .number = number,
				     .taken_call.fn = taken };
	if (number >= u->info.nr_hw_queues)
		return 0;
	q->tags = calloc(UBLK_DEPTH, sizeof(*q->tags));
	if (!q->tags)
		return -ENOMEM;
	for (u16 i = 0; i < UBLK_DEPTH; i++)
		q->tags[i] = (struct xd_ublk_tag){ .io.loop = q->loop, .io.end = ended, .event.end = came,
						   .queue = q, .number = i };
	q->waiting = UBLK_DEPTH;
	return map_descriptions(q);
}

void xd_ublk_queue_free(struct xd_ublk_queue *q)
{
	if (q->desc)
		munmap((void *)(uintptr_t)q->desc, up_to_pages(UBLK_DEPTH * sizeof(*q->desc)));
	free(q->tags);
	q->desc = NULL;
	q->tags = NULL;
}
