// SPDX-License-Identifier: GPL-2.0-only
/* ublk_request.c - what the driver asks, what it is told, and how the device describes itself. */
#include "daemon/device.h"
#include "daemon/engine.h"
#include "daemon/ublk/ublk.h"
#include "daemon/ublk/ublk_proto.h"

#include <errno.h>
#include <string.h>

/* Of one discard and one write of zeroes, at most. The first is bookkeeping, mostly; the second may have to
 * be written, and the block layer waits half a minute for it before it begins to wonder. */
#define DISCARD_SECTORS	(1u << (30 - XP_SECTOR_SHIFT))
#define ZEROES_SECTORS	(1u << (24 - XP_SECTOR_SHIFT))

bool xd_ublk_translate(const struct ublksrv_io_desc *desc, struct xd_io *io)
{
	static const u8 op[] = {
		[UBLK_IO_OP_READ] = XP_READ, [UBLK_IO_OP_WRITE] = XP_WRITE, [UBLK_IO_OP_FLUSH] = XP_FLUSH,
		[UBLK_IO_OP_DISCARD] = XP_DISCARD, [UBLK_IO_OP_WRITE_ZEROES] = XP_ZEROES,
	};
	u32 asked = desc->op_flags & 0xff;

	if (asked >= sizeof(op) || asked == UBLK_IO_OP_WRITE_SAME)
		return false;
	io->op = op[asked];
	/* The block layer knows FUA of writes alone, and sends the FLUSH before a write by itself. It
	 * ends the write with that FLUSH's error, so nothing is ordered behind one that nobody heard of. */
	io->fua = io->op == XP_WRITE && (desc->op_flags & UBLK_IO_F_FUA);
	io->ordered = io->own = false;
	io->sector = io->op == XP_FLUSH ? 0 : desc->start_sector;
	io->nr_sectors = io->op == XP_FLUSH ? 0 : desc->nr_sectors;
	return true;
}

int xd_ublk_result(const struct xd_io *io)
{
	/* A device need not be able to discard, and who asks need not know. */
	if (io->op == XP_DISCARD && io->err == -EOPNOTSUPP)
		return 0;
	return io->err ? io->err : (int)(io->nr_sectors << XP_SECTOR_SHIFT);
}

static u8 shift_of(u32 bytes)
{
	return (u8)__builtin_ctz(bytes);
}

static u32 sectors_of(u64 bytes, u32 most)
{
	return (u32)min(bytes >> XP_SECTOR_SHIFT, (u64)most);
}

/*
 * Of a cache whose blocks do not begin with the device nothing can say where they begin; and the block layer would cut a
 * discard elsewhere, of which what is no whole block is not dropped.
 */
void xd_ublk_params(struct ublk_params *p, u64 sectors, const struct xd_device *slow)
{
	memset(p, 0, sizeof(*p));
	p->len = sizeof(*p);
	p->types = UBLK_PARAM_TYPE_BASIC | UBLK_PARAM_TYPE_DISCARD;
	/* Whatever the devices do: a FLUSH and a FUA are for the core, which holds records back. */
	p->basic.attrs = UBLK_ATTR_VOLATILE_CACHE | UBLK_ATTR_FUA;
	p->basic.logical_bs_shift = shift_of(max(slow->dev.logical, 1u << XP_SECTOR_SHIFT));
	p->basic.physical_bs_shift = slow->before ? p->basic.logical_bs_shift : XP_BLOCK_SHIFT;
	p->basic.io_opt_shift = XP_BLOCK_SHIFT;
	p->basic.io_min_shift = p->basic.physical_bs_shift;
	p->basic.max_sectors = UBLK_BYTES_MAX >> XP_SECTOR_SHIFT;
	p->basic.dev_sectors = sectors;
	p->discard.discard_granularity = max(slow->discard_unit, 1u << p->basic.physical_bs_shift);
	p->discard.max_discard_sectors = sectors_of(slow->discard_max, DISCARD_SECTORS);
	p->discard.max_write_zeroes_sectors = sectors_of(slow->zeroes_max, ZEROES_SECTORS);
	p->discard.max_discard_segments = 1;
}
