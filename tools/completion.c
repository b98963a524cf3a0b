// SPDX-License-Identifier: GPL-2.0-only
/*
 * completion - what a shell offers for a word that is being typed.
 *
 * The shells' own part is in tools/completion/: it asks `xpcache completion words -- WORD...`, of which the last is
 * the one at the cursor, and gets a line for each word that could stand there: the word, a tab, what it does. A line
 * ":files" says that a file's name could, too; the shell knows how to offer those.
 */
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/figures.h"
#include "lib/known.h"
#include "lib/program.h"
#include "lib/running.h"
#include "lib/sysfs.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/class.h"
#include "core/words.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a word stands: all before the part of it that is looked for, "--mode=" or "latency,". */
struct place {
	const struct verb *verb;
	const char *word;
	size_t before;
};

static void offer(const struct place *at, const char *word, size_t len, const char *what)
{
	printf("%.*s%.*s\t%s\n", (int)at->before, at->word, (int)len, word, what);
}

static void offer_word(const struct place *at, const char *word, const char *what)
{
	offer(at, word, strlen(word), what);
}

/* ------------------------------------------------------- what there is ---- */

static void offer_caches(const struct place *at)
{
	struct running *running = NULL;
	struct known *known = NULL;
	struct caches all = { .n = 0 };
	size_t n = 0, i;

	if (running_list(&running, &n))
		n = 0;
	for (i = 0; i < n; i++)
		offer_word(at, running[i].name, "running");
	if (!caches_scan(&all))
		for (i = 0; i < all.n; i++)
			if (!all.v[i].running && !all.v[i].err)
				offer_word(at, all.v[i].name, "stopped");
	n = known_all(&known);
	for (i = 0; i < n; i++)
		if (caches_lack(&all, &known[i]))
			offer_word(at, known[i].name, "its fast device is not here");
	caches_free(&all);
	free(running);
	free(known);
}

static void offer_device(const struct place *at, const char *kname)
{
	char name[256], path[300], sectors[32] = "0";

	sysfs_read(kname, "size", sectors, sizeof(sectors));
	if (!strtoull(sectors, NULL, 10))
		return;
	if (sysfs_read(kname, "dm/name", name, sizeof(name)))
		snprintf(path, sizeof(path), "/dev/mapper/%s", name);
	else
		snprintf(path, sizeof(path), "/dev/%s", kname);
	for (char *slash = path; (slash = strchr(slash, '!'));)
		*slash = '/';
	xp_words_clean(path, sizeof(path));
	offer_word(at, path, text_bytes(strtoull(sectors, NULL, 10) << XP_SECTOR_SHIFT));
}

static void offer_files(const struct place *at)
{
	if (!at->before)
		printf(":files\n");
}

static void offer_devices(const struct place *at)
{
	DIR *dir = opendir(SYSFS_BLOCK);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			offer_device(at, entry->d_name);
	if (dir)
		closedir(dir);
	offer_files(at);
}

static void offer_verbs(const struct place *at)
{
	for (size_t i = 0; i < nr_verbs; i++)
		offer_word(at, verb_table[i].name, verb_table[i].description);
}

static void offer_classes(const struct place *at)
{
	for (u32 i = 0; i < XP_CLASSES; i++)
		offer_word(at, xp_class_name[i], "");
}

/* More of them, after a comma. */
static void offer_tests(const struct place *at)
{
	const char *comma = strrchr(at->word, ',');
	struct place last = *at;
	const char *name, *what;

	last.before = comma ? (size_t)(comma + 1 - at->word) : at->before;
	for (unsigned int i = 0; (name = bench_test_name(i, &what)); i++)
		offer_word(&last, name, what);
}

/* What set takes: "mode=". */
static void offer_settings(const struct place *at)
{
	char word[64];

	for (size_t i = 0; i < nr_options; i++) {
		if (option_table[i].bit != OPT_LIMITS)
			continue;
		snprintf(word, sizeof(word), "%s=", option_table[i].name);
		offer_word(at, word, option_table[i].help);
	}
}

/* ---------------------------------------------------------------- values ---- */

/* By the names that values have in the help. */
static const struct {
	const char *name;
	void (*offer)(const struct place *at);
} values[] = {
	{ "DEV", offer_devices }, { "FAST", offer_devices }, { "NAME,", offer_tests }, { "NAME", offer_caches },
	{ "VERB", offer_verbs }, { "OPTION=VALUE", offer_settings }, { "CLASS", offer_classes },
	{ "FILE", offer_files }, { "RESULT", offer_files }, { "A", offer_files }, { "B", offer_files },
};

/* "0|1": it is one of them. */
static void offer_each(const struct place *at, const char *name)
{
	for (size_t len; *name; name += len + (name[len] == '|')) {
		len = strcspn(name, "|");
		offer(at, name, len, "");
	}
}

/* @name may be followed by something else; not where it says which words there are. */
static bool offer_named(const struct place *at, const char *name)
{
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		size_t len = strlen(values[i].name);

		if (!strncmp(name, values[i].name, len) && !isupper((unsigned char)name[len])) {
			values[i].offer(at);
			return true;
		}
	}
	return false;
}

