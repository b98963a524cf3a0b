// SPDX-License-Identifier: GPL-2.0-only
#include "device.h"

void disk_init(struct disk *d, u64 sectors, bool volatile_cache)
{
	d->sectors = sectors;
	d->volatile_cache = volatile_cache;
	d->clock = 1;
	d->seen = calloc(sectors, SECTOR);
	d->durable = calloc(sectors, SECTOR);
	d->log = NULL;
	d->log_end = &d->log;
}

static void drop_log(struct disk *d)
{
	struct disk_write *w;

	while ((w = d->log)) {
		d->log = w->next;
		free(w);
	}
	d->log_end = &d->log;
}

void disk_free(struct disk *d)
{
	drop_log(d);
	free(d->seen);
	free(d->durable);
}

struct disk_write *disk_submit(struct disk *d, u64 sector, u32 nr,
			       const void *data, bool fua)
{
	struct disk_write *w = malloc(sizeof(*w) + nr * SECTOR);

	XP_ASSERT(sector + nr <= d->sectors);
	w->next = NULL;
	w->sector = sector;
	w->nr = nr;
	w->completed = 0;
	w->durable = false;
	w->fua = fua;
	w->whole_blocks = false;
	memcpy(w->data, data, nr * SECTOR);
	*d->log_end = w;
	d->log_end = &w->next;
	return w;
}

/* The oldest writes, once durable, are certain. */
static void settle(struct disk *d)
{
	struct disk_write *w;

	while ((w = d->log) && w->durable) {
		memcpy(d->durable + w->sector * SECTOR, w->data, w->nr * SECTOR);
		d->log = w->next;
		if (!d->log)
			d->log_end = &d->log;
		free(w);
	}
}

void disk_complete(struct disk *d, struct disk_write *w)
{
	memcpy(d->seen + w->sector * SECTOR, w->data, w->nr * SECTOR);
	w->completed = d->clock++;
	w->durable = !d->volatile_cache || w->fua;
	settle(d);
}

void disk_fail(struct disk *d, struct disk_write *w, u64 *rng)
{
	u32 i;

	for (i = 0; i < w->nr; i++) {
		u8 *at = d->seen + (w->sector + i) * SECTOR;

		if (rng_below(rng, 2))
			memcpy(at, w->data + i * SECTOR, SECTOR);
		else
			memcpy(w->data + i * SECTOR, at, SECTOR);
	}
	w->completed = d->clock++;
	w->durable = !d->volatile_cache;
	settle(d);
}

u64 disk_flush_submit(struct disk *d)
{
	return d->clock++;
}

void disk_flush_complete(struct disk *d, u64 flush)
{
	struct disk_write *w;

	for (w = d->log; w; w = w->next)
		if (w->completed && w->completed < flush)
			w->durable = true;
	settle(d);
}

void disk_cut(struct disk *d, u64 *rng)
{
	u32 odds = rng_below(rng, 4);	/* of all, none or some surviving */
	bool survives = false;
	struct disk_write *w;
	u32 i;

	for (w = d->log; w; w = w->next)
		for (i = 0; i < w->nr; i++) {
			if (!i || !w->whole_blocks || !((w->sector + i) % 8))
				survives = w->durable || odds == 3 ||
					   (odds && rng_below(rng, 2));
			if (survives)
				memcpy(d->durable + (w->sector + i) * SECTOR,
				       w->data + i * SECTOR, SECTOR);
		}
	drop_log(d);
	memcpy(d->seen, d->durable, d->sectors * SECTOR);
}
