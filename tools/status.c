// SPDX-License-Identifier: GPL-2.0-only
/* status and list: what the caches do, for people and as JSON. */
#include "tools/status_show.h"
#include "boot/needed.h"
#include "lib/begun.h"
#include "lib/caches.h"
#include "lib/colour.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/device_name.h"
#include "lib/device_tree.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/json.h"
#include "lib/kernel.h"
#include "lib/known.h"
#include "lib/moves.h"
#include "lib/latency/canvas.h"
#include "lib/latency/latency.h"
#include "lib/latency/pulse.h"
#include "lib/partitions.h"
#include "lib/remote.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "lib/status.h"
#include "lib/sysfs.h"
#include "lib/user.h"
#include "tools/options.h"
#include "tools/verbs.h"
#include "core/words.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static double bytes_per_slot(const struct status *s)
{
	u64 slots = status_number(s, "slots");

	return slots ? (double)status_number(s, "memory") / slots : 0;
}

/* What the fast device wore for each block that came; 0 before the first. */
static u64 bytes_per_block(const struct status *s)
{
	u64 blocks = status_number(s, "write_blocks") + status_number(s, "fills");

	return blocks ? status_number(s, "fast_bytes_written") / blocks : 0;
}

/* ---------------------------------------------------------- devices ---- */

struct part {
	char path[PATH_MAX];
	u64 bytes;
};

static void user_part(const char *path, struct part *p)
{
	struct device d;

	snprintf(p->path, sizeof(p->path), "%s", path);
	xp_words_clean(p->path, sizeof(p->path));	/* to be shown; the daemon's own is to be opened */
	p->bytes = 0;
	if (!is_remote(path) && !device_look(&d, path)) {
		p->bytes = d.sectors << XP_SECTOR_SHIFT;
		device_close(&d);
	}
}

static void part_of(dev_t dev, struct part *p)
{
	char kname[64], size[32];

	p->bytes = 0;
	snprintf(p->path, sizeof(p->path), "%s", dev ? "gone" : "-");
	if (!device_kname(dev, kname, sizeof(kname)))
		return;
	device_node(kname, p->path, sizeof(p->path));
	if (sysfs_read(kname, "size", size, sizeof(size)))
		p->bytes = strtoull(size, NULL, 10) << XP_SECTOR_SHIFT;
}

static void parts_of(const struct running *r, struct part *fast, struct part *slow)
{
	if (r->user) {
		user_part(r->fast_path, fast);
		user_part(r->slow_path, slow);
		slow->bytes = r->sectors << XP_SECTOR_SHIFT;
	} else {
		part_of(r->fast, fast);
		part_of(r->slow, slow);
	}
}

/* ------------------------------------------------------- for people ---- */

static const char *state_colour(const char *state)
{
	return !strcmp(state, "running") ? colour_good() :
	       !strcmp(state, "failed") ? colour_bad() : colour_dim();
}

static void show_blocks(const struct status *s)
{
	static const char *const kind[] = { "dirty", "clean", "free" };
	u64 slots = status_number(s, "slots");

	printf("  slots     %s\n", text_blocks(slots));
	for (int i = 0; i < 3; i++) {
		u64 n = status_number(s, kind[i]);

		printf("  %-8s  %s, %s%s\n", kind[i], text_blocks(n), text_percent(n, slots),
		       i == 0 && status_number(s, "flushing") ? ", being written back" :
		       i == 0 && status_number(s, "slow_complete") ? ", the slow device is complete" : "");
	}
}

/* An older backend does not tell blocks that bypassed the cache. */
static void show_writes(const struct status *s)
{
	u64 writes = status_number(s, "writes"), fast = status_number(s, "write_blocks");

	printf("  writes    %s", text_count(writes));
	if (status_text(s, "write_bypass_blocks"))
		printf(", %s of their bytes to the fast device",
		       text_percent(fast, fast + status_number(s, "write_bypass_blocks")));
	putchar('\n');
}

