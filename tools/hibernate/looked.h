/* SPDX-License-Identifier: GPL-2.0-only */
/* looked.h - what the initramfs of this boot has looked for before a cache started. */
#ifndef XP_TOOLS_HIBERNATE_LOOKED_H
#define XP_TOOLS_HIBERNATE_LOOKED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* For the system that comes up: this initramfs looks at @spec, and knows these caches. */
void looked_write(const char *spec);
bool looked_at(char *spec, size_t len);	/* false: it has not looked */
dev_t looked_kernel(void);		/* where the kernel looked before it */
bool looked_knows(const char *uuid);

#endif
