// SPDX-License-Identifier: GPL-2.0-only
/*
 * oracle.c - what each sector may hold: the properties of docs/TESTING.md.
 *
 * A version is what one request made of one sector. v precedes w if v ended
 * before w was submitted. Of versions that are *certain* no preceding one is
 * allowed any more: after a cut those are certain that a FLUSH or FUA covers,
 * while running those that were acknowledged, or seen, before the read began.
 *
 * What is wrong breaks one property, the one without which it would be allowed
 * (broken()). Where sectors cannot be read a block may be an error, if its only copy is there; and it may be
 * what it was long before, or another's, if recovery has told that it may (struct told).
 * Where zeros are concerned it takes the sixth as well: that zeroes
 * are a write like any other. A property that is turned off is not assumed either.
 */
#include "sim.h"
#include "jblock.h"
#include "look.h"
#include "run.h"
#include "statistics.h"

struct version {
	u64 id;			/* 0: zeros */
	u64 submitted;
	u64 ended, acked, seen;	/* 0: not */
	u64 preflush;		/* submitted with a preflush: when */
	bool covered;
	bool fua;		/* by itself alone: the core does not know which are */
	bool forgotten;		/* the slow device had it, and forgot it */
	bool lost;		/* and the cache had it no more */
	bool told;		/* a FLUSH after it has failed: no later one is about it */
	bool doubted;		/* a slow flush has failed meanwhile, and no FLUSH behind its end: one may */
	bool maybe;		/* discard: zeros or what was before */
	bool whole;		/* of a write of all of its aligned 4 KiB */
	bool recovered;		/* what the last recovery showed */
};

struct history {
	struct version *v;
	u32 nr, max;
	bool written;		/* in this run, by anybody */
	bool open;		/* a version is acknowledged and not covered */
	u64 error;		/* since when no recovery could show it; 0: one could */
	u64 initial;		/* tag */
};

static struct history history[SECTORS_MAX];
struct told told;

/* Of a version that nobody knows: a recovery believed what it could not read, and it had not landed. */
#define ID_LOST	(1ull << 39)
static u64 epoch;

u64 oracle_epoch(void)
{
	return epoch;
}

static struct version *version_add(u64 sector, u64 id)
{
	struct history *h = &history[sector];

	if (h->nr == h->max) {
		u32 max = h->max ? 2 * h->max : 8;
		struct version *v = arena_alloc(&sim.arena, max * sizeof(*v));

		if (h->nr)
			memcpy(v, h->v, h->nr * sizeof(*v));
		h->v = v;
		h->max = max;
	}
	h->v[h->nr] = (struct version){ .id = id, .submitted = sim.now };
	return &h->v[h->nr++];
}

/* Nothing older was ever promised. */
static void history_reset(u64 sector, u64 id, bool recovered)
{
	struct version *v;

	history[sector].nr = 0;
	history[sector].open = false;
	history[sector].error = 0;
	v = version_add(sector, id);
	v->submitted = 0;
	v->ended = v->acked = v->seen = 1;
	v->covered = true;
	v->recovered = recovered;
}

/* What is judged is the slow device, without the cache. */
static bool alone;

void oracle_new_run(void)
{
	u64 s;

	memset(history, 0, sizeof(history));
	epoch = 1;
	alone = false;
	for (s = 0; s < sim.slow.sectors; s++) {
		history[s].initial = sim.slow.seen[s]->tag;
		history_reset(s, tag_id(history[s].initial), false);
	}
}

void oracle_replaced(u64 sector, u64 tag)
{
	u64 block = sector & ~(u64)(XP_BLOCK_SECTORS - 1), s;
	u32 i;

	for (s = block; s < sector; s++)	/* what is left of them */
		for (i = 0; i < history[s].nr; i++)
			history[s].v[i].whole = false;
	history[sector].initial = tag;
	history[sector].written = false;
	history_reset(sector, tag_id(tag), false);
	epoch++;
}

/* ------------------------------------------------------- what is allowed ---- */

static bool precedes(const struct version *a, const struct version *b)
{
	return a->ended && a->ended < b->submitted;
}

static bool is_gone(const struct version *w)
{
	return alone ? w->forgotten : w->lost;
}

/* Before @since while running (0: after a cut); @flushed: and all acknowledged
 * before that counts as covered. */
