// SPDX-License-Identifier: GPL-2.0-only
/*
 * mapped DEVICE SECONDS - one thread changes pages of a shared mapping, another has them written. Prints how
 * many times that ended well, and how many in an error. The first MiB of the device.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define AREA	(1u << 20)

static volatile uint32_t *area;
static volatile int over;

static void *change(void *unused)
{
	uint32_t n = 1;

	(void)unused;
	while (!over) {
		n = n * 1664525 + 1013904223;
		area[(n >> 8) % (AREA / 4)] = n;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc == 3 ? atoi(argv[2]) : 0);
	unsigned long well = 0, failed = 0;
	pthread_t thread;
	void *p;
	int fd;

	if (argc != 3)
		errx(2, "usage: mapped DEVICE SECONDS");
	fd = open(argv[1], O_RDWR);
	if (fd < 0)
		err(1, "%s", argv[1]);
	p = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	area = p;
	if (pthread_create(&thread, NULL, change, NULL))
		errx(1, "no thread");
	while (time(NULL) < end)
		if (msync(p, AREA, MS_SYNC))
			failed++;
		else
			well++;
	over = 1;
	pthread_join(thread, NULL);
	printf("%lu %lu\n", well, failed);
	return failed != 0;
}
