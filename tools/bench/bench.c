// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench.c - `xpcache bench`: what is measured, in what order, what becomes of it.
 *
 * The first word may be "diff" or "report". Words with a slash in them are devices or files.
 * A word without is a running cache, or a file if none has that name.
 */
#include "tools/bench/bench.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/json.h"
#include "lib/running.h"
#include "tools/bench/bench_html.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "platform.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------- targets ---- */

static enum xc add_device(struct bench *b, const char *path)
{
	struct bench_target *t = &b->target[b->nr_targets];
	enum xc ret;

	if (b->nr_targets == BENCH_TARGETS)
		return complain(XC_USAGE, path, "give fewer", "more than %u devices", BENCH_TARGETS);
	ret = bench_target_open(t, path, BENCH_ALONE);
	if (!ret)
		b->nr_targets++;
	return ret;
}

/* True: no device, but the name of a cache, running or not. */
static bool means_cache(const struct options *opt)
{
	struct running r;

	return opt->nr_words == 1 && !strchr(opt->arg, '/') &&
	       (access(opt->arg, F_OK) || (running_find(opt->arg, NULL, &r) == 1 && r.uuid[0]));
}

static enum xc guard_targets(struct bench *b)
{
	enum xc ret = XC_OK;

	for (u32 i = 0; i < b->nr_targets && !ret && b->setup.destructive; i++)
		if (b->target[i].leg == BENCH_ALONE || b->target[i].leg == BENCH_C)
			ret = bench_guard(&b->target[i], b->setup.force);
	return ret;
}

static enum xc open_targets(struct bench *b, const struct options *opt)
{
	enum xc ret = XC_OK;

	if (means_cache(opt))
		ret = bench_cache_open(b, opt->arg);
	else
		for (u32 i = 0; i < opt->nr_words && !ret; i++)
			ret = add_device(b, opt->words[i]);
	for (u32 i = 0; i < b->nr_targets && !ret; i++)
		if (b->target[i].leg != BENCH_R)
			ret = bench_target_range(&b->target[i], &b->setup);
	return ret;
}

/* ---------------------------------------------------------- outputs ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat st_a, st_b;

	if (!a || !b || !strcmp(a, b))
		return a && b;
	return !stat(a, &st_a) && !stat(b, &st_b) && S_ISREG(st_a.st_mode) &&
	       st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
}

/* The state goes when the result is there. */
static enum xc check_distinct(const struct bench *b, const struct bench_options *o)
{
	const char *const place[] = { o->output, o->html };

	if (same_file(o->output, o->html))
		return complain(XC_USAGE, o->html, "give two files", "the result and its page are the same file");
	for (u32 i = 0; i < 2; i++)
		if (same_file(place[i], b->state_path))
			return complain(XC_USAGE, place[i], "rename that, or give another file",
					"what an interrupted session goes on from is there");
	return XC_OK;
}

/* @path: NULL or "": none was asked for. */
static enum xc output_ready(struct bench *b, const char *path)
{
	return path && *path ? bench_output_ready(b, path) : XC_OK;
}

/* Before anybody is asked, and hours before they are written. */
static enum xc check_outputs(struct bench *b, const struct options *opt, struct json_object *old)
{
	const struct bench_options *o = &opt->bench;
	enum xc ret;

	if (!old && o->output && bench_output_is_file(o->output))
		snprintf(b->state_path, sizeof(b->state_path), "%s.state", o->output);
	ret = check_distinct(b, o);
	if (!ret)
		ret = output_ready(b, o->output);
	if (!ret)
		ret = output_ready(b, b->state_path);
	if (!ret && *b->state_path && !old)
		ret = bench_state_free(b->state_path);
	return ret ? ret : output_ready(b, o->html);
}

/* ---------------------------------------------------------- session ---- */

static enum xc interrupted(struct bench *b)
{
	char todo[PATH_MAX + 64];

	if (!json_object_array_length(b->runs))
		return complain(XC_INTERRUPTED, "bench", "nothing was measured yet", "interrupted");
	if (bench_state_save(b))
		return XC_INTERRUPTED;
	snprintf(todo, sizeof(todo), "xpcache bench --resume %s goes on", b->state_path);
	return complain(XC_INTERRUPTED, "bench", todo, "interrupted after %zu runs",
			json_object_array_length(b->runs));
}

