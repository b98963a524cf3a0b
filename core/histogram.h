/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.h - how long requests took: counters by logarithm, 64 to each doubling.
 *
 * A bin is exact below 128 ns and at most 1/64 wide above; 2,045 of them reach 134 s, and
 * make 16 KiB with what else is in a histogram. They are fio's own as far as fio's go (0 to
 * 1854), so its json+ compares bin for bin.
 *
 * One writer: a processor, or a thread. Whoever reads adds all writers' up and may be
 * a request behind; nothing is ever reset, readers subtract what was before.
 */
#ifndef XP_HISTOGRAM_H
#define XP_HISTOGRAM_H

#include "class.h"
#include "platform.h"

#define XP_BINS			2045u
#define XP_BINS_PER_DOUBLING	64u

struct xp_histogram {
	u64 sum;		/* ns */
	u64 most;		/* ns: the longest */
	u64 least;		/* ~ns of the shortest; 0 before the first */
	u64 bin[XP_BINS];
};

static inline u32 xp_bin(u64 ns)
{
	u32 e = 57 - (u32)__builtin_clzll(ns | 64);
	u64 bin = ((u64)e << 6) + (ns >> e);

	return unlikely(bin >= XP_BINS) ? XP_BINS - 1 : (u32)bin;
}

/*
 * The least that falls into @bin; of XP_BINS, where the last one ends. The last takes in
 * what is longer too.
 */
static inline u64 xp_bin_low(u32 bin)
{
	u32 e = bin < 128 ? 0 : bin / XP_BINS_PER_DOUBLING - 1;

	return (u64)(bin - e * XP_BINS_PER_DOUBLING) << e;
}

static inline void xp_local_raise(u64 *l, u64 to)
{
	u64 was = xp_local_read(l);

	if (unlikely(to > was))
		do {
			if (xp_local_exchange(l, &was, to))
				break;
		} while (to > was);
}

/* Any context, also in an interrupt of itself; the caller stays on its processor. */
static inline void xp_histogram_add(struct xp_histogram *h, u64 ns)
{
	xp_local_add(&h->bin[xp_bin(ns)], 1);
	xp_local_add(&h->sum, ns);
	xp_local_raise(&h->most, ns);
	xp_local_raise(&h->least, ~ns);
}

/* @from, which others may be writing, into @to. */
void xp_histogram_merge(struct xp_histogram *to, const struct xp_histogram *from);
u64 xp_histogram_count(const struct xp_histogram *h);

/*
 * "<class> <count> <sum> <least> <most> <bin>:<count>...\n", ns in decimal, bins that are
 * not 0; @room bytes at @text with the NUL. Returns the bytes it needs without the NUL:
 * if that is @room or more, the text is cut. Of none: "<class> 0 0 0 0\n".
 */
u32 xp_histogram_print(const struct xp_histogram *h, enum xp_class class, char *text, u32 room);

#endif /* XP_HISTOGRAM_H */
