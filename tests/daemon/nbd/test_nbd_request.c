// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of the NBD protocol, as the document has them: what each command may and may not,
 * and the heads of replies byte for byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "bytes.h"
#include "daemon/nbd/nbd_proto.h"
#include "platform.h"
#include "tests/unit/abort.h"

#define MIB	(1024u * 1024)

/* ------------------------------------------------------------- requests ---- */

#define FUA		1
#define NO_HOLE		2
#define DF		4
#define REQ_ONE		8
#define FAST_ZERO	16
#define END		(64ull * MIB)

enum { READ, WRITE, DISC, FLUSH, TRIM, CACHE, ZEROES, STATUS, RESIZE };

static const struct nbd_export able = {
	.name = "", .bytes = END, .min_block = 512, .preferred_block = 4096, .max_payload = MIB,
	.can_trim = true, .can_zero = true, .can_fast_zero = true, .can_cache = true,
};
static const struct nbd_session plainly = { .export = &able, .phase = NBD_TRANSMISSION };
static const struct nbd_session structured = {
	.export = &able, .phase = NBD_TRANSMISSION, .structured = true, .allocation = true,
};

static struct nbd_request request;

static enum nbd_verdict parse(const struct nbd_session *s, u16 flags, u16 command, u64 offset,
			      u32 length)
{
	static struct bytes b;

	b.n = 0;
	add_request(&b, flags, command, offset, length);
	assert_int_equal(b.n, NBD_REQUEST_HEADER);
	memset(&request, 0xa5, sizeof(request));
	return nbd_request_parse(b.at, s, &request);
}

/* Taken: the request says what the header said. */
static void taken(const struct nbd_session *s, u16 flags, u16 command, u64 offset, u32 length)
{
	assert_int_equal(parse(s, flags, command, offset, length), NBD_PERFORM);
	assert_int_equal(request.flags, flags);
	assert_int_equal(request.command, command);
	assert_int_equal(request.offset, offset);
	assert_int_equal(request.length, length);
	assert_int_equal(request.payload, command == WRITE ? length : 0);
	assert_int_equal(request.error, 0);
	assert_null(request.why);
	assert_memory_equal(&request.cookie, "\x01\x02\x03\x04\xf5\xf6\xf7\xf8", 8);
}

/* Refused: its payload is told all the same. */
static void refused(const struct nbd_session *s, u16 flags, u16 command, u64 offset, u32 length,
		    u32 error)
{
	assert_int_equal(parse(s, flags, command, offset, length), NBD_REFUSE);
	assert_int_equal(request.error, error);
	assert_int_equal(request.payload, command == WRITE ? length : 0);
	assert_memory_equal(&request.cookie, "\x01\x02\x03\x04\xf5\xf6\xf7\xf8", 8);
	assert_true(request.why && *request.why);
}

static void every_command_is_taken(void **state)
{
	(void)state;
	for (u16 fua = 0; fua <= FUA; fua++) {
		taken(&plainly, fua, READ, 0, 512);
		taken(&plainly, fua, READ, END - MIB, MIB);
		taken(&plainly, fua, WRITE, 512, 1024);
		taken(&plainly, fua, WRITE, END - 512, 512);
		taken(&plainly, fua, FLUSH, 0, 0);
		taken(&plainly, fua, TRIM, 0, END);
		taken(&plainly, fua, CACHE, 0, END);
		taken(&plainly, fua, ZEROES, 0, END);
		taken(&plainly, fua | NO_HOLE, ZEROES, 4096, 512);
		taken(&plainly, fua | FAST_ZERO | NO_HOLE, ZEROES, 4096, 512);
		taken(&structured, fua | DF, READ, 0, 65536);
		taken(&structured, fua, STATUS, 0, END);
		taken(&structured, fua | REQ_ONE, STATUS, 0, 512);
	}
}

/* Each flag with each command that does not have it; bits 5 to 15 are no one's. */
static void flags_of_others_are_refused(void **state)
{
	static const u16 has[] = { FUA | DF, FUA, 0, FUA, FUA, FUA, FUA | NO_HOLE | FAST_ZERO,
				   FUA | REQ_ONE };
	(void)state;
	for (u16 command = READ; command <= STATUS; command++)
		for (int bit = 0; bit < 16 && command != DISC; bit++) {
			u32 length = command == FLUSH ? 0 : 512;

			if (has[command] & 1 << bit)
				taken(&structured, 1 << bit, command, 0, length);
			else
				refused(&structured, 1 << bit, command, 0, length, 22);
		}
}

