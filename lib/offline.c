// SPDX-License-Identifier: GPL-2.0-only
/* A cache at rest: its map rebuilt by the core's own recovery, looking only. */
#include "lib/offline.h"
#include "lib/caches.h"
#include "lib/complain.h"
#include "lib/device.h"
#include "lib/exit.h"
#include "lib/figures.h"
#include "lib/media.h"
#include "lib/running.h"
#include "lib/slow_find.h"
#include "core/block.h"
#include "core/life.h"
#include "core/look.h"
#include "core/move.h"
#include "core/superblock.h"
#include "core/witness.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int offline_open(struct offline *o, const struct device *d)
{
	int err;

	memset(o, 0, sizeof(*o));
	err = media_init(&o->media, d->fd);
	if (err)
		return err;
	return xp_sb_read(&o->media.io, device_blocks(d), &o->sb, &o->message);
}

static void drop_core(struct offline *o)
{
	free(o->memory);
	free(o->scratch);
	o->memory = o->scratch = NULL;
	o->core = NULL;
}

/* Once more, too: with more that may be lost. */
static int make_core(struct offline *o)
{
	const struct xp_options opt = {
		.dirty_low = XP_DEFAULT_DIRTY_LOW,
		.dirty_high = XP_DEFAULT_DIRTY_HIGH,
		.accept = o->accept,
		.anew = o->anew,
		.verify = true,		/* whether it runs so or not: what sums there are */
	};

	drop_core(o);
	o->message.text[0] = '\0';
	if (posix_memalign(&o->memory, XP_BLOCK_SIZE, xp_memory(&o->sb, true)) ||
	    posix_memalign(&o->scratch, XP_BLOCK_SIZE, xp_recover_memory(&o->sb)))
		return -ENOMEM;
	memset(o->memory, 0, xp_memory(&o->sb, true));
	o->core = xp_init(o->memory, &o->sb, &opt);
	return 0;
}

int offline_look(struct offline *o, const struct xp_witness *witness)
{
	int err = make_core(o);

	if (!err)
		err = xp_look(o->core, &o->media.io, o->scratch, witness, &o->message);
	if (!err)
		xp_get_stats(o->core, &o->stats);
	return err;
}

int offline_restate(struct offline *o)
{
	int err = make_core(o);

	return err ? err : xp_recover(o->core, &o->media.io, o->scratch, true, &o->message);
}

int offline_load(struct offline *o)
{
	return offline_look(o, NULL);
}

int offline_read_slot(struct offline *o, const struct xp_mapping *map, void *data)
{
	u64 block = le64_to_cpu(o->sb.data_start) + xp_slot_n(map->slot);
	int all = o->media.io.read(o->media.io.ctx, block, 1, data), err = 0;
	u32 at = 0, nr;

	if (!all || !map->lacks)
		return all;
	for (; !err && (nr = xp_part_next((u8)~map->lacks, &at)); at += nr)
		err = media_read_sectors(&o->media, block * XP_BLOCK_SECTORS + at, nr, (u8 *)data + ((size_t)at << XP_SECTOR_SHIFT));
	return err == -EINVAL ? all : err;
}

void offline_close(struct offline *o)
{
	media_done(&o->media);
	drop_core(o);
}

static const char *part_of(const struct xp_sb *sb, bool moves)
{
	if (!moves)
		return "the fast device of";
	return xp_move_is_away(sb) ? "a device that was of" : "a device for";
}

bool cache_look(const struct device *fast, struct cache_there *c)
{
	struct offline o;
	int err = offline_open(&o, fast);

	memset(c, 0, sizeof(*c));
	c->moves = err == -ENOTSUP && xp_move_says(&o.sb);
	c->known = c->moves || (!err && !offline_load(&o));
	c->dirty = o.stats.dirty;
	if (!err || c->moves) {
		snprintf(c->uuid, sizeof(c->uuid), "%s", text_uuid(o.sb.uuid));
		snprintf(c->name, sizeof(c->name), "%.31s", (const char *)o.sb.name);
	}
	snprintf(c->what, sizeof(c->what), "%s the xpcache %s", part_of(&o.sb, c->moves), *c->uuid ? c->name : "(damaged or unknown)");
	offline_close(&o);
	return err != -ENOENT;
}

bool cache_dirty(const struct cache *c, u64 *dirty)
{
	struct cache_there there = { .known = false };
	struct device d;

	if (!device_look(&d, c->fast.path)) {
		cache_look(&d, &there);
		device_close(&d);
	}
	*dirty = there.dirty;
	return there.known;
}

bool cache_is_home(const struct cache *c)
{
	u64 dirty;

	return cache_dirty(c, &dirty) && !dirty;
}

