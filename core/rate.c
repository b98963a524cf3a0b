// SPDX-License-Identifier: GPL-2.0-only
/* rate.c - when dirty blocks are written back, and how fast (rate.h). */
#include "run.h"
#include "slot.h"
#include "through.h"
#include "writeback.h"

#define QUIET_NS	1000000000ull
#define POLL_NS		10000000ull	/* a run is under way: soon again */
#define LOOK_NS		100000000ull	/* a rest is looked at anew so often */
#define SLACK_NS	1000000ull	/* less is not worth a sleep */
#define REST_MAX_NS	2000000000ull	/* whatever a run may take */
#define STILL_NS	2500000000ull	/* nobody has looked for so long: suspended, or there was nothing to look after */

/* A rest, in runs: reads keep 11 twelfths of a disk that seeks, and half of another. */
#define RESTS_SEEKS	11u
#define RESTS_FLASH	1u

static u64 idle_ns(const struct xp *c)
{
	return (u64)c->opt.idle_ms * 1000000;
}

static u64 delay_ns(const struct xp *c)
{
	return (u64)c->opt.writeback_delay * 1000000000;
}

static void look_at_disk(struct xp *c, u64 now)
{
	struct xp_rate *r = &c->rate;
	u64 idle = idle_ns(c);

	if (c->disk.under_way || r->seen != c->disk.begun) {
		r->seen = c->disk.begun;
		r->quiet_since = now;
		r->woken = true;
	}
	if (!r->quiet_since)
		r->quiet_since = now;
	r->quiet = now - r->quiet_since >= QUIET_NS;
	r->idle = idle && now - r->quiet_since >= idle;
}

static void begin_drain(struct xp *c)
{
	struct xp_rate *r = &c->rate;

	r->drains = true;
	r->drain_from = c->batch.cursor;
	r->rounds = 0;
}

/* A disk that is awake is asked, or one that has slept while the cache had dirty blocks for long enough. */
static bool drain_is_due(const struct xp *c, u64 now)
{
	const struct xp_rate *r = &c->rate;
	u64 age = now - r->drained;

	return r->idle && !r->drains && age >= idle_ns(c) && (r->woken || age >= delay_ns(c));
}

/*
 * Nobody has looked for a while: nothing is known of the disk. The kernel's backend does not look at a clean cache: what
 * is dirty now is so since then.
 */
static void look_after_gap(struct xp *c, u64 now)
{
	struct xp_rate *r = &c->rate;

	if (r->clean) {
		r->drained = now;
		r->woken &= now - r->quiet_since < idle_ns(c);
	}
	r->quiet_since = now;
}

/* Blocks are left that could not be written: soon again, for a while. */
static bool is_tried_again(const struct xp *c)
{
	if (c->failing)
		return c->failing < XP_PAUSES_MAX;
	return !c->rate.clean && c->alone.nr;
}

/* Nothing is left to be done. A disk that somebody else uses is awake. */
static void note_drained(struct xp *c, u64 now)
{
	struct xp_rate *r = &c->rate;

	r->drains = r->drain_over = false;
	r->drained = now;
	if ((r->idle || !c->opt.idle_ms) && !is_tried_again(c))
		r->woken = false;
}

/* Two that look at once may have read the clock in the other order. */
static u64 look(struct xp *c, u64 now)
{
	struct xp_rate *r = &c->rate;

	now = max(now, r->last);
	if (!r->last)
		r->drained = now;
	else if (now - r->last > STILL_NS)
		look_after_gap(c, now);
	r->last = now;
	look_at_disk(c, now);
	r->clean = cache_is_clean(c);
	if (r->drain_over || r->clean)
		note_drained(c, now);
	r->drains &= r->idle;
	if (drain_is_due(c, now))
		begin_drain(c);
	if (c->batch.state == BATCH_RUNNING && !c->batch.since)
		c->batch.since = now;
	return now;
}

bool rate_starves(const struct xp *c)
{
	return !xp_list_empty(&c->space) && !c->nr_pending_free && (!c->nr_clean || c->ranks.hurry);
}

bool rate_has_been_long(const struct xp *c)
{
	return c->batch.since && c->rate.last - c->batch.since >= XP_LONG_NS;
}

