// SPDX-License-Identifier: GPL-2.0-only
/*
 * reader URI SIZE BYTES [mixed] - reads the first BYTES of an NBD server in requests of SIZE, one at a time, each place
 * once: in their order, or mixed, each time alike. Prints how many seconds that took. For the demonstration.
 */
#include <inttypes.h>
#include <libnbd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE_MAX_BYTES	(1u << 20)
#define STEP		97u	/* prime: no number of places that is used is a multiple */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int failed(void)
{
	fprintf(stderr, "reader: %s\n", nbd_get_error());
	return 1;
}

int main(int argc, char **argv)
{
	static char buffer[SIZE_MAX_BYTES];
	uint64_t size, places;
	struct nbd_handle *nbd;
	double begun;
	bool mixed;

	if (argc < 4) {
		fprintf(stderr, "usage: reader URI SIZE BYTES [mixed]\n");
		return 2;
	}
	size = strtoull(argv[2], NULL, 10);
	places = size ? strtoull(argv[3], NULL, 10) / size : 0;
	mixed = argc > 4 && !strcmp(argv[4], "mixed");
	if (!places || size > SIZE_MAX_BYTES || places % STEP == 0) {
		fprintf(stderr, "reader: not to be read so: %s of %s\n", argv[2], argv[3]);
		return 2;
	}
	nbd = nbd_create();
	if (!nbd || nbd_connect_uri(nbd, argv[1]))
		return failed();
	begun = seconds();
	for (uint64_t i = 0; i < places; i++)
		if (nbd_pread(nbd, buffer, size, (mixed ? i * STEP % places : i) * size, 0))
			return failed();
	printf("%.2f\n", seconds() - begun);
	nbd_close(nbd);
	return 0;
}
