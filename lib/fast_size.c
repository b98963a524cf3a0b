// SPDX-License-Identifier: GPL-2.0-only
/*
 * How much of the fast device a cache takes: what --fast-size says, or all of it; and what fits the machine's memory.
 *
 * The memory that a cache takes goes by the number of its slots. Nothing gives it back while the cache runs, so from a
 * quarter of the machine's memory on it is told, with a size that takes less.
 */
#include "lib/fast_size.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/memory.h"
#include "core/format.h"
#include "core/layout.h"
#include "core/life.h"
#include "core/message.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* --------------------------------------------------------- of the device ---- */

enum xc fast_size_blocks(u64 bytes, const struct device *fast, u64 *blocks)
{
	*blocks = device_blocks(fast);
	if (!bytes)
		return XC_OK;
	if (bytes >> XP_BLOCK_SHIFT > *blocks)
		return complain(XC_REFUSED, fast->path, text_todo("--fast-size %s is all of it, as is no --fast-size", text_size(*blocks)),
				"it has %s, and --fast-size says %s", text_bytes(*blocks << XP_BLOCK_SHIFT), text_bytes(bytes));
	*blocks = bytes >> XP_BLOCK_SHIFT;
	if (*blocks < xp_sb_least_blocks())
		return complain(XC_REFUSED, fast->path, text_todo("--fast-size %s is the least", text_size(xp_sb_least_blocks())),
				"a cache of %s is too small", text_bytes(bytes));
	return XC_OK;
}

/* ------------------------------------------------------------- of memory ---- */

static u64 memory_of(u64 blocks, bool verify)
{
	struct xp_sb sb = { .version = 0 };
	struct xp_message msg;

	if (xp_sb_layout(&sb, blocks, &msg))
		return 0;
	if (verify)
		sb.incompat |= cpu_to_le64(XP_INCOMPAT_SUMS);
	return xp_memory(&sb, verify);
}

/* A number that one likes to type. */
static u64 rounded(u64 blocks)
{
	u64 unit = blocks >> (34 - XP_BLOCK_SHIFT) ? 1u << (30 - XP_BLOCK_SHIFT) :
		   blocks >> (24 - XP_BLOCK_SHIFT) ? 1u << (20 - XP_BLOCK_SHIFT) : 1;

	return blocks / unit * unit;
}

u64 fast_size_that_fits(u64 blocks, bool verify)
{
	u64 fits = 0, most = blocks;
	struct memory m;

	memory_look(&m);
	if (!m.total || memory_of(blocks, verify) < m.total / MEMORY_SHARE)
		return blocks;
	while (most - fits > 1) {
		u64 middle = fits + (most - fits) / 2;

		if (memory_of(middle, verify) < m.total / MEMORY_SHARE)
			fits = middle;
		else
			most = middle;
	}
	fits = rounded(fits);
	return fits < xp_sb_least_blocks() ? 0 : fits;
}

const char *text_fast_size_that_fits(u64 blocks, bool verify)
{
	static char text[96];
	u64 fits = fast_size_that_fits(blocks, verify);

	if (fits)
		snprintf(text, sizeof(text), "--fast-size %s takes less", text_size(fits));
	else
		snprintf(text, sizeof(text), "no cache takes less than that");
	return text;
}

void fast_size_tell_memory(const struct xp_sb *sb, bool verify)
{
	u64 need = xp_memory(sb, verify);
	struct memory m;

	memory_look(&m);
	if (!m.total || need < m.total / MEMORY_SHARE)
		printf("it takes %s of memory while it runs\n", text_bytes(need));
	else
		printf("it takes %s of memory while it runs, of the %s that this machine has: %s\n", text_bytes(need),
		       text_bytes(m.total), text_fast_size_that_fits(le64_to_cpu(sb->fast_blocks), verify));
}
