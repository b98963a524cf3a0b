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

#endif
