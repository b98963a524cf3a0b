// SPDX-License-Identifier: GPL-2.0-only
/*
 * watch_metrics.c - all caches in the words of Prometheus: its text format 0.0.4, and OpenMetrics 1.0, where a family
 * of counters is without the _total of its series, and the end is told.
 *
 * Counters are the target's own: they begin anew when a cache is started, and never
 * otherwise.
 */
#include "daemon/watch/watch.h"
#include "lib/latency/pulse.h"
#include "lib/version.h"
#include "core/block.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------- one value ---- */

/* A name of the device mapper may hold anything; what is not UTF-8 would spoil all. */
static void put_label(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', f);
		if (*text == '\n')
			fputs("\\n", f);
		else
			fputc((unsigned char)*text < 0x80 ? *text : '?', f);
	}
}

struct page {
	FILE *f;
	enum metrics_format format;
};

static void head(const struct page *to, const char *name, const char *type, const char *help)
{
	size_t len = strlen(name);

	if (to->format == METRICS_OPEN && !strcmp(type, "counter"))
		len -= strlen("_total");
	fprintf(to->f, "# HELP xpcache_%.*s %s\n# TYPE xpcache_%.*s %s\n", (int)len, name, help, (int)len, name, type);
}

/* "xpcache_NAME{cache="...",LABEL="..."} ", to which the value comes. */
static void series(FILE *f, const char *name, const struct pulse *p, const char *label,
		   const char *value)
{
	fprintf(f, "xpcache_%s{cache=\"", name);
	put_label(f, p->name);
	if (label) {
		fprintf(f, "\",%s=\"", label);
		put_label(f, value);
	}
	fputs("\"} ", f);
}

/* ------------------------------------------------------ gauges, counters ---- */

enum unit { ONE, BLOCKS, PRESSURE };	/* blocks: told in bytes */
enum known { ALWAYS, BLOCK_LAYER, COUNTED, KEPT };	/* if the block layer tells it; the backend; a newer one */