static void offer_values(const struct place *at, const char *name)
{
	if (!offer_named(at, name) && strchr(name, '|'))
		offer_each(at, name);
}

/* --------------------------------------------------------------- options ---- */

/* Words of set are named as options. */
static const struct option_row *option_named(const struct verb *v, const char *name, size_t len)
{
	for (size_t i = 0; i < nr_options; i++) {
		const struct option_row *row = &option_table[i];

		if (!strncmp(row->name, name, len) && !row->name[len] &&
		    (verb_takes(v, row) || (v->options & OPT_SET && row->bit == OPT_LIMITS)))
			return row;
	}
	return NULL;
}

static void offer_options(const struct place *at)
{
	char word[64];

	for (size_t i = 0; i < nr_options; i++) {
		const struct option_row *row = &option_table[i];

		if (!verb_takes(at->verb, row) || row->bit == OPT_HELP)
			continue;
		snprintf(word, sizeof(word), "--%s", row->name);
		offer_word(at, word, verb_text(at->verb, row->name, row->help));
	}
}

/* Of "--mode=", or for set "mode=". */
static void offer_after_equals(struct place *at, const char *equals)
{
	const char *name = at->word + strspn(at->word, "-");
	const struct option_row *row = option_named(at->verb, name, (size_t)(equals - name));

	at->before = (size_t)(equals + 1 - at->word);
	if (!row || !row->value)
		return;
	offer_values(at, row->value);
	if (name == at->word)
		offer_word(at, "default", "");
}

/* -------------------------------------------------------------- operands ---- */

/* One word of a usage. What begins with a small letter is meant as it is. */
static void offer_operand(const struct place *at, const char *name, size_t len)
{
	if (islower((unsigned char)*name))
		offer(at, name, len, "");
	else
		offer_named(at, name);
}

/* All that the verb's usage names outside of options: of "[NAME | --all]" it is NAME. */
static void offer_operands(const struct place *at)
{
	const char *p = at->verb->usage;

	for (size_t len; *(p += strspn(p, " []|")); p += len) {
		len = strcspn(p, " []|");
		if (strncmp(p, "--", 2))
			offer_operand(at, p, len);
		else if (p[len] == ' ' && isupper((unsigned char)p[len + 1]))	/* its value */
			len += 1 + strcspn(p + len + 1, " []|");
	}
}

/* ------------------------------------------------------------------ verb ---- */

/* xpcache-bench knows its tests; the words are of this command. */
static bool is_for_bench(const struct verb *v)
{
	return v->options & OPT_BENCH && !bench_alone;
}

/* What stands after an option that takes a value. */
static const char *value_after(const struct verb *v, const char *before)
{
	const struct option_row *row = strncmp(before, "--", 2) ? NULL : option_named(v, before + 2, strlen(before + 2));

	return row ? row->value : NULL;
}

static bool has_equals(const struct place *at)
{
	return strchr(at->word, '=') && (at->verb->options & OPT_SET || !strncmp(at->word, "--", 2));
}

static void complete_of(struct place *at, const char *before)
{
	const char *value = value_after(at->verb, before);

	if (value)
		offer_values(at, value);
	else if (has_equals(at))
		offer_after_equals(at, strchr(at->word, '='));
	else if (*at->word == '-')
		offer_options(at);
	else
		offer_operands(at);
}

/* @words: of a command, without the program's name; the last is at the cursor. */
static void complete(char **words, unsigned int n)
{
	struct place at = { .word = words[n - 1], .verb = n > 1 ? verb_of(words[0]) : NULL };

	if (n == 1)
		offer_verbs(&at);
	else if (at.verb)
		complete_of(&at, words[n - 2]);
}

/* completion_scripts.S */
extern const char completion_bash[], completion_fish[], completion_zsh[], completion_end[];

static enum xc print_script(const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), stdout);
	return XC_OK;
}

static enum xc complete_words(struct options *opt)
{
	const struct verb *v = opt->nr_words > 2 ? verb_of(opt->words[1]) : NULL;

	if (v && is_for_bench(v))
		return program_run("xpcache-bench", opt->argc, opt->argv);
	if (opt->nr_words > 1)
		complete(opt->words + 1, opt->nr_words - 1);
	return XC_OK;
}

enum xc completion_run(struct options *opt)
{
	if (!opt->arg)
		return complain(XC_USAGE, "completion", "xpcache completion bash, fish or zsh", "a shell is missing");
	if (!strcmp(opt->arg, "words"))
		return complete_words(opt);
	if (opt->nr_words > 1)
		return complain(XC_USAGE, opt->words[1], "xpcache completion bash, for example", "one word too many");
	if (!strcmp(opt->arg, "bash"))
		return print_script(completion_bash, completion_fish);
	if (!strcmp(opt->arg, "fish"))
		return print_script(completion_fish, completion_zsh);
	if (!strcmp(opt->arg, "zsh"))
		return print_script(completion_zsh, completion_end);
	return complain(XC_USAGE, opt->arg, "xpcache completion bash, fish or zsh", "no completion for this shell");
}
