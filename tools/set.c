// SPDX-License-Identifier: GPL-2.0-only
/*
 * set: the options of a cache, while it runs and for its later starts; or what they are.
 *
 * What runs is told by the message "set", and the record in /etc/xpcache has what each start takes. All is checked
 * before any of it is changed. An option that only a start can set is noted for the next one.
 */
#include "boot/initramfs.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/flushing.h"
#include "lib/json.h"
#include "lib/known.h"
#include "lib/offline.h"
#include "lib/running.h"
#include "lib/signals.h"
#include "lib/user.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set {
	const struct options *opt;
	struct running r;
	struct known k;
	bool running, known;
	struct xp_tunables live, noted;	/* as they are to be: of what runs, and in the record */
	bool images;		/* those of the initramfs have the record of before */
};

static const struct xp_tunable *const rows_end = xp_tunable_rows + XP_TUNABLES;

static const char *name_of(const struct set *s)
{
	return s->running ? s->r.name : s->k.name;
}

static const char *option_of(const struct xp_tunable *row)
{
	static char text[TUNABLE_OPTION];

	tunable_option(row, text);
	return text;
}

/* Of a word that sets it, or of a list. Static. */
static const char *text_value(const struct xp_tunable *row, u32 value)
{
	static char text[16];

	xp_tunable_text(row, value, text, sizeof(text));
	return text;
}

static const char *value_of(const struct xp_tunables *t, const struct xp_tunable *row)
{
	return text_value(row, xp_tunable_value(t, row));
}

/* ------------------------------------------------------------------ words ---- */

/* Is @word that option and its value? */
static bool names(const char *word, const struct xp_tunable *row)
{
	size_t len = strcspn(word, "=");

	return len == strlen(option_of(row)) && !strncmp(word, option_of(row), len);
}

static const struct xp_tunable *row_of(const char *word)
{
	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++)
		if (tunable_is_users(row) && names(word, row))
			return row;
	return NULL;
}

static enum xc refuse_word(const char *word)
{
	char all[256] = "one of";

	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++)
		if (tunable_is_users(row))
			snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s=", option_of(row));
	return complain(XC_USAGE, word, all, strchr(word, '=') ? "no such option" : "an option has a value");
}

static enum xc apply_word(const char *word, struct xp_tunables *t)
{
	const struct xp_tunable *row = row_of(word);
	const char *value = strchr(word, '=');
	struct xp_message msg;
	char initial[16];

	if (!row || !value)
		return refuse_word(word);
	xp_tunable_text(row, row->initial, initial, sizeof(initial));
	if (!xp_tunables_set(t, row->name, strcmp(++value, "default") ? value : initial, &msg))
		return XC_OK;
	return complain(XC_USAGE, word, row->word ? "give one of them, or default" : "give another value, or default",
			"%s", msg.text);
}

static enum xc apply_words(const struct options *opt, struct xp_tunables *t)
{
	enum xc ret = XC_OK;

	for (unsigned int i = 1; !ret && i < opt->nr_words; i++)
		ret = apply_word(opt->words[i], t);
	return ret;
}

enum xc set_check(const struct options *opt)
{
	struct xp_tunables t;

	if (opt->json && opt->nr_words > 1)
		return complain(XC_USAGE, "--json", "give it alone: it lists them", "options are set");
	if (strchr(opt->arg, '='))
		return complain(XC_USAGE, opt->arg, "xpcache set NAME dirty-low=20, say", "the name of the cache comes first");
	xp_tunables_init(&t);
	return apply_words(opt, &t);
}

static bool is_named(const struct options *opt, const struct xp_tunable *row)
{
	for (unsigned int i = 1; i < opt->nr_words; i++)
		if (names(opt->words[i], row))
			return true;
	return false;
}

/* The one whose values are words. */
static const struct xp_tunable *mode_row(void)
{
	const struct xp_tunable *row = xp_tunable_rows;

	while (!row->word)
		row++;
	return row;
}

/* ------------------------------------------------------------------- find ---- */

