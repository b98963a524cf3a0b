// SPDX-License-Identifier: GPL-2.0-only
/* payload.c - bytes that say which write put them there, and where they belong. */
#include "payload.h"

#define MAGIC 0x6f727478u

struct payload {
	u32 magic, pad;
	u64 sector, id;
};

static const u8 zero[SECTOR];

void payload_fill(u8 *bytes, u64 sector, u64 id)
{
	struct payload p = { MAGIC, 0, sector, id };
	u64 word = mix(id ^ sector << 40);
	u32 i;

	memcpy(bytes, &p, sizeof(p));
	for (i = sizeof(p); i < SECTOR; i += 8)
		memcpy(bytes + i, &word, 8);
}

u64 payload_tag(const u8 *bytes)
{
	u8 expected[SECTOR];
	struct payload p;

	memcpy(&p, bytes, sizeof(p));
	if (!p.magic)
		return memcmp(bytes, zero, SECTOR) ? TAG_OTHER : TAG_ZERO;
	if (p.magic != MAGIC)
		return TAG_OTHER;
	payload_fill(expected, p.sector, p.id);
	return memcmp(bytes, expected, SECTOR) ? TAG_OTHER : tag_of(p.id, p.sector);
}
