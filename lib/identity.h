/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * identity.h - which disk is this, whatever it is called today?  By what the hardware says of itself (a WWID,
 * or model and serial number).
 */
#ifndef XP_LIB_IDENTITY_H
#define XP_LIB_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

struct device;
struct xp_sb_slow;

/* What it holds is asked too: some forty reads, scattered. */
void identity_of(const struct device *d, struct xp_sb_slow *id);
/* Without that: nothing is read. */
void identity_unread(const struct device *d, struct xp_sb_slow *id);
/* Why @d is not the device @id was made of: false, and @why. @loose: the user
 * named it, so what cannot be known is believed. */
bool identity_same(const struct xp_sb_slow *id, const struct device *d,
		   bool loose, char *why, size_t len);
bool identity_known(const struct xp_sb_slow *id);
/* Its words: "HWID, 1.0 TiB" */
const char *identity_text(const struct xp_sb_slow *id);

#endif
