// SPDX-License-Identifier: GPL-2.0-only
/*
 * whole.c - bios that the device mapper splits: one request, counted when its last part ends.
 *
 * The core may answer the first part of a bio alone. The device mapper then cuts off the rest and
 * maps it anew. The target is not told where that bio comes from, but it is found again: it has the
 * same operation and the same vector of pages, begins where the part ended, and ends where the bio
 * did, which is not over before. The rest of a rest is found likewise.
 *
 * A rest comes soon, from the task that has submitted the part: few are expected at a time. Their
 * places are bounded all the same. A whole exists while it has a bio under way, or a rest that is
 * expected; nothing waits for its memory (I11). Without a place, or memory, a rest is counted as a
 * request of its own, and requests_split says how often. A rest that the block layer has refused
 * never comes: its whole is counted when another rest needs the place.
 *
 * Any context, but for xs_whole_split() and xs_whole_join(), which belong to xs_map().
 */
#include <linux/hash.h>
#include <linux/slab.h>

#include "timing.h"

#define SETS_SHIFT	5
#define WAYS		4u	/* rests whose ends have one hash */

#define FAILED		XP_REQUEST_CLASSES

struct xs_whole {
	atomic_t parts;		/* under way; and one for the rest that is expected */
	unsigned long ended;	/* bits: the classes of those that have ended, and FAILED */
	u64 begun;		/* xs_time() of the first */
};

/* Expected. Free if @whole is NULL. */
struct rest {
	struct xs_whole *whole;
	u64 start, end;		/* sectors of the slow device */
	const struct bio_vec *pages;
	enum req_op op;
};

struct xs_wholes {
	spinlock_t lock;	/* what follows; a leaf */
	u32 oldest;		/* the way that is given up next, roughly */
	struct rest rest[1 << SETS_SHIFT][WAYS];
};

static struct rest *set_of(struct xs_wholes *w, u64 end)
{
	return w->rest[hash_64(end, SETS_SHIFT)];
}

/* ---------------------------------------------------------------- end ---- */

static void whole_put(struct xs_cache *cache, struct xs_whole *whole)
{
	unsigned long ended;
	u64 took;

	if (!atomic_dec_and_test(&whole->parts))
		return;
	ended = whole->ended;
	took = xs_since(whole->begun);
	kfree(whole);
	xs_count(cache, __fls((ended & (BIT(FAILED) - 1)) | 1), ended & BIT(FAILED), took);
}

void xs_whole_ended(struct xs_cache *cache, struct xs_whole *whole, enum xp_class class,
		    bool failed)
{
	set_bit(failed ? FAILED : class, &whole->ended);
	whole_put(cache, whole);
}

/* -------------------------------------------------------------- split ---- */

static struct xs_whole *whole_begin(struct xs_io *io)
{
	struct xs_whole *whole = kmalloc(sizeof(*whole), GFP_NOWAIT | __GFP_NOWARN);

	if (!whole)
		return NULL;
	atomic_set(&whole->parts, 1);
	whole->ended = 0;
	whole->begun = io->begun;
	io->whole = whole;
	io->begun = 0;
	return whole;
}

/* Returns the whole of another rest, if that has lost its place. */
static struct xs_whole *expect(struct xs_wholes *w, const struct rest *rest)
{
	struct rest *set = set_of(w, rest->end), *place;
	struct xs_whole *lost;
	unsigned long flags;
	u32 way;

	spin_lock_irqsave(&w->lock, flags);
	for (way = 0; way < WAYS && set[way].whole; way++)
		;
	place = &set[way < WAYS ? way : w->oldest++ % WAYS];
	lost = place->whole;
	*place = *rest;
	spin_unlock_irqrestore(&w->lock, flags);
	return lost;
}

void xs_whole_split(struct xs_cache *cache, struct xs_io *io, const struct bio *bio, u64 sector,
		    u32 asked)
{
	struct rest rest = {
		.whole = io->whole ? io->whole : whole_begin(io),
		.start = sector + io->req.nr_sectors,
		.end = sector + asked,
		.pages = bio->bi_io_vec,
		.op = bio_op(bio),
	};
	struct xs_whole *lost;

	if (!rest.whole) {
		xs_count_split(cache);
		return;
	}
	atomic_inc(&rest.whole->parts);
	lost = expect(cache->wholes, &rest);
	if (!lost)
		return;
	xs_count_split(cache);
	whole_put(cache, lost);
}

void xs_whole_join(struct xs_cache *cache, struct xs_io *io, const struct bio *bio, u64 sector)
{
	struct xs_wholes *w = cache->wholes;
	u64 end = sector + bio_sectors(bio);
	struct rest *rest = set_of(w, end);
	unsigned long flags;
	u32 way;

	spin_lock_irqsave(&w->lock, flags);
	for (way = 0; way < WAYS; way++, rest++) {
		if (!rest->whole || rest->start != sector || rest->end != end ||
		    rest->pages != bio->bi_io_vec || rest->op != bio_op(bio))
			continue;
		io->whole = rest->whole;
		io->begun = 0;
		rest->whole = NULL;
		break;
	}
	spin_unlock_irqrestore(&w->lock, flags);
}

/* ------------------------------------------------------------- memory ---- */

int xs_wholes_alloc(struct xs_cache *cache)
{
	cache->wholes = kzalloc(sizeof(*cache->wholes), GFP_KERNEL);
	if (!cache->wholes)
		return -ENOMEM;
	spin_lock_init(&cache->wholes->lock);
	return 0;
}

/* No bio is under way: what is left are rests that never came. */
void xs_wholes_free(struct xs_cache *cache)
{
	struct xs_wholes *w = cache->wholes;
	u32 i;

	if (!w)
		return;
	for (i = 0; i < ARRAY_SIZE(w->rest) * WAYS; i++)
		kfree(w->rest[i / WAYS][i % WAYS].whole);
	kfree(w);
}

u64 xs_wholes_bytes(void)
{
	return sizeof(struct xs_wholes);
}
