// SPDX-License-Identifier: GPL-2.0-only
/* test_trace.c - each format of traces: a small sample made by hand, and what is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "trace.h"

void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	abort();
}

static char path[] = "/tmp/xptrace.XXXXXX";
static struct xp_message msg;

static int setup(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	(void)state;
	return unlink(path);
}

static void put(const void *content, size_t len)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void put_text(const char *text)
{
	put(text, strlen(text));
}

/* The requests of the file, at most @room; its end is a good one. */
static u32 take(const char *format, struct trace_op *op, u32 room)
{
	struct trace *t = trace_open(path, &msg);
	u32 nr = 0;
	int got;

	assert_non_null(t);
	assert_string_equal(trace_format(t), format);
	while ((got = trace_next(t, &op[nr], &msg)) > 0)
		assert_true(++nr < room);
	assert_int_equal(got, 0);
	trace_close(t);
	return nr;
}

/* What is said of a bad file, without its name. */
static const char *complaint(void)
{
	struct trace *t = trace_open(path, &msg);
	struct trace_op op;
	int got = -1;

	while (t && (got = trace_next(t, &op, &msg)) > 0)
		;
	trace_close(t);
	assert_int_equal(got, -1);
	assert_null(strchr(msg.text, '\n'));
	assert_memory_equal(msg.text, path, strlen(path));
	return msg.text + strlen(path) + 2;
}

static void is(const struct trace_op *op, u8 what, u64 time_ns, u64 sector, u32 nr_sectors)
{
	assert_int_equal(op->op, what);
	assert_int_equal(op->time_ns, time_ns);
	assert_int_equal(op->sector, sector);
	assert_int_equal(op->nr_sectors, nr_sectors);
}

static void blkparse(void **state)
{
	struct trace_op op[8];

	(void)state;
	put_text("  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n"
		 "  8,0    3        2     0.000000100   697  Q  WS 223490 + 8 [kjournald]\n"
		 "  8,0    3        3     1.000000200   697  Q   R 63 + 16 [my prog]\n"
		 "  8,0    3        4     1.000000300   697  Q FWFS 8 + 8 [a]\n"
		 "  8,0    3        5     1.000000400   697  Q  FWS [a]\n"
		 "  8,0    3        6     1.000000500   697  Q   D 0 + 2048 [a]\n"
		 "  8,1    3        7     1.000000600   697  Q   R 1 + 1 [a]\n"
		 "  8,0    3        0     1.000000700     0  m   N cfq schedule dispatch\n"
		 "\nCPU0 (8,0):\n Reads Queued:           1,        8KiB\n");
	assert_int_equal(take("blkparse", op, 8), 5);
	is(&op[0], XP_WRITE, 100, 223490, 8);
	assert_true(op[0].sync && !op[0].fua);
	is(&op[1], XP_READ, 1000000200, 63, 16);
	is(&op[2], XP_WRITE, 1000000300, 8, 8);
	assert_true(op[2].fua);
	is(&op[3], XP_FLUSH, 1000000400, 0, 0);
	is(&op[4], XP_DISCARD, 1000000500, 0, 2048);
}

