// SPDX-License-Identifier: GPL-2.0-only
/* timing.c - what a histogram of latencies says. */
#include "lib/latency/timing.h"
#include "lib/json.h"
#include "core/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double timing_quantiles[TIMING_QUANTILES] = { 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999 };
const char *const timing_quantile_name[TIMING_QUANTILES] = {
	"50", "90", "99", "99.9", "99.99", "99.999",
};

u64 timing_least(const struct xp_histogram *h)
{
	return h->least ? ~h->least : 0;
}

double timing_mean(const struct xp_histogram *h)
{
	u64 n = xp_histogram_count(h);

	return n ? (double)h->sum / (double)n : 0;
}

/* --------------------------------------------------------- the words ---- */

const char *timing_older_name(enum xp_class class)
{
	return class == XP_CLASS_WRITE_BYPASS ? "write-through" : NULL;
}

static bool is_name(const char *name, const char *word, size_t len)
{
	return name && strlen(name) == len && !strncmp(name, word, len);
}

int timing_class(const char *word, size_t len, enum xp_class *class)
{
	for (u32 i = 0; i < XP_CLASSES; i++) {
		if (is_name(xp_class_name[i], word, len) || is_name(timing_older_name(i), word, len)) {
			*class = i;
			return 0;
		}
	}
	return -EPROTO;
}

static u64 bin_last(u32 i)
{
	return i == XP_BINS - 1 ? ~0ull : xp_bin_low(i + 1) - 1;
}

/* Whoever reads while others write has the bins last: a request may be in its bin and not
 * in the rest. The other way round it is damage. */
static int settle(struct xp_histogram *h)
{
	u32 first = 0, last = XP_BINS - 1;

	while (first < XP_BINS && !h->bin[first])
		first++;
	if (first == XP_BINS)
		return h->sum || h->most || h->least ? -EPROTO : 0;
	while (!h->bin[last])
		last--;
	if (h->most > bin_last(last) || timing_least(h) < xp_bin_low(first))
		return -EPROTO;
	h->least = ~min(timing_least(h), bin_last(first));
	h->most = max(max(h->most, xp_bin_low(last)), timing_least(h));
	return 0;
}

static bool number(const char **at, char before, u64 *n)
{
	char *end;

	if (**at != before || (*at)[1] < '0' || (*at)[1] > '9')
		return false;
	errno = 0;
	*n = strtoull(*at + 1, &end, 10);
	*at = end;
	return !errno;
}

/* "BIN:COUNT" each, from low to high. */
static bool parse_bins(const char **at, struct xp_histogram *h)
{
	u64 bin, n, next = 0;

	while (**at == ' ') {
		if (!number(at, ' ', &bin) || !number(at, ':', &n) || bin < next || bin >= XP_BINS || !n)
			return false;
		h->bin[bin] = n;
		next = bin + 1;
	}
	return !**at || **at == '\n';
}

int timing_parse(const char *line, enum xp_class *class, struct xp_histogram *h)
{
	size_t len = strcspn(line, " ");
	const char *at = line + len;
	u64 count, least;

	memset(h, 0, sizeof(*h));
	if (timing_class(line, len, class) || !number(&at, ' ', &count) ||
	    !number(&at, ' ', &h->sum) || !number(&at, ' ', &least) || !number(&at, ' ', &h->most))
		return -EPROTO;
	h->least = count ? ~least : 0;
	if (!parse_bins(&at, h) || xp_histogram_count(h) != count)
		return -EPROTO;
	return settle(h);
}

/* -------------------------------------------------------- arithmetic ---- */

void timing_subtract(struct xp_histogram *later, const struct xp_histogram *earlier)
{
	u32 first = XP_BINS, last = 0;

	later->sum -= earlier->sum;
	for (u32 i = 0; i < XP_BINS; i++) {
		later->bin[i] -= earlier->bin[i];
		if (!later->bin[i])
			continue;
		first = first < i ? first : i;
		last = i;
	}
	if (first == XP_BINS) {
		later->sum = later->least = later->most = 0;
		return;
	}
	later->most = min(later->most, bin_last(last));
	later->least = ~max(timing_least(later), xp_bin_low(first));
}

/* The first and the last that a request of bin @i can have taken. */
static void edges(const struct xp_histogram *h, u32 i, double *from, double *to)
{
	double least = (double)timing_least(h), most = (double)h->most;

	*from = fmax((double)xp_bin_low(i), least);
	*to = fmax(fmin((double)bin_last(i), most), *from);
}

