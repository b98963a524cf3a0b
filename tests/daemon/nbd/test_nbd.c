// SPDX-License-Identifier: GPL-2.0-only
/*
 * The handshake of the NBD protocol, the server's side, byte for byte as the document has it:
 * every option and each way to be refused, and that in any pieces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bytes.h"
#include "pump.h"
#include "tests/unit/abort.h"

#define MIB	(1024u * 1024)

enum {
	EXPORT_NAME = 1, ABORT = 2, LIST = 3, PEEK = 4, STARTTLS = 5, INFO = 6, GO = 7,
	STRUCTURED = 8, LIST_META = 9, SET_META = 10, EXTENDED = 11,
};
enum { ACK = 1, SERVER = 2, INFOS = 3, META = 4 };

#define ERR_UNSUP	0x80000001u
#define ERR_INVALID	0x80000003u
#define ERR_UNKNOWN	0x80000006u
#define ERR_TOO_BIG	0x80000009u

/* HAS_FLAGS, SEND_FLUSH, SEND_FUA, SEND_TRIM, SEND_WRITE_ZEROES, CAN_MULTI_CONN */
#define FLAGS		0x016d
#define FLAG_DF		0x0080

static const struct nbd_export disk = {
	.name = "disk", .description = "a cache", .bytes = 64 * MIB, .min_block = 512,
	.preferred_block = 4096, .max_payload = 32 * MIB,
	.multi_conn = true, .can_trim = true, .can_zero = true,
};

/* ----------------------------------------------------------- handshake ---- */

static struct nbd_session session;
static struct bytes said, wanted;
static struct sent sent;
static struct pieces all = { .next = pieces_all };

/* A client that has sent its flags. */
static void begin(const struct nbd_export *e)
{
	nbd_session_init(&session, e);
	said.n = wanted.n = sent.n = 0;
	add32(&said, 3);
}

static void answered(void)
{
	assert_int_equal(pump(&session, said.at, said.n, &all, &sent), said.n);
	assert_int_equal(sent.n, wanted.n);
	assert_memory_equal(sent.bytes, wanted.at, wanted.n);
}

static void want_ack(u32 option)
{
	add_reply(&wanted, option, ACK, 0);
}

static void want_error(u32 option, u32 type, const char *why)
{
	add_reply(&wanted, option, type, strlen(why));
	add_word(&wanted, why);
}

static void say_go(u32 option, const char *name, u16 infos)
{
	add_option(&said, option, 4 + strlen(name) + 2 + 2 * infos);
	add32(&said, strlen(name));
	add_word(&said, name);
	add16(&said, infos);
}

static void want_sizes(u32 option)
{
	add_reply(&wanted, option, INFOS, 14);
	add16(&wanted, 3);
	add32(&wanted, 512);
	add32(&wanted, 4096);
	add32(&wanted, 32 * MIB);
}

static void want_export(u32 option, u16 flags)
{
	add_reply(&wanted, option, INFOS, 12);
	add16(&wanted, 0);
	add64(&wanted, 64 * MIB);
	add16(&wanted, flags);
}

/* What GO and INFO without requests get. */
static void want_go(u32 option, u16 flags)
{
	want_export(option, flags);
	want_sizes(option);
	want_ack(option);
}

static void the_greeting_is_fixed_newstyle(void **state)
{
	u8 room[NBD_GREETING];
	struct nbd_out out = { room, 0, sizeof(room) };

	(void)state;
	nbd_session_greeting(&out);
	assert_int_equal(out.used, 18);
	assert_memory_equal(room, "NBDMAGICIHAVEOPT\0\3", 18);
}

static void flags_that_no_one_offered_close(void **state)
{
	static const struct { u32 flags; enum nbd_phase phase; } cases[] = {
		{ 0, NBD_CLOSED }, { 1, NBD_OPTIONS }, { 2, NBD_CLOSED }, { 3, NBD_OPTIONS },
		{ 4, NBD_CLOSED }, { 7, NBD_CLOSED }, { 0x80000003, NBD_CLOSED },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(&disk);
		said.n = 0;
		add32(&said, cases[i].flags);
		answered();
		assert_int_equal(session.phase, cases[i].phase);
	}
}