static void what_was_not_offered_is_refused(void **state)
{
	struct nbd_export e = able;
	struct nbd_session s = { .export = &e, .phase = NBD_TRANSMISSION };

	(void)state;
	refused(&plainly, DF, READ, 0, 512, 22);
	refused(&plainly, 0, STATUS, 0, 512, 22);
	e.can_fast_zero = false;
	refused(&s, FAST_ZERO, ZEROES, 0, 512, 22);
	taken(&s, 0, ZEROES, 0, 512);
	e.can_trim = e.can_zero = e.can_cache = false;
	refused(&s, 0, ZEROES, 0, 512, 22);
	refused(&s, 0, TRIM, 0, 512, 22);
	refused(&s, 0, CACHE, 0, 512, 22);
	taken(&s, 0, WRITE, 0, 512);
	s.structured = true;
	refused(&s, 0, STATUS, 0, 512, 22);
}

static void unknown_commands_are_refused(void **state)
{
	(void)state;
	for (u32 command = RESIZE; command <= 0xffff; command++)
		refused(&structured, 0, command, 0, 512, 22);
}

static void a_read_only_export_is_not_written(void **state)
{
	struct nbd_export e = able;
	struct nbd_session s = { .export = &e, .phase = NBD_TRANSMISSION };

	(void)state;
	e.read_only = true;
	refused(&s, 0, WRITE, 0, 512, 1);
	refused(&s, FUA, WRITE, 7, 9, 1);
	refused(&s, 0, TRIM, 0, 512, 1);
	refused(&s, 0, ZEROES, 0, 512, 1);
	e.can_trim = e.can_zero = false;
	refused(&s, 0, TRIM, 0, 512, 1);
	refused(&s, 0, ZEROES, 0, 512, 1);
	taken(&s, 0, READ, 0, 512);
	taken(&s, 0, FLUSH, 0, 0);
	taken(&s, 0, CACHE, 0, 512);
}

static void what_is_beyond_the_end_is_refused(void **state)
{
	static const struct { u64 offset; u32 length; } beyond[] = {
		{ END, 512 }, { END - 512, 1024 }, { END + 512, 512 }, { 1ull << 63, 512 },
		{ ~511ull, 512 }, { ~511ull, 1024 }, { 512, END },
	};
	static const struct { u16 command; u32 error; } cases[] = {
		{ READ, 22 }, { WRITE, 28 }, { TRIM, 22 }, { CACHE, 22 }, { ZEROES, 28 }, { STATUS, 22 },
	};
	struct nbd_export e = able;
	struct nbd_session s = structured;

	(void)state;
	e.max_payload = END;
	s.export = &e;
	for (int i = 0; i < 7; i++)
		for (int k = 0; k < 6; k++)
			refused(&s, 0, cases[k].command, beyond[i].offset, beyond[i].length,
				cases[k].error);
}

static void what_is_no_whole_block_is_refused(void **state)
{
	static const u16 commands[] = { READ, WRITE, TRIM, CACHE, ZEROES, STATUS };
	struct nbd_export e = able;
	struct nbd_session s = structured;

	(void)state;
	s.export = &e;
	for (int i = 0; i < 6; i++) {
		e.min_block = 512;
		refused(&s, 0, commands[i], 1, 512, 22);
		refused(&s, 0, commands[i], 256, 512, 22);
		refused(&s, 0, commands[i], 0, 511, 22);
		refused(&s, 0, commands[i], 0, 0, 22);
		e.min_block = 4096;
		refused(&s, 0, commands[i], 512, 4096, 22);
		refused(&s, 0, commands[i], 4096, 512, 22);
		e.min_block = 1;
		taken(&s, 0, commands[i], 3, 1);
	}
}

static void payloads_have_a_bound(void **state)
{
	(void)state;
	taken(&plainly, 0, WRITE, 0, MIB);
	refused(&plainly, 0, WRITE, 0, MIB + 512, 22);
	refused(&plainly, 0, WRITE, 0, 0xfffffe00, 22);
	taken(&plainly, 0, READ, 0, MIB);
	refused(&plainly, 0, READ, 0, MIB + 512, 22);
	taken(&structured, 0, READ, 0, MIB);
	refused(&structured, 0, READ, 0, MIB + 512, 75);
	refused(&structured, DF, READ, 0, MIB + 512, 75);
}

static void a_flush_is_of_everything(void **state)
{
	(void)state;
	refused(&plainly, 0, FLUSH, 512, 0, 22);
	refused(&plainly, 0, FLUSH, 0, 512, 22);
	refused(&plainly, 0, FLUSH, 1ull << 40, 0, 22);
}

