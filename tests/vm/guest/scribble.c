// SPDX-License-Identifier: GPL-2.0-only
/*
 * scribble DEVICE SECONDS - writes and reads of a buffer that somebody changes all the time. What comes of it
 * is nobody's promise, but it is no error. From 4 to 8 MiB of the device.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	4096u
#define BYTES	(16u * BLOCK)
#define AREA	(4u << 20)

static volatile uint64_t *buffer;
static volatile int over;

static void *change(void *unused)
{
	uint64_t n = 0;

	(void)unused;
	while (!over) {
		buffer[n % (BYTES / 8)] = n * 0x9e3779b97f4a7c15ull;
		n += 37;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long seconds = argc == 3 ? strtoul(argv[2], NULL, 0) : 0, writes = 0, reads = 0;
	time_t end = time(NULL) + (time_t)seconds;
	pthread_t thread;
	void *p;
	int fd;

	if (!seconds)
		errx(2, "usage: scribble DEVICE SECONDS");
	fd = open(argv[1], O_RDWR | O_DIRECT);
	if (fd < 0)
		err(1, "%s", argv[1]);
	if (posix_memalign(&p, BLOCK, BYTES))
		errx(1, "no memory");
	buffer = p;
	if (pthread_create(&thread, NULL, change, NULL))
		errx(1, "no thread");
	while (time(NULL) < end) {
		size_t bytes = 512u * (1u + (size_t)rand() % (BYTES / 512));
		off_t at = AREA + 512 * (rand() % (int)((AREA - BYTES) / 512));

		if (rand() % 2) {
			if (pwrite(fd, p, bytes, at) != (ssize_t)bytes)
				err(1, "write of %zu at %lld", bytes, (long long)at);
			writes++;
		} else {
			if (pread(fd, p, bytes, at) != (ssize_t)bytes)
				err(1, "read of %zu at %lld", bytes, (long long)at);
			reads++;
		}
		if (rand() % 16 == 0 && fdatasync(fd))
			err(1, "sync");
	}
	over = 1;
	pthread_join(thread, NULL);
	printf("%lu writes, %lu reads\n", writes, reads);
	return 0;
}
