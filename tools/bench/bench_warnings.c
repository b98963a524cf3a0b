// SPDX-License-Identifier: GPL-2.0-only
/* bench_warnings.c - what the runs are reason to warn of: that they do not say what they seem to. */
#include "lib/figures.h"
#include "lib/json.h"
#include "tools/bench/bench_result.h"
#include "platform.h"

/* One request more or less is no shortage. */
static void warn_rate(struct json_object *result, struct json_object *run)
{
	double rate = bench_result_number(run, "rate"), iops = bench_result_number(run, "iops");
	double seconds = bench_result_number(run, "seconds");

	if (rate > 0 && iops * seconds + 1 < 0.98 * rate * seconds)
		bench_result_warn(result, "rate", "%s: %.0f requests a second, not %.0f: %s that were due "
				  "never began; from when they were due they took longer than is told.",
				  bench_result_text(run, "id"), iops, rate,
				  text_count((u64)bench_result_number(run, "never_begun")));
}

static void warn_warming(struct json_object *result, struct json_object *set)
{
	double warmed = bench_result_number(set, "warmed");

	if (warmed < BENCH_WARM)
		bench_result_warn(result, "warming", "%s: %.0f %% of its warming was done in the time for that: "
				  "what a warm one does is not told.", bench_result_text(set, "run"), 100 * warmed);
}

void bench_warnings(struct json_object *result)
{
	struct json_object *runs = bench_result_get(result, "runs");
	struct json_object *sets = bench_result_get(result, "working_set");

	for (size_t i = 0; i < json_object_array_length(runs); i++)
		warn_rate(result, json_object_array_get_idx(runs, i));
	for (size_t i = 0; sets && i < json_object_array_length(sets); i++)
		warn_warming(result, json_object_array_get_idx(sets, i));
}