static void the_client_may_leave(void **state)
{
	(void)state;
	assert_int_equal(parse(&plainly, 0, DISC, 0, 0), NBD_DISCONNECT);
	assert_int_equal(parse(&plainly, 0xffff, DISC, 1, 1), NBD_DISCONNECT);
}

static void what_is_no_request_closes(void **state)
{
	static const u32 magics[] = { 0, SIMPLE_MAGIC, 0x12560953, 0x21e41c71, REQUEST_MAGIC + 1 };
	struct bytes b;

	(void)state;
	for (int i = 0; i < 5; i++) {
		b.n = 0;
		add_request(&b, 0, READ, 0, 512);
		b.n = 0;
		add32(&b, magics[i]);
		assert_int_equal(nbd_request_parse(b.at, &plainly, &request), NBD_BROKEN);
	}
}

/* -------------------------------------------------------------- replies ---- */

static u8 head[NBD_HEAD_MAX];
static struct bytes wanted;

static void want_cookie(void)
{
	add_raw(&wanted, "\x01\x02\x03\x04\xf5\xf6\xf7\xf8", 8);
}

static void want_simple(u32 error)
{
	wanted.n = 0;
	add32(&wanted, SIMPLE_MAGIC);
	add32(&wanted, error);
	want_cookie();
}

static void want_chunk(u16 flags, u16 type, u32 length)
{
	wanted.n = 0;
	add32(&wanted, CHUNK_MAGIC);
	add16(&wanted, flags);
	add16(&wanted, type);
	want_cookie();
	add32(&wanted, length);
}

static void is_head(u32 length)
{
	assert_int_equal(length, wanted.n);
	assert_true(length <= NBD_HEAD_MAX);
	assert_memory_equal(head, wanted.at, wanted.n);
}

static void reads_are_answered(void **state)
{
	(void)state;
	taken(&plainly, 0, READ, 0x300000, 8192);
	want_simple(0);
	is_head(nbd_reply_read(&plainly, &request, head));
	taken(&structured, DF, READ, 0x300000, 8192);
	want_chunk(1, 1, 8 + 8192);
	add64(&wanted, 0x300000);
	is_head(nbd_reply_read(&structured, &request, head));
}

static void zeros_are_a_hole(void **state)
{
	(void)state;
	taken(&structured, DF, READ, 0x300000, 8192);
	want_chunk(1, 2, 12);
	add64(&wanted, 0x300000);
	add32(&wanted, 8192);
	is_head(nbd_reply_hole(&request, head));
}

static void reads_are_answered_in_parts(void **state)
{
	(void)state;
	taken(&structured, 0, READ, 0x300000, 8192);
	want_chunk(0, 2, 12);
	add64(&wanted, 0x301000);
	add32(&wanted, 4096);
	is_head(nbd_chunk_hole(&request, 0x301000, 4096, false, head));
	want_chunk(1, 1, 8 + 4096);
	add64(&wanted, 0x300000);
	is_head(nbd_chunk_data(&request, 0x300000, 4096, true, head));
}

static void writes_are_answered(void **state)
{
	static const struct nbd_session *const both[] = { &plainly, &structured };

	(void)state;
	for (int i = 0; i < 2; i++) {
		taken(both[i], 0, WRITE, 0, 512);
		want_simple(0);
		is_head(nbd_reply_done(&request, head));
	}
}

static void want_status(u32 length, u32 status)
{
	want_chunk(1, 5, 12);
	add32(&wanted, 1);	/* the context's number */
	add32(&wanted, length);
	add32(&wanted, status);
}

static void the_state_of_blocks_is_answered(void **state)
{
	(void)state;
	taken(&structured, 0, STATUS, 4096, 8192);
	want_status(END - 4096, 0);
	is_head(nbd_reply_status(&request, END - 4096, 0, head));
	want_status(512, 3);
	is_head(nbd_reply_status(&request, 512, NBD_STATE_HOLE | NBD_STATE_ZERO, head));
	want_status(0xffff0000, 0);
	is_head(nbd_reply_status(&request, 1ull << 40, 0, head));
	taken(&structured, REQ_ONE, STATUS, 4096, 8192);
	want_status(8192, 2);
	is_head(nbd_reply_status(&request, END - 4096, NBD_STATE_ZERO, head));
	want_status(4096, 0);
	is_head(nbd_reply_status(&request, 4096, 0, head));
}

static void refusals_are_answered(void **state)
{
	const char *why = "it is beyond the end";

	(void)state;
	refused(&plainly, 0, WRITE, END, 512, 28);
	want_simple(28);
	is_head(nbd_reply_refusal(&plainly, &request, head));
	refused(&structured, 0, WRITE, END, 512, 28);
	want_chunk(1, 0x8001, 6 + strlen(why));
	add32(&wanted, 28);
	add16(&wanted, strlen(why));
	add_word(&wanted, why);
	is_head(nbd_reply_refusal(&structured, &request, head));
}

