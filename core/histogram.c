// SPDX-License-Identifier: GPL-2.0-only
/* histogram.c - adding histograms up, and telling them. */
#include "histogram.h"
#include "text.h"

const char *const xp_class_name[XP_CLASSES] = {
	[XP_CLASS_READ_HIT] = "read-hit",
	[XP_CLASS_READ_MISS] = "read-miss",
	[XP_CLASS_READ_BYPASS] = "read-bypass",
	[XP_CLASS_WRITE] = "write",
	[XP_CLASS_WRITE_BYPASS] = "write-bypass",
	[XP_CLASS_WRITE_STALLED] = "write-stalled",
	[XP_CLASS_FLUSH] = "flush",
	[XP_CLASS_DISCARD] = "discard",
	[XP_CLASS_FAST_READ] = "fast-read",
	[XP_CLASS_FAST_WRITE] = "fast-write",
	[XP_CLASS_SLOW_READ] = "slow-read",
	[XP_CLASS_SLOW_WRITE] = "slow-write",
	[XP_CLASS_SLOW_FLUSH] = "slow-flush",
};

void xp_histogram_merge(struct xp_histogram *to, const struct xp_histogram *from)
{
	u32 i;

	xp_local_add(&to->sum, xp_local_read(&from->sum));
	xp_local_raise(&to->most, xp_local_read(&from->most));
	xp_local_raise(&to->least, xp_local_read(&from->least));
	for (i = 0; i < XP_BINS; i++)
		xp_local_add(&to->bin[i], xp_local_read(&from->bin[i]));
}

u64 xp_histogram_count(const struct xp_histogram *h)
{
	u64 count = 0;
	u32 i;

	for (i = 0; i < XP_BINS; i++)
		count += xp_local_read(&h->bin[i]);
	return count;
}

u32 xp_histogram_print(const struct xp_histogram *h, enum xp_class class, char *text, u32 room)
{
	struct xp_text p = { .text = text, .room = room };
	u64 least = xp_local_read(&h->least);
	u32 i;

	text_word(&p, xp_class_name[class]);
	text_number(&p, " ", xp_histogram_count(h));
	text_number(&p, " ", xp_local_read(&h->sum));
	text_number(&p, " ", least ? ~least : 0);
	text_number(&p, " ", xp_local_read(&h->most));
	for (i = 0; i < XP_BINS; i++) {
		u64 n = xp_local_read(&h->bin[i]);

		if (!n)
			continue;
		text_number(&p, " ", i);
		text_number(&p, ":", n);
	}
	text_word(&p, "\n");
	return p.needs;
}
