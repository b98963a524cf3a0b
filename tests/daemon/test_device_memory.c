// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fast device that is memory, where the memory fails: device_memory.c over a file of tmpfs, which
 * is cut, or has a page that cannot be used. Once as it is, and once stored to by libpmem's
 * instructions for persistent memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "daemon/device.h"
#include "daemon/engine.h"
#include "message.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS	16u
#define BYTES	(BLOCKS * XP_BLOCK_SIZE)
#define BAD	5u		/* the block of a page that cannot be used */

static struct xd_loop loop;
static struct xd_device dev;
static u8 data[BYTES];
static char said[1024];
static struct xp_message msg;
static u32 nr_said;
static bool heals;		/* what is written over */
static struct sigaction handler;	/* the device's */

void xd_loop_call(struct xd_loop *l, struct xd_call *call)
{
	(void)l;
	call->fn(call);
}

void xd_log_event(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	nr_said++;
}

ssize_t __real_pwrite64(int fd, const void *buf, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t at);

/* The file system clears the poison of the pages that it writes to. */
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t at)
{
	off_t page = at - at % XP_BLOCK_SIZE;

	if (heals)
		mmap(dev.map + page, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, page);
	return __real_pwrite64(fd, buf, n, at);
}

static void open_file(void)
{
	memset(&dev, 0, sizeof(dev));
	memset(&loop, 0, sizeof(loop));
	dev.what = "fast";
	dev.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	dev.flushes_tail = &dev.flushes;
	strcpy(dev.dev.path, "/dev/shm/test_device_memory.XXXXXX");
	dev.dev.fd = mkstemp(dev.dev.path);
	assert_true(dev.dev.fd >= 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES), 0);
	dev.dev.sectors = BYTES >> XP_SECTOR_SHIFT;
	assert_int_equal(xd_memory_open(&dev), 0);
	assert_int_equal(xd_memory_fill(&dev, BYTES, false, &msg), 0);
	nr_said = 0;
	heals = false;
}

static int setup(void **state)
{
	(void)state;
	open_file();
	if (!handler.sa_sigaction)
		sigaction(SIGBUS, NULL, &handler);
	return 0;
}

static int setup_pmem(void **state)
{
	setup(state);
	dev.is_pmem = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dev.ops->close(&dev);
	unlink(dev.dev.path);
	close(dev.dev.fd);
	return 0;
}

/* cmocka has a handler of its own for each test, and one that is installed once is gone. */
static void begin(void **state)
{
	(void)state;
	sigaction(SIGBUS, &handler, NULL);
}

static void end(struct xd_op *op, int err)
{
	*(int *)op->owner = err;
}

static int ask_of(struct xd_loop *l, enum xd_kind kind, u32 offset, u32 bytes, u8 *buf)
{
	int err = 1;
	struct xd_op op = { .kind = (u8)kind, .bytes = bytes, .offset = offset, .data = buf, .end = end, .owner = &err };

	xd_device_submit(&dev, l, &op);
	return err;
}

static int ask(enum xd_kind kind, u32 offset, u32 bytes)
{
	int err = ask_of(&loop, kind, offset, bytes, data);

	assert_int_equal(loop.ops, 0);
	return err;
}

/* The file is there, and the page is not: the kernel's answer to who touches it is a poisoned one's. */
static void spoil(u32 block)
{
	int nothing = memfd_create("nothing", MFD_CLOEXEC);

	assert_ptr_equal(mmap(dev.map + block * XP_BLOCK_SIZE, XP_BLOCK_SIZE, PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_FIXED, nothing, 0), dev.map + block * XP_BLOCK_SIZE);
	close(nothing);
}