static void show_traffic(const struct status *s)
{
	u64 hits = status_number(s, "read_hits"), reads = hits + status_number(s, "read_misses");
	u64 fast = status_number(s, "read_blocks_fast"), blocks = fast + status_number(s, "read_blocks_slow");
	u64 failed = status_number(s, "requests_failed");

	printf("  reads     %s, %s hits", text_count(reads), text_percent(hits, reads));
	if (status_text(s, "read_blocks_fast"))
		printf("; %s of their bytes from the fast device", text_percent(fast, blocks));
	putchar('\n');
	show_writes(s);
	printf("  discards  %s, and writes of zeroes; of %s\n", text_count(status_number(s, "discards")),
	       text_bytes(status_number(s, "discard_blocks") << XP_BLOCK_SHIFT));
	if (failed)
		printf("  %sfailed    %s requests ended with an error%s\n", colour_bad(), text_count(failed), colour_off());
	printf("  flushes   %s, %s went to the slow device; %s more by writeback\n",
	       text_count(status_number(s, "flushes")),
	       text_count(status_number(s, "flushes_slow")),
	       text_count(status_number(s, "writeback_flushes")));
	printf("  moved     %s filled, %s written back, %s evicted\n",
	       text_count(status_number(s, "fills")), text_count(status_number(s, "written_back")),
	       text_count(status_number(s, "evicted")));
}

/* An older backend does not tell of streams and ghosts. */
static void show_kept(const struct status *s)
{
	bool told = status_text(s, "ghost_hits");
	static struct pulse p;

	memset(&p, 0, sizeof(p));
	pulse_count(&p, s, NULL);
	printf("  cost      %s fills a hit; %s bytes to the fast device a user byte\n",
	       text_quotient(pulse_fills_per_hit(&p)), text_quotient(pulse_fast_bytes(&p)));
	printf("  streams   %s, and %s of them bypassed the cache; of written ones %s\n",
	       told ? text_count(p.streams_seen) : "-",
	       told ? text_bytes(p.stream_bypass_blocks << XP_BLOCK_SHIFT) : "-",
	       told ? text_bytes(p.stream_bypass_written << XP_BLOCK_SHIFT) : "-");
	printf("  ghosts    %s hits; a quarter more slots would hit about %s of the misses\n",
	       told ? text_count(p.ghost_hits) : "-",
	       text_percent(p.ghost_hits_quarter, told ? p.read_blocks_slow : 0));
}

static void show_machinery(const struct status *s)
{
	u64 errors_fast = status_number(s, "fast_errors");
	u64 errors_slow = status_number(s, "slow_errors");
	u64 rotten = status_number(s, "sum_errors");

	printf("  journal   %s of %s blocks, %s written\n",
	       text_count(status_number(s, "journal_used")),
	       text_count(status_number(s, "journal_blocks")),
	       text_count(status_number(s, "journal_writes")));
	printf("  memory    %s, %.2f bytes a slot; %s for histograms\n",
	       text_bytes(status_number(s, "memory")), bytes_per_slot(s),
	       text_bytes(status_number(s, "histogram_memory")));
	printf("  written   %s to the fast device since it was started, %s bytes for each block taken in\n",
	       text_bytes(status_number(s, "fast_bytes_written")), text_count(bytes_per_block(s)));
	printf("  errors    %s%s of the fast device, %s of the slow%s\n",
	       errors_fast || errors_slow ? colour_bad() : "", text_count(errors_fast),
	       text_count(errors_slow), colour_off());
	if (rotten)
		printf("  %scorrupt   %s blocks from the fast device were not what was written to it%s\n", colour_bad(),
		       text_count(rotten), colour_off());
}

void status_show(const struct status *s)
{
	show_blocks(s);
	show_traffic(s);
	show_kept(s);
	show_machinery(s);
}

static void show_unread(u64 nr)
{
	if (nr)
		printf("  %strouble   %s could not be read when the cache was started: errors until they are written anew; xpcache check of the stopped cache names them%s\n",
		       colour_bad(), text_blocks(nr), colour_off());
}