static bool certain(const struct version *w, u64 since, u64 flushed)
{
	if (w->maybe || (is_gone(w) && w->told))
		return false;
	if (since)
		return w->seen && w->seen < since && !is_gone(w);
	return w->covered || (w->acked && w->acked < flushed);
}

/* The newest that does. */
static const struct version *superseded_by(const struct history *h, const struct version *v,
					   u64 since, u64 flushed)
{
	u32 i;

	for (i = h->nr; i-- > 0 && &h->v[i] != v;)
		if (certain(&h->v[i], since, flushed) && precedes(v, &h->v[i]))
			return &h->v[i];
	return NULL;
}

struct verdict {
	struct version *v;	/* NULL: not allowed */
	bool unsure;		/* zeros of more than one version */
	const struct version *known, *newer;	/* not allowed: this one, because of that */
};

static struct verdict judge(u64 sector, u64 tag, u64 since, u64 flushed)
{
	struct history *h = &history[sector];
	struct verdict j = { .v = NULL };
	u32 i;

	if (tag == TAG_OTHER || (tag != TAG_ZERO && tag_sector(tag) != sector))
		return j;
	for (i = 0; i < h->nr; i++) {
		const struct version *newer;

		if (h->v[i].id != tag_id(tag))
			continue;
		newer = superseded_by(h, &h->v[i], since, flushed);
		if (newer) {
			j.known = &h->v[i];
			j.newer = newer;
		} else {
			j.unsure = j.v;
			j.v = &h->v[i];
		}
	}
	return j;
}

bool oracle_is_lost(u64 sector)
{
	return judge(sector, tag_of(ID_LOST, sector), 0, 0).v;
}

bool oracle_stays_lost(u64 sector, u64 since)
{
	const struct history *h = &history[sector];
	u32 i;

	for (i = 0; i < h->nr; i++)
		if (h->v[i].submitted > h->error && certain(&h->v[i], since, 0))
			return false;
	return h->error;
}

/* ------------------------------------------------------------- complaints ---- */

static const char *text_of(u64 tag)
{
	static char text[4][64];
	static u32 n;
	char *t = text[n++ % 4];

	if (tag == TAG_ZERO)
		return "zeros";
	if (tag == TAG_OTHER)
		return "neither data nor zeros";
	snprintf(t, 64, "write %llu of sector %llu", (unsigned long long)tag_id(tag),
		 (unsigned long long)tag_sector(tag));
	return t;
}

static void allowed_text(u64 sector, u64 since, u64 flushed, char *text, size_t len)
{
	const struct history *h = &history[sector];
	size_t n = 0;
	u32 i;

	*text = '\0';
	for (i = 0; i < h->nr && n < len; i++)
		if (!superseded_by(h, &h->v[i], since, flushed))
			n += (size_t)snprintf(text + n, len - n, "%s%llu", n ? ", " : "",
					      (unsigned long long)h->v[i].id);
}

/* Which promise a wrong sector breaks, after a cut. The history of a life begins
 * with what its recovery showed: what is not in it came back from before. */
static enum property broken(u64 sector, u64 tag, const struct verdict *j)
{
	const struct history *h = &history[sector];
	bool own = tag == TAG_ZERO || (tag != TAG_OTHER && tag_sector(tag) == sector);

	if (!h->written)
		return P_UNWRITTEN;
	return own && !j->known && h->v[0].recovered ? P_STAYS : P_ALLOWED;
}

/* Zeros that nobody wrote, or none where somebody did. */
static bool about_zeros(u64 tag, const struct verdict *j)
{
	return j->newer ? !j->newer->id : tag == TAG_ZERO;
}

/* The image was right when it was recovered once; this is about a second time. */
static bool again;

static enum property after_cut(enum property p)
{
	return again ? P_STAYS : p;
}

static void complain(enum property p, const char *where, u64 sector, u64 tag,
		     const struct verdict *j, u64 since, u64 flushed)
{
	char allowed[256];

	if (property_on[p] && about_zeros(tag, j))
		p = P_ZEROS;
	allowed_text(sector, since, flushed, allowed, sizeof(allowed));
	violation(p, "%s: sector %llu holds %s; allowed are the writes {%s} (0: zeros)",
		  where, (unsigned long long)sector, text_of(tag), allowed);
}

/* ---------------------------------------------------------- after a cut ---- */

/* The slow device is asked for it. */
static bool is_lacked(const struct xp_mapping *m, u64 sector)
{
	return m->lacks >> sector % XP_BLOCK_SECTORS & 1;
}

