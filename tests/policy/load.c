// SPDX-License-Identifier: GPL-2.0-only
/* load.c - collects requests, those of a trace among them. Without memory it aborts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "load.h"
#include "trace.h"

#define ACCESSES_MAX	(1u << 31)	/* of a stream */

void load_init(struct load *l, const char *name)
{
	*l = (struct load){ .room = 1024 };
	snprintf(l->name, sizeof(l->name), "%s", name);
	l->request = malloc(l->room * sizeof(*l->request));
	if (!l->request)
		abort();
	stream_init(&l->stream);
}

void load_free(struct load *l)
{
	free(l->request);
	stream_free(&l->stream);
}

static void touch(struct load *l, bool is_read, u64 sector, u32 nr_sectors)
{
	u64 lba = sector / XP_BLOCK_SECTORS, last = (sector + nr_sectors - 1) / XP_BLOCK_SECTORS;

	*(is_read ? &l->read_blocks : &l->written_blocks) += last - lba + 1;
	l->read_sectors += is_read ? nr_sectors : 0;
	for (; lba <= last; lba++)
		stream_add(&l->stream, lba, is_read);
}

void load_add(struct load *l, enum xp_op op, u64 sector, u32 nr_sectors)
{
	if (l->nr == l->room) {
		l->room *= 2;
		l->request = realloc(l->request, l->room * sizeof(*l->request));
		if (!l->request)
			abort();
	}
	l->request[l->nr++] = (struct load_request){ .sector = sector, .nr_sectors = nr_sectors, .op = (u8)op };
	l->end = max(l->end, sector + nr_sectors);
	if (op != XP_FLUSH)
		touch(l, op == XP_READ, sector, nr_sectors);
}

void load_end(struct load *l)
{
	stream_end(&l->stream);
}

/* As trace_next(): 0 at the end, -1 with a message. */
static int read_all(struct load *l, const char *path, struct trace *t, struct xp_message *msg)
{
	struct trace_op op;
	int got;

	while ((got = trace_next(t, &op, msg)) == 1) {
		bool taken = op.op == XP_READ || op.op == XP_WRITE || op.op == XP_FLUSH;

		l->left_out += !taken;
		if (!taken)
			continue;
		if (l->stream.nr > ACCESSES_MAX - 2 - op.nr_sectors / XP_BLOCK_SECTORS) {
			snprintf(msg->text, sizeof(msg->text), "%.150s: touches more than 2^31 blocks", path);
			return -1;
		}
		load_add(l, (enum xp_op)op.op, op.sector, op.nr_sectors);
		l->request[l->nr - 1].time_ns = op.time_ns;
	}
	if (!got && !l->stream.nr) {
		snprintf(msg->text, sizeof(msg->text), "%.150s: neither reads nor writes", path);
		return -1;
	}
	return got;
}

bool load_trace(struct load *l, const char *path, struct xp_message *msg)
{
	struct trace *t = trace_open(path, msg);
	const char *slash = strrchr(path, '/');
	int got;

	if (!t)
		return false;
	load_init(l, slash ? slash + 1 : path);
	got = read_all(l, path, t, msg);
	trace_close(t);
	if (got < 0) {
		load_free(l);
		return false;
	}
	load_end(l);
	return true;
}
