/* SPDX-License-Identifier: GPL-2.0-only */
/* figures.h - figures as a person reads and types them: sizes, counts, durations, times. */
#ifndef XP_LIB_FIGURES_H
#define XP_LIB_FIGURES_H

#include "platform.h"

/* Texts that live until the eighth next call. */
const char *text_bytes(u64 n);		/* 1.50 GiB */
const char *text_size(u64 blocks);	/* of 4 KiB, as --fast-size takes it: 48M */
const char *text_blocks(u64 n);		/* 12,288 blocks (48 MiB) */
const char *text_count(u64 n);		/* 1,234,567 */
const char *text_duration(u64 seconds);	/* 1:02:03 */
const char *text_time(u64 seconds);	/* since 1970: 2026-05-31 23:59:59, here */
const char *text_percent(u64 part, u64 whole);
const char *text_quotient(double n);	/* 0.52; "-" of NAN */
const char *text_uuid(const u8 uuid[16]);
/* "4k", "1M", "2GiB"; powers of 1024. */
bool bytes_read(const char *text, u64 *bytes);

#endif
