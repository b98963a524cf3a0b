// SPDX-License-Identifier: GPL-2.0-only
/*
 * cli.c - libFuzzer on all that the command line parses.
 *
 * The first byte says what the rest is: words of a user's (with a NUL after each),
 * a name, the kernel's status line, its table line, a record of its log, its histograms.
 * No device is asked. What is refused is refused in one line that prints.
 */
#include <ctype.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include "lib/caches.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/kernel.h"
#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/timing.h"
#include "lib/running.h"
#include "lib/status.h"
#include "tools/options.h"
#include "tools/status_show.h"
#include "tools/verbs.h"

static void failed(const char *what, int line)
{
	fprintf(stderr, "cli.c:%d: assertion %s\n", line, what);
	abort();
}

#define MUST(cond) do { if (!(cond)) failed(#cond, __LINE__); } while (0)

/* ---------------------------------------------------------- complaints ---- */

/* What the tool says, on a stream of ours. */
static struct said {
	FILE *stream, *stderr_was;
	char *text;
	size_t len;
} said;

static void listen(void)
{
	said.stderr_was = stderr;
	said.stream = open_memstream(&said.text, &said.len);
	stderr = said.stream;
}

static void hush(void)
{
	stderr = said.stderr_was;
	fclose(said.stream);
}

/* "xpcache: what: ...", and nothing where there is nothing to complain about. */
static void check_said(enum xc ret)
{
	hush();
	if (ret) {
		MUST(said.len > 10 && !strncmp(said.text, "xpcache: ", 9));
		MUST(said.text[said.len - 1] == '\n');
	} else {
		MUST(!said.len);
	}
	for (size_t i = 0; i + 1 < said.len; i++)
		MUST(!iscntrl((unsigned char)said.text[i]));
	free(said.text);
}

/* --------------------------------------------------------------- words ---- */

static void check_tunables(const struct xp_tunables *t)
{
	MUST(t->dirty_low < t->dirty_high && t->dirty_high <= 100);
	MUST(t->idle_ms <= 86400000 && t->histogram <= 1 && t->stream_kib <= 1u << 30 &&
	     t->writeback_delay <= 604800 && t->mode < XP_MODES);
}

static bool is_one_of(const char *word, char **argv, int argc)
{
	for (int i = 0; i < argc; i++)
		if (word >= argv[i] && word <= argv[i] + strlen(argv[i]))
			return true;
	return !word;
}

static void try_words(const char *text, size_t size)
{
	char *argv[64];
	struct options opt;
	const struct verb *v;
	int argc = 0;

	/* main() asks for one word at least. */
	for (size_t at = 0; argc < 63 && (at < size || !argc); at += strlen(text + at) + 1)
		argv[argc++] = strdup(text + at);
	argv[argc] = NULL;
	listen();
	v = parse_words(argc, argv, &opt);
	check_said(v ? XC_OK : XC_USAGE);
	if (v && !opt.help) {
		struct xp_tunables defaults;

		xp_tunables_init(&defaults);
		MUST(!opt.arg || *opt.arg);
		MUST(opt.interval == 0 || (opt.interval >= 0.1 && opt.interval <= 86400));
		MUST(opt.class >= -1 && opt.class < (int)XP_CLASSES && opt.count < 1000000000);
		check_tunables(&opt.tunables);
		MUST(opt.tuned || !memcmp(&opt.tunables, &defaults, sizeof(defaults)));
		MUST(is_one_of(opt.arg, argv, argc) && is_one_of(opt.name, argv, argc) &&
		     is_one_of(opt.fast, argv, argc) && is_one_of(opt.slow, argv, argc));
	}
	while (argc)
		free(argv[--argc]);
}

static void try_name(const char *text)
{
	const char *plain = cache_plain_name(text);
	enum xc ret;

	MUST(plain == text || (plain == text + 12 && !strncmp(text, "/dev/mapper/", 12)));
	listen();
	ret = cache_check_name(text);
	check_said(ret);
	if (ret)
		return;
	MUST(*text && strlen(text) < sizeof(((struct xp_sb *)0)->name));
	for (const char *p = text; *p; p++)
		MUST(isalnum((unsigned char)*p) || *p == '_' || *p == '-' || *p == '.');
	MUST(*text != '.' && *text != '-');
}

/* --------------------------------------------------- the kernel's lines ---- */

/* @line with single blanks. */
static void squeeze(const char *line, char *to)
{
	char *begin = to;

	for (; *line; line++)
		if (*line != ' ' || (to > begin && to[-1] != ' '))
			*to++ = *line;
	if (to > begin && to[-1] == ' ')
		to--;
	*to = '\0';
}