/* What it means, and what to do. */
static void show_failure(const struct running *r, const struct status *s, const char *fast)
{
	u64 since = status_number(s, "failed_since"), unreachable = status_number(s, "dirty_unreachable");
	u64 failing_since = status_number(s, "writeback_failing_since");

	if (strcmp(s->state, "failed") != 0) {
		show_unread(status_number(s, "unread"));
		if (failing_since)
			printf("  %strouble   blocks cannot be written back since %s%s; they stay, and it is tried again, every half a minute at least\n",
			       colour_bad(), text_time(failing_since), colour_off());
		return;
	}
	printf("  %sfailed    since %s: %s cannot be written%s\n", colour_bad(),
	       since ? text_time(since) : "some time", fast, colour_off());
	if (status_number(s, "passthrough"))
		printf("            nothing is dirty; writes go to the slow device, and the next start drops what the cache has\n");
	else if (unreachable)
		printf("            %s %s there alone; all else is read from the slow device\n",
		       text_blocks(unreachable), unreachable == 1 ? "is" : "are");
	else
		printf("            nothing is dirty; reads go on from the slow device\n");
	if (!status_number(s, "passthrough"))
		printf("            connect it again, then xpcache stop --force %s and xpcache start %s\n",
		       r->name, r->name);
	else if (!r->user && !device_here(r->fast))
		printf("            connect it again, then xpcache start %s\n", r->name);
	else
		printf("            mend or connect it, then xpcache stop %s and xpcache start %s\n", r->name, r->name);
}

/* By the names that xpcache set takes. */
static void show_limits(const struct xp_tunables *t)
{
	const char *before = "  limits    ";

	for (const struct xp_tunable *row = xp_tunable_rows; row < xp_tunable_rows + XP_TUNABLES; row++) {
		char option[TUNABLE_OPTION], value[16];

		if (!tunable_is_users(row))
			continue;
		tunable_option(row, option);
		xp_tunable_text(row, xp_tunable_value(t, row), value, sizeof(value));
		printf("%s%s %s", before, option, value);
		xp_tunable_text(row, row->initial, value, sizeof(value));
		if (xp_tunable_is_set(t, row))
			printf(" (default %s)", value);
		before = ", ";
	}
	putchar('\n');
}

/* Nothing, if the module is older than that message. */
static void show_latency(const struct running *r)
{
	const struct canvas c = { .f = stdout, .utf8 = canvas_utf8() };
	static struct latency l;

	if (!latency_read(r->name, &l))
		latency_summary(&c, &l);
}

