// SPDX-License-Identifier: GPL-2.0-only
/* test_pulse.c - what top shows of a cache between two looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include <json-c/json.h>
#include <math.h>

#include "planted.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/pulse.h"
#include "lib/status.h"

static struct pulse before, after;

/* Two looks, two seconds apart, of a cache that was at work before. */
static void count(struct pulse *p, const char *line, const char *stat)
{
	struct status s;

	memset(p, 0, sizeof(*p));
	snprintf(s.line, sizeof(s.line), "%s", line);
	assert_int_equal(status_parse(&s), 0);
	strcpy(p->name, "xpcache0");
	strcpy(p->uuid, "0123456789abcdef0123456789abcdef");
	pulse_count(p, &s, stat);
}

static void look_twice(void)
{
	count(&before, "running slots 262144 dirty 5 journal_blocks 4096 journal_used 1 pressure 0 "
	      "read_hits 100 read_misses 50 writes 1000 destaged 0 "
	      "requests_read_hit 100 requests_write 1000 read_blocks_fast 500 read_blocks_slow 50 write_blocks 1000 "
	      "write_bypass_blocks 0 fills 40 fast_bytes_written 4096000 streams_seen 1 stream_bypass_blocks 100 stream_bypass_written 7 "
	      "ghost_hits 3 ghost_hits_quarter 2",
	      "9 0 80 0 9 0 160 0 0 0 0");
	count(&after, "running slots 262144 dirty 32300 journal_blocks 4096 journal_used 1999 "
	      "pressure 512 read_hits 24122 read_misses 718 writes 5690 written_back 17000 "
	      "requests_read_hit 24122 requests_write 5690 read_blocks_fast 27500 read_blocks_slow 3050 write_blocks 10000 "
	      "write_bypass_blocks 1000 fills 2740 fast_bytes_written 86016000 streams_seen 5 stream_bypass_blocks 1100 stream_bypass_written 507 "
	      "ghost_hits 303 ghost_hits_quarter 152",
	      "9 0 197600 0 9 0 37660 0 0 0 0");
	before.timed = after.timed = true;
	before.seconds = 1000;
	after.seconds = 1002;
	strcpy(before.latency.clock, "tsc");
	planted_disk(&after.latency);
	after.latency.ns = 2000000000;
}

static void assert_drawn(const struct pulse *p, bool utf8, const char *wanted)
{
	struct canvas c = drawing_begin(utf8);
	char *text;

	pulse_show(&c, p);
	text = drawing_end(&c);
	assert_string_equal(text, wanted);
	free(text);
}

#define KEPT \
"fills       1,350/s     5.5 MB/s   0.10 a hit; 0.50 bytes written a user byte\n" \
"streams         2/s     2.0 MB/s   hits with a quarter more: 5.0 % of misses\n"

#define HEAD \
"xpcache0  running  in 2.0 s\n" \
"reads      12,345/s    50.6 MB/s   hits: 97.3 % of reads, 90.0 % of bytes, 4.1 % of time\n" \
"writes      2,345/s     9.6 MB/s   written back: 34.8 MB/s\n" \
KEPT \
"dirty   12.3 %, 126 MiB            journal: 48.8 % used; pressure: 50.0 %\n"

static void all_is_shown(void **state)
{
	(void)state;
	look_twice();
	assert_true(pulse_subtract(&after, &before));
	assert_drawn(&after, false, HEAD
"requests         a second   time     mean      p50      p99    p99.9      max\n"
"read-hit           48,650     4%  9.63 us  9.55 us  11.0 us  23.8 us   410 us\n"
"read-miss           1,350    93%  8.20 ms  8.20 ms  12.4 ms        -  12.5 ms\n"
"write              10,000     2%  23.0 us  23.0 us  25.9 us  26.0 us  26.0 us\n"
"write-stalled         7.5     1%  19.2 ms        -        -        -  37.4 ms\n"
"flush                 250    <1%  59.9 us  59.9 us        -        -  89.9 us\n"
"devices          a second   time     mean      p50      p99    p99.9      max\n"
"fast-read          48,650     4%  8.80 us  8.80 us  9.68 us  9.70 us  9.70 us\n"
"fast-write         10,300     2%  19.5 us  19.5 us  23.9 us  24.0 us  24.0 us\n"
"slow-read           1,350    95%  8.19 ms  8.19 ms  12.4 ms        -  12.5 ms\n");
}

static void without_latencies_the_rest_is_shown(void **state)
{
	(void)state;
	look_twice();
	after.latency.recording = false;
	assert_true(pulse_subtract(&after, &before));
	assert_drawn(&after, false, HEAD "latency: not recorded now\n");
	look_twice();
	before.timed = after.timed = false;
	before.older = after.older = true;
	assert_true(pulse_subtract(&after, &before));
	assert_drawn(&after, true,
"xpcache0  running  in 2.0 s\n"
"reads      12,345/s    50.6 MB/s   hits: 97.3 % of reads, 90.0 % of bytes\n"
"writes      2,345/s     9.6 MB/s   written back: 34.8 MB/s\n"
KEPT
"dirty   12.3 %, 126 MiB            journal: 48.8 % used; pressure: 50.0 %\n"
"latency: this module does not tell it\n");
}