static void warn_page_cache(struct bench *b)
{
	for (u32 i = 0; i < b->plan.nr; i++) {
		const struct bench_plan_run *run = &b->plan.run[i];

		if (!run->fell_back)
			continue;
		bench_result_warn(b->result, "page-cache", "%s has no O_DIRECT: the page cache answers too.",
				  run->target->dev.path);
		return;
	}
}

static enum xc tell(struct bench *b, const struct options *opt)
{
	const struct bench_options *o = &opt->bench;
	enum bench_form form = opt->csv ? BENCH_CSV : opt->hgrm ? BENCH_HGRM : BENCH_JSON;
	enum xc ret = XC_OK;

	if (o->output || b->quiet)
		ret = bench_output_write(b, b->result, form, o->output);
	if (o->html && !ret)
		ret = bench_output_write(b, b->result, BENCH_PAGE, o->html);
	if (!b->quiet)
		bench_show(b->result);
	return ret;
}

/* Old runs of a session that goes on stay; so does its date. */
static void begin_result(struct bench *b, const struct options *opt, struct json_object *old)
{
	b->result = old ? old : bench_result_new(b, opt->argc, opt->argv);
	b->runs = bench_result_get(b->result, "runs");
	bench_result_add(b->result, "warnings", json_object_new_array());
	bench_host_warn(b->result);
}

/* What could not be written was measured all the same. */
static void keep(struct bench *b)
{
	if (!*b->state_path && (bench_state_begin(b) || bench_state_save(b)))
		return;
	fprintf(stderr, "xpcache bench --resume %s writes it again\n", b->state_path);
}

static enum xc finish(struct bench *b, const struct options *opt)
{
	enum xc ret;

	warn_page_cache(b);
	bench_curves(b->result);
	bench_warnings(b->result);
	if (b->cache)
		bench_cache_finish(b);
	bench_state_end(b);
	ret = tell(b, opt);
	if (ret)
		keep(b);
	else
		bench_state_drop(b);
	return ret;
}

static enum xc session(struct bench *b, const struct options *opt, struct json_object *old)
{
	enum xc ret, told;

	begin_result(b, opt, old);
	ret = bench_state_begin(b);
	if (ret)
		return ret;
	if (b->cache)
		bench_cache_begin(b);
	bench_catch_signals();
	ret = bench_run_all(b);
	if (bench_stopped)
		return interrupted(b);
	if (b->cut_short)
		return XC_FAILED;
	told = finish(b, opt);
	return ret ? ret : told;
}

/* A session that goes on goes on with its draw. */
static void seed_of(struct bench *b, struct json_object *old)
{
	if (old)
		b->setup.seed = json_object_get_uint64(bench_result_get(old, "seed"));
}

/* In this order a session is refused; nothing is written before it is asked. */
static enum xc prepare(struct bench *b, const struct options *opt, struct json_object *old)
{
	enum xc ret = bench_setup_read(&b->setup, opt);

	seed_of(b, old);
	if (!ret)
		ret = open_targets(b, opt);
	if (!ret && old)
		ret = bench_state_check(b, old);
	if (!ret)
		ret = check_outputs(b, opt, old);
	if (!ret)
		ret = guard_targets(b);
	return ret ? ret : bench_plan_make(b);
}

static void close_all(struct bench *b)
{
	if (b->cache)
		bench_cache_close(b);
	for (u32 i = 0; i < b->nr_targets; i++)
		bench_target_close(&b->target[i]);
	free(b->plan.run);
	free(b);
}

/* @old, at @path: what an interrupted session left; or NULL. */
static enum xc measure(const struct options *opt, struct json_object *old, const char *path)
{
	struct bench *b = calloc(1, sizeof(*b));
	enum xc ret;

	if (!b)
		return complain_errno(ENOMEM, NULL, "cannot begin");
	b->quiet = !opt->bench.output && (opt->json || opt->csv || opt->hgrm);
	b->lines = !b->quiet;
	snprintf(b->state_path, sizeof(b->state_path), "%s", path);
	ret = prepare(b, opt, old);
	if (!ret)
		ret = session(b, opt, old);
	if (b->result != old)
		json_object_put(b->result);
	close_all(b);
	return ret;
}

/* ----------------------------------------------------------- resume ---- */

/* The words that began it are in the file; they live as long as what was read of it. */
static char **words_stored(struct json_object *words, int argc)
{
	char **argv = calloc((size_t)argc + 1, sizeof(*argv));

	for (int i = 0; argv && i < argc; i++) {
		const char *word = json_object_get_string(json_object_array_get_idx(words, (size_t)i));

		argv[i] = (char *)(word ? word : "");
	}
	return argv;
}