/* A mode that was not asked for need not be said: the superblock has it. */
static bool is_given(const struct set *s, const struct xp_tunables *t, const struct xp_tunable *row)
{
	return tunable_is_users(row) &&
	       (xp_tunable_is_set(t, row) || (row->word && is_named(s->opt, row) && xp_tunable_is_said(t, row)));
}

/* What a start is to be given, where nothing is noted. */
static const char *text_given(const struct set *s, const struct xp_tunables *t)
{
	static char text[XP_TUNABLES_TEXT + 2 * XP_TUNABLES];
	size_t len = 0;

	text[0] = '\0';
	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++)
		if (is_given(s, t, row))
			len += (size_t)snprintf(text + len, sizeof(text) - len, " --%s %s", option_of(row), value_of(t, row));
	return text;
}

static enum xc refuse_stopped(const struct set *s, const struct cache *c)
{
	struct xp_tunables t;

	xp_tunables_init(&t);
	apply_words(s->opt, &t);
	return complain(XC_REFUSED, c->name, text_todo("%s%s", text_start(c->name, c->fast.path, NULL), text_given(s, &t)),
			"it does not run, and nothing is noted of it here");
}

static enum xc refuse_unknown(const struct set *s, const char *name)
{
	struct caches all = { .n = 0 };
	const struct cache *c = NULL;
	enum xc ret;

	if (!caches_scan(&all))
		for (size_t i = 0; i < all.n && !c; i++)
			if (!all.v[i].err && (!strcmp(all.v[i].name, name) || !strcmp(all.v[i].uuid, name)))
				c = &all.v[i];
	if (c)
		ret = refuse_stopped(s, c);
	else
		ret = complain(XC_NOT_FOUND, name, "xpcache list shows all", "no cache of this name runs, or is known here");
	caches_free(&all);
	return ret;
}

static enum xc find_running(struct set *s)
{
	if (s->r.asleep)
		return say_asleep(s->r.name);
	if (!s->r.tunables_known)
		return complain(XC_FAILED, s->r.name, "use the xpcache of that version",
				"what runs it is of another version, and has options that are not known here");
	return XC_OK;
}

static enum xc ask(struct set *s, const char *name)
{
	int found = running_named(name, &s->r);

	s->running = found == 1;
	if ((found < 0 && found != -ENODEV) || (s->running && !s->r.uuid[0]))
		return caches_find_running(name, &s->r);	/* which says what is wrong */
	return XC_OK;
}

/* It may run under another name than the one that is noted. */
static enum xc look_up(struct set *s, const char *name)
{
	unsigned int n = known_find(s->running ? s->r.uuid : name, &s->k);

	if (n > 1)
		return complain(XC_REFUSED, name, "give the uuid of one, as its file in /etc/xpcache is called",
				"%u caches of this name are known to this machine", n);
	s->known = n;
	if (!s->running && s->known)
		s->running = running_find(NULL, s->k.uuid, &s->r) == 1;
	return s->running || s->known ? XC_OK : refuse_unknown(s, name);
}

static enum xc find(struct set *s)
{
	const char *name = cache_plain_name(s->opt->arg);
	enum xc ret = ask(s, name);

	if (!ret)
		ret = look_up(s, name);
	return ret || !s->running ? ret : find_running(s);
}

/* ------------------------------------------------------------------ check ---- */

static enum xc check_limits(const struct set *s, const struct xp_tunables *t, const char *of)
{
	struct xp_message msg;

	if (!xp_tunables_check(t, &msg))
		return XC_OK;
	return complain(XC_USAGE, name_of(s), "give dirty-low and dirty-high, both", "%s: %s", of, msg.text);
}

/* Is it for the next start alone? */
static bool waits_for_start(const struct set *s, const struct xp_tunable *row)
{
	return !s->running || (row->start && xp_tunable_value(&s->live, row) != xp_tunable_value(&s->r.tunables, row));
}

