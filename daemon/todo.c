// SPDX-License-Identifier: GPL-2.0-only
/* todo.c - performing what the core asks for; a request of another loop is posted home. */
#include "daemon/engine.h"

static void end_requests(struct xd_loop *loop)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&loop->todo.done))) {
		struct xd_part *part = xd_part_of(link);

		if (part->io->loop == loop)
			xd_part_done(part);
		else
			xd_loop_post(part->io->loop, &part->req, true);
	}
}

static void submit_ready(struct xd_loop *loop)
{
	struct xp_link *link;

	while ((link = xp_list_pop(&loop->todo.ready))) {
		struct xd_part *part = xd_part_of(link);

		if (part->io->loop == loop)
			xp_list_add(&loop->again, link);
		else
			xd_loop_post(part->io->loop, &part->req, false);
	}
}

void xd_perform(struct xd_loop *loop)
{
	struct xp_todo *todo = &loop->todo;

	while (!xp_todo_empty(todo) || !xp_list_empty(&loop->again)) {
		u32 journal = todo->journal;

		todo->journal = 0;
		todo->tick = false;	/* the clock ticks anyhow */
		xd_journal_write(loop, journal);
		if (todo->mark) {
			todo->mark = false;
			xd_mark(loop);
		}
		if (todo->work) {
			todo->work = false;
			xd_writeback_kick(loop->cache);
		}
		end_requests(loop);
		submit_ready(loop);
		xd_parts_again(loop);
	}
}
