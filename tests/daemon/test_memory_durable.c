// SPDX-License-Identifier: GPL-2.0-only
/*
 * When what was stored in persistent memory is durable: device_memory.c and journal_io.c over a
 * libpmem of the test's own, which knows what is in the medium and what is in the processor's
 * caches still. At each end that is reported nothing may be that was stored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/device.h"
#include "daemon/timing.h"

#include <libpmem.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS	16u
#define BYTES	(BLOCKS * XP_BLOCK_SIZE)
#define OLD	0x55

static u8 *memory;		/* as a load sees it */
static u8 written_back[BYTES];	/* of flushed lines, what was in them; the next fence waits for them */
static u8 medium[BYTES];	/* as a power cut leaves it */

/* --------------------------------------------------------------- libpmem ---- */

void *pmem_map_file(const char *path, size_t len, int flags, mode_t mode, size_t *mapped, int *is_pmem)
{
	(void)path;
	(void)len;
	(void)flags;
	(void)mode;
	*mapped = BYTES;
	*is_pmem = 1;
	return memory;
}

int pmem_unmap(void *addr, size_t len)
{
	(void)addr;
	(void)len;
	return 0;
}

/* Whole lines. */
void pmem_flush(const void *addr, size_t len)
{
	size_t from = (size_t)((const u8 *)addr - memory), to = from + len;

	assert_true(to <= BYTES);
	from -= from % XP_LINE_SIZE;
	to += -to % XP_LINE_SIZE;
	memcpy(written_back + from, memory + from, to - from);
}

void pmem_drain(void)
{
	memcpy(medium, written_back, BYTES);
}

void pmem_persist(const void *addr, size_t len)
{
	pmem_flush(addr, len);
	pmem_drain();
}

void *pmem_memcpy_nodrain(void *to, const void *from, size_t len)
{
	memcpy(to, from, len);
	pmem_flush(to, len);
	return to;
}

void *pmem_memcpy_persist(void *to, const void *from, size_t len)
{
	pmem_memcpy_nodrain(to, from, len);
	pmem_drain();
	return to;
}

/* ----------------------------------------------------------- the engine's ---- */

static struct xd_cache cache;
static struct xd_loop loop;
static struct xd_device dev;
static struct xp_journal_io io;
static u8 data[BYTES];
static u32 ends;

static void all_is_durable(void)
{
	assert_memory_equal(memory, medium, BYTES);
}

void xp_journal_io(struct xp *c, u32 i, struct xp_journal_io *wanted)
{
	(void)c;
	(void)i;
	*wanted = io;
}

void xp_journal_end(struct xp *c, u32 i, int err, struct xp_todo *todo)
{
	(void)c;
	(void)i;
	(void)todo;
	assert_int_equal(err, 0);
	all_is_durable();
	ends++;
}

static void ended(struct xd_op *op, int err)
{
	(void)op;
	assert_int_equal(err, 0);
	all_is_durable();
	ends++;
}

void xd_loop_call(struct xd_loop *l, struct xd_call *call)
{
	(void)l;
	call->fn(call);
}

/* There are no errors. */
bool xp_has_failed(const struct xp *c)
{
	(void)c;
	return false;
}

void xd_fast_error(struct xd_cache *c, const char *what, u64 sector, int err)
{
	(void)c;
	fail_msg("%s of sector %llu: %d", what, (unsigned long long)sector, err);
}

void xd_log_event(const char *format, ...)
{
	fail_msg("%s", format);
}

u64 xd_now(void)
{
	return 1;
}

void xd_record(struct xd_loop *l, enum xp_class class, u64 ns)
{
	(void)l;
	(void)class;
	(void)ns;
}

static int setup(void **state)
{
	(void)state;
	memset(&dev, 0, sizeof(dev));
	memset(&cache, 0, sizeof(cache));
	memset(&loop, 0, sizeof(loop));
	dev.dev.fd = memfd_create("memory", MFD_CLOEXEC);
	dev.dev.sectors = BYTES >> XP_SECTOR_SHIFT;
	dev.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	dev.flushes_tail = &dev.flushes;
	assert_int_equal(ftruncate(dev.dev.fd, BYTES), 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, dev.dev.fd, 0);
	memset(memory, OLD, BYTES);
	memset(written_back, OLD, BYTES);
	memset(medium, OLD, BYTES);
	for (u32 i = 0; i < BYTES; i++)
		data[i] = (u8)(i * 7 + i / 251);
	cache.fast = &dev;
	loop.cache = &cache;
	xd_journal_setup(&cache);
	ends = 0;
	assert_int_equal(xd_memory_open(&dev), 0);
	assert_true(dev.is_pmem && !dev.volatile_cache);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev.ops->close(&dev);
	munmap(memory, BYTES);
	close(dev.dev.fd);
	return 0;
}

/* ----------------------------------------------------------------- tests ---- */

