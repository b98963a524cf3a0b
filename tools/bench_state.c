// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_state.c - what an interrupted session goes on from: the result so far, with the
 * words of its command. Written beside the output after each run, and gone at the end.
 */
#include "bench.h"

#include <unistd.h>

/* A power cut leaves the older or the newer one. */
enum xc bench_state_save(const struct bench *b)
{
	char fresh[PATH_MAX];
	enum xc ret;

	snprintf(fresh, sizeof(fresh), "%s.new", b->state_path);
	ret = bench_result_write(b->result, BENCH_JSON, fresh);
	if (!ret && rename(fresh, b->state_path))
		ret = complain_errno(errno, b->state_path, "cannot write");
	return ret;
}

void bench_state_drop(const struct bench *b)
{
	unlink(b->state_path);
}
