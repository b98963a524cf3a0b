// SPDX-License-Identifier: GPL-2.0-only
/* timing.c - what a histogram of latencies says. */
#include "timing.h"

#include <errno.h>
#include <math.h>
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

static int class_by_name(const char *word, size_t len, enum xp_class *class)
{
	for (u32 i = 0; i < XP_CLASSES; i++) {
		if (strlen(xp_class_name[i]) == len && !strncmp(xp_class_name[i], word, len)) {
			*class = i;
			return 0;
		}
	}
	return -EPROTO;
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

int timing_parse(const char *line, enum xp_class *class, struct xp_histogram *h)
{
	size_t len = strcspn(line, " ");
	const char *at = line + len;
	u64 count, least, bin, n;

	memset(h, 0, sizeof(*h));
	if (class_by_name(line, len, class) || !number(&at, ' ', &count) ||
	    !number(&at, ' ', &h->sum) || !number(&at, ' ', &least) || !number(&at, ' ', &h->most))
		return -EPROTO;
	h->least = count ? ~least : 0;
	while (*at == ' ') {
		if (!number(&at, ' ', &bin) || !number(&at, ':', &n) || bin >= XP_BINS)
			return -EPROTO;
		h->bin[bin] = n;
	}
	return (*at && *at != '\n') || xp_histogram_count(h) != count ? -EPROTO : 0;
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
		later->least = later->most = 0;
		return;
	}
	if (earlier->most >= later->most)
		later->most = min(later->most, xp_bin_low(last + 1) - 1);
	if (earlier->least >= later->least)
		later->least = ~max(timing_least(later), xp_bin_low(first));
}

/* The requests of bin @i, cut to what is known of all. */
static void edges(const struct xp_histogram *h, u32 i, double *from, double *to)
{
	double least = (double)timing_least(h), most = (double)h->most;

	*from = fmax((double)xp_bin_low(i), least);
	*to = fmin((double)xp_bin_low(i + 1), most);
	if (i == XP_BINS - 1)
		*to = most;
	if (*to < *from)
		*to = *from;
}

double timing_quantile(const struct xp_histogram *h, double q)
{
	double left = q * (double)xp_histogram_count(h), from, to;

	for (u32 i = 0; i < XP_BINS; i++) {
		if (!h->bin[i])
			continue;
		if (left <= (double)h->bin[i]) {
			edges(h, i, &from, &to);
			return from + (to - from) * left / (double)h->bin[i];
		}
		left -= (double)h->bin[i];
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

/* Where there are several edges in a bin (below 64 ns) each part gets its own. */
static void spread(double *n, u32 per_decade, double from, double to, double count)
{
	u32 i = from < 1 ? 0 : (u32)(log10(from) * per_decade);

	for (; i < TIMING_DECADES * per_decade; i++) {
		double begins = i ? fmax(from, timing_decade_edge(per_decade, i)) : from;
		double ends = fmin(to, timing_decade_edge(per_decade, i + 1));

		if (ends > begins)
			n[i] += count * (ends - begins) / (to - from);
		if (ends >= to)
			return;
	}
}

void timing_by_decade(const struct xp_histogram *h, u32 per_decade, double *n)
{
	memset(n, 0, sizeof(*n) * TIMING_DECADES * per_decade);
	for (u32 i = 0; i < XP_BINS; i++)
		if (h->bin[i])
			spread(n, per_decade, (double)xp_bin_low(i), (double)xp_bin_low(i + 1),
			       (double)h->bin[i]);
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

static u64 member(struct json_object *o, const char *name)
{
	struct json_object *value;

	return json_object_object_get_ex(o, name, &value) ? json_object_get_uint64(value) : 0;
}

int timing_from_json(struct json_object *o, struct xp_histogram *h)
{
	struct json_object *bins;
	u64 count;

	memset(h, 0, sizeof(*h));
	if (!json_object_object_get_ex(o, "bins", &bins) ||
	    !json_object_is_type(bins, json_type_array))
		return -EPROTO;
	for (size_t i = 0; i < json_object_array_length(bins); i++) {
		struct json_object *bin = json_object_array_get_idx(bins, i);

		if (!json_object_is_type(bin, json_type_array) || json_object_array_length(bin) != 3)
			return -EPROTO;
		h->bin[xp_bin(json_object_get_uint64(json_object_array_get_idx(bin, 0)))] +=
			json_object_get_uint64(json_object_array_get_idx(bin, 2));
	}
	count = member(o, "count");
	h->sum = member(o, "sum_ns");
	h->most = member(o, "max_ns");
	h->least = count ? ~member(o, "min_ns") : 0;
	return count == xp_histogram_count(h) ? 0 : -EPROTO;
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

void timing_hgrm(const struct xp_histogram *h, FILE *f)
{
	u64 all = xp_histogram_count(h), n = 0;

	fprintf(f, "       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
	for (u32 i = 0; i < XP_BINS; i++) {
		double part, from, to;

		if (!h->bin[i])
			continue;
		n += h->bin[i];
		part = (double)n / (double)all;
		edges(h, i, &from, &to);
		fprintf(f, "%12.3f %2.12f %10llu", to / 1000, part, (unsigned long long)n);
		if (n < all)
			fprintf(f, " %14.2f\n", 1 / (1 - part));
		else
			fputc('\n', f);
	}
	fprintf(f, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", timing_mean(h) / 1000,
		deviation(h) / 1000);
	fprintf(f, "#[Max     = %12.3f, Total count    = %12llu]\n", (double)h->most / 1000,
		(unsigned long long)all);
	fprintf(f, "#[Buckets = %12u, SubBuckets     = %12u]\n", XP_BINS / XP_BINS_PER_DOUBLING,
		XP_BINS_PER_DOUBLING);
}
