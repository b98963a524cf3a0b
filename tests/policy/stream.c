// SPDX-License-Identifier: GPL-2.0-only
/* stream.c - collects accesses for the rivals, runs one of them, and makes random numbers. Without memory it aborts. */
#include <math.h>
#include <stdlib.h>
#include "stream.h"

static void *have(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void stream_init(struct stream *s)
{
	*s = (struct stream){ .room = 1024, .slots = 4096 };
	s->access = have(malloc(s->room * sizeof(*s->access)));
	s->lba = have(malloc(s->slots * sizeof(*s->lba)));
	s->id = have(malloc(s->slots * sizeof(*s->id)));
	for (u32 i = 0; i < s->slots; i++)
		s->id[i] = RIVAL_NEVER;
}

void stream_free(struct stream *s)
{
	free(s->access);
	free(s->lba);
	free(s->id);
}

static u32 find(const struct stream *s, u64 lba)
{
	u32 at = (u32)(lba * 0x9e3779b97f4a7c15ull >> 32) & (s->slots - 1);

	while (s->id[at] != RIVAL_NEVER && s->lba[at] != lba)
		at = (at + 1) & (s->slots - 1);
	return at;
}

static void grow(struct stream *s)
{
	struct stream old = *s;

	s->slots *= 2;
	s->lba = have(malloc(s->slots * sizeof(*s->lba)));
	s->id = have(malloc(s->slots * sizeof(*s->id)));
	for (u32 i = 0; i < s->slots; i++)
		s->id[i] = RIVAL_NEVER;
	for (u32 i = 0; i < old.slots; i++) {
		if (old.id[i] != RIVAL_NEVER) {
			u32 at = find(s, old.lba[i]);

			s->lba[at] = old.lba[i];
			s->id[at] = old.id[i];
		}
	}
	free(old.lba);
	free(old.id);
}

void stream_add(struct stream *s, u64 lba, bool counts)
{
	u32 at = find(s, lba);

	if (s->id[at] == RIVAL_NEVER) {
		s->lba[at] = lba;
		s->id[at] = s->nr_ids++;
	}
	if (s->nr == s->room) {
		s->room *= 2;
		s->access = have(realloc(s->access, s->room * sizeof(*s->access)));
	}
	s->access[s->nr++] = (struct access){ s->id[at], RIVAL_NEVER, counts };
	if (s->nr_ids > s->slots / 2)
		grow(s);
}

void stream_end(struct stream *s)
{
	u32 *next = have(malloc((s->nr_ids + 1) * sizeof(*next)));
	u32 i;

	for (i = 0; i < s->nr_ids; i++)
		next[i] = RIVAL_NEVER;
	for (i = s->nr; i--;) {
		s->access[i].next = next[s->access[i].id];
		next[s->access[i].id] = s->access[i].counts ? i : RIVAL_NEVER;
	}
	free(next);
}

double stream_misses(const struct stream *s, const struct rival *rival, u32 capacity)
{
	void *policy = have(rival->make(capacity, s->nr_ids));
	u32 counted = 0, missed = 0, i;

	for (i = 0; i < s->nr; i++) {
		const struct access *a = &s->access[i];
		bool hit = rival->access(policy, a->id, a->next);

		counted += a->counts;
		missed += a->counts && !hit;
	}
	rival->free(policy);
	return counted ? (double)missed / counted : 0;
}

u64 random_next(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

void zipf_init(struct zipf *z, u32 n, double skew)
{
	double sum = 0;
	u32 i;

	z->n = n;
	z->sum = have(malloc(n * sizeof(*z->sum)));
	for (i = 0; i < n; i++)
		z->sum[i] = sum += pow(i + 1, -skew);
	for (i = 0; i < n; i++)
		z->sum[i] /= sum;
}

u32 zipf_next(const struct zipf *z, u64 *seed)
{
	double at = (double)(random_next(seed) >> 11) / 9007199254740992.0;
	u32 low = 0, high = z->n - 1;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (z->sum[middle] > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void zipf_free(struct zipf *z)
{
	free(z->sum);
}
