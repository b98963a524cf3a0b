// SPDX-License-Identifier: GPL-2.0-only
/* latency.c - asking a running cache for its histograms, and what they say together. */
#include "lib/latency/latency.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/latency/timing.h"
#include "lib/running.h"
#include "lib/version.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "histogram on tsc 81234567890" */
static int parse_header(const char *text, struct latency *l)
{
	char on[4], digits[20];
	int end = 0;

	if (sscanf(text, "histogram %3s %15s %19[0-9]%n", on, l->clock, digits, &end) != 3 ||
	    text[end] != '\n' || (strcmp(on, "on") != 0 && strcmp(on, "off") != 0))
		return -EPROTO;
	l->recording = !strcmp(on, "on");
	l->ns = strtoull(digits, NULL, 10);
	return 0;
}

int latency_parse(const char *text, struct latency *l)
{
	enum xp_class class;
	int err;

	memset(l, 0, sizeof(*l));
	err = parse_header(text, l);
	for (u32 i = 0; i < XP_CLASSES && !err; i++) {
		text = strchr(text, '\n');
		if (text)
			text++;
		if (!text || timing_parse(text, &class, &l->class[i]) || class != i)
			err = -EPROTO;
	}
	return err;
}

int latency_read(const char *name, struct latency *l)
{
	char *text;
	int err = running_ask(name, "histogram", &text);

	if (!err)
		err = latency_parse(text, l);
	free(text);
	return err;
}

enum xc latency_take(const char *name, struct latency *l)
{
	int err = latency_read(name, l);

	if (err == -EINVAL || err == -ENODATA || err == -EPROTO)
		return complain(XC_FAILED, name, "load the module of this version, and start it again",
				"the module does not tell latencies as version " XPCACHE_VERSION " does");
	if (err == -ENXIO)
		return complain(XC_NOT_FOUND, name, "xpcache list shows all", "it does not run");
	return err ? complain_errno(err, name, "cannot read its histograms") : XC_OK;
}

/* A cache that was started anew since counts from 0 again. */
static bool is_later(const struct latency *later, const struct latency *earlier)
{
	for (u32 i = 0; i < XP_CLASSES; i++)
		for (u32 bin = 0; bin < XP_BINS; bin++)
			if (later->class[i].bin[bin] < earlier->class[i].bin[bin])
				return false;
	return later->ns >= earlier->ns;
}

bool latency_subtract(struct latency *later, const struct latency *earlier)
{
	if (!is_later(later, earlier))
		return false;
	later->ns -= earlier->ns;
	for (u32 i = 0; i < XP_CLASSES; i++)
		timing_subtract(&later->class[i], &earlier->class[i]);
	return true;
}

void latency_merge(const struct latency *l, enum xp_class first, enum xp_class last,
		   struct xp_histogram *to)
{
	memset(to, 0, sizeof(*to));
	for (u32 i = first; i <= (u32)last; i++)
		xp_histogram_merge(to, &l->class[i]);
}

double latency_hits(const struct latency *l)
{
	struct xp_histogram reads;
	u64 n;

	latency_merge(l, LATENCY_READS, &reads);
	n = xp_histogram_count(&reads);
	return n ? (double)xp_histogram_count(&l->class[XP_CLASS_READ_HIT]) / (double)n : NAN;
}

double latency_hits_by_time(const struct latency *l)
{
	struct xp_histogram reads;

	latency_merge(l, LATENCY_READS, &reads);
	return reads.sum ? (double)l->class[XP_CLASS_READ_HIT].sum / (double)reads.sum : NAN;
}

double latency_own_cost(const struct latency *l)
{
	const struct xp_histogram *hit = &l->class[XP_CLASS_READ_HIT];
	const struct xp_histogram *leg = &l->class[XP_CLASS_FAST_READ];

	if (timing_needs(hit, 0.5) > 1 || timing_needs(leg, 0.5) > 1 ||
	    xp_histogram_count(leg) > 2 * xp_histogram_count(hit))
		return NAN;
	return timing_quantile(hit, 0.5) - timing_quantile(leg, 0.5);
}
