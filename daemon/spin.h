/* SPDX-License-Identifier: GPL-2.0-only */
/* spin.h - how long a loop stays awake for what it waits for. One thread's: no lock. */
#ifndef XD_SPIN_H
#define XD_SPIN_H

#include "platform.h"

#define XD_SPIN_NS	50000u	/* no longer: two wakeups of an idle processor */

struct xd_spin {
	u32 rest;	/* waits to come that sleep at once */
	u32 rests;	/* so many after the last spin that was in vain */
};

/* Before each wait, once: whether it begins with a spin. */
bool xd_spin_due(struct xd_spin *s);
/* How the spin ended: @met by what was waited for, or in vain. */
void xd_spin_ended(struct xd_spin *s, bool met);

#endif
