// SPDX-License-Identifier: GPL-2.0-only
/* bench_setup.c - the words of bench's options, as numbers. */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_engine.h"
#include "tools/options.h"
#include "core/block.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static enum xc wrong(const char *option, const char *text, const char *what)
{
	return complain(XC_USAGE, option, what, "not a value: \"%.40s\"", text);
}

static bool positive(const char *text, double most, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && isfinite(*out) && *out > 0 && *out <= most;
}

static enum xc read_positive(const char *option, const char *text, double most, double *out)
{
	char todo[64];

	if (!text || positive(text, most, out))
		return XC_OK;
	snprintf(todo, sizeof(todo), "give a number above 0, up to %.0f", most);
	return wrong(option, text, todo);
}

/* Less than one in a quarter of an hour is none, and its times are beyond the clock. */
static enum xc read_rate(const char *text, double *rate)
{
	enum xc ret = read_positive("--rate", text, 1e8, rate);

	return ret || !text || *rate >= 0.001 ? ret :
	       wrong("--rate", text, "give 0.001 requests a second or more, up to 100000000");
}

static enum xc read_count(const char *option, const char *text, u32 most, u32 *out)
{
	double n = 0;
	enum xc ret = read_positive(option, text, most, &n);

	if (!ret && text && n != floor(n))
		return wrong(option, text, "give a whole number");
	*out = (u32)n;
	return ret;
}

static enum xc read_size(const char *text, u32 *size)
{
	u64 bytes = 0;

	if (text && (!bytes_read(text, &bytes) || !bytes || bytes > 64u << 20 || bytes % 512))
		return wrong("--size", text, "give a multiple of 512 up to 64M, such as 4k");
	*size = (u32)bytes;
	return XC_OK;
}

/* "25%": the first quarter. */
static bool read_part(const char *word, double *percent)
{
	char *end;

	*percent = strtod(word, &end);
	if (end != word && !strcmp(end, "%") && *percent > 0 && *percent <= 100)
		return true;
	*percent = 0;
	return false;
}

/* "10G", "1T+10G": from there so much. */
static bool read_bytes(char *word, struct bench_setup *s)
{
	char *plus = strchr(word, '+');

	if (plus)
		*plus++ = '\0';
	return (!plus || bytes_read(word, &s->range_from)) && bytes_read(plus ? plus : word, &s->range_bytes) &&
	       s->range_bytes && s->range_from % 4096 == 0;
}

static enum xc read_range(const char *text, struct bench_setup *s)
{
	char word[64];

	if (!text)
		return XC_OK;
	snprintf(word, sizeof(word), "%s", text);
	if (read_part(word, &s->range_percent) || read_bytes(word, s))
		return XC_OK;
	return wrong("--range", text, "give a size, a begin in whole 4k and a size, or a part: 10G, 1T+10G, 25%");
}

static enum xc read_engine(const char *text, struct bench_setup *s)
{
	s->engine_given = text;
	if (!text || !strcmp(text, "io_uring"))
		s->engine = BENCH_IO_URING;
	else if (!strcmp(text, "psync"))
		s->engine = BENCH_PSYNC;
	else
		return wrong("--engine", text, "io_uring or psync");
	return XC_OK;
}

static enum xc read_places(const char *text, enum bench_where *places)
{
	static const char *const word[] = { "workload", "cached", "device" };

	*places = BENCH_PLACES_WORKLOAD;
	for (u32 i = 0; text && i < 3; i++) {
		if (strcmp(text, word[i]) != 0)
			continue;
		*places = i;
		return XC_OK;
	}
	return text ? wrong("--places", text, "workload, cached or device") : XC_OK;
}

/* Two sessions read two sets of places, or the second finds what the first has left in the cache. */
static enum xc read_seed(const char *text, u64 *seed)
{
	char *end;

	if (!text) {
		u32 drawn = 0;

		(void)!getrandom(&drawn, sizeof(drawn), 0);
		*seed = drawn;
		return XC_OK;
	}
	errno = 0;
	*seed = strtoull(text, &end, 10);
	if (errno || *end || !isdigit((unsigned char)*text))
		return wrong("--seed", text, "give a whole number");
	return XC_OK;
}

static enum xc one_test(const char *word, u32 *tests)
{
	int row = bench_test_find(word);

	if (row < 0)
		return complain(XC_USAGE, word, "xpcache help bench names them", "no such test");
	*tests |= 1u << row;
	return XC_OK;
}

static enum xc read_tests(const char *text, u32 *tests)
{
	char words[256], *next;
	enum xc ret = XC_OK;

	snprintf(words, sizeof(words), "%s", text ? text : "headline");
	for (char *w = strtok_r(words, ",", &next); w && !ret; w = strtok_r(NULL, ",", &next))
		ret = one_test(w, tests);
	if (!ret && !*tests)
		ret = wrong("--test", text, "xpcache help bench names them");
	return ret;
}

/* The first that is wrong is complained of. */
static enum xc read_words(struct bench_setup *s, const struct bench_options *o)
{
	enum xc ret;

	(void)((ret = read_positive("--seconds", o->seconds, 86400, &s->seconds)) ||
	       (ret = read_rate(o->rate, &s->rate)) ||
	       (ret = read_size(o->size, &s->size)) ||
	       (ret = read_count("--depth", o->depth, 1024, &s->depth)) ||
	       (ret = read_count("--threads", o->threads, 64, &s->threads)) ||
	       (ret = read_range(o->range, s)) || (ret = read_engine(o->engine, s)) ||
	       (ret = read_places(o->places, &s->places)) ||
	       (ret = read_seed(o->seed, &s->seed)) || (ret = read_tests(o->test, &s->tests)));
	return ret;
}

enum xc bench_setup_read(struct bench_setup *s, const struct options *opt)
{
	const struct bench_options *o = &opt->bench;
	enum xc ret;

	memset(s, 0, sizeof(*s));
	s->quick = o->quick;
	s->destructive = o->destructive;
	s->force = opt->force;
	s->ranged = o->range;
	s->buffered = o->buffered;
	s->precondition = o->precondition;
	ret = read_words(s, o);
	if (!ret && s->places == BENCH_PLACES_CACHED && s->size > XP_BLOCK_SIZE)
		ret = complain(XC_USAGE, "--places", "leave out --size",
			       "what is in the cache is known by blocks of 4 KiB, and requests would be bigger");
	return ret;
}
