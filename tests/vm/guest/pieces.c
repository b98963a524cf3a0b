// SPDX-License-Identifier: GPL-2.0-only
/*
 * pieces.c - pieces FROM TO SIZE FIRST STEP COUNT [LATER]
 *
 * Copies pieces: COUNT of SIZE bytes, from byte FIRST on and a STEP apart; in TO each is LATER bytes behind its
 * place in FROM. What is "-" is written to one after another. A disk is read and written directly, a request for
 * a piece; with SYNC=1 in the environment it is told to keep each. A process for each, as dd, is what an emulated
 * machine would spend its time with.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, off_t at)
{
	fprintf(stderr, "pieces: %s at %lld: %s\n", what, (long long)at, strerror(errno));
	exit(1);
}

static int open_at(const char *path, int how)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-"))
		return STDOUT_FILENO;
	if (!stat(path, &st) && S_ISBLK(st.st_mode))
		how |= O_DIRECT;
	fd = open(path, how | O_CLOEXEC, 0644);
	if (fd < 0)
		die(path, 0);
	return fd;
}

int main(int argc, char **argv)
{
	long long word[5] = { 0 };	/* SIZE FIRST STEP COUNT LATER */
	int from, to, sync = getenv("SYNC") != NULL;
	void *buffer;

	if (argc < 7 || argc > 8) {
		fprintf(stderr, "usage: pieces FROM TO SIZE FIRST STEP COUNT [LATER]\n");
		return 2;
	}
	for (int n = 3; n < argc; n++)
		word[n - 3] = atoll(argv[n]);
	from = open_at(argv[1], O_RDONLY);
	to = open_at(argv[2], O_WRONLY);
	if (posix_memalign(&buffer, 4096, (size_t)word[0]))
		die("memory", 0);
	for (long long n = 0; n < word[3]; n++) {
		off_t at = word[1] + n * word[2];

		if (pread(from, buffer, (size_t)word[0], at) != word[0])
			die("a short read", at);
		if (to == STDOUT_FILENO ? write(to, buffer, (size_t)word[0]) != word[0] :
					  pwrite(to, buffer, (size_t)word[0], at + word[4]) != word[0])
			die("a short write", at);
		if (sync && fdatasync(to))
			die("sync", at);
	}
	return 0;
}