static void after_closing_nothing_is_consumed(void **state)
{
	(void)state;
	begin(&disk);
	said.n = 0;
	add32(&said, 0);
	answered();
	add_option(&said, LIST, 0);
	assert_int_equal(pump_once(&session, said.at, said.n, &sent), 0);
	assert_int_equal(sent.n, 0);
}

static void export_name_begins_transmission(void **state)
{
	static const char *const names[] = { "", "disk" };

	(void)state;
	for (u32 flags = 1; flags <= 3; flags += 2)
		for (int i = 0; i < 2; i++) {
			begin(&disk);
			said.n = 0;
			add32(&said, flags);
			add_option(&said, EXPORT_NAME, strlen(names[i]));
			add_word(&said, names[i]);
			add64(&wanted, 64 * MIB);
			add16(&wanted, FLAGS);
			add_fill(&wanted, 0, flags == 1 ? 124 : 0);
			answered();
			assert_int_equal(session.phase, NBD_TRANSMISSION);
		}
}

static void export_name_of_another_is_hung_up_on(void **state)
{
	static const char *const names[] = { "dis", "disks", "DISK", " " };

	(void)state;
	for (int i = 0; i < 4; i++) {
		begin(&disk);
		add_option(&said, EXPORT_NAME, strlen(names[i]));
		add_word(&said, names[i]);
		answered();
		assert_int_equal(session.phase, NBD_CLOSED);
	}
}

static void export_name_longer_than_a_name_is_hung_up_on(void **state)
{
	(void)state;
	begin(&disk);
	add_option(&said, EXPORT_NAME, 4097);
	answered();
	assert_int_equal(session.phase, NBD_CLOSED);
}

static void abort_is_acknowledged(void **state)
{
	(void)state;
	for (u32 length = 0; length < 4; length += 3) {	/* its data is not waited for */
		begin(&disk);
		add_option(&said, ABORT, length);
		want_ack(ABORT);
		answered();
		assert_int_equal(session.phase, NBD_CLOSED);
	}
}

static void list_names_the_export(void **state)
{
	(void)state;
	begin(&disk);
	add_option(&said, LIST, 0);
	add_reply(&wanted, LIST, SERVER, 4 + 4 + 7);
	add32(&wanted, 4);
	add_word(&wanted, "diska cache");
	want_ack(LIST);
	answered();
}

static void list_without_a_description(void **state)
{
	struct nbd_export plain = disk;

	(void)state;
	plain.name = "";
	plain.description = NULL;
	begin(&plain);
	add_option(&said, LIST, 0);
	add_reply(&wanted, LIST, SERVER, 4);
	add32(&wanted, 0);
	want_ack(LIST);
	answered();
}

static void data_where_none_may_be_is_skipped(void **state)
{
	static const u32 options[] = { LIST, STRUCTURED };

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&disk);
		add_option(&said, options[i], 5);
		add_word(&said, "hello");
		want_error(options[i], ERR_INVALID, "it has no data");
		add_option(&said, STRUCTURED, 0);
		want_ack(STRUCTURED);
		answered();
		assert_int_equal(session.phase, NBD_OPTIONS);
	}
}

static void unknown_options_are_skipped(void **state)
{
	static const u32 options[] = { 0, PEEK, STARTTLS, EXTENDED, 12, 0xffffffff };

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		begin(&disk);
		add_option(&said, options[i], 10000);
		add_fill(&said, 'x', 10000);
		want_error(options[i], ERR_UNSUP, "not known here");
		add_option(&said, STRUCTURED, 0);
		want_ack(STRUCTURED);
		answered();
	}
}

static void info_leaves_the_client_where_it_is(void **state)
{
	(void)state;
	begin(&disk);
	say_go(INFO, "", 0);
	want_go(INFO, FLAGS);
	say_go(INFO, "disk", 0);
	want_go(INFO, FLAGS);
	answered();
	assert_int_equal(session.phase, NBD_OPTIONS);
}