static void blkparse_malformed(void **state)
{
	static const struct { const char *line, *says; } bad[] = {
		{ "8,0 3 1 0.1 697 Q W 8 + 8 [a]\n", "line 1: field 4 is no time" },
		{ "8,0 3 1\n", "line 1: has fewer fields than an event of blkparse" },
		{ "8,0 3 1 0.000000000 697 Q\n", "line 1: the kind of the request is missing" },
		{ "8,0 3 1 0.000000000 697 Q W x + 8 [a]\n", "line 1: has no sectors behind the kind of the request" },
		{ "8,0 3 1 0.000000000 697 Q W\n", "line 1: has neither sectors nor a FLUSH" },
		{ "8,0 3 1 0.000000000 697 Q W 18446744073709551615 + 8 [a]\n", "line 1: the sectors are out of range" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text(bad[i].line);
		assert_string_equal(complaint(), bad[i].says);
	}
}

/* An integer of either byte order. */
static void set(u8 *at, u32 bytes, u64 value, bool big)
{
	u32 i;

	for (i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (u8)(value >> 8 * i);
}

static u8 *blk_record(u8 *r, bool big, u64 ns, u64 sector, u32 bytes, u32 action, u16 payload)
{
	memset(r, 0xee, 48u + payload);
	set(r, 4, 0x65617407, big);
	set(r + 8, 8, ns, big);
	set(r + 16, 8, sector, big);
	set(r + 24, 4, bytes, big);
	set(r + 28, 4, action, big);
	set(r + 36, 4, 0x800000, big);
	set(r + 46, 2, payload, big);
	return r + 48 + payload;
}

static void blktrace_of(bool big)
{
	u8 file[1024], *end = file;
	struct trace_op op[8];

	end = blk_record(end, big, 0, 0, 0, 0x04000001, 20);		/* a notice */
	end = blk_record(end, big, 5, 100, 4096, 0x00010001, 0);	/* Q read */
	end = blk_record(end, big, 6, 100, 4096, 0x00010007, 0);	/* its dispatch */
	end = blk_record(end, big, 7, 8, 1024, 0x800a0101, 8);		/* Q write, sync, FUA, of a cgroup */
	end = blk_record(end, big, 8, 0, 0, 0x00060001, 0);		/* Q FLUSH */
	end = blk_record(end, big, 9, 16, 8192, 0x20020001, 0);		/* Q discard */
	put(file, (size_t)(end - file));
	assert_int_equal(take("blktrace", op, 8), 4);
	is(&op[0], XP_READ, 5, 100, 8);
	is(&op[1], XP_WRITE, 7, 8, 2);
	assert_true(op[1].sync && op[1].fua);
	is(&op[2], XP_FLUSH, 8, 0, 0);
	is(&op[3], XP_DISCARD, 9, 16, 16);
}

static void blktrace_little_endian(void **state) { (void)state; blktrace_of(false); }
static void blktrace_big_endian(void **state) { (void)state; blktrace_of(true); }

static void blktrace_malformed(void **state)
{
	u8 file[256], *end;

	(void)state;
	end = blk_record(file, false, 5, 100, 4096, 0x00010001, 0);
	put(file, 47);
	assert_string_equal(complaint(), "byte 0: the last record is cut off");
	end = blk_record(end, false, 5, 100, 4096, 0x00010001, 9);
	put(file, (size_t)(end - file) - 1);
	assert_string_equal(complaint(), "byte 104: the last record's payload is cut off");
	file[48] = 0x08;
	put(file, (size_t)(end - file));
	assert_string_equal(complaint(), "byte 48: a record of a version of blktrace other than 7");
	file[51] = 0;
	put(file, (size_t)(end - file));
	assert_string_equal(complaint(), "byte 48: a record without blktrace's magic number");
	set(file + 16, 8, ~0ull, false);
	put(file, 48);
	assert_string_equal(complaint(), "byte 0: the record's sectors are out of range");
}

static void fio(void **state)
{
	struct trace_op op[8];

	(void)state;
	put_text("fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 512 4096\n/dev/a wait 7 0\n"
		 "/dev/a write 100 4096\n/dev/b read 0 512\n/dev/a sync 0 0\n/dev/a trim 0 4096\n/dev/a close\n");
	assert_int_equal(take("fio", op, 8), 4);
	is(&op[0], XP_READ, 0, 1, 8);
	is(&op[1], XP_WRITE, 7000, 0, 9);
	is(&op[2], XP_FLUSH, 7000, 0, 0);
	is(&op[3], XP_DISCARD, 7000, 0, 8);
	put_text("fio version 3 iolog\r\n1 a add\r\n2 a open\r\n3 a read 0 4096\r\n4 a datasync\r\n5 a close");
	assert_int_equal(take("fio", op, 8), 2);
	is(&op[0], XP_READ, 3000, 0, 8);
	is(&op[1], XP_FLUSH, 4000, 0, 0);
}

static void fio_malformed(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "fio version 4 iolog\n", "line 1: is neither of fio's iolog versions 2 and 3" },
		{ "fio version 2 iolog\na\n", "line 2: has not the fields of an iolog" },
		{ "fio version 2 iolog\na read 0\n", "line 2: has no offset and length behind the action" },
		{ "fio version 2 iolog\na eat 0 1\n", "line 2: has an action that is none of fio's" },
		{ "fio version 2 iolog\na read 9223372036854775807 1\n", "line 2: the offset is out of range" },
		{ "fio version 3 iolog\na read 0 512\n", "line 2: does not begin with a time" },
		{ "fio version 3 iolog\n1 a wait 0 512\n", "line 2: has an action that is none of fio's" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text(bad[i].text);
		assert_string_equal(complaint(), bad[i].says);
	}
}

static void msr(void **state)
{
	struct trace_op op[8];

	(void)state;
	put_text("128166372003061629,hm,1,Read,383496192,32768,413\n128166372016382155,hm,1,Write,512,1,1\n"
		 "128166372016382155,hm,0,Write,512,1,1\n");
	assert_int_equal(take("msr", op, 8), 2);
	is(&op[0], XP_READ, 12816637200306162900ull, 749016, 64);
	is(&op[1], XP_WRITE, 12816637201638215500ull, 1, 1);
}

static void msr_malformed(void **state)
{
	static const struct { const char *text, *says; } bad[] = {
		{ "1,hm,1,Read,0,512,4\n2,hm,1,Read,0\n", "line 2: has not the 7 fields of an MSR trace" },
		{ "1x,hm,1,Read,0,512,4\n", "line 1: field 1 is no time" },
		{ "1,hm,-1,Read,0,512,4\n", "line 1: field 3 is no number of a disk" },
		{ "1,hm,1,Erase,0,512,4\n", "line 1: field 4 is neither Read nor Write" },
		{ "1,hm,1,Read,-5,512,4\n", "line 1: fields 5 and 6 are no offset and size" },
		{ "1,hm,1,Read,18446744073709551615,512,4\n", "line 1: the offset is out of range" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		put_text(bad[i].text);
		assert_string_equal(complaint(), bad[i].says);
	}
}

static void vscsi_1(u8 *r, u8 command, u32 bytes, u64 sector, u64 us)
{
	memset(r, 0, 32);
	set(r + 4, 4, bytes, false);
	r[12] = command;
	r[15] = 1;
	set(r + 16, 8, sector, false);
	set(r + 24, 8, us, false);
}

static void vscsi(void **state)
{
	struct trace_op op[4];
	u8 file[96], second[40] = { 0x8a, 0, 0, 2 };

	(void)state;
	vscsi_1(file, 0x28, 4096, 63, 9);
	vscsi_1(file + 32, 0x12, 36, 0, 10);	/* INQUIRY */
	vscsi_1(file + 64, 0x2a, 512, 8, 11);
	put(file, 96);
	assert_int_equal(take("vscsi", op, 4), 2);
	is(&op[0], XP_READ, 9000, 63, 8);
	is(&op[1], XP_WRITE, 11000, 8, 1);
	put(file, 95);
	assert_string_equal(complaint(), "byte 64: the last record is cut off");
	file[79] = 2;
	put(file, 96);
	assert_string_equal(complaint(), "byte 64: the record is of another version than the first");
	set(file + 16, 8, ~0ull, false);
	put(file, 96);
	assert_string_equal(complaint(), "byte 0: the record's time or sectors are out of range");
	set(second + 8, 4, 1024, false);
	set(second + 16, 8, 5, false);
	set(second + 24, 8, 1, false);
	put(second, 40);
	assert_int_equal(take("vscsi", op, 4), 1);
	is(&op[0], XP_WRITE, 1000, 5, 2);
}

#define SRT_HEAD	"$$TR_IOREC-1.3 (a title)\0\ndisks = {\n\t 3 -> {\n\t\tsectorsize  = 256,\n\t\t8 -> {\n" \
			"\t0 -> {\n\t\tsectorsize = 512\n\f"

/* Returns where the next one begins. */
static u8 *srt_record(u8 *r, u32 type, u32 size, u32 sector, u32 bytes, u32 device, u32 flags)
{
	memset(r, 0xee, size);
	set(r, 4, size, true);
	set(r + 4, 4, 4 << 16 | type, true);
	set(r + 8, 4, 30, true);
	set(r + 12, 4, 184870, true);
	set(r + 24, 4, bytes, true);
	set(r + 28, 4, sector, true);
	set(r + 32, 4, device, true);
	set(r + 44, 4, flags, true);
	return r + size;
}

static void srt(void **state)
{
	u8 file[512] = SRT_HEAD, *end = file + sizeof(SRT_HEAD) - 1;
	struct trace_op op[4];

	(void)state;
	end = srt_record(end, 1, 56, 1056, 8192, 0x08000008, 1);	/* of disk 0, which is named second */
	end = srt_record(end, 1, 56, 1056, 8192, 0x08000308, 0x1b);
	end = srt_record(end, 4, 60, 2, 512, 0x08000308, 0);		/* a suspicious one */
	end = srt_record(end, 1, 52, 3, 1024, 0x0800030e, 0x8010a);
	put(file, (size_t)(end - file));
	assert_int_equal(take("srt", op, 4), 2);
	is(&op[0], XP_READ, 30184870000, 528, 16);
	assert_true(op[0].sync);
	is(&op[1], XP_WRITE, 30184870000, 1, 3);
	assert_false(op[1].sync);
}

static void srt_malformed(void **state)
{
	u8 file[512] = SRT_HEAD, *first = file + sizeof(SRT_HEAD) - 1;
	u8 *end = srt_record(first, 1, 56, 1, 512, 0x0300, 1);

	(void)state;
	put(file, (size_t)(end - file) - 1);
	assert_string_equal(complaint(), "byte 103: the last record is cut off");
	put(file, (size_t)(end - file) - 53);
	assert_string_equal(complaint(), "byte 103: the last record is cut off");
	first[5] = 5;
	put(file, (size_t)(end - file));
	assert_string_equal(complaint(), "byte 103: the record is of a version that is not known here");
	srt_record(first, 1, 56, 1, 0, 0x0300, 1);
	put(file, (size_t)(end - file));
	assert_string_equal(complaint(), "byte 103: the record's sectors are out of range");
	set(first, 4, 51, true);
	put(file, (size_t)(end - file));
	assert_string_equal(complaint(), "byte 103: the record's size is out of range");
	put_text("$$TR_IOREC-1.3\ndisks = {\n");
	assert_string_equal(complaint(), "byte 0: the header has no end");
	put_text("$$TR_IOREC-1.3\n 0 -> {\f");
	assert_string_equal(complaint(), "byte 23: the header's last line does not end");
	put_text("$$TR_IOREC-1.3\n 0 -> {\n\f");
	assert_string_equal(complaint(), "byte 23: the header names no disk and its sectorsize");
}

static void own(void **state)
{
	u8 file[72] = "xptrace\n";
	struct trace_op op[4];

	(void)state;
	set(file + 8, 4, 1, false);
	set(file + 12, 4, 24, false);
	set(file + 24, 8, 77, false);
	set(file + 32, 8, 1000, false);
	set(file + 40, 4, 8, false);
	file[44] = XP_WRITE;
	file[45] = 3;
	file[68] = XP_FLUSH;
	put(file, 72);
	assert_int_equal(take("xptrace", op, 4), 2);
	is(&op[0], XP_WRITE, 77, 1000, 8);
	assert_true(op[0].sync && op[0].fua);
	is(&op[1], XP_FLUSH, 0, 0, 0);
	put(file, 71);
	assert_string_equal(complaint(), "byte 48: the last record is cut off");
	file[68] = XP_READ;
	put(file, 72);
	assert_string_equal(complaint(), "byte 48: the record's sectors are out of range");
	file[44] = 5;
	put(file, 72);
	assert_string_equal(complaint(), "byte 24: the record has an unknown operation or flag");
	file[8] = 2;
	put(file, 72);
	assert_string_equal(complaint(), "byte 0: is of a version that is not known here");
	put(file, 23);
	assert_string_equal(complaint(), "byte 0: the header is cut off");
}

static void no_trace(void **state)
{
	char line[5001];

	(void)state;
	put("", 0);
	assert_string_equal(complaint(), "is empty");
	put_text("hello\n");
	assert_string_equal(complaint(), "byte 0: is no trace of a known format");
	memset(line, ' ', sizeof(line));
	memcpy(line, "8,0", 3);
	put(line, sizeof(line));
	assert_string_equal(complaint(), "line 1: is longer than 4095 bytes");
	put("8,0 \0\n", 6);
	assert_string_equal(complaint(), "line 1: has a NUL in it: is no text");
	unlink(path);
	assert_null(trace_open(path, &msg));
	assert_non_null(strstr(msg.text, "No such file"));
	put("", 0);
}

/* Whatever follows a header: an end or a complaint, and no crash. */
static void noise(void **state)
{
	static const char *const heads[] = { "xptrace\n\1\0\0\0\30\0\0", "\7tae", "eat\7", "fio version 3 iolog\n",
					     "8,0 3 1 0.000000000 697 Q W 8 + 8 [a]\n", "1,hm,1,Read,0,512,4\n",
					     "$$TR_IOREC- 0 -> {\n sectorsize = 1\n\f" };
	static const u8 sizes[] = { 16, 4, 4, 20, 38, 20, 36 };
	u64 x = 88172645463325252ull;
	struct trace_op op;
	u8 file[4096];
	u32 i, k;

	(void)state;
	for (i = 0; i < 700; i++) {
		struct trace *t;

		for (k = 0; k < sizeof(file); k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			file[k] = i & 1 ? (u8)"0123456789, +QRW.\n"[x % 18] : (u8)x;
		}
		memcpy(file, heads[i % 7], sizes[i % 7]);
		put(file, sizeof(file) - x % 64);
		t = trace_open(path, &msg);
		while (t && trace_next(t, &op, &msg) > 0)
			assert_true(op.sector <= TRACE_SECTORS);
		trace_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blkparse),
		cmocka_unit_test(blkparse_malformed),
		cmocka_unit_test(blktrace_little_endian),
		cmocka_unit_test(blktrace_big_endian),
		cmocka_unit_test(blktrace_malformed),
		cmocka_unit_test(fio),
		cmocka_unit_test(fio_malformed),
		cmocka_unit_test(msr),
		cmocka_unit_test(msr_malformed),
		cmocka_unit_test(vscsi),
		cmocka_unit_test(srt),
		cmocka_unit_test(srt_malformed),
		cmocka_unit_test(own),
		cmocka_unit_test(no_trace),
		cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests_name("trace", tests, setup, teardown);
}