static const struct figure {
	const char *name, *type, *help;
	size_t offset;
	enum unit unit;
	enum known known;
} figures[] = {
#define AT(member)	offsetof(struct pulse, member)
	{ "slots", "gauge", "Slots of 4 KiB on the fast device.", AT(slots), ONE, ALWAYS },
	{ "dirty_bytes", "gauge", "Data that is on the fast device only.", AT(dirty), BLOCKS, ALWAYS },
	{ "clean_bytes", "gauge", "Data that is on both devices.", AT(clean), BLOCKS, ALWAYS },
	{ "journal_blocks", "gauge", "Blocks of the journal ring.", AT(journal_blocks), ONE, ALWAYS },
	{ "journal_used_blocks", "gauge", "Blocks of the journal ring that are needed.",
	  AT(journal_used), ONE, ALWAYS },
	{ "pressure_ratio", "gauge", "How much writers are slowed: 0 not, 1 to the slow device's pace.",
	  AT(pressure), PRESSURE, ALWAYS },
	{ "requests_failed_total", "counter", "Requests that ended with an error.", AT(requests_failed), ONE, COUNTED },
	{ "read_fast_bytes_total", "counter", "Data read from the fast device for reads, in whole blocks.",
	  AT(read_blocks_fast), BLOCKS, COUNTED },
	{ "read_slow_bytes_total", "counter", "Data read from the slow device for reads, in whole blocks.",
	  AT(read_blocks_slow), BLOCKS, COUNTED },
	{ "write_fast_bytes_total", "counter", "Data of writes to the fast device, in whole blocks.",
	  AT(write_blocks), BLOCKS, COUNTED },
	{ "write_slow_bytes_total", "counter", "Data of writes to the slow device, in whole blocks.",
	  AT(write_bypass_blocks), BLOCKS, COUNTED },
	{ "discarded_bytes_total", "counter", "What discards and write zeroes were of, in whole blocks.",
	  AT(discard_blocks), BLOCKS, COUNTED },
	{ "reads_total", "counter", "Reads.", AT(reads), ONE, ALWAYS },
	{ "read_hits_total", "counter", "Reads that the fast device answered.", AT(read_hits), ONE, ALWAYS },
	{ "writes_total", "counter", "Writes.", AT(writes), ONE, ALWAYS },
	{ "write_bypasses_total", "counter", "Writes with a part that bypassed the cache.",
	  AT(write_bypass), ONE, ALWAYS },
	{ "flushes_total", "counter", "Flushes.", AT(flushes), ONE, ALWAYS },
	{ "discards_total", "counter", "Discards and write zeroes.", AT(discards), ONE, ALWAYS },
	{ "read_bytes_total", "counter", "Data read from the cache.", AT(read_bytes), ONE, BLOCK_LAYER },
	{ "written_bytes_total", "counter", "Data written to the cache.", AT(write_bytes), ONE, BLOCK_LAYER },
	{ "filled_bytes_total", "counter", "Data taken into the cache by reads.", AT(fills), BLOCKS, ALWAYS },
	{ "written_back_bytes_total", "counter", "Data written back to the slow device.",
	  AT(written_back), BLOCKS, ALWAYS },
	{ "destaged_bytes_total", "counter", "The first name of written_back_bytes_total, for one release.",
	  AT(written_back), BLOCKS, ALWAYS },
	{ "evicted_bytes_total", "counter", "Data given up for other data.", AT(evicted), BLOCKS, ALWAYS },
	{ "streams_total", "counter", "Read streams that became longer than stream_kib.", AT(streams_seen), ONE, KEPT },
	{ "stream_bypass_bytes_total", "counter", "Data of such streams that was not taken into the cache.",
	  AT(stream_bypass_blocks), BLOCKS, KEPT },
	{ "stream_bypass_written_bytes_total", "counter", "Data of written streams as long that went to the slow device.",
	  AT(stream_bypass_written), BLOCKS, KEPT },
	{ "ghost_hit_bytes_total", "counter", "Data read from the slow device that was evicted not long ago.",
	  AT(ghost_hits), BLOCKS, KEPT },
	{ "ghost_hit_quarter_bytes_total", "counter", "The part of it that a quarter more slots would have held.",
	  AT(ghost_hits_quarter), BLOCKS, KEPT },
	{ "journal_written_bytes_total", "counter", "Journal written to the fast device.",
	  AT(journal_writes), BLOCKS, ALWAYS },
	{ "fast_written_bytes_total", "counter", "All that was written to the fast device.",
	  AT(fast_bytes_written), ONE, ALWAYS },
#undef AT
};

static bool is_known(enum known known, const struct pulse *p)
{
	return known == BLOCK_LAYER ? p->bytes_known :
	       known == COUNTED ? p->counted :
	       known == KEPT ? p->kept_known : true;
}

static void put_figure(FILE *f, const struct figure *g, const struct pulse *p)
{
	u64 n = *(const u64 *)((const char *)p + g->offset);

	if (!is_known(g->known, p))
		return;
	series(f, g->name, p, NULL, NULL);
	if (g->unit == PRESSURE)
		fprintf(f, "%.4g\n", (double)n / 1024);
	else
		fprintf(f, "%llu\n", (unsigned long long)(g->unit == BLOCKS ? n << XP_BLOCK_SHIFT : n));
}

/* Each class once, by its name; not as of a histogram, whose requests are those that were timed. */
static void put_requests(FILE *f, const struct pulse *p)
{
	for (u32 class = 0; class < XP_REQUEST_CLASSES && p->counted; class++) {
		series(f, "requests_total", p, "class", xp_class_name[class]);
		fprintf(f, "%llu\n", (unsigned long long)p->requests[class]);
	}
}

static void put_misses(FILE *f, const struct pulse *p)
{
	series(f, "read_misses_total", p, NULL, NULL);
	fprintf(f, "%llu\n", (unsigned long long)(p->reads - p->read_hits));
}

