// SPDX-License-Identifier: GPL-2.0-only
/* start --boot: the caches that are to start by themselves, each as soon as its devices are here. */
#include "tool.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_SECONDS	30.0
#define PATIENCE	2.0	/* without a word */

struct awaited {
	struct known known;
	bool done;		/* tried, or running */
	bool fast_here;
};

struct boot {
	const struct options *opt;
	struct awaited *list;
	size_t n, left;
	enum xc ret;		/* of the first that failed */
};

/* --------------------------------------------------------------- devices ---- */

static int is_slow_of(const char *kname, void *ctx)
{
	const struct cache *c = ctx;
	char path[PATH_MAX], why[512], uuid[128];
	struct device d;
	bool same;

	if (sysfs_read(kname, "dm/uuid", uuid, sizeof(uuid)) && kernel_is_ours(uuid))
		return 0;
	device_node(kname, path, sizeof(path));
	if (device_look(&d, path))
		return 0;
	same = d.dev != c->fast.dev && identity_same(&c->sb.slow, &d, false, why, sizeof(why));
	device_close(&d);
	return same;
}

/* Changes when a device comes. */
static u64 devices_here(void)
{
	DIR *dir = opendir("/sys/class/block");
	struct dirent *e;
	u64 sum = 0;

	while (dir && (e = readdir(dir)))
		sum += xp_xxh64(e->d_name, strlen(e->d_name));
	if (dir)
		closedir(dir);
	return sum;
}

/* ------------------------------------------------------------------ round ---- */

static enum xc start_found(struct cache *c, const struct options *opt)
{
	if (c->running)
		return XC_OK;
	if (c->err)
		return complain(XC_DAMAGED, c->fast.path, "xpcache check tells more", "%s",
				c->message.text);
	return start_cache(c, opt);
}

static void look_at(struct boot *b, struct cache *c)
{
	for (size_t i = 0; i < b->n; i++) {
		struct awaited *a = &b->list[i];
		enum xc ret;

		if (a->done || strcmp(a->known.uuid, c->uuid) != 0)
			continue;
		a->fast_here = true;
		if (!c->running && !c->err && device_each(is_slow_of, c) <= 0)
			continue;	/* not yet */
		ret = start_found(c, b->opt);
		b->ret = b->ret ? b->ret : ret;
		a->done = true;
		b->left--;
	}
}

static void look_round(struct boot *b)
{
	struct caches all;

	if (caches_scan(&all))
		return;
	for (size_t i = 0; i < all.n; i++)
		look_at(b, &all.v[i]);
	caches_free(&all);
}

/* ---------------------------------------------------------------- waiting ---- */

static void say_missing(const struct boot *b)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct awaited *a = &b->list[i];

		if (a->done)
			continue;
		if (a->fast_here)
			complain(XC_NOT_FOUND, a->known.name, "connect it",
				 "its slow device is not here (%s)", identity_text(&a->known.slow));
		else
			complain(XC_NOT_FOUND, a->known.name,
				 "connect it; if it is lost for good, xpcache forget lets go of the slow device",
				 "its fast device is not here, and may have what its slow device (%s) has not",
				 identity_text(&a->known.slow));
	}
}

static void wait_for(struct boot *b, double seconds)
{
	double begin = seconds_now(), now = begin;
	bool said = false;
	u64 seen = 0;

	while (b->left && now - begin < seconds) {
		u64 here = devices_here();

		if (here != seen)
			look_round(b);
		seen = here;
		now = seconds_now();
		if (b->left && !said && now - begin > PATIENCE) {
			printf("waiting up to %.0f s for the devices of caches\n", seconds);
			fflush(stdout);
			said = true;
		}
		if (b->left)
			usleep(100000);
	}
}

static size_t to_start(struct boot *b)
{
	struct known *known;
	size_t n = known_all(&known);

	b->list = calloc(n + 1, sizeof(*b->list));
	for (size_t i = 0; b->list && i < n; i++)
		if (known[i].start != START_NOT)
			b->list[b->n++].known = known[i];
	free(known);
	return b->n;
}

enum xc start_at_boot(const struct options *opt)
{
	struct boot b = { .opt = opt };

	b.left = to_start(&b);
	wait_for(&b, opt->wait > 0 ? opt->wait : WAIT_SECONDS);
	if (b.left) {
		say_missing(&b);
		b.ret = b.ret ? b.ret : XC_NOT_FOUND;
	}
	free(b.list);
	return b.ret;
}
