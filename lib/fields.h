/* SPDX-License-Identifier: GPL-2.0-only */
/* fields.h - the superblock's fields by name, once: dump prints them, check compares them. */
#ifndef XP_FIELDS_H
#define XP_FIELDS_H

#include "platform.h"

struct xp_sb;

enum field_kind { FIELD_NUMBER, FIELD_TEXT, FIELD_UUID, FIELD_HEX, FIELD_MODE };

struct field {
	const char *name;	/* "slow.sectors" for one of the slow device */
	enum field_kind kind;
	size_t offset, len;
};

#define NR_FIELDS	23

extern const struct field sb_fields[NR_FIELDS];

u64 field_number(const struct field *f, const struct xp_sb *sb);
/* Lives until the next call. */
const char *field_text(const struct field *f, const struct xp_sb *sb);

#endif /* XP_FIELDS_H */
