/* SPDX-License-Identifier: GPL-2.0-only */
/* planted.h - latencies of which is known what they are, and what a function prints. */
#ifndef PLANTED_H
#define PLANTED_H

#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/timing.h"

/* Before a disk: 97,300 hits of about 9.5 us and 2,700 misses of about 8.2 ms, 20,000 writes
 * and what the devices took for them. The same in every run. */
void planted_disk(struct latency *l);

/* @n times from @from to @to ns, evenly. */
void plant(struct xp_histogram *h, u32 n, u64 from, u64 to);

/* The canvas to draw on, and what was drawn; free() that. */
struct canvas drawing_begin(bool utf8);
char *drawing_end(struct canvas *c);

/* As the target prints it; free() it. */
char *planted_answer(const struct latency *l);

#endif /* PLANTED_H */