static bool is_unreadable(struct xp *c, const struct image *im, u64 sector, const struct xp_mapping *m)
{
	return !m->zeros && !is_lacked(m, sector) && (m->unread || unreadable(im->fast, true, xp_slot_sector(c, m->slot) + sector % XP_BLOCK_SECTORS, 1));
}

static const struct content *answer(struct xp *c, const struct image *im, u64 sector,
				    const struct xp_mapping *m)
{
	if (!m || is_lacked(m, sector) || (!m->dirty && is_unreadable(c, im, sector, m)))
		return im->slow[sector];
	if (m->zeros)
		return &content_zero;
	return rot_answer(im, xp_slot_sector(c, m->slot), sector, m);
}

/* 3: what came with one write of the block came all, or was overwritten since. */
static void check_whole(u64 block, struct version * const *v)
{
	u32 i, k;

	for (i = 0; i < XP_BLOCK_SECTORS; i++)
		for (k = 0; v[i] && v[i]->whole && k < XP_BLOCK_SECTORS; k++)
			if (v[k] && v[k]->id != v[i]->id && precedes(v[k], v[i]))
				violation(after_cut(P_WHOLE), "after a cut: block %llu holds part of write %llu, beside the older %llu",
					  (unsigned long long)block, (unsigned long long)v[i]->id,
					  (unsigned long long)v[k]->id);
}

/* 2, of the slow device alone. A block that is dirty in part is written back
 * whole, and a cut may then leave any of it spoilt there, behind the mapping. */
static void check_untouched(const struct image *im, u64 first, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (history[first + i].written)
			return;
	for (i = 0; i < nr; i++)
		if (im->slow[first + i]->tag != history[first + i].initial)
			violation(after_cut(P_UNWRITTEN), "after a cut: the slow device's sector %llu was never written, and holds %s",
				  (unsigned long long)(first + i), text_of(im->slow[first + i]->tag));
}

/* An error, of which recovery has told that it does not know whether it was there. */
static bool is_error(struct xp *c, const struct image *im, u64 sector, const struct xp_mapping *m)
{
	u64 block = sector / XP_BLOCK_SECTORS;

	if (!m || !m->dirty || !is_unreadable(c, im, sector, m))
		return false;
	return told.undecided[block] || oracle_is_lost(sector) || oracle_stays_lost(sector, 0);
}

/* What cannot be read may have been its newest version, and the user took the one before. */
static bool was_taken_older(u64 block)
{
	return told.older && told.undecided[block];
}

/* A journal block that said something of it may be lost. */
static bool in_doubt(u64 block, const struct xp_mapping *m)
{
	return (told.loss && (!m || told.doubtful[block])) || was_taken_older(block);
}

/* Older than promised, but its own; or another's, if a mapping to that was doubtful. Whose mapping is
 * lost may be half a writeback's, on the slow device. What is an error is neither. */
static bool is_older(struct xp *c, const struct image *im, u64 block, const u64 *tags, u32 nr,
		     const struct xp_mapping *m)
{
	u64 s = block * XP_BLOCK_SECTORS;
	bool older = false;
	u32 i;

	for (i = 0; i < nr; i++) {
		struct verdict j = judge(s + i, tags[s + i], 0, 0);
		bool own = tags[s + i] == TAG_ZERO || tags[s + i] == TAG_OTHER || tag_sector(tags[s + i]) == s + i;

		if (is_error(c, im, s + i, m))
			continue;
		older |= !j.v;
		if (!own && !(m && m->dirty && (told.doubtful[block] || told.older)))
			complain(P_UNREADABLE, "after a loss that was accepted", s + i, tags[s + i], &j, 0, 0);
	}
	return older;
}

/* 14. Half a write, if one was under way, is what any disk leaves. */
static void check_slow_alone(const struct image *im, u64 first, u32 nr)
{
	u32 i;

	alone = true;
	for (i = 0; i < nr; i++) {
		u64 tag = im->slow[first + i]->tag;
		struct verdict j = judge(first + i, tag, 0, 0);

		if (!j.v && tag != TAG_OTHER)
			complain(P_THROUGH, "after a cut, on the slow device alone", first + i, tag, &j, 0, 0);
	}
	alone = false;
}

