// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory - has more memory than the machine, and looks after every page of it.
 *
 *   memory MIB SECONDS WORKERS
 *
 * Each worker dirties its share of anonymous memory, then goes over it at random
 * until the time is up: a page must hold what was written to it last, and is
 * written again. At the end all of it is looked at once more. Reports
 * "NOTE memory: ..." or "FAIL memory: ...".
 */
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include "pattern.h"

#define PAGE		4096u
#define PAGE_WORDS	(PAGE / 8)

struct share {
	uint64_t *words;
	uint32_t *version;	/* of each page */
	uint64_t nr;
	uint64_t first;		/* number of the share's first page among all */
};

static void *memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(1, "%zu bytes", size);
	return p;
}

static uint64_t word(const struct share *s, uint64_t page, unsigned int i)
{
	return draw((s->first + page) << 32 | s->version[page], i);
}

static void fill(struct share *s, uint64_t page)
{
	s->version[page]++;
	for (unsigned int i = 0; i < PAGE_WORDS; i++)
		s->words[page * PAGE_WORDS + i] = word(s, page, i);
}

static bool good(const struct share *s, uint64_t page)
{
	for (unsigned int i = 0; i < PAGE_WORDS; i++) {
		uint64_t got = s->words[page * PAGE_WORDS + i];

		if (got == word(s, page, i))
			continue;
		report("FAIL memory: page %llu, version %u, word %u is %016llx instead of %016llx",
		       (unsigned long long)(s->first + page), s->version[page], i,
		       (unsigned long long)got, (unsigned long long)word(s, page, i));
		return false;
	}
	return true;
}

static bool work(unsigned int worker, uint64_t nr, time_t seconds)
{
	struct share s = { .nr = nr, .first = worker * nr };
	time_t end = time(NULL) + seconds;
	uint64_t n;

	s.words = memory(nr * PAGE);
	s.version = memory(nr * sizeof(*s.version));
	for (n = 0; n < nr; n++)
		fill(&s, n);
	for (n = 0; time(NULL) < end; n++) {
		uint64_t page = draw(worker, n) % nr;

		if (!good(&s, page))
			return false;
		fill(&s, page);
	}
	for (uint64_t page = 0; page < nr; page++)
		if (!good(&s, page))
			return false;
	report("NOTE memory: worker %u: %llu pages, %llu visits", worker,
	       (unsigned long long)nr, (unsigned long long)n);
	return true;
}

int main(int argc, char **argv)
{
	unsigned int workers;
	int status, bad = 0;

	report_open();
	if (argc != 4)
		errx(2, "usage: memory MIB SECONDS WORKERS");
	workers = number(argv[3]);
	for (unsigned int i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid)
			_exit(!work(i, number(argv[1]) * 256 / workers, number(argv[2])));
	}
	while (wait(&status) > 0) {
		if (WIFSIGNALED(status))
			report("FAIL memory: a worker was killed by signal %d", WTERMSIG(status));
		bad |= status;
	}
	return bad != 0;
}