static void go_begins_transmission(void **state)
{
	(void)state;
	begin(&disk);
	say_go(GO, "disk", 0);
	want_go(GO, FLAGS);
	answered();
	assert_int_equal(session.phase, NBD_TRANSMISSION);
	assert_false(session.structured);
}

/* EXPORT, NAME, DESCRIPTION, BLOCK_SIZE; NAME again, and two that do not exist. */
static void go_tells_what_is_asked_once(void **state)
{
	(void)state;
	begin(&disk);
	say_go(GO, "", 7);
	add16(&said, 0);
	add16(&said, 1);
	add16(&said, 2);
	add16(&said, 3);
	add16(&said, 1);
	add16(&said, 4);
	add16(&said, 65535);
	want_export(GO, FLAGS);
	add_reply(&wanted, GO, INFOS, 6);
	add16(&wanted, 1);
	add_word(&wanted, "disk");
	add_reply(&wanted, GO, INFOS, 9);
	add16(&wanted, 2);
	add_word(&wanted, "a cache");
	want_sizes(GO);
	want_ack(GO);
	answered();
}

static void no_description_is_not_told(void **state)
{
	struct nbd_export plain = disk;

	(void)state;
	plain.description = NULL;
	begin(&plain);
	say_go(INFO, "", 1);
	add16(&said, 2);
	want_go(INFO, FLAGS);
	answered();
}

static void go_to_another_is_refused(void **state)
{
	(void)state;
	begin(&disk);
	say_go(GO, "disks", 0);
	want_error(GO, ERR_UNKNOWN, "no such export");
	say_go(GO, "disk", 0);
	want_go(GO, FLAGS);
	answered();
	assert_int_equal(session.phase, NBD_TRANSMISSION);
}

/* An option's data by hand: a length of a name, so many bytes, a number. */
static void say_odd(u32 option, u32 length, u32 name, u32 bytes, u16 infos)
{
	add_option(&said, option, length);
	add32(&said, name);
	add_fill(&said, 'd', bytes);
	add16(&said, infos);
}

static void go_with_lengths_that_do_not_add_up(void **state)
{
	const char *why = "its lengths do not add up";

	(void)state;
	begin(&disk);
	for (u32 n = 0; n < 6; n++) {	/* too short for a name and a number */
		add_option(&said, GO, n);
		add_fill(&said, 0, n);
		want_error(GO, ERR_INVALID, why);
	}
	say_odd(GO, 6, 1, 0, 0);		/* the name is longer than it may be */
	want_error(GO, ERR_INVALID, why);
	say_odd(GO, 6, 0xffffffff, 0, 0);
	want_error(GO, ERR_INVALID, why);
	say_odd(GO, 6, 0, 0, 1);		/* a request that is not there */
	want_error(GO, ERR_INVALID, why);
	say_odd(GO, 8, 0, 0, 0);		/* one more than was said */
	add16(&said, 3);
	want_error(GO, ERR_INVALID, why);
	say_odd(GO, 7, 0, 0, 0);		/* half of one */
	add_fill(&said, 0, 1);
	want_error(GO, ERR_INVALID, why);
	say_odd(GO, 6, 3, 0, 0);		/* one more than there is, and nothing behind it */
	want_error(GO, ERR_INVALID, why);
	answered();
	assert_int_equal(session.phase, NBD_OPTIONS);
}

static void names_end_at_4096_bytes(void **state)
{
	(void)state;
	begin(&disk);
	say_odd(GO, 6 + 4096, 4096, 4096, 0);
	want_error(GO, ERR_UNKNOWN, "no such export");
	say_odd(GO, 6 + 4097, 4097, 4097, 0);
	want_error(GO, ERR_TOO_BIG, "a name has at most 4096 bytes");
	answered();
}

