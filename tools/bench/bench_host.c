// SPDX-License-Identifier: GPL-2.0-only
/* bench_host.c - the machine and its devices, as far as they bear on latency. */
#include "lib/json.h"
#include "lib/sysfs.h"
#include "tools/bench/bench.h"
#include "core/block.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first line of a file; "" if there is none. */
static void first_line(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");

	*buf = '\0';
	if (f && fgets(buf, (int)len, f))
		buf[strcspn(buf, "\n")] = '\0';
	if (f)
		fclose(f);
}

static void processor(char *buf, size_t len)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	snprintf(buf, len, "unknown");
	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		snprintf(buf, len, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

static struct json_object *text_or_null(const char *text)
{
	return *text ? json_words(text) : NULL;
}

#define GOVERNOR	"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
#define CLOCKSOURCE	"/sys/devices/system/clocksource/clocksource0/current_clocksource"

struct json_object *bench_host_json(void)
{
	struct json_object *o = json_object_new_object();
	struct utsname uts;
	char text[512];

	uname(&uts);
	bench_result_add(o, "kernel", json_words(uts.release));
	processor(text, sizeof(text));
	bench_result_add(o, "cpu", json_words(text));
	bench_result_add(o, "cpus", json_object_new_int64(sysconf(_SC_NPROCESSORS_ONLN)));
	first_line(GOVERNOR, text, sizeof(text));
	bench_result_add(o, "governor", text_or_null(text));
	first_line(CLOCKSOURCE, text, sizeof(text));
	bench_result_add(o, "clocksource", text_or_null(text));
	bench_result_add(o, "memory_bytes", json_object_new_int64(sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
	return o;
}

/* "mq-deadline none [kyber]": the one in use. */
static struct json_object *scheduler(const char *kname)
{
	char text[256];
	char *open, *close;

	if (!sysfs_read(kname, "queue/scheduler", text, sizeof(text)))
		return NULL;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (!close)
		return json_words(text);
	*close = '\0';
	return json_words(open + 1);
}

struct json_object *bench_device_json(const struct bench_target *t)
{
	struct json_object *o = json_object_new_object();
	const char *kname = t->dev.kname;
	char text[256];

	bench_result_add(o, "role", json_words(t->role));
	bench_result_add(o, "path", json_words(t->dev.path));
	bench_result_add(o, "bytes", json_object_new_uint64(t->dev.sectors << XP_SECTOR_SHIFT));
	bench_result_add(o, "model", *kname && sysfs_read(kname, "device/model", text, sizeof(text)) ?
			 json_words(text) : NULL);
	bench_result_add(o, "scheduler", *kname ? scheduler(kname) : NULL);
	bench_result_add(o, "rotational", *kname && sysfs_read(kname, "queue/rotational", text, sizeof(text)) ?
			 json_object_new_boolean(text[0] == '1') : NULL);
	bench_result_add(o, "volatile_cache", *kname && sysfs_read(kname, "queue/write_cache", text, sizeof(text)) ?
			 json_object_new_boolean(!strcmp(text, "write back")) : NULL);
	return o;
}

void bench_host_warn(struct json_object *result)
{
	struct json_object *host = bench_result_get(result, "host");
	const char *governor = bench_result_text(host, "governor");
	const char *clock = bench_result_text(host, "clocksource");

	if (*governor && strcmp(governor, "performance") != 0)
		bench_result_warn(result, "governor", "The processor's governor is %s: it sleeps and "
				  "slows down between requests; performance measures the devices.", governor);
	if (*clock && strcmp(clock, "tsc") != 0 && strcmp(clock, "kvm-clock") != 0)
		bench_result_warn(result, "clocksource", "The clock is %s: each look at it costs more "
				  "than the time stamp counter does, and is in every time.", clock);
	if (json_object_get_boolean(bench_result_get(result, "quick")))
		bench_result_warn(result, "quick", "QUICK: too short to be compared with anything.");
}