static enum xc resume_words(const struct options *begun, const char *path, struct json_object *old, struct json_object *words)
{
	int argc = (int)json_object_array_length(words);
	char **argv = words_stored(words, argc);
	struct options opt;
	enum xc ret = XC_USAGE;

	if (!argv)
		return complain_errno(ENOMEM, path, "cannot go on");
	if (argc < 2 || strcmp(argv[0], "bench") != 0)
		complain(XC_USAGE, path, "give another", "it does not say what was to be measured");
	else if (begun->parse(argc, argv, &opt))
		ret = opt.nr_words ? measure(&opt, old, path) :
		      complain(XC_USAGE, path, "give another", "it does not say what was to be measured");
	free(argv);
	return ret;
}

/* Its own path is meant from here, what is in it from where it was begun. */
static enum xc resume(const struct options *begun)
{
	const char *word = begun->bench.resume;
	struct json_object *old = NULL, *words;
	enum xc ret = bench_result_load(word, &old);
	char path[PATH_MAX];

	if (ret)
		return ret;
	if (!realpath(word, path))
		snprintf(path, sizeof(path), "%s", word);
	words = bench_result_get(old, "words");
	if (words && json_object_is_type(words, json_type_array))
		(void)((ret = bench_state_enter(old, word)) || (ret = resume_words(begun, path, old, words)));
	else
		ret = complain(XC_USAGE, word, "give the .state file of an interrupted session",
			       "it does not say what was to be measured");
	json_object_put(old);
	return ret;
}

/* All else is said in the file. */
static enum xc check_resume(const struct options *opt)
{
	const char *file = opt->bench.resume;

	if (opt->nr_words)
		return complain(XC_USAGE, opt->arg, "xpcache bench --resume FILE", "one word too many");
	if (opt->argc == 2 || (opt->argc == 3 && opt->argv[2] == file))
		return XC_OK;
	return complain(XC_USAGE, "--resume", "xpcache bench --resume FILE, and no other option",
			"a session goes on as it was begun");
}

/* ------------------------------------------------------------- verb ---- */

static enum xc check_words(const struct options *opt)
{
	const struct bench_options *o = &opt->bench;

	if (!opt->nr_words)
		return complain(XC_USAGE, "bench", "xpcache bench NAME, or xpcache bench /dev/...",
				"a cache or a device is missing");
	if (opt->json + opt->csv + opt->hgrm > 1)
		return complain(XC_USAGE, opt->csv ? "--csv" : "--hgrm", "give one of --json, --csv and --hgrm",
				"one form at a time");
	if (o->precondition && !o->destructive)
		return complain(XC_USAGE, "--precondition", "give --destructive as well", "it writes");
	return XC_OK;
}

const bool bench_alone = true;

const char *bench_test_name(unsigned int n, const char **what)
{
	*what = n < BENCH_TESTS ? bench_tests[n].what : "";
	return n < BENCH_TESTS ? bench_tests[n].name : NULL;
}

enum xc bench_help(void (*options)(const struct verb *v), const struct verb *v)
{
	options(v);
	printf("Tests:\n");
	for (u32 i = 0; i < BENCH_TESTS; i++)
		printf("  %-15s %s%s\n", bench_tests[i].name, bench_tests[i].what,
		       bench_tests[i].needs & BENCH_WRITES ? " (writes)" :
		       bench_tests[i].needs & BENCH_CACHE ? " (of a cache)" : "");
	return XC_OK;
}

static enum xc compare(const struct options *opt)
{
	return opt->nr_words == 3 ? bench_diff(opt->words[1], opt->words[2], opt->json) :
	       complain(XC_USAGE, "bench diff", "xpcache bench diff A.json B.json", "two results are wanted");
}

static enum xc report(const struct options *opt)
{
	return opt->nr_words == 2 ? bench_html_from_file(opt->words[1], opt->bench.html ? opt->bench.html :
							  opt->bench.output) :
	       complain(XC_USAGE, "bench report", "xpcache bench report RESULT.json -o page.html",
			"one result is wanted");
}

enum xc bench_verb_run(struct options *opt)
{
	enum xc ret;

	if (opt->bench.resume) {
		ret = check_resume(opt);
		return ret ? ret : resume(opt);
	}
	if (opt->nr_words && !strcmp(opt->arg, "diff"))
		return compare(opt);
	if (opt->nr_words && !strcmp(opt->arg, "report"))
		return report(opt);
	ret = check_words(opt);
	return ret ? ret : measure(opt, NULL, "");
}