static void what_is_too_long_is_skipped(void **state)
{
	static const u32 options[] = { INFO, GO, LIST_META, SET_META };

	(void)state;
	for (int i = 0; i < 4; i++) {
		begin(&disk);
		add_option(&said, options[i], 8193);
		add_fill(&said, 0, 8193);
		want_error(options[i], ERR_TOO_BIG, "its data is longer than 8192 bytes");
		add_option(&said, LIST + 100, 0);
		want_error(LIST + 100, ERR_UNSUP, "not known here");
		answered();
	}
}

/* 4 GiB less one, without anything being kept. */
static void the_longest_option_is_skipped(void **state)
{
	static u8 piece[MIB];
	u64 left = 0xffffffff;

	(void)state;
	begin(&disk);
	add_option(&said, GO, 0xffffffff);
	want_error(GO, ERR_TOO_BIG, "its data is longer than 8192 bytes");
	answered();
	while (left) {
		struct nbd_out none = { NULL, 0, 0 };
		size_t n = min(left, sizeof(piece));

		assert_int_equal(nbd_session_feed(&session, piece, n, &none), n);
		left -= n;
	}
	said.n = wanted.n = sent.n = 0;
	add_option(&said, STRUCTURED, 0);
	want_ack(STRUCTURED);
	answered();
}

static void structured_replies_are_negotiated(void **state)
{
	(void)state;
	begin(&disk);
	say_go(INFO, "", 0);
	want_go(INFO, FLAGS);
	add_option(&said, STRUCTURED, 0);
	want_ack(STRUCTURED);
	say_go(GO, "", 0);
	want_go(GO, FLAGS | FLAG_DF);
	answered();
	assert_true(session.structured);
}

/* --------------------------------------------------- metadata contexts ---- */

static void say_meta(u32 option, const char *name, u32 queries, const char *const *query)
{
	u32 length = 8 + strlen(name);

	for (u32 i = 0; i < queries; i++)
		length += 4 + strlen(query[i]);
	add_option(&said, option, length);
	add32(&said, strlen(name));
	add_word(&said, name);
	add32(&said, queries);
	for (u32 i = 0; i < queries; i++) {
		add32(&said, strlen(query[i]));
		add_word(&said, query[i]);
	}
}

static void want_allocation(u32 option, u32 id)
{
	add_reply(&wanted, option, META, 4 + 15);
	add32(&wanted, id);
	add_word(&wanted, "base:allocation");
	want_ack(option);
}

static void begin_structured(const struct nbd_export *e)
{
	begin(e);
	add_option(&said, STRUCTURED, 0);
	want_ack(STRUCTURED);
}

static void contexts_are_listed(void **state)
{
	static const char *const found[] = { "x-else:where", "base:", "base:allocation" };
	static const char *const other[] = { "base:nothing", "qemu:", "base", "", "base:allocations" };

	(void)state;
	begin_structured(&disk);
	say_meta(LIST_META, "", 0, NULL);
	want_allocation(LIST_META, 0);
	say_meta(LIST_META, "disk", 5, other);
	want_ack(LIST_META);
	say_meta(LIST_META, "disk", 3, found);
	want_allocation(LIST_META, 0);
	answered();
	assert_false(session.allocation);
}

static void a_context_is_selected(void **state)
{
	static const char *const queries[] = { "qemu:dirty", "base:allocation", "base:allocation" };

	(void)state;
	begin_structured(&disk);
	say_meta(SET_META, "disk", 3, queries);
	want_allocation(SET_META, 1);
	answered();
	assert_true(session.allocation);
}

static void a_wildcard_selects_nothing(void **state)
{
	static const char *const queries[] = { "base:" };

	(void)state;
	begin_structured(&disk);
	say_meta(SET_META, "", 1, queries);
	want_ack(SET_META);
	say_meta(SET_META, "", 0, NULL);
	want_ack(SET_META);
	answered();
	assert_false(session.allocation);
}

static void contexts_want_structured_replies(void **state)
{
	static const char *const queries[] = { "base:allocation" };

	(void)state;
	begin(&disk);
	say_meta(SET_META, "", 1, queries);
	want_error(SET_META, ERR_INVALID, "it needs structured replies");
	say_meta(LIST_META, "", 1, queries);
	want_error(LIST_META, ERR_INVALID, "it needs structured replies");
	answered();
	assert_false(session.allocation);
}

