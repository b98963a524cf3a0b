// SPDX-License-Identifier: GPL-2.0-only
/* media.c: what was read is durable before what is written because of it can be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/media.h"
#include "block.h"

#include <sys/mman.h>
#include <unistd.h>

static char order[64];		/* 's' a sync, 'w' a write */
static int sync_error;

static void note(char what)
{
	size_t n = strlen(order);

	assert_true(n + 1 < sizeof(order));
	order[n] = what;
}

int __wrap_fdatasync(int fd);
int __wrap_fdatasync(int fd)
{
	(void)fd;
	note('s');
	errno = sync_error;
	return sync_error ? -1 : 0;
}

ssize_t __real_pwrite64(int fd, const void *buf, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t at);
ssize_t __wrap_pwrite64(int fd, const void *buf, size_t n, off_t at)
{
	note('w');
	return __real_pwrite64(fd, buf, n, at);
}

static int write_blocks(u32 nr_blocks)
{
	static u8 block[65 * XP_BLOCK_SIZE];
	struct media m;
	int fd = memfd_create("media", MFD_CLOEXEC), err;

	memset(order, 0, sizeof(order));
	assert_int_equal(media_init(&m, fd), 0);
	err = m.io.write(m.io.ctx, 0, nr_blocks, block);
	media_done(&m);
	close(fd);
	return err;
}

static void a_sync_before_a_write_and_behind_it(void **state)
{
	(void)state;
	sync_error = 0;
	assert_int_equal(write_blocks(1), 0);
	assert_string_equal(order, "sws");
	assert_int_equal(write_blocks(65), 0);
	assert_string_equal(order, "swws");
}

static void no_write_behind_a_sync_that_failed(void **state)
{
	(void)state;
	sync_error = EIO;
	assert_int_equal(write_blocks(1), -EIO);
	assert_string_equal(order, "s");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sync_before_a_write_and_behind_it),
		cmocka_unit_test(no_write_behind_a_sync_that_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