static bool all_are(const u8 *at, u32 bytes, u8 value)
{
	for (u32 i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* ------------------------------------------------------------------- cut ---- */

static void a_cut_file_is_an_error(void **state)
{
	begin(state);
	assert_int_equal(ask(XD_WRITE, 0, BYTES), 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	assert_int_equal(ask(XD_READ, BYTES / 2, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(ask(XD_READ, 0, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(ask(XD_WRITE, 0, XP_BLOCK_SIZE), -EIO);
	assert_non_null(dev.ops);
}

static void a_store_finds_it_too(void **state)
{
	begin(state);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	assert_int_equal(ask(XD_WRITE, BYTES - 512, 512), -EIO);
	assert_int_equal(ask(XD_READ, 0, 512), -EIO);
	assert_int_equal(nr_said, 2);	/* that it was cut, and where that was met */
}

static void zeros_that_come_back_are_not_read(void **state)
{
	begin(state);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	assert_int_equal(ask(XD_READ, BYTES / 2, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES), 0);
	assert_int_equal(ask(XD_READ, BYTES / 2, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(dev.ops->pread(&dev, data, XP_BLOCK_SIZE, 0), -EIO);
	assert_int_equal(dev.ops->pwrite(&dev, data, XP_BLOCK_SIZE, 0), -EIO);
}

/* It was longer again before anybody asked: its size tells nothing, and no page is missed. */
static void a_cut_that_nobody_met_is_seen(void **state)
{
	begin(state);
	dev.ops->watch(&dev);
	assert_int_equal(ask(XD_READ, 0, BYTES), 0);
	assert_int_equal(nr_said, 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES), 0);
	dev.ops->watch(&dev);
	dev.ops->watch(&dev);
	assert_int_equal(ask(XD_READ, BYTES / 2, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(nr_said, 1);
	assert_non_null(strstr(said, "cut"));
}

static void a_hole_is_a_cut(void **state)
{
	begin(state);
	assert_int_equal(fallocate(dev.dev.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, BYTES / 2,
				   XP_BLOCK_SIZE), 0);
	dev.ops->watch(&dev);
	assert_int_equal(ask(XD_READ, BYTES / 2, XP_BLOCK_SIZE), -EIO);
}

/* The next life finds a file that is whole again, or could be made so, and has lost what it held. */
static void what_was_cut_is_not_filled_with_zeros(void **state)
{
	begin(state);
	assert_int_equal(xd_memory_fill(&dev, BYTES, true, &msg), 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES), 0);
	assert_int_equal(xd_memory_fill(&dev, BYTES, true, &msg), -ENODATA);
	assert_non_null(strstr(msg.text, "has lost a part of its file, 32 of 64 KiB"));
	assert_int_equal(xd_memory_fill(&dev, BYTES, true, &msg), -ENODATA);
	assert_int_equal(xd_memory_fill(&dev, BYTES, false, &msg), 0);
	assert_int_equal(xd_memory_fill(&dev, BYTES, true, &msg), 0);
}

/* What has grown lacks nothing that it had; what is not the cache's is let alone, there or not. */
static void what_is_not_the_cache_s_is_not_filled(void **state)
{
	struct stat st;

	begin(state);
	assert_int_equal(fallocate(dev.dev.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, BYTES / 2, BYTES / 2), 0);
	assert_int_equal(xd_memory_fill(&dev, BYTES / 2, true, &msg), 0);
	assert_int_equal(fstat(dev.dev.fd, &st), 0);
	assert_int_equal(st.st_blocks, BYTES / 2 >> XP_SECTOR_SHIFT);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 2), 0);
	dev.ops->watch(&dev);
	assert_false(dev.cut);
	assert_int_equal(ftruncate(dev.dev.fd, BYTES / 4), 0);
	dev.ops->watch(&dev);
	assert_true(dev.cut);
}

/* ---------------------------------------------------------------- poison ---- */

static void poison_is_an_error_there_alone(void **state)
{
	char place[64];

	begin(state);
	memset(data, 7, BYTES);
	assert_int_equal(ask(XD_WRITE, 0, BYTES), 0);
	spoil(BAD);
	for (u32 i = 0; i < BLOCKS; i++) {
		memset(data, 0, BYTES);
		assert_int_equal(ask(XD_READ, i * XP_BLOCK_SIZE, XP_BLOCK_SIZE), i == BAD ? -EIO : 0);
		assert_true(all_are(data, XP_BLOCK_SIZE, i == BAD ? 0 : 7));
	}
	assert_int_equal(ask(XD_READ, (BAD - 1) * XP_BLOCK_SIZE, 3 * XP_BLOCK_SIZE), -EIO);
	assert_int_equal(dev.ops->pread(&dev, data, XP_BLOCK_SIZE, BAD * XP_BLOCK_SIZE), -EIO);
	assert_int_equal(nr_said, 1);
	snprintf(place, sizeof(place), "byte %u, code %d", BAD * XP_BLOCK_SIZE, BUS_ADRERR);
	assert_non_null(strstr(said, place));
}

static void a_part_of_a_block_does_not_heal_it(void **state)
{
	begin(state);
	heals = true;
	spoil(BAD);
	assert_int_equal(ask(XD_WRITE, BAD * XP_BLOCK_SIZE + 512, 512), -EIO);
	assert_int_equal(ask(XD_READ, BAD * XP_BLOCK_SIZE, 512), -EIO);
}

static void a_block_that_is_written_over_heals(void **state)
{
	begin(state);
	heals = true;
	spoil(BAD);
	memset(data, 9, BYTES);
	assert_int_equal(ask(XD_WRITE, BAD * XP_BLOCK_SIZE, XP_BLOCK_SIZE), 0);
	memset(data, 0, BYTES);
	assert_int_equal(ask(XD_READ, BAD * XP_BLOCK_SIZE, XP_BLOCK_SIZE), 0);
	assert_true(all_are(data, XP_BLOCK_SIZE, 9));
}

/* The file system said that it wrote; who reads would not find it. */
static void what_did_not_heal_is_no_success(void **state)
{
	begin(state);
	spoil(BAD);
	assert_int_equal(ask(XD_WRITE, BAD * XP_BLOCK_SIZE, XP_BLOCK_SIZE), -EIO);
	assert_int_equal(dev.ops->pwrite(&dev, data, XP_BLOCK_SIZE, BAD * XP_BLOCK_SIZE), -EIO);
	assert_int_equal(ask(XD_WRITE, 0, XP_BLOCK_SIZE), 0);
}

/* --------------------------------------------------------------- threads ---- */

struct reader {
	pthread_t thread;
	struct xd_loop loop;
	u32 wrong;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;
	u8 buf[XP_BLOCK_SIZE];

	for (u32 n = 0; n < 20000; n++) {
		u32 block = (n + r->loop.index) % BLOCKS;
		int err = ask_of(&r->loop, XD_READ, block * XP_BLOCK_SIZE, XP_BLOCK_SIZE, buf);

		r->wrong += err != (block == BAD ? -EIO : 0);
	}
	return NULL;
}

static void each_thread_meets_its_own(void **state)
{
	struct reader reader[4];

	begin(state);
	spoil(BAD);
	for (u32 i = 0; i < 4; i++) {
		reader[i] = (struct reader){ .loop.index = i };
		assert_int_equal(pthread_create(&reader[i].thread, NULL, read_on, &reader[i]), 0);
	}
	for (u32 i = 0; i < 4; i++) {
		pthread_join(reader[i].thread, NULL);
		assert_int_equal(reader[i].wrong, 0);
	}
	assert_int_equal(nr_said, 1);
}

/* ---------------------------------------------------------------- others ---- */

/* How a process ends that does this. */
static int fate(void (*deed)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		deed();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void touch_the_map(void)
{
	*(volatile u8 *)(dev.map + BAD * XP_BLOCK_SIZE);
}

static void be_told(void)
{
	kill(getpid(), SIGBUS);
}

/* A copy out of memory that is not the device's, as it might be a client's. */
static void store_from_elsewhere(void)
{
	int nothing = memfd_create("nothing", MFD_CLOEXEC);

	ask_of(&loop, XD_WRITE, 0, XP_BLOCK_SIZE,
	       mmap(NULL, XP_BLOCK_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, nothing, 0));
}

/* Of memory that went bad, to whoever has it mapped; nobody has touched it. */
static void be_told_of_poison(void)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_MCEERR_AO };

	info.si_addr = dev.map;
	syscall(SYS_rt_sigqueueinfo, getpid(), SIGBUS, &info);
}

static void news_of_poison_is_no_fault(void **state)
{
	begin(state);
	assert_int_equal(fate(be_told_of_poison), 0);
}

static void what_is_no_copys_ends_us(void **state)
{
	begin(state);
	spoil(BAD);
	assert_int_equal(ask(XD_READ, BAD * XP_BLOCK_SIZE, 512), -EIO);
	assert_int_equal(fate(touch_the_map), SIGBUS);
	assert_int_equal(ask(XD_READ, 0, 512), 0);
	assert_int_equal(fate(touch_the_map), SIGBUS);
	assert_int_equal(fate(be_told), SIGBUS);
	assert_int_equal(fate(store_from_elsewhere), SIGBUS);
}

static void beyond_the_end_is_an_error(void **state)
{
	begin(state);
	assert_int_equal(ask(XD_READ, BYTES, 512), -EIO);
	assert_int_equal(ask(XD_WRITE, BYTES - 512, 1024), -EIO);
	assert_int_equal(dev.ops->pread(&dev, data, XP_BLOCK_SIZE, ~0ull - 511), -EIO);
	assert_int_equal(ask(XD_FLUSH, 0, 0), 0);
}

#define BOTH(test) \
	{ #test, test, setup, teardown, NULL }, { #test "_of_pmem", test, setup_pmem, teardown, NULL }

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_cut_file_is_an_error),
		BOTH(a_store_finds_it_too),
		BOTH(zeros_that_come_back_are_not_read),
		BOTH(a_cut_that_nobody_met_is_seen),
		BOTH(a_hole_is_a_cut),
		BOTH(what_was_cut_is_not_filled_with_zeros),
		BOTH(what_is_not_the_cache_s_is_not_filled),
		BOTH(poison_is_an_error_there_alone),
		BOTH(a_part_of_a_block_does_not_heal_it),
		BOTH(a_block_that_is_written_over_heals),
		BOTH(what_did_not_heal_is_no_success),
		BOTH(each_thread_meets_its_own),
		BOTH(news_of_poison_is_no_fault),
		BOTH(what_is_no_copys_ends_us),
		BOTH(beyond_the_end_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