/* The slow device of the cache on @fast, if it can be found: else the user must say it. */
static const char *slow_word(const char *fast, const char *slow)
{
	char path[PATH_MAX];
	struct device d;
	struct cache c;
	bool known = slow;

	if (!known && !device_look(&d, fast)) {
		known = !cache_read(&c, &d) && d.is_block && slow_known(&c, NULL, path, sizeof(path));
		device_close(&d);
		slow = path;
	}
	return known ? text_word(slow) : "DEV";
}

const char *text_devices(const char *fast, const char *slow)
{
	static char text[4 * PATH_MAX + 32];

	snprintf(text, sizeof(text), "--fast %s --slow %s", text_word(fast), slow_word(fast, slow));
	return text;
}

/* The name is enough for block devices that can be told apart. */
static const char *text_verb(const char *verb, const char *name, const char *fast, const char *slow)
{
	static char text[4 * PATH_MAX + 64];
	struct device d;
	bool is_block = !device_look(&d, fast) && d.is_block;
	char path[PATH_MAX];
	struct cache c;

	if (is_block && !cache_read(&c, &d) && slow_known(&c, NULL, path, sizeof(path)))
		snprintf(text, sizeof(text), "xpcache %s %s", verb, name);
	else
		snprintf(text, sizeof(text), "xpcache %s %s %s", verb, name, text_devices(fast, slow));
	if (d.fd >= 0)
		device_close(&d);
	return text;
}

const char *text_start(const char *name, const char *fast, const char *slow)
{
	return text_verb("start", name, fast, slow);
}

const char *text_resize(const char *name, const char *fast, const char *slow)
{
	return text_verb("resize", name, fast, slow);
}

const char *text_stop(const struct device *fast)
{
	struct device d = *fast;
	struct running r;
	struct cache c;

	if (cache_read(&c, &d) || running_find(NULL, c.uuid, &r) != 1)
		return "end that first";
	return text_todo("xpcache stop %s first", r.name);
}

const char *loss_advice(const char *fast, const char *slow)
{
	const char *devices = text_devices(fast, slow);

	return text_todo("nothing was changed; xpcache start --accept-loss %s goes on; "
			 "xpcache flush --offline --rescue %s writes back what can be read", devices, devices);
}

const char *shorter_advice(const char *fast, const char *slow)
{
	const char *devices = text_devices(fast, slow);

	return text_todo("nothing was changed; make it as large as it was; or xpcache flush --offline --rescue %s "
			 "writes back what fits and lists the rest, and xpcache start --discard-dirty %s then goes on without the rest",
			 devices, devices);
}

/* Of both superblocks nothing but the journal tells: see bare.c. */
static enum xc superblocks_unusable(const struct offline *o, const struct device *d, bool unreadable)
{
	return complain(unreadable ? XC_FAILED : XC_DAMAGED, d->path,
			text_todo("nothing was changed; xpcache flush --offline --rescue --force %s writes back what can be read",
				  text_devices(d->path, o->slow)),
			"%s%s%s", o->message.text, unreadable ? ": " : "", unreadable ? strerror(EIO) : "");
}

static const char *words_or(const struct offline *o, const char *other)
{
	return *o->message.text ? o->message.text : other;
}

enum xc offline_complain(const struct offline *o, const struct device *d, int err)
{
	const char *words = o->message.text;

	if (!strncmp(words, "superblock: ", 12) && (err == -EUCLEAN || err == -EIO))
		return superblocks_unusable(o, d, err == -EIO);
	switch (err) {
	case 0:
		return XC_OK;
	case -ENOENT:
		return complain(XC_NOT_FOUND, d->path, "is it the fast device? xpcache list shows all",
				"no xpcache on this device");
	case -EUCLEAN:
		return complain(XC_DAMAGED, d->path, text_todo("nothing was changed; xpcache check %s tells more", text_word(d->path)),
				"%s", words_or(o, "damaged metadata"));
	case -EBADMSG:
		return complain(XC_DAMAGED, d->path, loss_advice(d->path, o->slow),
				"%s", words_or(o, "the journal cannot be read"));
	case -ENOTSUP:
		if (xp_move_says(&o->sb))
			return complain(XC_DAMAGED, d->path, "xpcache list shows where it is", "%s", words);
		return complain(XC_DAMAGED, d->path, "use the version of xpcache that made it, or a newer one",
				"%s", words_or(o, "features this version does not know"));
	default:
		if (*words)
			return complain(XC_FAILED, d->path, NULL, "%s: %s", words, strerror(-err));
		return complain_errno(err, d->path, "cannot read the metadata");
	}
}