static void show_partitions(const struct running *r)
{
	struct partition *list;
	size_t n;

	if (partitions_of(r, &list, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		printf("%s%s%s", i ? ", " : "  parts     ", list[i].node, i + 1 < n ? "" : "\n");
	free(list);
}

/* Of a fast device that is used through the block layer, or NULL. The kernel has no word for memory
 * that it knows as a disk alone: a namespace in mode sector or raw. */
static const char *why_blocks(const struct status *s, const char *path)
{
	static const char *const why[][2] = {
		{ "mapped", "the table of a mapped device may change at any time" },
		{ "unaligned", "its partition does not begin and end at pages" },
		{ "asynchronous", "its host must be asked to make it durable" },
		{ "refused", "its driver gives no access" },
		{ "kernel", "this kernel cannot do it for this device" },
	};
	const char *word = status_text(s, "not_memory");

	for (size_t i = 0; word && i < sizeof(why) / sizeof(*why); i++)
		if (!strcmp(word, why[i][0]))
			return why[i][1];
	if (!word && !strncmp(path, "/dev/pmem", 9))
		return "its namespace is not in mode fsdax (ndctl list)";
	return word;
}

/* After its size. */
static void show_access(const struct status *s, const char *path)
{
	const char *access = status_text(s, "fast_access"), *why;

	if (access && !strcmp(access, "memory")) {
		printf(", as memory\n");
		return;
	}
	why = access ? why_blocks(s, path) : NULL;
	printf("%s%s\n", why ? ", not as memory: " : "", why ? why : "");
}

/* It was told to take no more, or the device has grown; an older engine does not say. */
static void show_size(u64 bytes, u64 used)
{
	if (used && used < bytes >> XP_BLOCK_SHIFT)
		printf("the first %s of ", text_bytes(used << XP_BLOCK_SHIFT));
	printf("%s", text_bytes(bytes));
}

static void show(const struct running *r, const struct status *s)
{
	struct part fast, slow;

	char node[512];

	parts_of(r, &fast, &slow);
	running_node(r, node, sizeof(node));
	printf("%s  %s%s%s  %s%s\n", r->name, state_colour(s->state), s->state,
	       colour_off(), node, r->open_count ? "" : "  (not in use)");
	if (*r->ublk) {
		user_uri(r->name, node, sizeof(node));
		printf("  as well   %s\n", node);
	}
	show_partitions(r);
	if (r->asleep) {
		printf("  slow      %s, %s\n", slow.path, text_bytes(slow.bytes));
		printf("            it leads there alone%s; %s reattaches it\n", begun_is_alone(r) ? "" : ", for a hibernation", begun_way_back(r));
		return;
	}
	printf("  fast      %s, ", fast.path);
	show_size(fast.bytes, status_number(s, "fast_blocks"));
	show_access(s, r->user ? "" : fast.path);	/* xpcached maps files, and no devices */
	printf("  slow      %s, %s\n", slow.path, text_bytes(slow.bytes));
	show_failure(r, s, fast.path);
	if (r->tunables_known)
		show_limits(&r->tunables);
	status_show(s);
	show_latency(r);
}

/* ----------------------------------------------------------- as JSON ---- */

static struct json_object *json_part(const struct part *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "path", json_words(p->path));
	json_object_object_add(o, "bytes", json_object_new_int64(p->bytes));
	return o;
}

static struct json_object *json_limits(const struct xp_tunables *t)
{
	struct json_object *o = json_object_new_object();

	for (u32 i = 0; i < XP_TUNABLES; i++)
		json_object_object_add(o, xp_tunable_rows[i].name,
				       json_tunable(&xp_tunable_rows[i], xp_tunable_value(t, &xp_tunable_rows[i])));
	return o;
}

/* Names of those that differ from their default. */
static struct json_object *json_limits_set(const struct xp_tunables *t)
{
	struct json_object *array = json_object_new_array();

	for (const struct xp_tunable *row = xp_tunable_rows; row < xp_tunable_rows + XP_TUNABLES; row++)
		if (tunable_is_users(row) && xp_tunable_is_set(t, row))
			json_object_array_add(array, json_object_new_string(row->name));
	return array;
}

static struct json_object *json_partitions(const struct running *r)
{
	struct json_object *array = json_object_new_array();
	struct partition *list;
	size_t n;

	if (partitions_of(r, &list, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		json_object_array_add(array, json_words(list[i].node));
	free(list);
	return array;
}

static struct json_object *json_cache(const struct running *r, const struct status *s)
{
	struct json_object *o = json_object_new_object();
	static struct pulse p;
	struct part fast, slow;
	char device[PATH_MAX];

	parts_of(r, &fast, &slow);
	running_node(r, device, sizeof(device));
	json_object_object_add(o, "name", json_words(r->name));
	json_object_object_add(o, "uuid", json_words(r->uuid));
	json_object_object_add(o, "state", json_words(s->state));
	json_object_object_add(o, "engine", json_words(r->user ? "user" : "kernel"));
	json_object_object_add(o, "device", json_words(device));
	if (r->user) {
		user_uri(r->name, device, sizeof(device));
		json_object_object_add(o, "uri", json_words(device));
	}
	json_object_object_add(o, "partitions", json_partitions(r));
	json_object_object_add(o, "open_count", json_object_new_int64(r->open_count));
	json_object_object_add(o, "fast", r->asleep ? NULL : json_part(&fast));
	json_object_object_add(o, "slow", json_part(&slow));
	json_object_object_add(o, "block_bytes", json_object_new_int64(XP_BLOCK_SIZE));
	json_object_object_add(o, "bytes_per_slot", json_object_new_double(bytes_per_slot(s)));
	json_object_object_add(o, "fast_bytes_per_block", json_object_new_uint64(bytes_per_block(s)));
	memset(&p, 0, sizeof(p));
	pulse_count(&p, s, NULL);
	p.timed = !r->asleep && !latency_read(r->name, &p.latency);
	for (u32 i = 0; i < PULSE_RATIOS; i++)
		json_object_object_add(o, pulse_ratios[i].name, latency_json_ratio(pulse_ratios[i].of(&p)));
	for (u32 i = 0; i < PULSE_QUOTIENTS; i++)
		json_object_object_add(o, pulse_quotients[i].name, latency_json_ratio(pulse_quotients[i].of(&p)));
	json_object_object_add(o, "read_hit_ratio", latency_json_ratio(pulse_hits(&p)));	/* its first name, for one release */
	json_object_object_add(o, "limits", r->tunables_known ? json_limits(&r->tunables) : NULL);
	json_object_object_add(o, "limits_set", r->tunables_known ? json_limits_set(&r->tunables) : NULL);
	json_object_object_add(o, "counters", status_json(s));
	if (p.timed)
		json_object_object_add(o, "latency", latency_json(&p.latency));
	return o;
}

static void print_json(struct json_object *caches)
{
	struct json_object *all = json_object_new_object();

	json_object_object_add(all, "caches", caches);
	printf("%s\n", json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
							    JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(all);
}

/* ------------------------------------------------------------ status ---- */

static enum xc status_of(const struct running *r, size_t n, bool json)
{
	struct json_object *array = json ? json_object_new_array() : NULL;
	enum xc ret = XC_OK;

	for (size_t i = 0; i < n && !ret; i++) {
		struct status s;
		int err = status_read(r[i].name, &s);

		if (err) {
			ret = complain_errno(err, r[i].name, "cannot read its status");
		} else if (json) {
			json_object_array_add(array, json_cache(&r[i], &s));
		} else {
			printf("%s", i ? "\n" : "");
			show(&r[i], &s);
		}
	}
	if (json && !ret)
		print_json(array);
	else if (json)
		json_object_put(array);
	return ret;
}

enum xc status_run(struct options *opt)
{
	struct running *all, one;
	size_t n;
	enum xc ret;
	int err;

	if (opt->arg) {
		ret = caches_find_running(opt->arg, &one);
		return ret ? ret : status_of(&one, 1, opt->json);
	}
	err = running_list(&all, &n);
	if (err && err != -ENODEV)	/* without a device mapper nothing runs */
		return complain_errno(err, NULL, "cannot ask the device mapper");
	if (!n && !opt->json)
		printf("no cache is running; xpcache list shows the stopped ones\n");
	ret = n || opt->json ? status_of(all, n, opt->json) : XC_OK;
	free(all);
	return ret;
}

/* -------------------------------------------------------------- list ---- */

#define LIST_FORMAT	"%-16s %-10s %-20s %-20s %10s  %-10s  %s\n"
#define NOT_KNOWN	UINT64_MAX

struct list {
	struct json_object *array;	/* NULL: for people */
	size_t n;
};

struct row {
	const char *name, *uuid, *state, *fast, *slow, *device;	/* NULL: there is none, or not known */
	u64 sectors, dirty;
};

static const char *text_or(const char *text, const char *other)
{
	return text && *text ? text : other;
}

static void json_text(struct json_object *o, const char *key, const char *text)
{
	json_object_object_add(o, key, text && *text ? json_words(text) : NULL);
}

static void json_bytes(struct json_object *o, const char *key, u64 n, unsigned int shift)
{
	json_object_object_add(o, key, n == NOT_KNOWN ? NULL : json_object_new_uint64(n << shift));
}

static struct json_object *json_row(const struct row *w)
{
	struct json_object *o = json_object_new_object();

	json_text(o, "name", w->name);
	json_text(o, "uuid", w->uuid);
	json_text(o, "state", w->state);
	json_text(o, "fast", w->fast);
	json_text(o, "slow", w->slow);
	json_bytes(o, "bytes", w->sectors, XP_SECTOR_SHIFT);
	json_bytes(o, "dirty_bytes", w->dirty, XP_BLOCK_SHIFT);
	json_text(o, "device", w->device);
	return o;
}

static void list_row(struct list *l, const struct row *w)
{
	bool first = !l->n++;

	if (l->array) {
		json_object_array_add(l->array, json_row(w));
		return;
	}
	if (first)
		printf(LIST_FORMAT, "NAME", "STATE", "FAST", "SLOW", "SIZE", "DIRTY", "DEVICE");
	printf(LIST_FORMAT, text_or(w->name, "?"), w->state, text_or(w->fast, "missing"), text_or(w->slow, "?"),
	       w->sectors == NOT_KNOWN ? "?" : text_bytes(w->sectors << XP_SECTOR_SHIFT),
	       w->dirty == NOT_KNOWN ? "?" : text_bytes(w->dirty << XP_BLOCK_SHIFT), text_or(w->device, "-"));
}

static void list_running(struct list *l, const struct running *r)
{
	struct part fast, slow;
	struct status s;
	bool ok = !status_read(r->name, &s);
	char node[512];

	parts_of(r, &fast, &slow);
	running_node(r, node, sizeof(node));
	list_row(l, &(struct row){ .name = r->name, .uuid = r->uuid, .state = ok ? s.state : "unknown",
				   .fast = l->array && r->asleep ? NULL : fast.path, .slow = slow.path, .device = node, .sectors = r->sectors,
				   .dirty = ok ? status_number(&s, "dirty") : NOT_KNOWN });
}

static bool slow_missing(const struct known *k)
{
	dev_t dev;

	return slow_first(&k->slow, 0, false, &dev) == 0;
}

/* How much of it is dirty only the whole journal tells: check does. */
static void list_stopped(struct list *l, const struct cache *c)
{
	struct known k;
	char slow[64];

	snprintf(slow, sizeof(slow), "%.63s", c->err ? "" : (const char *)c->sb.slow.path);
	list_row(l, &(struct row){ .name = c->name, .uuid = c->uuid, .fast = c->fast.path, .slow = slow,
				   .state = cache_is_elsewhere(c) ? "moved" : c->err == -ENOTSUP ? "unknown" : c->err ? "damaged" :
					    known_find(c->uuid, &k) == 1 && slow_missing(&k) ? "no-slow" : "stopped",
				   .sectors = c->err ? NOT_KNOWN : le64_to_cpu(c->sb.slow.sectors), .dirty = NOT_KNOWN });
}

/* Known to this machine, and its fast device is not here. */
static void list_absent(struct list *l, const struct caches *all)
{
	struct known *list = NULL;
	size_t n = geteuid() == 0 ? known_all(&list) : 0;	/* others see no device */

	for (size_t i = 0; i < n; i++) {
		const struct known *k = &list[i];

		if (!caches_lack(all, k))
			continue;
		list_row(l, &(struct row){ .name = k->name, .uuid = k->uuid, .slow = (const char *)k->slow.path,
					   .state = slow_missing(k) ? "no-disks" : "no-fast",
					   .sectors = le64_to_cpu(k->slow.sectors), .dirty = NOT_KNOWN });
	}
	free(list);
}

static void list_all(struct list *l, const struct running *r, size_t n, const struct caches *all)
{
	for (size_t i = 0; i < n; i++)
		list_running(l, &r[i]);
	for (size_t i = 0; i < all->n; i++)
		if (!all->v[i].running || cache_is_elsewhere(&all->v[i]))
			list_stopped(l, &all->v[i]);
	list_absent(l, all);
	if (l->array)
		print_json(l->array);
	else if (!l->n)
		printf("no cache found\n");
}

enum xc list_run(struct options *opt)
{
	struct list l = { .array = NULL };
	struct caches all;
	struct running *r;
	size_t n;
	int err;

	if (opt->needed)
		return opt->json ? complain(XC_USAGE, "--json", "give it alone", "--needed complains, or is silent") :
				   needed_check();
	if (running_list(&r, &n))	/* no device mapper: no cache runs */
		n = 0;
	err = caches_scan(&all);
	if (err) {
		free(r);
		return complain_errno(err, "/sys/class/block", "cannot look for caches");
	}
	l.array = opt->json ? json_object_new_array() : NULL;
	list_all(&l, r, n, &all);
	free(r);
	caches_free(&all);
	return XC_OK;
}