/* EOVERFLOW is no one's errno here, but a refusal's. */
static void a_refusal_keeps_its_number(void **state)
{
	(void)state;
	refused(&structured, 0, READ, 0, 2 * MIB, 75);
	nbd_reply_refusal(&structured, &request, head);
	assert_memory_equal(head + 20, "\0\0\0\x4b", 4);
}

static void errors_are_answered(void **state)
{
	(void)state;
	taken(&plainly, 0, READ, 0, 512);
	want_simple(5);
	is_head(nbd_reply_error(&plainly, &request, -EIO, "no matter", head));
	is_head(nbd_reply_error_at(&plainly, &request, EIO, 0, "no matter", head));
	taken(&structured, 0, READ, 512, 1024);
	want_chunk(1, 0x8001, 6);
	add32(&wanted, 5);
	add16(&wanted, 0);
	is_head(nbd_reply_error(&structured, &request, EIO, NULL, head));
	want_chunk(1, 0x8002, 14);
	add32(&wanted, 5);
	add16(&wanted, 0);
	add64(&wanted, 1024);
	is_head(nbd_reply_error_at(&structured, &request, EIO, 1024, NULL, head));
	want_chunk(1, 0x8002, 14 + 3);
	add32(&wanted, 5);
	add16(&wanted, 3);
	add_word(&wanted, "bad");
	add64(&wanted, 1024);
	is_head(nbd_reply_error_at(&structured, &request, EIO, 1024, "bad", head));
}

static void a_long_reason_is_cut(void **state)
{
	static char why[200];

	(void)state;
	memset(why, 'w', sizeof(why) - 1);
	taken(&structured, 0, READ, 0, 512);
	want_chunk(1, 0x8001, 6 + 94);
	add32(&wanted, 5);
	add16(&wanted, 94);
	add_fill(&wanted, 'w', 94);
	is_head(nbd_reply_error(&structured, &request, EIO, why, head));
	want_chunk(1, 0x8002, 14 + 94);
	add32(&wanted, 5);
	add16(&wanted, 94);
	add_fill(&wanted, 'w', 94);
	add64(&wanted, 0);
	is_head(nbd_reply_error_at(&structured, &request, EIO, 0, why, head));
}

static void only_the_documents_errors_are_sent(void **state)
{
	static const struct { int err; u32 error; } cases[] = {
		{ EPERM, 1 }, { EACCES, 1 }, { EROFS, 1 }, { EIO, 5 }, { ENOMEM, 12 },
		{ EINVAL, 22 }, { ENOSPC, 28 }, { EDQUOT, 28 }, { EFBIG, 28 }, { EOVERFLOW, 22 },
		{ ENOTSUP, 22 }, { ESHUTDOWN, 108 }, { ENODATA, 5 }, { ETIMEDOUT, 5 }, { 0, 5 },
	};

	(void)state;
	taken(&plainly, 0, ZEROES, 0, 512);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(nbd_error(&request, cases[i].err), cases[i].error);
		assert_int_equal(nbd_error(&request, -cases[i].err), cases[i].error);
	}
	taken(&plainly, FAST_ZERO, ZEROES, 0, 512);
	assert_int_equal(nbd_error(&request, EOPNOTSUPP), 95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_taken),
		cmocka_unit_test(flags_of_others_are_refused),
		cmocka_unit_test(what_was_not_offered_is_refused),
		cmocka_unit_test(unknown_commands_are_refused),
		cmocka_unit_test(a_read_only_export_is_not_written),
		cmocka_unit_test(what_is_beyond_the_end_is_refused),
		cmocka_unit_test(what_is_no_whole_block_is_refused),
		cmocka_unit_test(payloads_have_a_bound),
		cmocka_unit_test(a_flush_is_of_everything),
		cmocka_unit_test(the_client_may_leave),
		cmocka_unit_test(what_is_no_request_closes),
		cmocka_unit_test(reads_are_answered),
		cmocka_unit_test(zeros_are_a_hole),
		cmocka_unit_test(reads_are_answered_in_parts),
		cmocka_unit_test(writes_are_answered),
		cmocka_unit_test(the_state_of_blocks_is_answered),
		cmocka_unit_test(refusals_are_answered),
		cmocka_unit_test(a_refusal_keeps_its_number),
		cmocka_unit_test(errors_are_answered),
		cmocka_unit_test(a_long_reason_is_cut),
		cmocka_unit_test(only_the_documents_errors_are_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