/* Selected, and then the option again in a way that must leave none. */
static void selected_then(void (*say)(void), u32 type, const char *why)
{
	static const char *const queries[] = { "base:allocation" };

	begin_structured(&disk);
	say_meta(SET_META, "", 1, queries);
	want_allocation(SET_META, 1);
	say();
	if (why)
		want_error(SET_META, type, why);
	else
		want_ack(SET_META);
	answered();
	assert_false(session.allocation);
}

static void say_none(void) { say_meta(SET_META, "", 0, NULL); }
static void say_other(void) { say_meta(SET_META, "disks", 0, NULL); }
static void say_short(void) { add_option(&said, SET_META, 0); }
static void say_long(void) { add_option(&said, SET_META, 9999); add_fill(&said, 0, 9999); }

static void selecting_again_forgets_what_was(void **state)
{
	(void)state;
	selected_then(say_none, 0, NULL);
	selected_then(say_other, ERR_UNKNOWN, "no such export");
	selected_then(say_short, ERR_INVALID, "its lengths do not add up");
	selected_then(say_long, ERR_TOO_BIG, "its data is longer than 8192 bytes");
}

static void listing_leaves_what_was_selected(void **state)
{
	static const char *const queries[] = { "base:allocation", "base:nothing" };

	(void)state;
	begin_structured(&disk);
	say_meta(SET_META, "", 1, queries);
	want_allocation(SET_META, 1);
	say_meta(LIST_META, "", 1, queries + 1);
	want_ack(LIST_META);
	answered();
	assert_true(session.allocation);
}

/* The name's length, the number of queries, the query's length. */
static void queries_with_lengths_that_do_not_add_up(void **state)
{
	static const struct { u32 length, name, queries, query; } cases[] = {
		{ 0, 0, 0, 0 }, { 4, 0, 0, 0 }, { 7, 0, 0, 0 }, { 8, 1, 0, 0 }, { 8, 0, 1, 0 },
		{ 8, 0xfffffffc, 0, 0 }, { 12, 0, 0, 0 }, { 12, 0, 1, 1 }, { 12, 0, 2, 0 },
		{ 12, 0, 0xffffffff, 0 }, { 12, 0, 1, 0xffffffff },
	};

	(void)state;
	begin_structured(&disk);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t from;

		add_option(&said, SET_META, cases[i].length);
		from = said.n;
		add32(&said, cases[i].name);
		add32(&said, cases[i].queries);
		add32(&said, cases[i].query);
		said.n = from + cases[i].length;
		want_error(SET_META, ERR_INVALID, "its lengths do not add up");
	}
	answered();
}

/* ---------------------------------------------------------- boundaries ---- */

static void another_magic_closes(void **state)
{
	(void)state;
	begin(&disk);
	add64(&said, OPTION_MAGIC + 1);
	add64(&said, 0);
	answered();
	assert_int_equal(session.phase, NBD_CLOSED);
}

static void options_without_end_close(void **state)
{
	(void)state;
	begin(&disk);
	for (int i = 0; i < 64; i++) {
		add_option(&said, STRUCTURED, 0);
		want_ack(STRUCTURED);
	}
	answered();
	assert_int_equal(session.phase, NBD_OPTIONS);
	said.n = wanted.n = sent.n = 0;
	add_option(&said, STRUCTURED, 0);
	answered();
	assert_int_equal(session.phase, NBD_CLOSED);
}

static void without_room_nothing_is_consumed(void **state)
{
	u8 room[NBD_ANSWER_MAX];
	struct nbd_out out = { room, 1, sizeof(room) };

	(void)state;
	begin(&disk);
	add_option(&said, LIST, 0);
	assert_int_equal(nbd_session_feed(&session, said.at, said.n, &out), 4);
	assert_int_equal(out.used, 1);
	out.used = 0;
	assert_int_equal(nbd_session_feed(&session, said.at + 4, 16, &out), 16);
	assert_int_equal(out.used, 20 + 15 + 20);
}