/* 1: it is older by the loss of a journal block. */
static u32 check_block(struct xp *c, const struct image *im, u64 block, u64 *tags,
		       struct version **found)
{
	u64 s = block * XP_BLOCK_SECTORS;
	u32 nr = (u32)min((u64)XP_BLOCK_SECTORS, sim.slow.sectors - s), i;
	struct xp_mapping map, *m;

	m = xp_lookup(c, XP_LBA(block), &map) ? &map : NULL;
	for (i = 0; i < nr; i++) {
		tags[s + i] = answer(c, im, s + i, m)->tag;
		found[s + i] = NULL;
	}
	if (in_doubt(block, m))
		return is_older(c, im, block, tags, nr, m) && !was_taken_older(block);
	for (i = 0; i < nr; i++) {
		struct verdict j = judge(s + i, tags[s + i], 0, 0);

		if (!j.v && !is_error(c, im, s + i, m))
			complain(after_cut(broken(s + i, tags[s + i], &j)), "after a cut", s + i,
				 tags[s + i], &j, 0, 0);
		found[s + i] = j.unsure || is_error(c, im, s + i, m) ? NULL : j.v;
	}
	check_untouched(im, s, nr);
	if (sim.settled && !sim.geometry.bad && !sim.geometry.rot_one_in)
		check_slow_alone(im, s, nr);
	if (nr == XP_BLOCK_SECTORS)
		check_whole(block, found + s);
	return 0;
}

/* 4 */
static void check_preflush(const u64 *tags, struct version * const *found)
{
	u64 s, flushed = 0;

	for (s = 0; s < sim.slow.sectors; s++)
		if (found[s])
			flushed = max(flushed, found[s]->preflush);
	for (s = 0; flushed && s < sim.slow.sectors; s++) {
		struct verdict j = judge(s, tags[s], 0, flushed);

		if (found[s] && !j.v)
			complain(after_cut(P_PREFLUSH), "after a cut, with a later preflushed write there",
				 s, tags[s], &j, 0, flushed);
	}
}

/* 13: each journal block that is lost says something of so many. */
static void check_loss(u32 older)
{
	u32 each = sim.geometry.runs ? XP_NAMED_MAX + XP_RELOCATE_MAX : XP_PUT_MAX;

	figures.older += older;
	if (told.loss && !told.unended && older > told.lost * each && !sim.forgot)
		violation(P_UNREADABLE, "%u journal blocks are lost, and %u blocks older than promised, or another's",
			  told.lost, older);
}

const struct content *oracle_answer(struct xp *c, const struct image *im, u64 sector)
{
	struct xp_mapping map;
	bool mapped = xp_lookup(c, XP_LBA(sector / XP_BLOCK_SECTORS), &map);

	return answer(c, im, sector, mapped ? &map : NULL);
}

bool oracle_check_image(struct xp *c, const struct image *im, bool second)
{
	static struct version *found[SECTORS_MAX];
	static u64 tags[SECTORS_MAX];
	struct xp_stats stats;
	u32 older = 0;
	u64 block;

	again = second;
	sim.overlooked = false;
	for (block = 0; block * XP_BLOCK_SECTORS < sim.slow.sectors; block++)
		older += check_block(c, im, block, tags, found);
	if (!told.loss)
		check_preflush(tags, found);
	check_loss(older);
	xp_get_stats(c, &stats);
	if (stats.free + stats.dirty + stats.clean + stats.bad_slots != stats.slots)
		violation(P_HOST, "after a cut: %llu free, %llu dirty and %llu clean of %llu slots",
			  (unsigned long long)stats.free, (unsigned long long)stats.dirty,
			  (unsigned long long)stats.clean, (unsigned long long)stats.slots);
	return !sim.overlooked;
}

static u64 shown(struct xp *c, const struct image *im, u64 sector, bool error)
{
	u64 tag = oracle_answer(c, im, sector)->tag;

	if (!judge(sector, tag, 0, 0).v && error)
		return tag_of(ID_LOST, sector);
	return tag;
}

void oracle_restart(struct xp *c, const struct image *im)
{
	u64 s;

	for (s = 0; s < sim.slow.sectors; s++) {
		struct xp_mapping map;
		bool mapped = xp_lookup(c, XP_LBA(s / XP_BLOCK_SECTORS), &map);
		/* what made it readable was lost with the journal block that said so */
		bool error = mapped && (is_error(c, im, s, &map) || (map.unread && in_doubt(s / XP_BLOCK_SECTORS, &map)));
		u64 tag = shown(c, im, s, error);

		/* With all properties on, and no loss accepted, the run has ended before. */
		if (tag != TAG_ZERO && (tag == TAG_OTHER || tag_sector(tag) != s))
			run_abandon();
		history_reset(s, tag_id(tag), true);
		history[s].error = error ? sim.now : 0;
	}
	epoch++;
}

