// SPDX-License-Identifier: GPL-2.0-only
/* life.c - the core starts: on what the devices hold, or on what a cut or a kill leaves of it. */
#include "image.h"
#include "message.h"
#include "options.h"
#include "statistics.h"

/* Of the devices as they are: it may have to be asked. */
static int start_unreadable(struct xp_message *msg)
{
	int err;

	image_of_seen();
	ask_anew(0);
	err = recover(&live_media, &live_slow, sim.memory, &sim.c, true, ask(state_memory), msg);
	if (err || !told.loss)
		return err;
	rot_note_doubtful();
	image_of_seen();
	oracle_check_image(sim.c, &image, false);
	oracle_restart(sim.c, &image);
	image_forget_seen();
	return 0;
}

/* Most do: those after one that did not meet records without a sum, and others' that were carried without. */
static void choose_to_verify(void)
{
	sim.verifies = sim.geometry.verifies &&
		       (sim.geometry.rot_one_in || mix(sim.seed ^ 0x11fe ^ sim.step << 16) % 4);
}

static void choose_mode(void)
{
	sim.mode = sim.geometry.modes ? mix(sim.seed ^ 0x30de ^ sim.step << 16) % XP_MODES : XP_MODE_KEPT;
	sim.settled = false;
	oracle_doubt_nothing();
}

void life_start(void)
{
	struct xp_message msg;
	int err;

	choose_to_verify();
	choose_mode();
	size_new_life();
	sim.now++;
	disk_flush(&sim.slow, sim.now);		/* core/life.h: before the first request */
	if (sim.told_at_stop)
		oracle_tell_lost(sim.now);
	sim.told_at_stop = false;
	sim.faulted = false;
	err = recover(&live_media, &live_slow, sim.memory, &sim.c, true, 0, &msg);
	if (err && sim.faulted) {
		trace("does not start: %s", msg.text);
		figures.failed_starts++;
		if (!msg.text[0])
			violation(P_ERRORS, "does not start, and does not say why");
		sim.fault.on = false;
		err = sim.geometry.bad ? start_unreadable(&msg) :
		      recover(&live_media, &live_slow, sim.memory, &sim.c, true, 0, &msg);
	}
	sim.faulted = sim.forgot = false;
	if (!err)
		oracle_note_unread(sim.c, sim.slot_failed);
	sim.slot_failed = false;
	if (err == -EIO && (sim.refuses || sim.geometry.bad) && strstr(msg.text, "places that may be bad")) {
		figures.no_place_left++;
		run_abandon();
	}
	if (err) {
		violation(P_ALLOWED, "start refused: %s (%d)", msg.text, err);
		run_abandon();
	}
	backend_new_life();
	size_begun();
}

/* What the next life begins with. */
static bool check_once(void)
{
	struct arena_mark memory = arena_mark(&sim.state);
	u32 mark = image_mark();
	bool right;

	ask_anew(0);
	recover_image(&sim.state, state_memory, &state_core, 0, 0, NULL);
	right = oracle_check_image(state_core, &image, false);
	image_rewind(mark);
	arena_rewind(&sim.state, memory);
	return right;
}

static void settle_on_image(struct disk *d, const struct content **cells)
{
	memcpy(d->floor, cells, disk_all(d) * sizeof(*cells));
	memcpy(d->seen, cells, disk_all(d) * sizeof(*cells));
	d->pending = NULL;
	d->pending_end = &d->pending;
}

static void count_given_up(void)
{
	struct xp_stats s;

	xp_get_stats(sim.c, &s);
	figures.rerouted += !!s.bad_places;
	figures.given_up += !!s.bad_slots;
}

static void spoil(u64 *rng)
{
	u64 own = mix(*rng ^ 0xbad);

	if (sim.geometry.bad && chance(&own, 2))
		bad_spoil_image(&sim.arena, true, &own);
}

void life_cut(u64 *rng)
{
	bool right;

	crash_choose(rng);
	sim.fault.on = false;
	spoil(rng);
	size_new_life();
	size_of_image(rng);
	right = check_once();
	choose_to_verify();
	choose_mode();
	ask_anew(0);
	recover_image(&sim.arena, sim.memory, &sim.c, chance(rng, 3) ? 1 + below(rng, 2) : 0,
		      below(rng, 4), rng);
	if (right)
		oracle_check_image(sim.c, &image, true);
	settle_on_image(&sim.fast, image.fast);
	settle_on_image(&sim.slow, image.slow);
	rot_note_doubtful();
	oracle_restart(sim.c, &image);
	rot_cut();
	backend_new_life();
	size_begun();
	image_forget_seen();
	sim.faulted = sim.forgot = false;
	figures.lives++;
	count_given_up();
}

/* Whom it strikes while it recovers leaves stores behind, too. */
static void start_and_be_killed(u64 *rng)
{
	struct xp_message msg;

	recover_under_fire(rng);
	if (recover(&live_media, &live_slow, sim.memory, &sim.c, true, 0, &msg) == -ENODEV)
		figures.kills_again++;
	recover_under_fire(NULL);
}

void life_kill(u64 *rng)
{
	bool right;

	if (sim.geometry.bad) {	/* one end of a life that can be asked about is enough */
		life_cut(rng);
		return;
	}
	disk_abandon(&sim.fast, rng);
	disk_abandon(&sim.slow, rng);
	oracle_tell_lost(sim.now);		/* whoever it served is cut off */
	size_new_life();
	image_of_seen();
	right = check_once();
	while (chance(rng, 2))
		start_and_be_killed(rng);
	life_start();
	image_of_seen();
	if (right)
		oracle_check_image(sim.c, &image, true);
	oracle_restart(sim.c, &image);
	rot_cut();
	image_forget_seen();
	figures.lives++;
	figures.kills++;
}
