/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * span.h - how much of the slow device a read asks for at once.
 *
 *	miss  hit  miss  hit  miss          one request for all of it, or one for each miss
 *	|<----------- span ------->|
 *
 * A disk that seeks reads on over a cached block sooner than it comes back for the next one. The hits
 * between misses are then read with them: the slow device holds them too, where they are clean (I7), and where they
 * are dirty they are laid over what it holds (overlay.h).
 * That is done if the whole span takes less than an access for each of its misses but one: by what the
 * slow device's own reads have taken, and as a rotating disk until some have been timed.
 *
 *	hit  miss  hit | miss  hit | hit  miss          of three requests, all of it
 *
 * Where a request goes on close behind the newest read of the slow device, the disk's head is there. Hits
 * at both of its ends are read from there as well, as long as that takes less than an access: the next one would have
 * to wait for the disk to come round.
 */
#ifndef XP_SPAN_H
#define XP_SPAN_H

#include "platform.h"

struct xp;
struct xp_req;

/*
 * Of @req: the blocks to read at once, no more than @most; 0: none, its first block is mapped and read as a hit.
 * *@misses: so many of them are not mapped. Sets req->overlay, of those that are dirty, or NULL.
 */
u32 span_blocks(struct xp *c, struct xp_req *req, u32 most, u32 *misses);

#endif /* XP_SPAN_H */