void oracle_note_unread(struct xp *c, bool once)
{
	struct xp_mapping m;
	u64 s;

	for (s = 0; s < sim.slow.sectors; s++) {
		if (!xp_lookup(c, XP_LBA(s / XP_BLOCK_SECTORS), &m) || !m.unread || oracle_stays_lost(s, sim.now + 1))
			continue;
		if (!once && !unreadable(sim.fast.seen, true, xp_slot_sector(c, m.slot), XP_BLOCK_SECTORS))
			violation(P_UNREADABLE, "sector %llu is an error, and its slot can be read", (unsigned long long)s);
		history[s].error = sim.now;
	}
}

/* Covered, and seen before any read that is under way began: what that supersedes
 * neither a cut nor a read will bring back. */
static bool gone(const struct history *h, const struct version *v, u64 oldest)
{
	u32 i;

	for (i = 0; i < h->nr; i++)
		if (certain(&h->v[i], 0, 0) && certain(&h->v[i], oldest, 0) &&
		    precedes(v, &h->v[i]))
			return true;
	return false;
}

void oracle_forget(u64 oldest)
{
	u64 s;

	for (s = 0; s < sim.slow.sectors; s++) {
		struct history *h = &history[s];
		u32 i, kept = 0;

		for (i = 0; i < h->nr; i++)
			if (!gone(h, &h->v[i], oldest))
				h->v[kept++] = h->v[i];
		h->nr = kept;
	}
}

/* I6 */
void oracle_check_slow(u64 by)
{
	u64 since = by + 1, s;

	for (s = 0; s < sim.slow.sectors; s++) {
		u64 tag = sim.slow.floor[s]->tag;
		struct verdict j = judge(s, tag, since, 0);

		if (!j.v)
			complain(history[s].written ? P_ALLOWED : P_UNWRITTEN,
				 "the slow device alone, nothing dirty", s, tag, &j, since, 0);
	}
}

/* --------------------------------------------------------------- running ---- */

void oracle_begin(const struct user *u)
{
	u32 i;

	if (u->op == XP_READ || u->op == XP_FLUSH)
		return;
	for (i = 0; i < u->nr; i++) {
		u64 s = u->sector + i, block = s & ~(u64)(XP_BLOCK_SECTORS - 1);
		struct version *v = version_add(s, u->op == XP_WRITE ? u->id : 0);

		history[s].written = true;
		v->preflush = u->preflush ? u->submitted : 0;
		v->maybe = u->op == XP_DISCARD;
		v->whole = u->op == XP_WRITE && block >= u->sector &&
			   block + XP_BLOCK_SECTORS <= u->sector + u->nr;
	}
}

static void read_end(const struct user *u)
{
	u32 i;

	for (i = 0; i < u->nr; i++) {
		u64 s = u->sector + i, tag = payload_tag(u->buf + i * SECTOR);
		struct verdict j = judge(s, tag, u->submitted, 0);

		if (!j.v) {
			bool hit = u->hit && s >= u->hit_first && s < u->hit_end;

			complain(hit ? P_FAULTY_READS : P_READS, "a read", s, tag, &j, u->submitted, 0);
			continue;
		}
		if (j.unsure || !property_on[P_READS])	/* what may be anything tells nothing of the others */
			continue;
		if (!j.v->seen)
			j.v->seen = sim.now;
		j.v->maybe = false;	/* a discard that was seen has happened */
	}
	figures.reads++;
}

/* Versions of a request are told by when it was submitted: no two at once. */
static void write_end(const struct user *u, bool well)
{
	u32 i, k;

	for (i = 0; i < u->nr; i++)
		for (k = 0; k < history[u->sector + i].nr; k++) {
			struct version *v = &history[u->sector + i].v[k];

			if (v->submitted != u->submitted)
				continue;
			v->ended = sim.now;
			if (!well)
				continue;
			v->acked = sim.now;
			if (!v->seen)
				v->seen = sim.now;
			v->covered |= u->fua;
			v->fua = u->fua;
			history[u->sector + i].open = true;
		}
	epoch += u->fua && well;
}

