// SPDX-License-Identifier: GPL-2.0-only
/* pulse_view.c - a cache between two looks, for people and as JSON. */
#include "lib/colour.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/pulse.h"
#include "core/block.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double a_second(const struct pulse *p, u64 n)
{
	return p->seconds > 0 ? (double)n / p->seconds : 0;
}

static double ratio(u64 part, u64 whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

/* ---------------------------------------------------------- for people ---- */

#define FIRST_COLUMNS	35	/* rates, and blanks; beside them what they mean */

static const char *percent(double part)
{
	static char text[4][16];
	static unsigned int next;
	char *s = text[next++ % 4];

	if (isnan(part))
		return "-";
	snprintf(s, sizeof(text[0]), "%.1f %%", 100 * part);
	return s;
}

enum bytes { BYTES_TOLD, BYTES_NOT_TOLD, NOTHING_TOLD };

/* "reads      12,345/s    50.6 MB/s" and, if there is anything, @beside. */
static void show_rate(const struct canvas *c, const char *what, const struct pulse *p, u64 n,
		      u64 bytes, enum bytes told, const char *beside)
{
	char count[32] = "-", text[128], rate[32] = "";

	if (told != NOTHING_TOLD)
		snprintf(count, sizeof(count), "%s/s", text_count((u64)(a_second(p, n) + 0.5)));
	if (told == NOTHING_TOLD)
		snprintf(rate, sizeof(rate), "%13s", "-");
	else if (told == BYTES_TOLD)
		snprintf(rate, sizeof(rate), "%8.1f MB/s", a_second(p, bytes) / 1e6);
	snprintf(text, sizeof(text), "%-8s%11s%s", what, count, rate);
	canvas_left(c, *beside ? FIRST_COLUMNS : 0, text);
	fprintf(c->f, "%s\n", beside);
}

/* "hits: 97.3 % of reads, 95.1 % of bytes, 4.1 % of time", of what is known. */
static void hits_text(const struct pulse *p, char *text, size_t room)
{
	static const char *const of[PULSE_RATIOS] = { "reads", "bytes", "time" };
	size_t at = 0;

	*text = '\0';
	for (u32 i = 0; i < PULSE_RATIOS; i++) {
		double part = pulse_ratios[i].of(p);

		if (!isnan(part) && at < room)
			at += (size_t)snprintf(text + at, room - at, "%s %s of %s", at ? "," : "hits:", percent(part), of[i]);
	}
}

static void show_traffic(const struct canvas *c, const struct pulse *p)
{
	enum bytes told = p->bytes_known ? BYTES_TOLD : BYTES_NOT_TOLD;
	char text[96];

	hits_text(p, text, sizeof(text));
	show_rate(c, "reads", p, p->reads, p->read_bytes, told, text);
	snprintf(text, sizeof(text), "written back: %.1f MB/s",
		 a_second(p, p->written_back << XP_BLOCK_SHIFT) / 1e6);
	show_rate(c, "writes", p, p->writes, p->write_bytes, told, text);
}

/* What comes into the cache for its hits, and what is kept out. */
static void show_kept(const struct canvas *c, const struct pulse *p)
{
	char text[96];

	snprintf(text, sizeof(text), "%s a hit; %s bytes written a user byte",
		 text_quotient(pulse_fills_per_hit(p)), text_quotient(pulse_fast_bytes(p)));
	show_rate(c, "fills", p, p->fills, p->fills << XP_BLOCK_SHIFT, BYTES_TOLD, text);
	snprintf(text, sizeof(text), "hits with a quarter more: %s of misses", percent(pulse_ghost_hits(p)));
	show_rate(c, "streams", p, p->streams_seen, p->stream_bypass_blocks << XP_BLOCK_SHIFT,
		  p->kept_known ? BYTES_TOLD : NOTHING_TOLD, text);
}

static void show_levels(const struct canvas *c, const struct pulse *p)
{
	char text[64];

	snprintf(text, sizeof(text), "dirty   %s, %s", percent(ratio(p->dirty, p->slots)),
		 text_bytes(p->dirty << XP_BLOCK_SHIFT));
	canvas_left(c, FIRST_COLUMNS, text);
	fprintf(c->f, "journal: %s used; pressure: %s\n",
		percent(ratio(p->journal_used, p->journal_blocks)), percent(ratio(p->pressure, 1024)));
}

/* Without the histogram the rest is still worth a look. */
static void show_latency(const struct canvas *c, const struct pulse *p)
{
	if (!p->timed)
		fprintf(c->f, "latency: %s\n", p->older ? "this module does not tell it" : "not known");
	else if (!p->latency.recording)
		fputs("latency: not recorded now\n", c->f);
	else
		latency_table(c, &p->latency, LATENCY_RATES, -1);
}

void pulse_show(const struct canvas *c, const struct pulse *p)
{
	bool running = !strcmp(p->state, "running");

	fprintf(c->f, "%s  %s%s%s  in %.1f s\n", p->name, running ? colour_good() : colour_bad(),
		p->state, colour_off(), p->seconds);
	show_traffic(c, p);
	show_kept(c, p);
	show_levels(c, p);
	show_latency(c, p);
}

/* ------------------------------------------------------------- as JSON ---- */

static void add_number(struct json_object *o, const char *name, double n)
{
	json_object_object_add(o, name, json_object_new_double(n));
}

struct json_object *pulse_json(const struct pulse *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_words(p->name));
	json_object_object_add(o, "state", json_words(p->state));
	add_number(o, "seconds", p->seconds);
	add_number(o, "reads_per_second", a_second(p, p->reads));
	add_number(o, "writes_per_second", a_second(p, p->writes));
	json_object_object_add(o, "read_bytes_per_second", p->bytes_known ?
			       json_object_new_double(a_second(p, p->read_bytes)) : NULL);
	json_object_object_add(o, "write_bytes_per_second", p->bytes_known ?
			       json_object_new_double(a_second(p, p->write_bytes)) : NULL);
	add_number(o, "writeback_bytes_per_second", a_second(p, p->written_back << XP_BLOCK_SHIFT));
	add_number(o, "destage_bytes_per_second", a_second(p, p->written_back << XP_BLOCK_SHIFT));	/* its first name, for one release */
	for (u32 i = 0; i < PULSE_RATIOS; i++)
		json_object_object_add(o, pulse_ratios[i].name, latency_json_ratio(pulse_ratios[i].of(p)));
	for (u32 i = 0; i < PULSE_QUOTIENTS; i++)
		json_object_object_add(o, pulse_quotients[i].name, latency_json_ratio(pulse_quotients[i].of(p)));
	json_object_object_add(o, "counts", p->counted ? pulse_json_counts(p) : NULL);
	json_object_object_add(o, "dirty_bytes", json_object_new_uint64(p->dirty << XP_BLOCK_SHIFT));
	json_object_object_add(o, "dirty_ratio", latency_json_ratio(ratio(p->dirty, p->slots)));
	json_object_object_add(o, "journal_ratio",
			       latency_json_ratio(ratio(p->journal_used, p->journal_blocks)));
	add_number(o, "pressure_ratio", ratio(p->pressure, 1024));
	if (p->timed) {
		json_object_object_add(o, "recording", json_object_new_boolean(p->latency.recording));
		json_object_object_add(o, "latency", latency_json(&p->latency));
	}
	return o;
}
