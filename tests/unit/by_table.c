// SPDX-License-Identifier: GPL-2.0-only
/* by_table.c - core/checksum.c anew, as for a CPU without the instruction. */
#include "by_table.h"
#include "crc32c.h"

#undef xp_has_crc32c_instruction
#define xp_checksum	checksum_by_table
#define xp_tag		tag_by_table

#include "../../core/checksum.c"
