/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * image.h - the image of a hibernated machine's memory, as far as one sees it from outside: its signature in
 * the header of the swap that it is in.
 */
#ifndef XP_TOOLS_HIBERNATE_IMAGE_H
#define XP_TOOLS_HIBERNATE_IMAGE_H

#include "platform.h"

#include <sys/types.h>

#define SWAP_UUID	16u

/* Where the kernel puts an image. */
struct image_place {
	dev_t dev;		/* 0: nowhere */
	u64 at;			/* byte of it where the signature's page is */
	u8 uuid[SWAP_UUID];	/* of the swap, as that page says */
};

/* As /sys/power says; if that says nothing the first swap there is. */
void image_place_next(struct image_place *p);
/* The signature's place on a device, as the kernel's command line gives it. */
u64 image_offset(void);
/* What the kernel was told by resume=, and could find by itself; 0: nothing. */
dev_t image_of_kernel(void);
/* Learns p->uuid. 1: an image is there; 0: swap without; -ENOENT: no swap; other -errno. */
int image_look(struct image_place *p);
/* Of the swap with this UUID, its page at that byte of some device that is here. -ENOENT: not here. */
int image_find(const u8 uuid[SWAP_UUID], u64 at, struct image_place *p);
int image_erase(const struct image_place *p);	/* -errno */
/* The device that @spec names, as resume= does; 0: none that is here. */
dev_t image_named(const char *spec);
/* Returns if the kernel could not restore it. */
void image_restore(const struct image_place *p);
/* As sector 0 of the disk: where a partition begins that the kernel shows. */
u64 image_sector(dev_t part);
/* A hibernation would fail from now on, for want of a swap; as it was. */
bool image_nowhere(void);	/* false: it cannot be made so */
void image_place_back(void);

#endif