static enum xc check_noted(const struct set *s)
{
	for (const struct xp_tunable *row = xp_tunable_rows; !s->known && row < rows_end; row++)
		if (waits_for_start(s, row))
			return complain(XC_REFUSED, s->r.name,
					text_todo("xpcache stop %s, then %s%s", s->r.name,
						  text_start(s->r.name, s->r.fast_path, s->r.slow_path), text_given(s, &s->live)),
					"%s is set by a start, and nothing is noted here for the next one", option_of(row));
	return s->known && s->k.limits_wrong ? XC_FAILED : XC_OK;	/* known_find() has said why */
}

static enum xc check(struct set *s)
{
	enum xc ret = XC_OK;

	s->live = s->r.tunables;
	s->noted = s->k.limits;
	if (s->running) {
		running_paths(&s->r);
		ret = apply_words(s->opt, &s->live);
		ret = ret ? ret : check_limits(s, &s->live, "as it runs");
	}
	if (!ret && s->known) {
		ret = apply_words(s->opt, &s->noted);
		ret = ret ? ret : check_limits(s, &s->noted, "as noted for its starts");
	}
	return ret ? ret : check_noted(s);
}

/* ------------------------------------------------------------------ apply ---- */

/* One message: all of it is taken, or nothing. */
static enum xc tell_running(const struct set *s)
{
	char message[sizeof("set") + XP_TUNABLES_TEXT] = "set";
	size_t len = strlen(message), none = len;
	int err = 0;

	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++)
		if (!row->start && xp_tunable_value(&s->live, row) != xp_tunable_value(&s->r.tunables, row))
			len += (size_t)snprintf(message + len, sizeof(message) - len, " %s %s", row->name,
						value_of(&s->live, row));
	if (len > none)
		err = running_tell(s->r.name, message);
	if (err == -EINVAL)
		return complain(XC_FAILED, s->r.name,
				text_todo("xpcache stop %s, then %s%s", s->r.name,
					  text_start(s->r.name, s->r.fast_path, s->r.slow_path), text_given(s, &s->live)),
				"what runs it is of an older version, and changes no options");
	return err ? complain_errno(err, s->r.name, "cannot change its options") : XC_OK;
}

static enum xc note(struct set *s)
{
	bool changes = memcmp(&s->k.limits, &s->noted, sizeof(s->noted));
	int err;

	if (!changes)
		return XC_OK;
	s->k.limits = s->noted;
	err = known_write(&s->k);
	if (err)
		return complain(XC_FAILED, name_of(s), "the next start has the options of before",
				"cannot note its options: %s", strerror(-err));
	s->images = images_know(&s->k) && initramfs_refreshes();
	return XC_OK;
}

static enum xc apply(struct set *s)
{
	enum xc ret = XC_OK;

	signals_hold();
	if (s->running)
		ret = tell_running(s);
	if (!ret && s->known)
		ret = note(s);
	signals_release();
	return ret;
}

/* -------------------------------------------------------------------- say ---- */

enum when { NOW_AND_LATER, NOW_ALONE, NEXT_START };

/* The superblock keeps the mode, whatever is noted. */
static enum when when_of(const struct set *s, const struct xp_tunable *row)
{
	if (waits_for_start(s, row))
		return NEXT_START;
	return s->known || row->word ? NOW_AND_LATER : NOW_ALONE;
}

/* "dirty-low 20, idle-ms 0"; "": there are none. */
static const char *text_named(const struct set *s, enum when when)
{
	static char text[XP_TUNABLES_TEXT];
	size_t len = 0;

	text[0] = '\0';
	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++)
		if (is_named(s->opt, row) && when_of(s, row) == when)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s %s", len ? ", " : "", option_of(row),
						value_of(s->running ? &s->live : &s->noted, row));
	return text;
}

static void say_changed(const struct set *s)
{
	const char *text = text_named(s, NOW_ALONE);

	if (*text)
		printf("%s: %s, now and until it is stopped: nothing is noted of it here\n", s->r.name, text);
	text = text_named(s, NOW_AND_LATER);
	if (*text)
		printf("%s: %s, now and from each start on\n", s->r.name, text);
	text = text_named(s, NEXT_START);
	if (!*text)
		return;
	printf("%s: %s, from the next start on", name_of(s), text);
	if (s->running)
		printf(": xpcache stop %s, then %s", s->r.name, text_start(s->k.name, s->r.fast_path, s->r.slow_path));
	putchar('\n');
}

