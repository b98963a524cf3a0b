// SPDX-License-Identifier: GPL-2.0-only
/* Figures as a person reads and types them: sizes, counts, durations, times. */
#include "lib/figures.h"
#include "core/block.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXTS	8

static char *next_text(size_t *len)
{
	static char text[TEXTS][64];
	static unsigned int next;

	*len = sizeof(text[0]);
	return text[next++ % TEXTS];
}

bool bytes_read(const char *text, u64 *bytes)
{
	static const char units[] = "kmgt";
	const char *unit;
	u32 shift = 0;
	char *end;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (errno || end == text || !isdigit((unsigned char)*text))
		return false;
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (u32)(unit - units + 1);
		end++;
		if (!strcasecmp(end, "b") || !strcasecmp(end, "ib"))
			end += strlen(end);
	}
	if (*end || *bytes > ~0ull >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

const char *text_bytes(u64 n)
{
	static const char unit[][4] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int i = 0;
	double v = n;
	size_t len;
	char *s = next_text(&len);

	while (v >= 1024 && i < 6) {
		v /= 1024;
		i++;
	}
	snprintf(s, len, "%.*f %s", i && v < 100 ? 2 - (v >= 10) : 0, v, unit[i]);
	return s;
}

const char *text_count(u64 n)
{
	char digits[24];
	size_t len, have = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *s = next_text(&len), *p = s;

	for (size_t i = 0; i < have; i++) {
		if (i && (have - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = '\0';
	return s;
}

const char *text_size(u64 blocks)
{
	static const char units[] = "KMGT";
	u64 n = blocks << (XP_BLOCK_SHIFT - 10);
	u32 unit = 0;
	size_t len;
	char *s = next_text(&len);

	for (; n && !(n % 1024) && unit < 3; unit++)
		n /= 1024;
	snprintf(s, len, "%" PRIu64 "%c", n, units[unit]);
	return s;
}

const char *text_blocks(u64 n)
{
	size_t len;
	char *s = next_text(&len);

	snprintf(s, len, "%s block%s (%s)", text_count(n), n == 1 ? "" : "s",
		 text_bytes(n << XP_BLOCK_SHIFT));
	return s;
}

const char *text_duration(u64 t)
{
	size_t len;
	char *s = next_text(&len);

	if (t >= 3600)
		snprintf(s, len, "%" PRIu64 ":%02u:%02u", t / 3600,
			 (unsigned int)(t / 60 % 60), (unsigned int)(t % 60));
	else
		snprintf(s, len, "%u:%02u", (unsigned int)(t / 60),
			 (unsigned int)(t % 60));
	return s;
}

const char *text_time(u64 t)
{
	time_t seconds = (time_t)t;
	struct tm tm;
	size_t len;
	char *s = next_text(&len);

	if (!localtime_r(&seconds, &tm) || !strftime(s, len, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(s, len, "%" PRIu64, t);
	return s;
}

const char *text_percent(u64 part, u64 whole)
{
	size_t len;
	char *s = next_text(&len);

	if (whole)
		snprintf(s, len, "%.1f %%", 100.0 * part / whole);
	else
		snprintf(s, len, "-");
	return s;
}

const char *text_quotient(double n)
{
	size_t len;
	char *s = next_text(&len);

	if (isnan(n))
		snprintf(s, len, "-");
	else
		snprintf(s, len, "%.2f", n);
	return s;
}

const char *text_uuid(const u8 uuid[16])
{
	size_t len;
	char *s = next_text(&len);

	for (int i = 0; i < 16; i++)
		snprintf(s + 2 * i, 3, "%02x", uuid[i]);
	return s;
}
