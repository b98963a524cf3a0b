/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch.h - xpcached watch: all caches that run on this machine, followed.
 *
 *   watch.c           the verb: options, the loop, the service manager
 *   watch_source.c    where caches come from
 *   watch_caches.c    what is remembered of each: the last looks, an hour in columns
 *   watch_events.c    what is worth telling, once; no device is asked
 *   watch_journal.c   telling it
 *   watch_wear.c      the wear of the fast device, by NVMe's own log
 *   watch_metrics.c   all of it in the words of Prometheus
 *   watch_live.c      the same for the page
 *   watch_http.c      who may ask, and for what
 *   watch_page.S      the page
 *
 * One thread. A look is an ioctl or two a cache; histograms are dear (200 KiB of text
 * at worst) and so asked for at each look only while somebody is looking at the page, else
 * each ten seconds, and when metrics are asked for.
 */
#ifndef WATCH_H
#define WATCH_H

#include "lib/exit.h"
#include "lib/latency/pulse.h"
#include "lib/latency/timing.h"

#include <stdio.h>
#include <sys/types.h>

struct json_object;

#define WATCH_CACHES		64	/* more are not followed */
#define WATCH_COLUMNS		360	/* an hour */
#define WATCH_COLUMN_SECONDS	10
#define WATCH_HEAT_PER_DECADE	10u
#define WATCH_HEAT		(TIMING_DECADES * WATCH_HEAT_PER_DECADE)

/* -------------------------------------------------------- watch_wear.c ---- */

/* What the fast device says of itself. */
struct wear {
	bool known;
	u8 warning;		/* bits: its own alarm; 0 is well */
	u8 spare, spare_limit;	/* percent */
	u8 used;		/* percent of its life, by its maker's estimate; may exceed 100 */
	double written;		/* bytes, in all its life */
};

#define WEAR_LOG	512	/* bytes of NVMe's SMART / health information log */

/* -EPROTO: this is no such log. */
int wear_decode(const u8 log[WEAR_LOG], struct wear *w);
/* Of the fast device @dev, if that is (a partition of) an NVMe drive. Negative errno. */
int wear_read(dev_t dev, struct wear *w);
/* "/dev/nvme0" of "nvme0n1p2"; false: it is not NVMe. */
bool wear_controller(const char *kname, char *path, size_t len);
/* What its life has left, in bytes that can be written; NAN: it does not tell yet. */
double wear_left(const struct wear *w);

/* Bytes a second over a day or two. */
struct wear_rate {
	double at[2];		/* seconds: the older, and the one that will take its place */
	u64 bytes[2];
	bool begun;
};
/* NAN in the first hour. */
double wear_rate(struct wear_rate *r, double now, u64 bytes);

/* ------------------------------------------------------ watch_events.c ---- */

enum event_kind {
	EVENT_STATE,		/* it does not run as it should */
	EVENT_FAST_ERRORS,
	EVENT_SLOW_ERRORS,
	EVENT_DIRTY,		/* more than the limit */
	EVENT_JOURNAL,		/* likewise */
	EVENT_WEAR,
	EVENT_WARNING,		/* the fast device's own */
	EVENT_ENDURANCE,	/* at this rate it does not last */
	EVENT_PRESENCE,		/* it has come; over: it has gone, and that is no alarm */
};
#define EVENT_KINDS	9u

struct event {
	enum event_kind kind;
	bool raised;		/* false: it is over */
	int priority;		/* as syslog's */
	const char *cache, *uuid;
	char text[256];		/* with the cache's name */
};

/* What every output calls it: "dirty"; and its MESSAGE_ID, 32 digits. */
extern const struct event_name {
	const char *word, *id;
} event_name[EVENT_KINDS];

struct limits {
	double dirty, journal, wear;	/* percent */
	double years;			/* that the fast device should last */
};
#define LIMIT_BACK	5.0	/* so many percent below a limit it is over */
#define ERRORS_QUIET	60.0	/* seconds without a new one: it is over */

/* What was told of a cache. */
struct alarms {
	bool on[EVENT_KINDS];
	char state[16];
	struct {
		u64 n;
		double last;	/* seconds */
	} errors[2];		/* of the fast device, of the slow */
	struct wear_rate rate;
	double years;		/* NAN: not known */
};

typedef void event_fn(void *ctx, const struct event *e);

void alarms_init(struct alarms *a);
/* Calls @tell for what is new in @p, and for what is over. */
void alarms_judge(struct alarms *a, const struct pulse *p, const struct wear *w,
		  const struct limits *limits, event_fn *tell, void *ctx);
void alarms_presence(const struct pulse *p, bool here, event_fn *tell, void *ctx);