/* The k-th of n in a bin lies in the middle of the k-th of n parts. The ranks of 0.99 of 100
 * and the like are whole numbers, but for what a double makes of them. */
double timing_quantile(const struct xp_histogram *h, double q)
{
	double n = (double)xp_histogram_count(h), rank = fmin(fmax(ceil(q * n - 1e-6), 1), n);
	double from, to;

	if (rank <= 1)
		return (double)timing_least(h);
	if (rank == n)
		return (double)h->most;
	for (u32 i = 0; i < XP_BINS; i++) {
		double here = (double)h->bin[i];

		if (rank <= here) {
			edges(h, i, &from, &to);
			return from + (to - from) * (rank - 0.5) / here;
		}
		rank -= here;
	}
	return (double)h->most;
}

double timing_needs(const struct xp_histogram *h, double q)
{
	u64 n = xp_histogram_count(h);

	return n ? TIMING_BEYOND / ((1 - q) * (double)n) - 1e-9 : INFINITY;
}

double timing_part_below(const struct xp_histogram *h, double ns)
{
	u64 all = xp_histogram_count(h);
	double n = 0, from, to;

	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		edges(h, i, &from, &to);
		if (to <= ns)
			n += (double)h->bin[i];
		else if (from < ns)
			n += (double)h->bin[i] * (ns - from) / (to - from);
	}
	return all ? n / (double)all : 0;
}

double timing_time_below(const struct xp_histogram *h, double ns)
{
	double below = 0, all = 0, from, to;

	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		edges(h, i, &from, &to);
		all += (double)h->bin[i] * (from + to) / 2;
		if (to <= ns)
			below += (double)h->bin[i] * (from + to) / 2;
		else if (from < ns)
			below += (double)h->bin[i] * (ns - from) / (to - from) * (from + ns) / 2;
	}
	return all > 0 ? below / all : 0;
}

double timing_decade_edge(u32 per_decade, u32 i)
{
	return pow(10, (double)i / per_decade);
}

/* Where there are several edges in a bin (below 64 ns) each part gets its own; the last
 * takes what is longer, too. */
static void spread(double *n, u32 bins, u32 per_decade, double from, double to, double count)
{
	u32 i = from < 1 ? 0 : min((u32)(log10(from) * per_decade), bins - 1);

	for (; i < bins; i++) {
		double begins = i ? fmax(from, timing_decade_edge(per_decade, i)) : from;
		double ends = i < bins - 1 ? fmin(to, timing_decade_edge(per_decade, i + 1)) : to;

		if (ends > begins)
			n[i] += count * (ends - begins) / (to - from);
		if (ends >= to)
			return;
	}
}

void timing_by_decade(const struct xp_histogram *h, u32 per_decade, double *n)
{
	const u32 bins = TIMING_DECADES * per_decade;
	double from, to;

	memset(n, 0, sizeof(*n) * bins);
	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		edges(h, i, &from, &to);
		spread(n, bins, per_decade, from, to + 1, (double)h->bin[i]);
	}
}

/* ------------------------------------------------------------ outputs ---- */

static void add(struct json_object *o, const char *name, struct json_object *value)
{
	json_object_object_add(o, name, value);
}

static struct json_object *json_percentiles(const struct xp_histogram *h)
{
	struct json_object *o = json_object_new_object();

	for (u32 i = 0; i < TIMING_QUANTILES; i++)
		add(o, timing_quantile_name[i], timing_needs(h, timing_quantiles[i]) > 1 ? NULL :
		    json_object_new_double(timing_quantile(h, timing_quantiles[i])));
	return o;
}

static struct json_object *json_bins(const struct xp_histogram *h)
{
	struct json_object *all = json_object_new_array();

	for (u32 i = 0; i < XP_BINS; i++) {
		struct json_object *bin;

		if (!h->bin[i])
			continue;
		bin = json_object_new_array();
		json_object_array_add(bin, json_object_new_uint64(xp_bin_low(i)));
		json_object_array_add(bin, json_object_new_uint64(xp_bin_low(i + 1)));
		json_object_array_add(bin, json_object_new_uint64(h->bin[i]));
		json_object_array_add(all, bin);
	}
	return all;
}

struct json_object *timing_json(const struct xp_histogram *h)
{
	struct json_object *o = json_object_new_object();