static void put_errors(FILE *f, const struct pulse *p)
{
	series(f, "device_errors_total", p, "device", "fast");
	fprintf(f, "%llu\n", (unsigned long long)p->fast_errors);
	series(f, "device_errors_total", p, "device", "slow");
	fprintf(f, "%llu\n", (unsigned long long)p->slow_errors);
}

/* One of them is 1; a state that a later version has is one more. */
static void put_states(FILE *f, const struct pulse *p)
{
	static const char *const states[] = { "running", "asleep", "failed", "suspended", "loading" };
	bool known = false;

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		bool is = !strcmp(p->state, states[i]);

		known |= is;
		series(f, "state", p, "state", states[i]);
		fprintf(f, "%d\n", is);
	}
	if (!known) {
		series(f, "state", p, "state", p->state);
		fputs("1\n", f);
	}
}

static void put_info(FILE *f, const struct pulse *p)
{
	series(f, "cache_info", p, "uuid", p->uuid);
	fputs("1\n", f);
}

/* ------------------------------------------------------------ histograms ---- */

/*
 * Whole bins: a count is exact, and the le says so to the nanosecond. What is less than an
 * edge is at most the edge less one, which is what "le" means.
 */
u32 metrics_edge_bin(u32 i)
{
	double wanted = 1000 * pow(10, i / 4.0);
	u32 bin = xp_bin((u64)wanted);

	return wanted - (double)xp_bin_low(bin) < (double)xp_bin_low(bin + 1) - wanted ? bin : bin + 1;
}

/* Seconds, to the nanosecond, without zeros at the end. */
static void put_seconds(FILE *f, u64 ns)
{
	char text[48];
	size_t len = (size_t)snprintf(text, sizeof(text), "%llu.%09llu",
				      (unsigned long long)(ns / 1000000000),
				      (unsigned long long)(ns % 1000000000));

	while (text[len - 1] == '0' && text[len - 2] != '.')
		text[--len] = '\0';
	fputs(text, f);
}

static void put_bucket(FILE *f, const char *name, const char *labels, u32 edge, u64 n)
{
	fprintf(f, "xpcache_%s_bucket%s,le=\"", name, labels);
	if (edge < METRICS_EDGES)
		put_seconds(f, xp_bin_low(metrics_edge_bin(edge)) - 1);
	else
		fputs("+Inf", f);
	fprintf(f, "\"} %llu\n", (unsigned long long)n);
}

static void put_histogram(FILE *f, const char *name, const char *labels, const struct xp_histogram *h)
{
	u64 n = 0;
	u32 bin = 0;

	for (u32 i = 0; i <= METRICS_EDGES; i++) {
		u32 end = i < METRICS_EDGES ? metrics_edge_bin(i) : XP_BINS;

		for (; bin < end; bin++)
			n += h->bin[bin];
		put_bucket(f, name, labels, i, n);
	}
	fprintf(f, "xpcache_%s_sum%s} ", name, labels);
	put_seconds(f, h->sum);
	fprintf(f, "\nxpcache_%s_count%s} %llu\n", name, labels, (unsigned long long)n);
}

/* The opening of the labels is the same for 32 lines. */
static void put_class(FILE *f, const char *name, const struct pulse *p, const char *class,
		      const struct xp_histogram *h)
{
	char *labels = NULL;
	size_t len;
	FILE *l = open_memstream(&labels, &len);

	if (!l)
		return;
	fputs("{cache=\"", l);
	put_label(l, p->name);
	fprintf(l, "\",class=\"%s\"", class);
	if (!fclose(l))
		put_histogram(f, name, labels, h);
	free(labels);
}

/* The classes from @first to before @end of every cache: a family. */
static void put_classes(FILE *f, const struct watch *w, const char *name, u32 first, u32 end)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct pulse *p = &w->cache[i]->now;

		for (u32 class = first; class < end && w->cache[i]->looks && p->timed; class++) {
			const char *older = timing_older_name(class);

			put_class(f, name, p, xp_class_name[class], &p->latency.class[class]);
			if (older)
				put_class(f, name, p, older, &p->latency.class[class]);
		}
	}
}

