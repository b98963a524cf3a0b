// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_state.c - what an interrupted session goes on from: the result so far, with the
 * words of its command, and what it was of. Written beside the output after each run, and
 * gone once the result is told. A power cut leaves the older or the newer one.
 *
 * Two halves of one result must be of one thing: what cannot be shown to be the same is
 * not gone on with.
 */
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/identity.h"
#include "lib/json.h"
#include "lib/version.h"
#include "tools/bench/bench.h"
#include "core/format.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------ what it is of ---- */

/* What the device says of itself; what it holds only where nothing changes that. */
static void identify(const struct bench *b, const struct bench_target *t, char *text, size_t len)
{
	struct xp_sb_slow id;

	*text = '\0';
	if (t->leg == BENCH_C) {
		snprintf(text, len, "%s", bench_cache_uuid(b->cache));
	} else if (!t->dev.is_block) {
		snprintf(text, len, "inode %" PRIu64, (u64)t->dev.ino);
	} else {
		identity_of(&t->dev, &id);
		if (id.hwid[0])
			snprintf(text, len, "%s", (const char *)id.hwid);
		else if (t->leg == BENCH_ALONE && !b->setup.destructive)
			snprintf(text, len, "%s", (const char *)id.content);
	}
}

static struct json_object *device_of(const struct bench *b, const struct bench_target *t)
{
	struct json_object *o = json_object_new_object();
	char text[256];

	identify(b, t, text, sizeof(text));
	bench_result_add(o, "role", json_words(t->role));
	bench_result_add(o, "path", json_words(t->dev.path));
	bench_result_add(o, "bytes", json_object_new_uint64(t->dev.sectors << XP_SECTOR_SHIFT));
	bench_result_add(o, "identity", json_words(text));
	return o;
}

static struct json_object *devices_of(const struct bench *b)
{
	struct json_object *devices = json_object_new_array();

	for (u32 i = 0; i < b->nr_targets; i++)
		json_object_array_add(devices, device_of(b, &b->target[i]));
	return devices;
}

enum xc bench_state_begin(struct bench *b)
{
	struct json_object *o = json_object_new_object();
	char directory[PATH_MAX];

	if (!getcwd(directory, sizeof(directory)))
		return complain_errno(errno, "bench", "cannot tell in which directory it is");
	bench_result_add(o, "version", json_words(XPCACHE_VERSION));
	bench_result_add(o, "directory", json_words(directory));
	bench_result_add(o, "devices", devices_of(b));
	bench_result_add(b->result, "session", o);
	return XC_OK;
}

void bench_state_end(struct bench *b)
{
	json_object_object_del(b->result, "session");
}

/* ------------------------------------------------------- going on ---- */

enum xc bench_state_enter(struct json_object *old, const char *path)
{
	struct json_object *session = bench_result_get(old, "session");
	const char *version = bench_result_text(session, "version");
	const char *directory = bench_result_text(session, "directory");

	if (!session || !json_object_is_type(bench_result_get(session, "devices"), json_type_array))
		return complain(XC_USAGE, path, "give the .state file of an interrupted session",
				"it is no interrupted session");
	if (strcmp(version, XPCACHE_VERSION) != 0)
		return complain(XC_REFUSED, path, "use that one, or begin anew",
				"begun by xpcache %s, and this is " XPCACHE_VERSION, version);
	if (chdir(directory))
		return complain_errno(errno, directory, "cannot go back to where it was begun");
	return XC_OK;
}

static enum xc check_device(struct json_object *was, struct json_object *is, const char *path)
{
	static const char *const what[] = { "role", "path", "bytes", "identity" };

	for (size_t i = 0; i < sizeof(what) / sizeof(*what); i++) {
		const char *a = bench_result_text(was, what[i]), *b = bench_result_text(is, what[i]);

		if (strcmp(a, b) != 0)
			return complain(XC_REFUSED, path, "begin anew, or bring back what was measured",
					"its %s was \"%s\", and is \"%s\" now", what[i], a, b);
	}
	return XC_OK;
}

enum xc bench_state_check(const struct bench *b, struct json_object *old)
{
	struct json_object *was = bench_result_get(bench_result_get(old, "session"), "devices");
	struct json_object *is = devices_of(b);
	enum xc ret = XC_OK;

	if (json_object_array_length(was) != b->nr_targets)
		ret = complain(XC_REFUSED, b->state_path, "begin anew",
			       "there were %zu devices, and are %u now", json_object_array_length(was),
			       b->nr_targets);
	for (u32 i = 0; i < b->nr_targets && !ret; i++)
		ret = check_device(json_object_array_get_idx(was, i), json_object_array_get_idx(is, i),
				   b->target[i].dev.path);
	json_object_put(is);
	return ret;
}

/* --------------------------------------------------------- the file ---- */

enum xc bench_state_free(const char *path)
{
	char todo[PATH_MAX + 64];

	if (access(path, F_OK))
		return XC_OK;
	snprintf(todo, sizeof(todo), "xpcache bench --resume %s goes on with it; or remove it", path);
	return complain(XC_REFUSED, path, todo, "an interrupted session is there");
}

/* Who gave no name for the result gets one that no other session has. */
static void name_it(struct bench *b)
{
	snprintf(b->state_path, sizeof(b->state_path), "xpcache-bench.state");
	for (u32 i = 2; !access(b->state_path, F_OK); i++)
		snprintf(b->state_path, sizeof(b->state_path), "xpcache-bench.%u.state", i);
}

enum xc bench_state_save(struct bench *b)
{
	if (!*b->state_path)
		name_it(b);
	return bench_output_write(b, b->result, BENCH_JSON, b->state_path);
}

void bench_state_drop(const struct bench *b)
{
	if (*b->state_path)
		unlink(b->state_path);
}