static void list_text(const struct set *s)
{
	printf("%-15s  %-12s  %-12s  %s\n", "OPTION", "NOW", "NEXT START", "DEFAULT");
	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++) {
		if (!tunable_is_users(row))
			continue;
		printf("%-15s  %-12s", option_of(row), s->running ? value_of(&s->r.tunables, row) : "-");
		printf("  %-12s", s->known ? value_of(&s->k.limits, row) : "-");
		printf("  %s\n", text_value(row, row->initial));
	}
}

static void json_value(struct json_object *o, const char *key, bool is, const struct xp_tunables *t,
		       const struct xp_tunable *row)
{
	json_object_object_add(o, key, is ? json_tunable(row, xp_tunable_value(t, row)) : NULL);
}

static void list_json(const struct set *s)
{
	struct json_object *o = json_object_new_object(), *all = json_object_new_object();

	json_object_object_add(o, "name", json_words(name_of(s)));
	json_object_object_add(o, "uuid", json_words(s->running ? s->r.uuid : s->k.uuid));
	for (const struct xp_tunable *row = xp_tunable_rows; row < rows_end; row++) {
		struct json_object *one;

		if (!tunable_is_users(row))
			continue;
		one = json_object_new_object();
		json_value(one, "now", s->running, &s->r.tunables, row);
		json_value(one, "next_start", s->known, &s->k.limits, row);
		json_object_object_add(one, "default", json_tunable(row, row->initial));
		json_object_object_add(all, row->name, one);
	}
	json_object_object_add(o, "options", all);
	printf("%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY));
	json_object_put(o);
}

static void list(const struct set *s)
{
	if (s->opt->json)
		list_json(s);
	else
		list_text(s);
}

/* -------------------------------------------------------------------- run ---- */

/* Who starts it, or takes it out of the records, does that before or after it. */
static enum xc change(struct set *s)
{
	enum xc ret;
	int lock;

	if (s->known && images_know(&s->k))
		initramfs_lock_to_refresh();
	lock = s->known ? known_lock(s->k.uuid, true) : -1;
	ret = find(s);
	if (!ret)
		ret = check(s);
	if (!ret)
		ret = apply(s);
	known_unlock(lock);
	return ret;
}

static enum xc make_images(const struct set *s)
{
	if (!s->images)
		return XC_OK;
	printf("the initramfs is made again: it starts the cache, and is to know its options\n");
	return initramfs_make();
}

/* Somebody else may have set another meanwhile. */
static enum xc check_mode(const struct set *s)
{
	static struct running r;
	enum xc ret = caches_find_running(s->r.name, &r);

	if (ret || r.tunables.mode != XP_MODE_WRITEBACK)
		return ret;
	return complain(XC_FAILED, s->r.name, text_todo("xpcache set %s mode=%s, once more", s->r.name, value_of(&s->live, mode_row())),
			"it was set to writeback meanwhile");
}

/* What was dirty when it began is written back at once: when nothing is dirty, the slow device alone is right from then on. */
static enum xc wait_for_mode(const struct set *s)
{
	enum xc ret;

	if (!s->running || !is_named(s->opt, mode_row()) || s->live.mode == XP_MODE_WRITEBACK)
		return XC_OK;
	fflush(stdout);	/* it may take long */
	ret = flush_of_mode(s->r.name);
	if (!ret)
		ret = check_mode(s);
	if (!ret)
		printf("%s: every block is written back: from now on the slow device alone is complete\n", s->r.name);
	return ret;
}

enum xc set_run(struct options *opt)
{
	static struct set s;
	enum xc ret, waited;

	s.opt = opt;
	ret = find(&s);
	if (ret)
		return ret;
	if (opt->nr_words == 1) {
		list(&s);
		return XC_OK;
	}
	ret = change(&s);
	if (ret)
		return ret;
	say_changed(&s);
	ret = make_images(&s);
	waited = wait_for_mode(&s);
	return ret ? ret : waited;
}
