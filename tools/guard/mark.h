/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mark.h - have writes passed the cache while its fast device was gone (core/passing.c)? The mark says so: at
 * the place that the fingerprint remembers, or where it would be written today.
 */
#ifndef XP_TOOLS_GUARD_MARK_H
#define XP_TOOLS_GUARD_MARK_H

#include "lib/exit.h"
#include "platform.h"

struct options;
struct xp_fp;
struct xp_media;
struct xp_sb;
struct xp_tunables;

/*
 * Before the cache on @fast starts: if writes have passed it, what it has is dropped, and the mark
 * that said so erased; that is told. @t->mark: where the next mark may be written, 0: nowhere; @t->grid: of the superblock.
 * *@doubt, for behind_check(): a block that cannot be read, and may say so; 0: none.
 * @opt: may dirty blocks be lost with the clean ones, may journal blocks be; NULL: dirty ones may.
 */
enum xc mark_prepare(const char *name, const char *fast, const char *slow, const struct options *opt, struct xp_tunables *t, u64 *doubt);
/* Would it find one? Changes nothing. */
bool mark_there(const struct xp_media *m, const struct xp_sb *sb, const char *slow, u64 *doubt);
/* Of a cache that is no more; @fp is its last fingerprint. Complains if it stays. */
void mark_erase(const struct xp_sb *sb, const struct xp_fp *fp, const char *slow);

#endif