/* Names as long as they may be: the longest answers there are. */
static void the_longest_answer_has_room(void **state)
{
	static char name[257], about[257];
	struct nbd_export e = disk;

	(void)state;
	memset(name, 'n', 256);
	memset(about, 'a', 256);
	e.name = name;
	e.description = about;
	begin(&e);
	add_option(&said, LIST, 0);
	add_reply(&wanted, LIST, SERVER, 4 + 512);
	add32(&wanted, 256);
	add_word(&wanted, name);
	add_word(&wanted, about);
	want_ack(LIST);
	say_go(GO, name, 2);
	add16(&said, 1);
	add16(&said, 2);
	want_export(GO, FLAGS);
	add_reply(&wanted, GO, INFOS, 258);
	add16(&wanted, 1);
	add_word(&wanted, name);
	add_reply(&wanted, GO, INFOS, 258);
	add16(&wanted, 2);
	add_word(&wanted, about);
	want_sizes(GO);
	want_ack(GO);
	answered();
}

static void requests_are_left_to_others(void **state)
{
	size_t shaken;

	(void)state;
	begin(&disk);
	say_go(GO, "", 0);
	want_go(GO, FLAGS);
	shaken = said.n;
	add_request(&said, 0, 0, 0, 512);
	assert_int_equal(pump(&session, said.at, said.n, &all, &sent), shaken);
	assert_int_equal(sent.n, wanted.n);
	assert_memory_equal(sent.bytes, wanted.at, wanted.n);
}

static void exports_that_cannot_be(void **state)
{
	const char *least = "the least block is not a power of 2 up to 64 KiB";
	const char *preferred = "the preferred block is not a power of 2, or below the least or 512";
	const char *payload = "the largest payload is below 64 KiB or a block, or over 64 MiB";
	static char longer[258];
	struct nbd_export e = disk;

	(void)state;
	memset(longer, 'x', 257);
	assert_null(nbd_export_wrong(&e));
#define WRONG(member, value, why) do { \
		e = disk; \
		e.member = (value); \
		assert_string_equal(nbd_export_wrong(&e), why); \
	} while (0)
	WRONG(name, longer, "the name is longer than 256 bytes");
	WRONG(description, longer, "the description is longer than 256 bytes");
	WRONG(min_block, 0, least);
	WRONG(min_block, 1536, least);
	WRONG(min_block, 131072, least);
	WRONG(preferred_block, 0, preferred);
	WRONG(preferred_block, 256, preferred);
	WRONG(preferred_block, 5000, preferred);
	WRONG(max_payload, 65535, payload);
	WRONG(max_payload, 64 * MIB + 1, payload);
	WRONG(bytes, 513, "the size is not a multiple of the least block");
#undef WRONG
}

static void flags_say_what_there_is(void **state)
{
	struct nbd_export e = disk;

	(void)state;
	e.multi_conn = e.can_trim = e.can_zero = false;
	e.can_fast_zero = true;			/* nothing without can_zero */
	begin(&e);
	say_go(INFO, "", 0);
	want_go(INFO, 0x000d);
	answered();
	e.multi_conn = e.can_trim = e.can_zero = e.can_cache = e.rotational = true;
	begin(&e);
	say_go(INFO, "", 0);
	want_go(INFO, 0x0d7d);
	answered();
	e.read_only = true;			/* nothing that writes */
	begin(&e);
	say_go(INFO, "", 0);
	want_go(INFO, 0x051f);
	answered();
}

/* --------------------------------------------------------------- splits ---- */

