// SPDX-License-Identifier: GPL-2.0-only
/* planted.c - latencies of which is known what they are. */
#include "planted.h"

#include <stdlib.h>

void plant(struct xp_histogram *h, u32 n, u64 from, u64 to)
{
	for (u32 i = 0; i < n; i++)
		xp_histogram_add(h, from + (to - from) * i / n);
}

void planted_disk(struct latency *l)
{
	memset(l, 0, sizeof(*l));
	l->recording = true;
	strcpy(l->clock, "tsc");
	l->ns = 81234567890ull;
	plant(&l->class[XP_CLASS_READ_HIT], 60000, 9000, 10000);
	plant(&l->class[XP_CLASS_READ_HIT], 37000, 8500, 11000);
	plant(&l->class[XP_CLASS_READ_HIT], 299, 11000, 30000);
	plant(&l->class[XP_CLASS_READ_HIT], 1, 410000, 410000);
	plant(&l->class[XP_CLASS_READ_MISS], 2700, 3900000, 12500000);
	plant(&l->class[XP_CLASS_WRITE], 20000, 20000, 26000);
	plant(&l->class[XP_CLASS_WRITE_STALLED], 15, 1000000, 40000000);
	plant(&l->class[XP_CLASS_FLUSH], 500, 30000, 90000);
	plant(&l->class[XP_CLASS_FAST_READ], 97300, 7900, 9700);
	plant(&l->class[XP_CLASS_FAST_WRITE], 20600, 15000, 24000);
	plant(&l->class[XP_CLASS_SLOW_READ], 2700, 3890000, 12490000);
}

static FILE *stream;
static char *text;
static size_t len;

struct canvas drawing_begin(bool utf8)
{
	stream = open_memstream(&text, &len);
	return (struct canvas){ .f = stream, .utf8 = utf8 };
}

char *drawing_end(struct canvas *c)
{
	fclose(c->f);
	return text;
}

char *planted_answer(const struct latency *l)
{
	struct canvas c = drawing_begin(false);

	fprintf(c.f, "histogram %s %s %llu\n", l->recording ? "on" : "off", l->clock,
		(unsigned long long)l->ns);
	for (u32 i = 0; i < XP_CLASSES; i++) {
		static char line[64 * XP_BINS];

		xp_histogram_print(&l->class[i], i, line, sizeof(line));
		fputs(line, c.f);
	}
	return drawing_end(&c);
}