static void data_is_durable_when_it_ends(void **state)
{
	static const u32 places[][2] = { { 0, 4096 }, { 512, 512 }, { 4096 + 512, 7 * 512 }, { 8192, 32768 } };

	(void)state;
	for (u32 i = 0; i < 4; i++) {
		struct xd_op op = { .kind = XD_WRITE, .offset = places[i][0], .bytes = places[i][1],
				    .data = data + places[i][0], .end = ended };

		xd_device_submit(&dev, &loop, &op);
		assert_int_equal(ends, i + 1);
		assert_memory_equal(medium + op.offset, op.data, op.bytes);
	}
}

static void write_journal(u32 block, u32 bytes)
{
	io = (struct xp_journal_io){ .data = data, .bytes = bytes, .target = block * XP_BLOCK_SECTORS };
	xd_journal_write(&loop, 1u << (block % XP_WINDOW));
}

static void a_journal_block_is_its_lines(void **state)
{
	u64 sum = 0;

	(void)state;
	for (u32 block = 0; block < BLOCKS; block++) {
		u32 bytes = min((block + 1) * (block + 1) * XP_LINE_SIZE, XP_BLOCK_SIZE);
		const u8 *at = medium + block * XP_BLOCK_SIZE;

		write_journal(block, bytes);
		assert_int_equal(ends, block + 1);
		assert_memory_equal(at, data, bytes);
		for (u32 i = bytes; i < XP_BLOCK_SIZE; i++)
			assert_int_equal(at[i], OLD);
		sum += bytes;
	}
	assert_int_equal(cache.counts.fast_bytes_written, sum);
}

static u32 bytes_of_submitted;

static void note_bytes(struct xd_op *op)
{
	bytes_of_submitted = op->bytes;
	xd_op_end(op, 0);
}

static void a_device_that_is_none_gets_all_of_it(void **state)
{
	const struct xd_device_ops other = { .submit = note_bytes, .close = dev.ops->close };

	(void)state;
	dev.ops = &other;
	dev.map = NULL;
	write_journal(0, XP_LINE_SIZE);
	dev.map = memory;
	dev.ops = &xd_memory_ops;
	assert_int_equal(bytes_of_submitted, XP_BLOCK_SIZE);
}

static void refuse_lines(struct xd_op *op)
{
	bytes_of_submitted = op->bytes;
	xd_op_end(op, op->bytes < XP_BLOCK_SIZE ? -EIO : 0);
}

/* Poison in a place of the journal: only a whole block makes it usable again. */
static void lines_that_cannot_be_stored_are_a_whole_block(void **state)
{
	const struct xd_device_ops poisoned = { .submit = refuse_lines, .close = dev.ops->close };

	(void)state;
	dev.ops = &poisoned;
	write_journal(3, XP_LINE_SIZE);
	dev.ops = &xd_memory_ops;
	assert_int_equal(bytes_of_submitted, XP_BLOCK_SIZE);
	assert_int_equal(ends, 1);	/* and no error */
	assert_int_equal(cache.counts.fast_errors, 0);
}

static void metadata_is_durable_when_it_is_written(void **state)
{
	(void)state;
	assert_int_equal(dev.ops->pwrite(&dev, data, 3 * XP_BLOCK_SIZE, XP_BLOCK_SIZE), 0);
	all_is_durable();
	assert_memory_equal(medium + XP_BLOCK_SIZE, data, 3 * XP_BLOCK_SIZE);
	assert_int_equal(dev.ops->flush(&dev), 0);
}

/* It was killed between its stores and their flush: loads see them, a power cut takes them. */
static void what_a_killed_life_left_is_durable_before_it_is_read(void **state)
{
	u8 buf[XP_BLOCK_SIZE];

	(void)state;
	memcpy(memory + 2 * XP_BLOCK_SIZE, data, XP_BLOCK_SIZE);
	memset(memory + 9 * XP_BLOCK_SIZE, 1, XP_LINE_SIZE);
	assert_int_equal(dev.ops->pread(&dev, buf, XP_BLOCK_SIZE, 2 * XP_BLOCK_SIZE), 0);
	assert_memory_equal(buf, data, XP_BLOCK_SIZE);
	assert_memory_equal(medium + 2 * XP_BLOCK_SIZE, data, XP_BLOCK_SIZE);
	assert_int_equal(dev.ops->pread(&dev, buf, XP_BLOCK_SIZE, 9 * XP_BLOCK_SIZE), 0);
	all_is_durable();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_is_durable_when_it_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(a_journal_block_is_its_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_that_is_none_gets_all_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_that_cannot_be_stored_are_a_whole_block, setup, teardown),
		cmocka_unit_test_setup_teardown(metadata_is_durable_when_it_is_written, setup, teardown),
		cmocka_unit_test_setup_teardown(what_a_killed_life_left_is_durable_before_it_is_read, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
