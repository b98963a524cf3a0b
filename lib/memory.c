// SPDX-License-Identifier: GPL-2.0-only
/* memory.c - what the machine has of it. */
#include "lib/memory.h"
#include "platform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void memory_look(struct memory *m)
{
	const char *other = getenv("XPCACHE_MEMINFO");	/* of the tests */
	FILE *f = fopen(other ? other : "/proc/meminfo", "re");
	char line[128];
	u64 kib;

	*m = (struct memory){ .total = 0 };
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemTotal: %" SCNu64, &kib) == 1)
			m->total = kib << 10;
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			m->available = kib << 10;
		if (sscanf(line, "Dirty: %" SCNu64, &kib) == 1 || sscanf(line, "Writeback: %" SCNu64, &kib) == 1)
			m->unwritten += kib << 10;
	}
	if (f)
		fclose(f);
}
