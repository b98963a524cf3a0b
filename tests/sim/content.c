// SPDX-License-Identifier: GPL-2.0-only
/* content.c - what a sector holds, and memory by the run. */
#include "sim.h"

const struct content content_zero = { .stamp = 1, .tag = TAG_ZERO };
const struct content content_garbage = {
	.stamp = 2, .tag = TAG_OTHER, .bytes = { 0xa5, 0x5a, 1, 2, 3 },
};

const struct content *content_own(struct arena *a, const u8 *bytes)
{
	struct content *k = arena_alloc(a, sizeof(*k));

	k->stamp = ++sim.next_stamp;
	k->tag = payload_tag(bytes);
	memcpy(k->bytes, bytes, SECTOR);
	return k;
}

const struct content *content_new(struct arena *a, const u8 *bytes)
{
	return payload_tag(bytes) == TAG_ZERO ? &content_zero : content_own(a, bytes);
}

static u64 stamp_of(const u8 *bytes)
{
	u64 stamp = 0, word;
	u32 i;

	for (i = 0; i < SECTOR; i += 8) {
		memcpy(&word, bytes + i, 8);
		stamp = mix(stamp + word + i);
	}
	return stamp | 1ull << 63;	/* as no other has */
}

const struct content *content_unreadable(struct arena *a, const struct content *k, bool stays)
{
	struct content *bad;

	if (k->under)
		return k;
	bad = arena_alloc(a, sizeof(*bad));
	*bad = *k;
	bad->stamp = mix(k->stamp ^ (stays ? 0xbad2 : 0xbad1)) | 1ull << 63;
	bad->under = k;
	bad->stays = stays;
	return bad;
}

/* It can be read when all of it was written; or still not. */
static const struct content *mix_unreadable(struct arena *a, const struct content *under,
					    const struct content *over, u64 words)
{
	const struct content *anew = over->under ? over->under : over,
			     *k = content_mix(a, under->under, anew, words);

	return k == anew ? over : content_unreadable(a, k, under->stays);
}

bool unreadable(const struct content * const *cells, bool fast, u64 sector, u32 nr)
{
	u64 first = sector, end = sector + nr, s;

	if (!sim.geometry.bad)
		return false;
	if (fast) {
		first -= first % XP_BLOCK_SECTORS;
		end += (XP_BLOCK_SECTORS - end % XP_BLOCK_SECTORS) % XP_BLOCK_SECTORS;
	}
	for (s = first; s < end; s++)
		if (cells[s]->under)
			return true;
	return false;
}

const struct content *content_mix(struct arena *a, const struct content *under,
				  const struct content *over, u64 words)
{
	u8 bytes[SECTOR];
	struct content *k;
	u32 i;

	if (words == ~0ull)
		return over;
	if (under->under && words)
		return mix_unreadable(a, under, over, words);
	memcpy(bytes, under->bytes, SECTOR);
	for (i = 0; i < SECTOR / 8; i++)
		if (words >> i & 1)
			memcpy(bytes + i * 8, over->bytes + i * 8, 8);
	if (!memcmp(bytes, under->bytes, SECTOR))
		return under;
	if (!memcmp(bytes, over->bytes, SECTOR))
		return over;
	k = arena_alloc(a, sizeof(*k));
	k->stamp = stamp_of(bytes);
	k->tag = payload_tag(bytes);
	memcpy(k->bytes, bytes, SECTOR);
	return k;
}

/* --------------------------------------------------------------- arena ---- */

#define CHUNK_SIZE (1u << 20)

struct arena_chunk {
	struct arena_chunk *next;	/* older */
	size_t size, used;
	u8 data[] __attribute__((aligned(16)));
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_chunk *k = a->chunk;
	void *at;

	size = (size + 15) & ~(size_t)15;
	if (!k || k->used + size > k->size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		k = malloc(sizeof(*k) + room);
		k->next = a->chunk;
		k->size = room;
		k->used = 0;
		a->chunk = k;
	}
	at = k->data + k->used;
	k->used += size;
	return memset(at, 0, size);
}

struct arena_mark arena_mark(const struct arena *a)
{
	return (struct arena_mark){ a->chunk, a->chunk ? a->chunk->used : 0 };
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
	while (a->chunk != mark.chunk) {
		struct arena_chunk *k = a->chunk;

		a->chunk = k->next;
		free(k);
	}
	if (a->chunk)
		a->chunk->used = mark.used;
}

void arena_free(struct arena *a)
{
	arena_rewind(a, (struct arena_mark){ NULL, 0 });
}