/* ---------------------------------------------------------- fast device ---- */

static void put_wear(const struct page *to, const struct watch *w)
{
	static const struct {
		const char *name, *type, *help;
	} row[] = {
		{ "fast_wear_ratio", "gauge", "Life of the fast device that is used, by its maker's estimate." },
		{ "fast_spare_ratio", "gauge", "Spare blocks of the fast device that are left." },
		{ "fast_life_written_bytes_total", "counter", "Written to the fast device in all its life." },
		{ "fast_critical_warning", "gauge", "Bits of the fast device's own alarm; 0 is well." },
		{ "fast_lifetime_seconds", "gauge", "What the fast device lasts at the rate of the last day." },
	};

	for (size_t k = 0; k < sizeof(row) / sizeof(*row); k++) {
		head(to, row[k].name, row[k].type, row[k].help);
		for (size_t i = 0; i < w->n; i++) {
			const struct watched *c = w->cache[i];
			const double value[] = {
				c->wear.used / 100.0, c->wear.spare / 100.0, c->wear.written,
				c->wear.warning, c->alarms.years * 365.25 * 86400,
			};

			if (!c->wear.known || isnan(value[k]))
				continue;
			series(to->f, row[k].name, &c->now, NULL, NULL);
			fprintf(to->f, "%.15g\n", value[k]);
		}
	}
}

/* ------------------------------------------------------------------ all ---- */

/* A family, of every cache. */
static void put_each(FILE *f, const struct watch *w, void (*put)(FILE *f, const struct pulse *p))
{
	for (size_t i = 0; i < w->n; i++)
		if (w->cache[i]->looks)
			put(f, &w->cache[i]->now);
}

static void put_ratio(const struct page *to, const struct watch *w, const struct pulse_ratio *r, const char *help)
{
	head(to, r->name, "gauge", help);
	for (size_t i = 0; i < w->n; i++) {
		const struct pulse *p = &w->cache[i]->now;

		if (!w->cache[i]->looks || isnan(r->of(p)))
			continue;
		series(to->f, r->name, p, NULL, NULL);
		fprintf(to->f, "%.15g\n", r->of(p));
	}
}

static void put_ratios(const struct page *to, const struct watch *w)
{
	static const char *const hits[PULSE_RATIOS] = {
		"Hits of all reads, since the cache was started.",
		"Bytes from the fast device of all that were read, since the cache was started.",
		"Time of hits of the time that all reads took, since the cache was started.",
	};
	static const char *const costs[PULSE_QUOTIENTS] = {
		"Part of the data that missed that a quarter more slots would have held, since the cache was started.",
		"Blocks filled for each block read in a hit, since the cache was started.",
		"Bytes written to the fast device for each that users read or wrote, since the cache was started.",
	};

	for (u32 k = 0; k < PULSE_RATIOS; k++)
		put_ratio(to, w, &pulse_ratios[k], hits[k]);
	for (u32 k = 0; k < PULSE_QUOTIENTS; k++)
		put_ratio(to, w, &pulse_quotients[k], costs[k]);
}

static void put_recording(FILE *f, const struct pulse *p)
{
	if (!p->timed)
		return;
	series(f, "recording", p, NULL, NULL);
	fprintf(f, "%d\n", p->latency.recording);
}

/* A copy of what lies between two signs, without blanks at its ends; the text behind it. */
static const char *next_word(const char *text, const char *sign, char *word, size_t len)
{
	size_t n = strcspn(text, sign), skip = strspn(text, " \t");

	skip = skip < n ? skip : n;
	snprintf(word, len, "%.*s", (int)(n - skip), text + skip);
	for (size_t end = strlen(word); end && strchr(" \t", word[end - 1]); )
		word[--end] = '\0';
	return text[n] ? text + n + 1 : text + n;
}