static void an_idle_cache_is_shown(void **state)
{
	(void)state;
	count(&before, "running slots 100", NULL);
	count(&after, "running slots 100", NULL);
	after.seconds = 1;
	assert_true(pulse_subtract(&after, &before));
	assert_drawn(&after, false,
"xpcache0  running  in 1.0 s\n"
"reads           0/s\n"
"writes          0/s                written back: 0.0 MB/s\n"
"fills           0/s     0.0 MB/s   - a hit; - bytes written a user byte\n"
"streams           -            -   hits with a quarter more: - of misses\n"
"dirty   0.0 %, 0 B                 journal: - used; pressure: 0.0 %\n"
"latency: not known\n");
}

static void looks_at_two_runs_are_not_compared(void **state)
{
	(void)state;
	look_twice();
	after.writes = before.writes - 1;
	assert_false(pulse_subtract(&after, &before));
	look_twice();
	after.uuid[0] = 'f';
	assert_false(pulse_subtract(&after, &before));
	look_twice();
	before.latency.ns = after.latency.ns + 1;
	assert_false(pulse_subtract(&after, &before));
	look_twice();
	before.timed = false;
	assert_false(pulse_subtract(&after, &before));
}

static double number(struct json_object *o, const char *name)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, name, &v) && v);
	return json_object_get_double(v);
}

static void json_has_the_same_figures(void **state)
{
	struct json_object *o, *latency, *class, *v;

	(void)state;
	look_twice();
	assert_true(pulse_subtract(&after, &before));
	o = pulse_json(&after);
	assert_true(number(o, "seconds") == 2 && number(o, "reads_per_second") == 12345);
	assert_true(number(o, "writes_per_second") == 2345);
	assert_true(number(o, "read_bytes_per_second") == 197520 * 256.0);
	assert_true(number(o, "write_bytes_per_second") == 37500 * 256.0);
	assert_true(number(o, "writeback_bytes_per_second") == 17000 * 2048.0);
	assert_true(number(o, "destage_bytes_per_second") == 17000 * 2048.0);
	assert_true(fabs(number(o, "hit_ratio") - 24022.0 / 24690) < 1e-9 && number(o, "hit_ratio_by_time") < 0.041);
	assert_true(number(o, "hit_ratio_by_bytes") == 0.9);
	assert_true(json_object_object_get_ex(o, "counts", &v));
	assert_true(number(v, "requests_read_hit") == 24022 && number(v, "requests_write") == 4690);
	assert_true(number(v, "read_blocks_fast") == 27000 && number(v, "discard_blocks") == 0);
	assert_false(json_object_object_get_ex(v, "read_hits", NULL));
	assert_true(number(v, "streams_seen") == 4 && number(v, "stream_bypass_blocks") == 1000);
	assert_true(number(v, "stream_bypass_written") == 500);
	assert_true(number(v, "ghost_hits") == 300 && number(v, "ghost_hits_quarter") == 150);
	assert_true(number(o, "ghost_hit_ratio") == 0.05 && number(o, "fills_per_hit") == 0.1);
	assert_true(number(o, "fast_bytes_per_user_byte") == 0.5);
	assert_true(number(o, "dirty_bytes") == 32300 * 4096.0 && number(o, "pressure_ratio") == 0.5);
	assert_true(json_object_object_get_ex(o, "latency", &latency));
	assert_int_equal(json_object_object_length(latency), XP_CLASSES + 1);
	assert_true(json_object_object_get_ex(latency, "read-miss", &class));
	assert_true(number(class, "count") == 2700 && number(class, "max_ns") == 12496814);
	assert_true(json_object_object_get_ex(class, "p99.9", &v) && !v);	/* of 2,700 */
	json_object_put(o);
}

/* "-", and not 0: nobody has counted. */
static void an_older_backend_tells_nothing_of_what_is_kept(void **state)
{
	struct json_object *o, *counts, *v;

	(void)state;
	count(&before, "running requests_read_hit 0 read_blocks_fast 0 read_blocks_slow 0 fills 0", NULL);
	count(&after, "running requests_read_hit 9 read_blocks_fast 9 read_blocks_slow 9 fills 9", NULL);
	after.seconds = 1;
	assert_true(pulse_subtract(&after, &before));
	assert_drawn(&after, false,
"xpcache0  running  in 1.0 s\n"
"reads           0/s                hits: 50.0 % of bytes\n"
"writes          0/s                written back: 0.0 MB/s\n"
"fills           9/s     0.0 MB/s   1.00 a hit; 0.00 bytes written a user byte\n"
"streams           -            -   hits with a quarter more: - of misses\n"
"dirty   -, 0 B                     journal: - used; pressure: 0.0 %\n"
"latency: not known\n");
	o = pulse_json(&after);
	assert_true(json_object_object_get_ex(o, "ghost_hit_ratio", &v) && !v);
	assert_true(json_object_object_get_ex(o, "counts", &counts));
	assert_false(json_object_object_get_ex(counts, "ghost_hits", NULL));
	assert_true(number(counts, "read_blocks_fast") == 9);
	json_object_put(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_shown),
		cmocka_unit_test(without_latencies_the_rest_is_shown),
		cmocka_unit_test(an_idle_cache_is_shown),
		cmocka_unit_test(looks_at_two_runs_are_not_compared),
		cmocka_unit_test(json_has_the_same_figures),
		cmocka_unit_test(an_older_backend_tells_nothing_of_what_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