static void flush_end(const struct user *u)
{
	u64 s;
	u32 k;

	for (s = 0; s < sim.slow.sectors; s++) {
		struct history *h = &history[s];
		bool open = false;

		for (k = 0; h->open && k < h->nr; k++) {
			struct version *v = &h->v[k];

			if (v->acked && v->acked < u->submitted) {
				epoch += !v->covered;
				v->covered = true;
				v->fua = false;
			}
			open |= v->acked && (!v->covered || v->fua);
		}
		h->open = open;
	}
}

/* Dirty, with a record that was durable before the slow device was sent it (I3). */
static bool is_cached(u64 sector, u64 tag)
{
	struct xp_mapping m;

	if (!xp_lookup(sim.c, XP_LBA(sector / XP_BLOCK_SECTORS), &m) || !m.dirty || m.zeros || m.unread ||
	    m.lacks >> sector % XP_BLOCK_SECTORS & 1)
		return false;
	return sim.fast.seen[xp_slot_sector(sim.c, m.slot) + sector % XP_BLOCK_SECTORS]->tag == tag;
}

/* Was it acknowledged and not flushed? Else it was there, and the cache is to have it still. */
void oracle_lost(u64 sector, u64 tag)
{
	const struct version *found;
	bool cached = is_cached(sector, tag);
	struct history *h;
	u32 i, k;

	if (sector >= sim.slow.sectors)
		return;
	h = &history[sector];
	for (i = h->nr; i-- > 0 && h->v[i].id != tag_id(tag);)
		;
	found = i + 1 ? &h->v[i] : NULL;
	for (k = 0; found && k < h->nr; k++) {	/* with those that it was over, or may have been: nobody knows which of two came last */
		struct version *v = &h->v[k];
		bool gone = !v->covered && (k <= i || !precedes(found, v));

		v->forgotten |= gone;
		v->lost |= gone && !cached;
	}
}

static void tell(struct version *v, u64 submitted)
{
	v->told |= !v->covered && v->submitted < submitted;
	v->doubted &= !v->ended || v->ended >= submitted;
}

/* Also of what was under way: the part of it that the device had may be all that it forgot, and nobody can tell. */
void oracle_tell_lost(u64 submitted)
{
	u64 s;
	u32 i;

	for (s = 0; s < sim.slow.sectors; s++)
		for (i = 0; i < history[s].nr; i++)
			tell(&history[s].v[i], submitted);
	sim.doubts_home = false;
}

/* Ended or not, and whether or not the device forgets it: the core cannot know. */
void oracle_doubt(void)
{
	u64 s;
	u32 i;

	for (s = 0; s < sim.slow.sectors; s++)
		for (i = 0; i < history[s].nr; i++)
			history[s].v[i].doubted |= !history[s].v[i].covered || history[s].v[i].fua;
	sim.doubts_home = sim.geometry.modes;	/* what a write-through has sent there, too */
}

bool oracle_doubts(void)
{
	u64 s;
	u32 i;

	for (s = 0; s < sim.slow.sectors; s++)
		for (i = 0; i < history[s].nr; i++)
			if (history[s].v[i].doubted)
				return true;
	return sim.doubts_home;
}

void oracle_doubt_nothing(void)
{
	u64 s;
	u32 i;

	for (s = 0; s < sim.slow.sectors; s++)
		for (i = 0; i < history[s].nr; i++)
			history[s].v[i].doubted = false;
	sim.doubts_home = false;
}

void oracle_end(const struct user *u)
{
	bool well = !u->err, tells = u->err && (u->op == XP_FLUSH || u->preflush);

	if (tells && oracle_doubts())
		sim.faulted = true;	/* and ordered writes may fail for it, now */
	if (tells)
		oracle_tell_lost(u->submitted);
	if (u->err && !sim.faulted && !rot_excuses(u))
		violation(P_ERRORS, "%s of sector %llu ended with error %d, and no device had one",
			  op_name(u->op), (unsigned long long)u->sector, u->err);
	if (u->op == XP_READ) {
		if (well)
			read_end(u);
		return;
	}
	if (well && u->hit) {
		violation(P_ERRORS, "%s of sector %llu ended well, and a device had failed it",
			  op_name(u->op), (unsigned long long)u->sector);
		well = false;
	}
	if (u->op != XP_FLUSH)
		write_end(u, well);
	else if (well)
		flush_end(u);
}
