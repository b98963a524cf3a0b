/* SPDX-License-Identifier: GPL-2.0-only */
/* media.h - the core's blocking access to metadata, over a file descriptor. */
#ifndef XP_LIB_MEDIA_H
#define XP_LIB_MEDIA_H

#include "core/media.h"

struct media {
	struct xp_media io;	/* what the core calls */
	int fd;
	void *bounce;
};

int media_init(struct media *m, int fd);
void media_done(struct media *m);
/* Of one block: 0, or negative errno. A device of larger sectors, and a file that is read by blocks, refuse: -EINVAL. */
int media_read_sectors(struct media *m, u64 sector, u32 nr, void *to);

#endif