/* Writers are slowed, or somebody waits for what only writeback brings. */
static bool is_awaited(const struct xp *c)
{
	return c->flushing || c->settling.on || through_is_awaited(c) || rate_starves(c) || c->nr_dirty > c->dirty_soft;
}

static enum xp_rate_state rate_state(const struct xp *c)
{
	if (is_awaited(c))
		return RATE_FULL;
	if (c->rate.quiet || c->rate.idle)
		return RATE_IDLE;
	return c->nr_dirty > c->dirty_press ? RATE_PRESSING : RATE_BUSY;
}

/* Callers use the slow device, too, and writeback leaves it to them between runs. */
static bool is_shared(const struct xp *c)
{
	enum xp_rate_state state = rate_state(c);

	return state == RATE_BUSY || state == RATE_PRESSING;
}

bool rate_wants(struct xp *c)
{
	struct xp_rate *r = &c->rate;

	if (c->nr_dirty > c->dirty_low)
		r->sweeps = true;
	else if (c->nr_dirty <= c->dirty_low / 2)
		r->sweeps = false;
	return r->sweeps || r->drains;
}

u32 rate_excess(const struct xp *c)
{
	u32 keep = c->dirty_low / 2, least = min(XP_BATCH_SOON, c->nr_slots / 64);

	if (c->flushing || c->settling.on || c->rate.drains || rate_starves(c) || c->nr_dirty <= keep || !keep)
		return ~0u;
	return max(c->nr_dirty - keep, least);
}

/* Its share of what is left of the way from dirty_press to dirty_soft, in 1024ths. */
static u64 ease(const struct xp *c)
{
	if (rate_state(c) != RATE_PRESSING)
		return 1024;
	return (u64)(c->dirty_soft - c->nr_dirty) * 1024 / (c->dirty_soft - c->dirty_press);
}

/* A disk that says at once that it has written does that later, beside the reads. */
static u64 run_ns(const struct xp *c, const struct xp_run *run)
{
	struct xp_disk_pace p = disk_pace(c);

	return max(run->took, p.access_ns + (u64)run->nr_blocks * p.block_ns);
}

void rate_run_ends(struct xp *c, const struct xp_run *run)
{
	u64 runs = disk_seeks(c) ? RESTS_SEEKS : RESTS_FLASH;

	c->rate.rest = 0;
	if (is_shared(c))
		c->rate.rest = min(run_ns(c, run) * runs, REST_MAX_NS) * ease(c) / 1024;
}

void rate_start(struct xp *c)
{
	c->rate.woken = c->nr_dirty;
}

void rate_run_begins(struct xp *c)
{
	c->rate.woken = true;
}

void rate_forget(struct xp *c)
{
	c->rate.quiet_since = 0;
	c->rate.drains = false;
}

void rate_has_drained(struct xp *c)
{
	c->rate.drain_over |= c->rate.drains;
	c->rate.drains = false;
}

/* All of the disk from where the drain began on, and what is before that. */
void rate_batch_ends(struct xp *c)
{
	struct xp_rate *r = &c->rate;

	if (r->rounds && (r->rounds > 1 || c->batch.cursor >= r->drain_from))
		rate_has_drained(c);
}

bool xp_writeback_watch(struct xp *c, u64 now)
{
	bool wanted;

	xp_lock(&c->lock);
	look(c, now);
	wanted = c->rate.drains && c->batch.state == BATCH_NONE;
	xp_unlock(&c->lock);
	return wanted;
}

/* Of a disk that somebody uses: what is left of the rest. Short ones add up, until they are worth a sleep. */
static u64 rest(struct xp *c, u64 now)
{
	struct xp_rate *r = &c->rate;

	if (c->disk.runs)
		return POLL_NS;
	if (r->rest) {
		r->next = max(r->next, now) + r->rest;
		r->rest = 0;
	}
	return r->next > now + SLACK_NS ? min(r->next - now, LOOK_NS) : 0;
}

u64 xp_writeback_turn(struct xp *c, u64 now)
{
	u64 wait = 0;

	xp_lock(&c->lock);
	now = look(c, now);
	if (is_shared(c) && !writeback_is_over(c))
		wait = rest(c, now);
	xp_unlock(&c->lock);
	return wait;
}
