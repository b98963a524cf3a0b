/* SPDX-License-Identifier: GPL-2.0-only */
/* by_table.h - xp_checksum() and xp_tag() without the CPU's instruction, where it has one. */
#ifndef TEST_BY_TABLE_H
#define TEST_BY_TABLE_H

#include "platform.h"

struct xp_record;

u64 checksum_by_table(const void *data, u32 bytes);
u64 tag_by_table(u64 sum, u32 i, const struct xp_record *r);

#endif
