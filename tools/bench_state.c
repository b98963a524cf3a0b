// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_state.c - what an interrupted session goes on from: the result so far, with the
 * words of its command. Written beside the output after each run, and gone at the end.
 */
#include "bench.h"

#include <unistd.h>

enum xc bench_state_save(const struct bench *b)
{
	return bench_output_write(b, b->result, BENCH_JSON, b->state_path);
}

void bench_state_drop(const struct bench *b)
{
	unlink(b->state_path);
}