static void check_words(const struct status *s, const char *line)
{
	char wanted[sizeof(s->line)], got[2 * sizeof(s->line)];
	size_t len = snprintf(got, sizeof(got), "%s", s->state);

	squeeze(line, wanted);
	for (unsigned int i = 0; i < s->n; i++)
		len += snprintf(got + len, sizeof(got) - len, " %s %s", s->name[i], s->value[i]);
	MUST(s->n == sizeof(s->name) / sizeof(*s->name) ? !strncmp(got, wanted, len) :
							  !strcmp(got, wanted));
}

static void check_json(const struct status *s)
{
	struct json_object *o = status_json(s), *v;

	for (unsigned int i = 0; i < s->n; i++) {
		const char *text = status_text(s, s->name[i]);

		MUST(text);
		if (status_number(s, s->name[i]))
			MUST(!text[strspn(text, "0123456789")]);
		MUST(!strcmp(s->name[i], "uuid") || json_object_object_get_ex(o, s->name[i], &v));
	}
	MUST(json_object_to_json_string(o));
	json_object_put(o);
}

static void try_status(const char *text)
{
	static FILE *null;
	FILE *stdout_was = stdout;
	struct status s;
	char line[sizeof(s.line)];
	int err;

	snprintf(line, sizeof(line), "%s", text);
	memcpy(s.line, line, sizeof(line));
	err = status_parse(&s);
	MUST(!err || err == -EPROTO);
	if (err)
		return;
	check_words(&s, line);
	check_json(&s);
	null = null ? null : fopen("/dev/null", "w");
	stdout = null;
	status_show(&s);
	stdout = stdout_was;
}

static void check_devices(const struct running *r, const char *text)
{
	unsigned int n[4];
	int end = 0;

	MUST(sscanf(text, "%u:%u %u:%u%n", &n[0], &n[1], &n[2], &n[3], &end) == 4);
	MUST(strspn(text, " 0123456789:") >= (size_t)end && (!text[end] || text[end] == ' '));
	MUST(r->fast == makedev(n[0], n[1]) && r->slow == makedev(n[2], n[3]));
}

static void try_table(const char *text)
{
	struct running r = { .tunables_known = false }, again = r;
	char line[256], options[XP_TUNABLES_TEXT], *copy = strdup(text);

	table_read(copy, &r);
	free(copy);
	if (r.fast || r.slow)
		check_devices(&r, text);
	if (!r.tunables_known || !r.fast || !r.slow)
		return;
	check_tunables(&r.tunables);
	xp_tunables_print(&r.tunables, options);
	snprintf(line, sizeof(line), "%u:%u %u:%u%s", major(r.fast), minor(r.fast),
		 major(r.slow), minor(r.slow), options);
	table_read(line, &again);
	MUST(again.tunables_known && again.fast == r.fast && again.slow == r.slow);
	MUST(!memcmp(&again.tunables, &r.tunables, sizeof(r.tunables)));
}

static void try_record(const char *text, size_t len)
{
	char *buf = malloc(len);
	bool found = kmsg_said(text, buf, len);

	MUST(strnlen(buf, len) < len && found == !!*buf);
	MUST(!found || strstr(text, buf) - text < (ptrdiff_t)strcspn(text, "\n"));
	MUST(!strchr(buf, '\n'));
	free(buf);
}

/* ------------------------------------------------------ its histograms ---- */

/* Whatever they say, it can be shown, and read again from what is written. */
static void check_class(const struct xp_histogram *h)
{
	static struct xp_histogram again;
	struct json_object *o = timing_json(h);
	double last = 0;

	MUST(!timing_from_json(o, &again) && !memcmp(h, &again, sizeof(again)));
	json_object_put(o);
	for (int i = 0; i <= 100; i++) {
		double ns = timing_quantile(h, i / 100.0);

		MUST(ns >= last && ns >= (double)timing_least(h) && ns <= (double)h->most);
		last = ns;
	}
}

static void try_histograms(const char *text)
{
	static struct latency l;
	const struct latency_view v = { .name = "x", .since = "", .only = -1 };
	struct canvas c = { .utf8 = true };
	int err = latency_parse(text, &l);
	size_t len;
	char *drawn;

	MUST(!err || err == -EPROTO);
	if (err)
		return;
	for (u32 i = 0; i < XP_CLASSES; i++)
		check_class(&l.class[i]);
	c.f = open_memstream(&drawn, &len);
	latency_show(&c, &l, &v);
	latency_csv(&l, -1, "", c.f);
	fclose(c.f);
	MUST(len && drawn[len - 1] == '\n');
	free(drawn);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t len = size ? size - 1 : 0;
	char *text = malloc(len + 1);

	memcpy(text, data + 1, len);
	text[len] = '\0';
	switch (size ? data[0] : 0) {
	case 'w':
		try_words(text, len);
		break;
	case 'n':
		try_name(text);
		break;
	case 's':
		try_status(text);
		break;
	case 't':
		try_table(text);
		break;
	case 'k':
		try_record(text, 1 + len / 2);
		break;
	case 'h':
		try_histograms(text);
		break;
	}
	free(text);
	return 0;
}