/* ----------------------------------------------------- watch_journal.c ---- */

/* To the journal with its fields, or as a line to stderr where that is not the journal. */
void journal_tell(const struct event *e);
/* The fields as they are sent; @text must stay as long as they do. Returns how many. */
#define JOURNAL_FIELDS	8
struct journal_text {
	char field[JOURNAL_FIELDS][320];
};
unsigned int journal_fields(const struct event *e, struct journal_text *text);

/* ------------------------------------------------------ watch_caches.c ---- */

/* Ten seconds, or so. */
struct column {
	double time;		/* when it ended, since 1970 */
	double seconds;
	u64 reads;
	double hits[PULSE_RATIOS], dirty;	/* parts of 1; NAN of none */
	struct {
		u64 n;
		float mean, p50, p99;	/* ns; NAN: too few */
	} class[XP_CLASSES];
	float heat[2][WATCH_HEAT];	/* reads, writes: as timing_by_decade() */
};

struct watched {
	/* Looks that had histograms: the last, the one before, and where the column under way
	 * began. */
	struct pulse now, before, since;
	u64 looks;		/* of those; without one all three are but its name */
	bool here;		/* seen by the look under way */
	struct alarms alarms;
	struct wear wear;
	double wear_at;		/* when that was asked for; 0: never */
	u64 columns;		/* that were; the last WATCH_COLUMNS of them are in */
	struct column column[WATCH_COLUMNS];
};

struct watch {
	struct limits limits;
	double interval;
	double timed_at;	/* seconds: the last look with histograms */
	double viewed_at;	/* and when the page asked last */
	bool looked;		/* once, at least */
	bool too_many;		/* was said */
	size_t n;
	struct watched *cache[WATCH_CACHES];
};

/* Asks all caches. 0 or negative errno: the device mapper does not answer. */
int watch_look(struct watch *w);
/* The same with histograms, if they are older than the interval. */
int watch_refresh(struct watch *w);
/* What a look has found of a cache; @timed: with histograms. */
void watch_note(struct watch *w, const struct pulse *p, bool timed);
/* What lies between the last two looks, into @p; false: there was but one, or it was started
 * anew between them. */
bool watched_latest(const struct watched *c, struct pulse *p);
/* NULL: there is none. */
struct watched *watch_find(const struct watch *w, const char *uuid);
void watch_free(struct watch *w);

/* ------------------------------------------------------ watch_source.c ---- */

/* watch_note() for every cache that runs: those of the kernel. 0 or negative errno. */
int watch_each(struct watch *w, bool timed);

/* ----------------------------------------------------- watch_metrics.c ---- */

/* Prometheus' text format 0.0.4, and what came of it: OpenMetrics 1.0. */
enum metrics_format { METRICS_PROMETHEUS, METRICS_OPEN };
/* The one that who sends this as Accept prefers; NULL: it was not sent. */
enum metrics_format metrics_wanted(const char *accept);
const char *metrics_type(enum metrics_format format);
void metrics_write(const struct watch *w, FILE *f, enum metrics_format format);

/* The edges of a histogram's buckets, each an edge of bins: as near to 1, 1.78, 3.16, 5.62
 * us and so on up to 10 s as those are. Bucket i holds what took less than edge i. */
#define METRICS_EDGES	29u
u32 metrics_edge_bin(u32 i);

/* -------------------------------------------------------- watch_live.c ---- */

/* What the page is drawn from: docs/xpcached.8. The columns that ended after @since, of the
 * cache @uuid; NULL: none. */
struct json_object *live_json(const struct watch *w, const char *uuid, double since);

/* -------------------------------------------------------- watch_http.c ---- */

#define WATCH_PORT	"19798"
#define WATCH_NAMES	8

struct http;

struct http_options {
	const char *listen;		/* ADDRESS:PORT, [ADDRESS]:PORT */
	const char *name[WATCH_NAMES];	/* further ones that it may be asked by */
	unsigned int names;
};

/* Listens; complains if it cannot. @where: the address and port it has come to. */
enum xc http_open(struct http **h, const struct http_options *opt, struct watch *w,
		  char *where, size_t len);
/* Readable: call http_run(). True: call it again, there is more. */
int http_fd(const struct http *h);
bool http_run(struct http *h);
/* Ends what has taken too long. */
void http_sweep(struct http *h);
void http_close(struct http *h);

/* May a page that was asked for by @host see this? Against DNS rebinding: numbers, localhost
 * and the names given only. */
bool http_host_allowed(const struct http_options *opt, const char *host);

/* ------------------------------------------------------------- watch.c ---- */

enum xc watch_run(int argc, char **argv);

#endif /* WATCH_H */
