// SPDX-License-Identifier: GPL-2.0-only
/* The superblock's fields, by name. */
#include "lib/fields.h"
#include "lib/figures.h"
#include "core/format.h"
#include "core/mode.h"
#include "core/options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct field sb_fields[NR_FIELDS] = {
#define FIELD(member, kind) \
	{ #member, FIELD_##kind, offsetof(struct xp_sb, member), sizeof(((struct xp_sb *)0)->member) }
	FIELD(version, NUMBER),
	FIELD(flags, HEX),
	FIELD(compat, HEX),
	FIELD(ro_compat, HEX),
	FIELD(incompat, HEX),
	FIELD(uuid, UUID),
	FIELD(name, TEXT),
	FIELD(created, NUMBER),
	FIELD(generation, NUMBER),
	FIELD(fast_blocks, NUMBER),
	FIELD(scratch_start, NUMBER),
	FIELD(scratch_blocks, NUMBER),
	FIELD(journal_start, NUMBER),
	FIELD(journal_blocks, NUMBER),
	FIELD(data_start, NUMBER),
	FIELD(nr_slots, NUMBER),
	FIELD(slow.sectors, NUMBER),
	FIELD(slow.logical_size, NUMBER),
	FIELD(slow.hwid, TEXT),
	FIELD(slow.content, TEXT),
	FIELD(slow.path, TEXT),
	FIELD(mode, MODE),
	FIELD(grid, NUMBER),
#undef FIELD
};

u64 field_number(const struct field *f, const struct xp_sb *sb)
{
	const u8 *p = (const u8 *)sb + f->offset;
	__le32 n32;
	__le64 n64;

	if (f->len == 4) {
		memcpy(&n32, p, 4);
		return le32_to_cpu(n32);
	}
	memcpy(&n64, p, 8);
	return le64_to_cpu(n64);
}

static const struct xp_tunable *row_of_mode(void)
{
	const struct xp_tunable *row = xp_tunable_rows;

	while (row->offset != offsetof(struct xp_tunables, mode))
		row++;	/* there is one */
	return row;
}

const char *field_text(const struct field *f, const struct xp_sb *sb)
{
	static char text[128];
	const u8 *p = (const u8 *)sb + f->offset;

	switch (f->kind) {
	case FIELD_MODE:
		xp_tunable_text(row_of_mode(), xp_sb_mode(sb), text, sizeof(text));
		break;
	case FIELD_NUMBER:
		snprintf(text, sizeof(text), "%" PRIu64, field_number(f, sb));
		break;
	case FIELD_HEX:
		snprintf(text, sizeof(text), "0x%" PRIx64, field_number(f, sb));
		break;
	case FIELD_UUID:
		return text_uuid(p);
	case FIELD_TEXT:
		snprintf(text, sizeof(text), "%.*s", (int)f->len, (const char *)p);
		break;
	}
	return text;
}
