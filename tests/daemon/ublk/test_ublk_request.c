// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is said between the daemon and the kernel's ublk driver, in the numbers that the driver's
 * source has: commands, requests, and the device's description of itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/engine.h"
#include "daemon/ublk/ublk.h"
#include "daemon/ublk/ublk_proto.h"
#include "tests/unit/abort.h"

static const struct xd_device a_file = { .dev.logical = 512, .discard_max = UINT64_MAX, .zeroes_max = UINT64_MAX };

/* ------------------------------------------------------------- commands ---- */

static void numbers_are_encoded_or_plain(void **state)
{
	(void)state;
	assert_int_equal(ublk_control_op(4, true), 0xc0207504);		/* ADD_DEV */
	assert_int_equal(ublk_control_op(5, true), 0xc0207505);		/* DEL_DEV */
	assert_int_equal(ublk_control_op(6, true), 0xc0207506);		/* START_DEV */
	assert_int_equal(ublk_control_op(7, true), 0xc0207507);		/* STOP_DEV */
	assert_int_equal(ublk_control_op(8, true), 0xc0207508);		/* SET_PARAMS */
	assert_int_equal(ublk_control_op(2, true), 0x80207502);		/* GET_DEV_INFO, which only reads */
	assert_int_equal(ublk_io_op(0x20, true), 0xc0107520);		/* FETCH_REQ */
	assert_int_equal(ublk_io_op(0x21, true), 0xc0107521);		/* COMMIT_AND_FETCH_REQ */
	assert_int_equal(ublk_io_op(0x22, true), 0xc0107522);		/* NEED_GET_DATA */
	for (u32 nr = 0; nr < 0x30; nr++) {
		assert_int_equal(ublk_control_op(nr, false), nr);
		assert_int_equal(ublk_io_op(nr, false), nr);
	}
}

static u64 number_at(const u8 *p, int bytes)
{
	u64 n = 0;

	while (bytes--)
		n = n << 8 | p[bytes];
	return n;
}

static void a_command_has_its_words_at_byte_48(void **state)
{
	const struct ublksrv_io_cmd io = { .q_id = 3, .tag = 127, .result = -5, .addr = 0x123456789abcull };
	const struct ublksrv_ctrl_cmd control = { .dev_id = 7, .queue_id = 0xffff, .len = 64, .addr = 0xdef0,
						  .data[0] = 4711 };
	u8 entry[128];

	(void)state;
	memset(entry, 0xee, sizeof(entry));
	ublk_prepare((struct io_uring_sqe *)entry, 9, 0xc0107521, &io, sizeof(io));
	assert_int_equal(entry[0], 46);		/* IORING_OP_URING_CMD */
	assert_int_equal(number_at(entry + 4, 4), 9);
	assert_int_equal(number_at(entry + 8, 8), 0xc0107521);	/* what follows the number is reserved */
	assert_int_equal(number_at(entry + 28, 4), 0);		/* flags */
	assert_int_equal(number_at(entry + 48, 2), 3);
	assert_int_equal(number_at(entry + 50, 2), 127);
	assert_int_equal((int)number_at(entry + 52, 4), -5);
	assert_int_equal(number_at(entry + 56, 8), 0x123456789abcull);
	assert_int_equal(entry[64], 0xee);	/* the next entry, if these are short ones */

	ublk_prepare((struct io_uring_sqe *)entry, 0, 0xc0207506, &control, sizeof(control));
	assert_int_equal(number_at(entry + 48, 4), 7);
	assert_int_equal(number_at(entry + 52, 2), 0xffff);
	assert_int_equal(number_at(entry + 54, 2), 64);
	assert_int_equal(number_at(entry + 56, 8), 0xdef0);
	assert_int_equal(number_at(entry + 64, 8), 4711);
	assert_int_equal(number_at(entry + 72, 8), 0);
	assert_int_equal(entry[80], 0xee);
}

/* ------------------------------------------------------------- requests ---- */

enum { READ, WRITE, FLUSH, DISCARD, WRITE_SAME, WRITE_ZEROES, ZONE_OPEN = 10, REPORT_ZONES = 18 };

#define FUA		(1u << 13)
#define ALL_FLAGS	0xffffff00u

static struct xd_io request(u32 op_flags)
{
	const struct ublksrv_io_desc desc = { .op_flags = op_flags, .start_sector = 1ull << 40, .nr_sectors = 24 };
	struct xd_io io;

	memset(&io, 0xee, sizeof(io));
	assert_true(xd_ublk_translate(&desc, &io));
	return io;
}

static void assert_request(u32 op_flags, enum xp_op op, bool fua)
{
	struct xd_io io = request(op_flags);

	assert_int_equal(io.op, op);
	assert_int_equal(io.fua, fua);
	assert_false(io.ordered);
	assert_int_equal(io.sector, op == XP_FLUSH ? 0 : 1ull << 40);
	assert_int_equal(io.nr_sectors, op == XP_FLUSH ? 0 : 24);
}

static void each_operation_has_its_own(void **state)
{
	(void)state;
	assert_request(READ, XP_READ, false);
	assert_request(WRITE, XP_WRITE, false);
	assert_request(FLUSH, XP_FLUSH, false);
	assert_request(DISCARD, XP_DISCARD, false);
	assert_request(WRITE_ZEROES, XP_ZEROES, false);
}

static void fua_is_of_writes_and_other_flags_are_nothing(void **state)
{
	(void)state;
	assert_request(WRITE | FUA, XP_WRITE, true);
	assert_request(WRITE | ALL_FLAGS, XP_WRITE, true);
	assert_request(WRITE | (ALL_FLAGS & ~FUA), XP_WRITE, false);
	assert_request(READ | ALL_FLAGS, XP_READ, false);
	assert_request(FLUSH | ALL_FLAGS, XP_FLUSH, false);
}