/* Of "version = 1.0.0" the value, if that is its name; else NULL. */
static const char *value_of(const char *parameter, const char *name)
{
	size_t n = strlen(name);

	if (strncasecmp(parameter, name, n))
		return NULL;
	parameter += n + strspn(parameter + n, " \t");
	return *parameter == '=' ? parameter + 1 + strspn(parameter + 1, " \t") : NULL;
}

/* How much of it is wanted, 0 to 1; a version that is none of ours is not. */
static double quality_of(const char *parameters, bool open)
{
	char parameter[64];
	double quality = 1;

	while (*parameters) {
		const char *q, *version;

		parameters = next_word(parameters, ";", parameter, sizeof(parameter));
		q = value_of(parameter, "q");
		version = value_of(parameter, "version");
		if (q)
			quality = strtod(q, NULL);
		if (open && version && strcmp(version, "1.0.0") && strcmp(version, "0.0.1"))
			return 0;
	}
	return quality;
}

enum metrics_format metrics_wanted(const char *accept)
{
	double wanted[] = { [METRICS_PROMETHEUS] = 0, [METRICS_OPEN] = 0 };
	char range[256], type[64];

	while (accept && *accept) {
		const char *parameters;
		bool open;

		accept = next_word(accept, ",", range, sizeof(range));
		parameters = next_word(range, ";", type, sizeof(type));
		open = !strcasecmp(type, "application/openmetrics-text");
		if (open || !strcasecmp(type, "text/plain"))
			wanted[open] = fmax(wanted[open], quality_of(parameters, open));
	}
	return wanted[METRICS_OPEN] > 0 && wanted[METRICS_OPEN] >= wanted[METRICS_PROMETHEUS] ? METRICS_OPEN : METRICS_PROMETHEUS;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8" :
					"text/plain; version=0.0.4; charset=utf-8";
}

void metrics_write(const struct watch *w, FILE *f, enum metrics_format format)
{
	const struct page to = { f, format };

	head(&to, "build_info", "gauge", "The version of this program.");
	fputs("xpcache_build_info{version=\"" XPCACHE_VERSION "\"} 1\n", f);
	head(&to, "caches", "gauge", "Caches that run.");
	fprintf(f, "xpcache_caches %zu\n", w->n);
	head(&to, "cache_info", "gauge", "Which cache has the name.");
	put_each(f, w, put_info);
	head(&to, "state", "gauge", "1 for the state that it is in.");
	put_each(f, w, put_states);
	for (size_t k = 0; k < sizeof(figures) / sizeof(*figures); k++) {
		head(&to, figures[k].name, figures[k].type, figures[k].help);
		for (size_t i = 0; i < w->n; i++)
			if (w->cache[i]->looks)
				put_figure(f, &figures[k], &w->cache[i]->now);
	}
	head(&to, "requests_total", "counter", "Requests of the cache, by what was worst in them.");
	put_each(f, w, put_requests);
	put_ratios(&to, w);
	head(&to, "read_misses_total", "counter", "Reads of which a part came from the slow device.");
	put_each(f, w, put_misses);
	head(&to, "device_errors_total", "counter", "Requests of the cache that a device failed.");
	put_each(f, w, put_errors);
	put_wear(&to, w);
	head(&to, "recording", "gauge", "1 while latencies are recorded.");
	put_each(f, w, put_recording);
	head(&to, "request_duration_seconds", "histogram", "How long requests of the cache took, by what was worst in them.");
	put_classes(f, w, "request_duration_seconds", 0, XP_REQUEST_CLASSES);
	head(&to, "device_duration_seconds", "histogram", "How long the devices below took for the cache's requests.");
	put_classes(f, w, "device_duration_seconds", XP_REQUEST_CLASSES, XP_CLASSES);
	if (format == METRICS_OPEN)
		fputs("# EOF\n", f);
}