/* Every option, refusals between them, GO at last and a request behind it. */
static void say_everything(void)
{
	static const char *const queries[] = { "base:", "base:allocation" };

	begin(&disk);
	add_option(&said, STARTTLS, 0);
	add_option(&said, EXTENDED, 3);
	add_word(&said, "abc");
	add_option(&said, LIST, 0);
	add_option(&said, LIST, 300);
	add_fill(&said, 'l', 300);
	add_option(&said, STRUCTURED, 0);
	say_meta(LIST_META, "disk", 2, queries);
	say_meta(SET_META, "", 2, queries);
	say_odd(INFO, 6 + 4097, 4097, 4097, 0);
	add_option(&said, INFO, 9000);
	add_fill(&said, 'i', 9000);
	say_go(INFO, "other", 0);
	say_go(GO, "disk", 3);
	add16(&said, 3);
	add16(&said, 2);
	add16(&said, 1);
	add_request(&said, 0, 0, 0, 512);
}

static void same_as(const struct sent *whole, size_t consumed, const struct nbd_session *end,
		    struct pieces *p)
{
	nbd_session_init(&session, &disk);
	sent.n = 0;
	assert_int_equal(pump(&session, said.at, said.n, p, &sent), consumed);
	assert_int_equal(sent.n, whole->n);
	assert_memory_equal(sent.bytes, whole->bytes, whole->n);
	assert_true(same_session(&session, end));
}

static void any_split_is_the_same(void **state)
{
	static struct sent whole;
	static u8 lengths[BYTES_MAX];
	struct pieces p = { .next = pieces_one };
	struct nbd_session end;
	size_t consumed;

	(void)state;
	say_everything();
	consumed = pump(&session, said.at, said.n, &all, &sent);
	assert_int_equal(consumed, said.n - 28);
	assert_int_equal(session.phase, NBD_TRANSMISSION);
	whole = sent;
	end = session;
	same_as(&whole, consumed, &end, &p);
	srandom(1);
	for (int round = 0; round < 200; round++) {
		int longest = 1 << random() % 9;

		for (size_t i = 0; i < sizeof(lengths); i++)
			lengths[i] = random() % longest;
		p = (struct pieces){ pieces_told, lengths, sizeof(lengths) };
		same_as(&whole, consumed, &end, &p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_greeting_is_fixed_newstyle),
		cmocka_unit_test(flags_that_no_one_offered_close),
		cmocka_unit_test(after_closing_nothing_is_consumed),
		cmocka_unit_test(export_name_begins_transmission),
		cmocka_unit_test(export_name_of_another_is_hung_up_on),
		cmocka_unit_test(export_name_longer_than_a_name_is_hung_up_on),
		cmocka_unit_test(abort_is_acknowledged),
		cmocka_unit_test(list_names_the_export),
		cmocka_unit_test(list_without_a_description),
		cmocka_unit_test(data_where_none_may_be_is_skipped),
		cmocka_unit_test(unknown_options_are_skipped),
		cmocka_unit_test(info_leaves_the_client_where_it_is),
		cmocka_unit_test(go_begins_transmission),
		cmocka_unit_test(go_tells_what_is_asked_once),
		cmocka_unit_test(no_description_is_not_told),
		cmocka_unit_test(go_to_another_is_refused),
		cmocka_unit_test(go_with_lengths_that_do_not_add_up),
		cmocka_unit_test(names_end_at_4096_bytes),
		cmocka_unit_test(what_is_too_long_is_skipped),
		cmocka_unit_test(the_longest_option_is_skipped),
		cmocka_unit_test(structured_replies_are_negotiated),
		cmocka_unit_test(contexts_are_listed),
		cmocka_unit_test(a_context_is_selected),
		cmocka_unit_test(a_wildcard_selects_nothing),
		cmocka_unit_test(contexts_want_structured_replies),
		cmocka_unit_test(selecting_again_forgets_what_was),
		cmocka_unit_test(listing_leaves_what_was_selected),
		cmocka_unit_test(queries_with_lengths_that_do_not_add_up),
		cmocka_unit_test(another_magic_closes),
		cmocka_unit_test(options_without_end_close),
		cmocka_unit_test(without_room_nothing_is_consumed),
		cmocka_unit_test(the_longest_answer_has_room),
		cmocka_unit_test(requests_are_left_to_others),
		cmocka_unit_test(exports_that_cannot_be),
		cmocka_unit_test(flags_say_what_there_is),
		cmocka_unit_test(any_split_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