static void what_is_not_known_is_refused(void **state)
{
	static const u8 others[] = { WRITE_SAME, 6, 7, 8, 9, ZONE_OPEN, 15, REPORT_ZONES, 33, 34, 255 };

	(void)state;
	for (u32 i = 0; i < sizeof(others); i++) {
		const struct ublksrv_io_desc desc = { .op_flags = others[i], .nr_sectors = 8 };
		struct xd_io io = { .op = 0 };

		assert_false(xd_ublk_translate(&desc, &io));
	}
}

static int result_of(u32 op, int err)
{
	struct xd_io io = request(op);

	io.err = err;
	return xd_ublk_result(&io);
}

static void the_result_is_bytes_or_an_error(void **state)
{
	(void)state;
	assert_int_equal(result_of(READ, 0), 24 * 512);
	assert_int_equal(result_of(WRITE | FUA, 0), 24 * 512);
	assert_int_equal(result_of(FLUSH, 0), 0);
	assert_true(result_of(WRITE_ZEROES, 0) >= 0);
	assert_int_equal(result_of(READ, -EIO), -EIO);
	assert_int_equal(result_of(WRITE, -ENOSPC), -ENOSPC);
	assert_int_equal(result_of(FLUSH, -EIO), -EIO);
	assert_int_equal(result_of(DISCARD, -EIO), -EIO);
	assert_int_equal(result_of(DISCARD, -EOPNOTSUPP), 0);
	assert_int_equal(result_of(WRITE_ZEROES, -EOPNOTSUPP), -EOPNOTSUPP);
}

static void the_longest_discard_has_a_result(void **state)
{
	struct xd_io io = { .op = XP_DISCARD };
	struct ublk_params p;

	(void)state;
	xd_ublk_params(&p, 1ull << 40, &a_file);
	io.nr_sectors = p.discard.max_discard_sectors;
	assert_true(xd_ublk_result(&io) > 0);
}

/* --------------------------------------------------------------- device ---- */

#define VOLATILE_CACHE	4
#define HAS_FUA		8
#define BASIC		1
#define WITH_DISCARD	2

static void the_device_says_what_it_is(void **state)
{
	struct ublk_params p;

	(void)state;
	memset(&p, 0xee, sizeof(p));
	xd_ublk_params(&p, 12345678, &a_file);
	assert_int_equal(p.len, sizeof(p));
	assert_int_equal(p.types, BASIC | WITH_DISCARD);
	assert_int_equal(p.basic.attrs, VOLATILE_CACHE | HAS_FUA);	/* neither rotational nor read-only */
	assert_int_equal(1 << p.basic.logical_bs_shift, 512);
	assert_int_equal(1 << p.basic.physical_bs_shift, 4096);
	assert_int_equal(1 << p.basic.io_min_shift, 4096);
	assert_int_equal(1 << p.basic.io_opt_shift, 4096);
	assert_int_equal(p.basic.max_sectors, 2048);
	assert_int_equal(p.basic.chunk_sectors, 0);
	assert_int_equal(p.basic.virt_boundary_mask, 0);
	assert_int_equal(p.basic.dev_sectors, 12345678);
	assert_int_equal(p.discard.discard_granularity, 4096);
	assert_int_equal(p.discard.discard_alignment, 0);
	assert_int_equal(p.discard.max_discard_segments, 1);
	assert_int_equal(p.discard.max_discard_sectors, 1 << 21);
	assert_int_equal(p.discard.max_write_zeroes_sectors, 1 << 15);
}

static void it_discards_and_zeroes_as_the_slow_device_does(void **state)
{
	const struct xd_device small = { .dev.logical = 512, .discard_max = 1 << 20, .discard_unit = 1 << 16, .zeroes_max = 1 << 19 };
	const struct xd_device none = { .dev.logical = 512, .discard_unit = 512 };
	struct ublk_params p;

	(void)state;
	xd_ublk_params(&p, 8, &small);
	assert_int_equal(p.discard.max_discard_sectors, 2048);
	assert_int_equal(p.discard.discard_granularity, 1 << 16);
	assert_int_equal(p.discard.max_write_zeroes_sectors, 1024);
	xd_ublk_params(&p, 8, &none);
	assert_int_equal(p.discard.max_discard_sectors, 0);
	assert_int_equal(p.discard.max_write_zeroes_sectors, 0);
	assert_int_equal(p.discard.discard_granularity, 4096);	/* the driver takes none without */
}

static void its_sectors_are_those_of_the_slow_device(void **state)
{
	struct ublk_params p;

	(void)state;
	xd_ublk_params(&p, 8, &(struct xd_device){ .dev.logical = 4096 });
	assert_int_equal(1 << p.basic.logical_bs_shift, 4096);
	assert_int_equal(1 << p.basic.physical_bs_shift, 4096);
	xd_ublk_params(&p, 8, &(struct xd_device){ .dev.logical = 0 });	/* a server that said nothing */
	assert_int_equal(1 << p.basic.logical_bs_shift, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_encoded_or_plain),
		cmocka_unit_test(a_command_has_its_words_at_byte_48),
		cmocka_unit_test(each_operation_has_its_own),
		cmocka_unit_test(fua_is_of_writes_and_other_flags_are_nothing),
		cmocka_unit_test(what_is_not_known_is_refused),
		cmocka_unit_test(the_result_is_bytes_or_an_error),
		cmocka_unit_test(the_longest_discard_has_a_result),
		cmocka_unit_test(the_device_says_what_it_is),
		cmocka_unit_test(it_discards_and_zeroes_as_the_slow_device_does),
		cmocka_unit_test(its_sectors_are_those_of_the_slow_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
