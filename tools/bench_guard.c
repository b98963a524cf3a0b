// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench_guard.c - may a benchmark destroy what is on this device?
 *
 * Never if anybody holds it; it is opened exclusively from then on. Else a person is asked
 * three times, in words that cannot be typed by habit, --force or not. Where there is no
 * terminal to ask on, --destructive needs --force with it.
 */
#include "bench.h"

#include <unistd.h>

static bool answered(const char *question, const char *wanted)
{
	char line[PATH_MAX];

	fprintf(stderr, "%s ", question);
	fflush(stderr);
	if (!fgets(line, sizeof(line), stdin))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return !strcmp(line, wanted);
}

static bool asked_thrice(const struct device *d, const char *holds)
{
	char question[2 * PATH_MAX];

	fprintf(stderr, "%s, %s, holds: %s.\nThe benchmark overwrites it with random data; nothing can bring it back.\n",
		d->path, text_bytes(d->sectors << XP_SECTOR_SHIFT), *holds ? holds : "nothing that is known");
	if (!answered("1 of 3: is that what you want? Type yes:", "yes"))
		return false;
	snprintf(question, sizeof(question), "2 of 3: which device is to be destroyed? Type %s:", d->path);
	return answered(question, d->path) &&
	       answered("3 of 3: all that is on it will be lost. Type destroy:", "destroy");
}

enum xc bench_guard(struct bench_target *t, bool force)
{
	bool asks = isatty(STDIN_FILENO);
	char holds[512];
	enum xc ret;

	(void)((ret = claim_check(&t->dev)) || (ret = claim_closed(&t->dev)) ||
	       (ret = device_reopen(&t->dev, DEVICE_OWN)));
	if (ret)
		return ret;
	signature_list(t->dev.fd, holds, sizeof(holds));
	if (!force && !asks)
		return complain(XC_REFUSED, t->dev.path, "on a terminal it asks; else give --force as well",
				"--destructive would overwrite it%s%s", *holds ? ", and it holds: " : "", holds);
	if (asks && !asked_thrice(&t->dev, holds))
		return complain(XC_REFUSED, t->dev.path, "nothing was written", "not destroyed");
	t->writable = true;
	return XC_OK;
}
