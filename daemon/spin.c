// SPDX-License-Identifier: GPL-2.0-only
/*
 * spin.c - whether the next wait is worth staying awake for.
 *
 * A client that asks one thing at a time asks again a few microseconds after its answer, and
 * waking a thread on an idle processor takes longer than that: what is waited for without sleeping
 * comes at half the latency. So a wait begins with a short spin. Where the last spins were in vain,
 * the next waits sleep at once: one, three, seven, ... up to RESTS_MAX of them, until a spin
 * is met again. What a disk or an idle client costs by this is a spin in a thousand waits.
 */
#include "daemon/spin.h"
#include "platform.h"

#define RESTS_MAX	1023u

bool xd_spin_due(struct xd_spin *s)
{
	if (!s->rest)
		return true;
	s->rest--;
	return false;
}

void xd_spin_ended(struct xd_spin *s, bool met)
{
	s->rests = met ? 0 : min(2 * s->rests + 1, RESTS_MAX);
	s->rest = s->rests;
}