	add(o, "count", json_object_new_uint64(xp_histogram_count(h)));
	add(o, "sum_ns", json_object_new_uint64(h->sum));
	add(o, "min_ns", json_object_new_uint64(timing_least(h)));
	add(o, "max_ns", json_object_new_uint64(h->most));
	add(o, "mean_ns", json_object_new_double(timing_mean(h)));
	add(o, "percentiles", json_percentiles(h));
	add(o, "bins", json_bins(h));
	return o;
}

/* False: it is no number, or less than 0. */
static bool json_number(struct json_object *o, u64 *n)
{
	if (!json_object_is_type(o, json_type_int) || json_object_get_int64(o) < 0)
		return false;
	*n = json_object_get_uint64(o);
	return true;
}

static bool member(struct json_object *o, const char *name, u64 *n)
{
	struct json_object *value;

	return json_object_object_get_ex(o, name, &value) && json_number(value, n);
}

static bool bin_from_json(struct json_object *bin, struct xp_histogram *h)
{
	u64 v[3];
	u32 i;

	if (!json_object_is_type(bin, json_type_array) || json_object_array_length(bin) != 3)
		return false;
	for (i = 0; i < 3; i++)
		if (!json_number(json_object_array_get_idx(bin, i), &v[i]))
			return false;
	i = xp_bin(v[0]);
	if (v[0] != xp_bin_low(i) || v[1] != xp_bin_low(i + 1) || h->bin[i])
		return false;
	h->bin[i] = v[2];
	return true;
}

static bool bins_from_json(struct json_object *o, struct xp_histogram *h)
{
	struct json_object *bins;

	if (!json_object_object_get_ex(o, "bins", &bins) || !json_object_is_type(bins, json_type_array))
		return false;
	for (size_t i = 0; i < json_object_array_length(bins); i++)
		if (!bin_from_json(json_object_array_get_idx(bins, i), h))
			return false;
	return true;
}

int timing_from_json(struct json_object *o, struct xp_histogram *h)
{
	u64 count, least;

	memset(h, 0, sizeof(*h));
	if (!json_object_is_type(o, json_type_object) || !member(o, "count", &count) ||
	    !member(o, "sum_ns", &h->sum) || !member(o, "min_ns", &least) ||
	    !member(o, "max_ns", &h->most) || !bins_from_json(o, h))
		return -EPROTO;
	h->least = count ? ~least : 0;
	return count == xp_histogram_count(h) ? settle(h) : -EPROTO;
}

void timing_csv(const struct xp_histogram *h, const char *prefix, FILE *f)
{
	u64 all = xp_histogram_count(h), n = 0;

	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		n += h->bin[i];
		fprintf(f, "%s%llu,%llu,%llu,%.6f\n", prefix, (unsigned long long)xp_bin_low(i),
			(unsigned long long)xp_bin_low(i + 1), (unsigned long long)h->bin[i],
			100.0 * (double)n / (double)all);
	}
}

/* The spread is the bins': each request counts as one in the middle of its bin. */
static double deviation(const struct xp_histogram *h)
{
	double mean = timing_mean(h), sum = 0, from, to;
	u64 n = xp_histogram_count(h);

	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		edges(h, i, &from, &to);
		sum += (double)h->bin[i] * pow((from + to) / 2 - mean, 2);
	}
	return n ? sqrt(sum / (double)n) : 0;
}

static void hgrm_line(FILE *f, double ns, u64 n, u64 all)
{
	fprintf(f, "%12.3f %2.12f %10llu", ns / 1000, (double)n / (double)all,
		(unsigned long long)n);
	if (n < all)
		fprintf(f, " %14.2f", (double)all / (double)(all - n));
	fputc('\n', f);
}

void timing_hgrm(const struct xp_histogram *h, FILE *f)
{
	u64 all = xp_histogram_count(h), n = 0;
	double from, to;

	fprintf(f, "       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
	if (all)	/* where the curve begins */
		hgrm_line(f, (double)timing_least(h), 0, all);
	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		n += h->bin[i];
		edges(h, i, &from, &to);
		hgrm_line(f, to, n, all);
	}
	fprintf(f, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", timing_mean(h) / 1000,
		deviation(h) / 1000);
	fprintf(f, "#[Max     = %12.3f, Total count    = %12llu]\n", (double)h->most / 1000,
		(unsigned long long)all);
	fprintf(f, "#[Buckets = %12u, SubBuckets     = %12u]\n", XP_BINS / XP_BINS_PER_DOUBLING,
		XP_BINS_PER_DOUBLING);
}
