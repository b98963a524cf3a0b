/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tool.h - what the files of the command line ask of each other.
 *
 *   main.c       verbs and options: two tables, help, what a verb needs
 *   create.c     start.c  stop.c  remove.c  flush.c  status.c  check.c  dump.c
 *   histogram.c  top.c
 *                one verb each (status.c: list too)
 *   claim.c      may this device be taken? mounts, swap, holders, partitions
 *   device.c     a block device or file: size, sector, number, sysfs
 *   identity.c   which disk is this, whatever it is called today
 *   signature.c  what blkid sees on a device
 *   caches.c     all caches of this machine: running ones, and those at rest
 *   running.c    running caches, whichever engine runs them
 *   needed.c     caches that must be looked after before xpcache is uninstalled
 *   kernel.c     kernel_module.c  kernel_devices.c: device mapper: create, remove, message, status; over kernel.h
 *   user.c       xpcached: the same
 *   partitions.c of a running cache: shown, hidden, told; and the verb
 *   uring.c      is there an io_uring for us? over uring.h
 *   ublk.c       the kernel's driver for block devices of user space
 *   engine.c     which engine a cache is for
 *   room.c       a fast file's blocks, allocated before they are written; over room.h
 *   media.c      the core's blocking access to metadata, over a file descriptor
 *   offline.c    a cache at rest, its map rebuilt by the core's own recovery
 *   sleep.c      asleep.c  awake.c  turn.c  sleep_note.c  next_boot.c  image.c  looked.c  restore.c: hibernation, over sleep.h
 *   behind.c     has somebody written to the slow device meanwhile? over fingerprint.h
 *   mark.c       have writes passed the cache, while its fast device was gone?
 *   accept.c     a cache that cannot be read everywhere goes on without, by the user's word
 *   rescue.c     bare.c: all that can be read of one goes home; also without a superblock
 *   replug.c     a running cache, one of whose devices is here again
 *   check_sb.c   check_ring.c  check_data.c: parts of check, over check.h; what
 *                they find goes to findings.c
 *   ring.c       what recovery saw of the journal ring
 *   fields.c     the superblock's fields by name
 *   latency.c    latency_view.c  pulse.c  pulse_view.c: how long requests took, over
 *                latency.h and pulse.h; timing.c: what a histogram says, over timing.h
 *   live.c       one look after another, until Ctrl-C
 *   canvas.c     columns, bars, times
 *   bench*.c     how long the cache's requests take: see bench.h
 *   human.c      complaints, sizes, durations, the progress bar
 *   process.c    what each of the programs does first and last
 *
 * A function that can fail returns an exit code of the program and has then
 * said why, once; what returns a negative errno has said nothing.
 */
#ifndef XP_TOOL_H
#define XP_TOOL_H

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "xpcache.h"

#ifndef XPCACHE_VERSION
#define XPCACHE_VERSION "?"	/* the Makefile knows it */
#endif

/* Exit codes; main.c and docs/xpcache.8 describe them. */
enum xc {
	XC_OK		= 0,
	XC_FAILED	= 1,	/* I/O or system error */
	XC_USAGE	= 2,	/* the command line is wrong */
	XC_REFUSED	= 3,	/* would lose or disturb data */
	XC_DAMAGED	= 4,	/* metadata damaged, or not known to this version */
	XC_NOT_FOUND	= 5,	/* no such cache or device */
	XC_SLOWER	= 6,	/* bench diff: a percentile or a mean got worse */
	XC_INTERRUPTED	= 130,	/* Ctrl-C; nothing is lost */
};

#define UUID_HEX	33	/* 32 digits and NUL */

/* ------------------------------------------------------------ main.c ---- */

struct options {
	const char *arg;	/* what is not an option: a cache's name, a device or a verb */
	const char *fast, *slow, *name;
	const char *engine;	/* "kernel", "user", "auto"; NULL: auto */
	bool begin, end, restore;	/* hibernate */
	bool force, discard_dirty, prefer_cache, no_start, offline, all, boot, needed, hide, undo, yes;
	bool accept_loss, accept_older, rescue;
	bool json, data, help, ublk;
	char **words;		/* bench: all of what arg is the first of */
	unsigned int nr_words;
	int argc;		/* and the command as it was given */
	char **argv;
	struct bench_options {
		const char *test, *seconds, *rate, *size, *depth, *threads, *range, *seed;
		const char *engine, *places, *output, *resume, *html;
		bool quick, destructive, buffered, precondition;
	} bench;
	bool tuned;		/* one of the tunables was given */
	bool csv, hgrm, total;
	int class;		/* enum xp_class; -1: none was given */
	double interval, wait;	/* seconds; 0: none was given */
	u64 count;		/* looks; 0: no end */
	u64 fast_size;		/* bytes, whole blocks; 0: none was given */
	struct xp_tunables tunables;
};

struct verb;
/* What the words after the program's name, one at least, ask for; looks at nothing
 * else. NULL: XC_USAGE, and said why. */
const struct verb *parse_words(int argc, char **argv, struct options *opt);

/* ----------------------------------------------------------- human.c ---- */

/* "xpcache: what: where: todo" on stderr; @where and @todo may be NULL. Returns @code. */
enum xc complain(enum xc code, const char *where, const char *todo,
		 const char *what, ...) __attribute__((format(printf, 4, 5)));
/* The same for an errno. */
enum xc complain_errno(int err, const char *where, const char *what);

/* Texts that live until the eighth next call. */
const char *text_bytes(u64 n);		/* 1.50 GiB */
/* @word as a shell takes it for one: itself, or in quotes in @text. For commands that are advised. */
const char *shell_word(const char *word, char text[2 * PATH_MAX]);
/* The same, until the eighth next call. */
const char *text_word(const char *word);
/* What complain() is to advise, until the next call; not a thread's but the program's own. */
const char *text_todo(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *text_size(u64 blocks);	/* of 4 KiB, as --fast-size takes it: 48M */
const char *text_blocks(u64 n);		/* 12,288 blocks (48 MiB) */
const char *text_count(u64 n);		/* 1,234,567 */
const char *text_duration(u64 seconds);	/* 1:02:03 */
const char *text_time(u64 seconds);	/* since 1970: 2026-05-31 23:59:59, here */
const char *text_percent(u64 part, u64 whole);
const char *text_uuid(const u8 uuid[16]);

/* Colour escapes, or "" where stdout is not a terminal. */
const char *colour_good(void), *colour_bad(void), *colour_dim(void), *colour_off(void);

struct progress {
	u64 total;		/* most blocks seen left */
	u64 last_left;
	double start, last;	/* seconds */
	double rate;		/* blocks a second, smoothed */
	bool tty;
};
void progress_begin(struct progress *p, u64 left);
void progress_show(struct progress *p, u64 left);
void progress_end(void);
/* The same of anything; @part from 0 to 1. */
void progress_say(double part, const char *words);
double seconds_now(void);

/* Signals that would end the program wait between these two, which nest. */
void signals_hold(void);
void signals_release(void);

/* Between these two, which nest, those of Ctrl-C and the like are only noted: who works looks whether one came. */
#define NR_CAUGHT	3u
struct sigaction;
void signals_catch(struct sigaction *was);	/* NR_CAUGHT of them */
void signals_let(const struct sigaction *was);
bool signals_came(void);

/* --------------------------------------------------------- process.c ---- */

/* First in main(), before anything is opened or said. */
void process_begin(void);
/* Last in main(): @ret, or XC_FAILED, and said why, where all went well but for the output. Ends stdout. */
enum xc process_end(enum xc ret);
/* What was printed up to now cannot all be written; then, the complaint about it. For verbs that end early because
 * of it: process_end() is for all the others. */
bool output_fails(void);
enum xc output_complain(void);

/* ---------------------------------------------------------- memory.c ---- */

/* Bytes; 0: unknown. */
struct memory {
	u64 total, available;
	u64 unwritten;		/* of the available: dirty pages, which somebody must write first */
};
void memory_look(struct memory *m);

/* ------------------------------------------------------- fast_size.c ---- */

/* "4k", "1M", "2GiB"; powers of 1024. */
bool bytes_read(const char *text, u64 *bytes);

#define MEMORY_SHARE	4u	/* of the machine's memory: a cache that takes such a part or more is told of */

struct device;
/* So many blocks of the fast device are to be the cache's: opt->fast_size, or all. Complains of what is too much or too little. */
enum xc fast_size_blocks(const struct options *opt, const struct device *fast, u64 *blocks);
/* The same number if a cache of it takes less memory than that part; else what does: 0: none. */
u64 fast_size_that_fits(u64 blocks, bool verify);
/* That, as an option to be typed; until the next call. */
const char *text_fast_size_that_fits(u64 blocks, bool verify);
/* One line about the memory that the cache takes. */
void fast_size_tell_memory(const struct xp_sb *sb, bool verify);

/* ---------------------------------------------------------- device.c ---- */

struct device {
	char path[PATH_MAX];	/* as the user gave it, or /dev/... */
	char kname[64];		/* name in /sys/class/block; "" for a file */
	int fd;			/* -1: not open */
	dev_t dev, disk;	/* itself; the whole disk it is (on). For a file 0 */
	ino_t ino;		/* of a file, with its file system in dev */
	unsigned int partition;	/* number, 0 for a whole disk */
	bool is_block, read_only;
	bool zoned;		/* a block can be written again only with all of its zone */
	bool remote;		/* path is a URI, and nothing is open */
	u64 sectors;		/* 512 bytes */
	u32 logical;		/* bytes */
};

enum device_mode {
	DEVICE_LOOK,		/* read */
	DEVICE_CLAIM,		/* read, and nobody else may claim it */
	DEVICE_OWN,		/* read and write, and nobody else may claim it */
};

/* Complains of one that has a control character: wherever it is told, and in what the daemon and the
 * command line say to each other, a path is on one line. NULL: none was given. */
enum xc path_check(const char *path);
/* Opens for reading; @files: a plain file will do as well. */
enum xc device_open(struct device *d, const char *path, bool files);
/* Without a complaint: for scans. Negative errno. */
int device_look(struct device *d, const char *path);
int device_look_at(struct device *d, dev_t dev);
/* Opens it again, so; refused if its path leads elsewhere by now. */
enum xc device_reopen(struct device *d, enum device_mode mode);
void device_close(struct device *d);
/* The same disk, or one a part of the other. Both partitions of one disk too. */
bool device_overlap(const struct device *a, const struct device *b);
u64 device_blocks(const struct device *d);
/* A disk that it is of, or made of, is behind USB, and says that it has no volatile cache: many of those bridges say so of
 * every disk. @disk: its "/dev/sdb". */
bool device_hides_cache(const struct device *d, char *disk, size_t len);
/* Of a disk or a file that is open, as it is by now. Negative errno. */
int device_bytes(int fd, u64 *bytes);
/* Bytes that offsets of direct I/O are multiples of, if it can be told; else 0. */
u32 device_direct_align(const struct device *d);

/* One line of /sys/class/block/@kname/@attr, trimmed, and as xp_words_clean() has it; false: there is none. */
bool sysfs_read(const char *kname, const char *attr, char *buf, size_t len);
/* The same as it is: a path to be opened, and not to be shown. */
bool sysfs_path(const char *kname, const char *attr, char *buf, size_t len);
/* "/dev/sda", "/dev/mapper/x" of a kernel name. */
void device_node(const char *kname, char *path, size_t len);
/* "8:16", as sysfs and table lines have it; false: it is none. */
bool device_number(const char *text, dev_t *dev);
/* The kernel name of a device number; false: gone. */
bool device_kname(dev_t dev, char *kname, size_t len);
/* Its "/dev/sda"; false: gone. */
bool device_node_of(dev_t dev, char *path, size_t len);
/* False: it is gone, though somebody may have it open still. */
bool device_here(dev_t dev);
/* Calls @fn for every partition that the kernel shows of a disk; stops at a non-zero result. */
int device_each_partition(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/* The same for every device that it is made of; that is made of it. */
int device_each_below(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
int device_each_above(const char *kname, int (*fn)(const char *kname, void *ctx), void *ctx);
/* It, or what it is made of: who reads waits until somebody resumes that. */
bool device_is_suspended(const char *kname);
/* Calls @fn for every block device that holds something; stops at a non-zero result. */
int device_each(int (*fn)(const char *kname, void *ctx), void *ctx);

/* ----------------------------------------------------------- claim.c ---- */

/* Complains if it is mounted, swap, part of another device, or read-only. */
enum xc claim_check(const struct device *d);
/* Complains of a device that no cache can use, as fast or slow: zoned, or with sectors larger than a block. */
enum xc claim_kind(const struct device *d);
/* Who has the device open: "mounted at /x"; false: nobody that can be named. */
bool claim_holder(const char *kname, char *who, size_t len);
/* The same of a running cache, but its partitions, which have it open whether used or not. */
bool claim_user(const char *kname, char *who, size_t len);
/* The same of it and its partitions. */
bool claim_held(const struct device *d, char *who, size_t len);
/* Which other program has it open, "open by dd, pid 1234"; takes a look at every process. */
bool claim_opener(const struct device *d, char *who, size_t len);
/* Complains if another program has it, or a partition of it, open and keeps it so. */
enum xc claim_closed(const struct device *d);
/* Which loop device shows this file, "behind /dev/loop0". */
bool claim_loop(dev_t dev, ino_t ino, char *who, size_t len);

/* ------------------------------------------------------- signature.c ---- */

/* "ext4 file system, gpt partition table"; 0 and "" if there is nothing. */
int signature_list(int fd, u64 bytes, char *buf, size_t len);
int signature_wipe(int fd, u64 bytes);
/* "gpt:UUID" or "ext4:UUID", or "". */
void signature_content(int fd, char *buf, size_t len);

/* -------------------------------------------------------- identity.c ---- */

/* What it holds is asked too: some forty reads, scattered. */
void identity_of(const struct device *d, struct xp_sb_slow *id);
/* Without that: nothing is read. */
void identity_unread(const struct device *d, struct xp_sb_slow *id);
/* Why @d is not the device @id was made of: false, and @why. @loose: the user
 * named it, so what cannot be known is believed. */
bool identity_same(const struct xp_sb_slow *id, const struct device *d,
		   bool loose, char *why, size_t len);
bool identity_known(const struct xp_sb_slow *id);
/* Its words: "HWID, 1.0 TiB" */
const char *identity_text(const struct xp_sb_slow *id);

/* ----------------------------------------------------------- media.c ---- */

struct media {
	struct xp_media io;	/* what the core calls */
	int fd;
	void *bounce;
};
int media_init(struct media *m, int fd);
void media_done(struct media *m);

/* --------------------------------------------------------- offline.c ---- */

struct offline {
	struct media media;
	struct xp_sb sb;
	struct xp *core;
	void *memory, *scratch;
	struct xp_stats stats;
	struct xp_message message;	/* why not, when a call failed */
	u32 accept;			/* XP_ACCEPT_*; to be set after offline_open(), */
	const char *slow;		/* and this, for complaints: its slow device, if it is known */
};
/* Superblock only, then the map as well. Negative errno; see message. Whatever
 * came of them, offline_close(). */
int offline_open(struct offline *o, const struct device *d);
int offline_load(struct offline *o);
/* The same, before a witness; may be asked again, with another o->accept. */
int offline_look(struct offline *o, const struct xp_witness *witness);
/* In place of these: what was decided is written, as by a start. The device must be open for writing. */
int offline_restate(struct offline *o);
void offline_close(struct offline *o);
/* What can be done with a cache whose journal cannot be read; @slow, here and below: NULL if nobody has named it. Then it
 * is looked for, and is DEV if it is not found. As text_todo(). */
const char *loss_advice(const char *fast, const char *slow);
/* ... whose slow device is too short for its dirty blocks. */
const char *shorter_advice(const char *fast, const char *slow);
/* "--fast FAST --slow SLOW", to be typed, until the next call. */
const char *text_devices(const char *fast, const char *slow);
/* What ends the use of the device that a cache may be running on. As text_todo(). */
const char *text_stop(const struct device *fast);
/* "xpcache start NAME", with the devices that it would not find by itself; until the next call. */
const char *text_start(const char *name, const char *fast, const char *slow);
const char *text_resize(const char *name, const char *fast, const char *slow);
/* What of a cache would be lost with the device it is on. */
struct cache_there {
	char what[96];		/* "the fast device of the xpcache xpcache0" */
	char uuid[UUID_HEX], name[XP_NAME_LEN];	/* "": cannot be told */
	bool known;		/* false: damaged, or not of this version; its dirty blocks */
	u64 dirty;		/* cannot be told */
};
/* False: there is none. */
bool cache_look(const struct device *fast, struct cache_there *c);
/* The exit code and the complaint for what they returned. */
enum xc offline_complain(const struct offline *o, const struct device *d, int err);

/* ---------------------------------------------------------- kernel.c ---- */

struct running {
	char name[128];
	char uuid[UUID_HEX];	/* of the cache; "" for another dm device */
	dev_t dev, fast, slow;	/* fast and slow: 0 unknown */
	u32 open_count;
	u64 sectors;
	struct xp_tunables tunables;
	bool tunables_known;	/* false: the module is not of this version */
	bool user;		/* of the user-space engine; then dev, fast and slow are 0, */
	char fast_path[PATH_MAX], slow_path[PATH_MAX];	/* and these are known */
	char ublk[64];		/* its block device; "": it has only a socket */
	bool asleep;		/* its device leads to the slow one alone; fast is 0 */
	bool suspended;		/* of a device mapper's device: now, */
	bool reloads;		/* and another table is loaded for its next resume */
};

/* Is there a device mapper, and the target? Loads the modules if it can. */
enum xc kernel_ready(void);
bool kernel_has_target(void);	/* without a complaint */
const char *kernel_no_target(void);	/* why it has not; static */
bool kernel_refuses_sleep(void);	/* to hibernate with a cache */
int kernel_load(const char *module);	/* negative errno */
/* 1: *r filled; 0: no such device; negative errno. */
int kernel_find(const char *name, const char *uuid, struct running *r);
/* All running caches; free() the result. */
int kernel_list(struct running **list, size_t *n);
/* Takes away the devices of creates and starts that were killed half-way: they
 * hold the disks. Before anything looks for who uses those. */
void kernel_sweep(void);
enum xc kernel_create(const struct xp_sb *sb, const char *name,
		      const struct device *fast, const struct device *slow,
		      const struct options *opt);
enum xc kernel_remove(const char *name);
/* Another table for its next resume: linear over the slow device, or the cache on @fast again. -errno. */
int kernel_load_linear(const struct running *r);
int kernel_load_cache(const struct running *r, const struct device *fast, const struct options *opt);
/* Likewise: the one that it has, with another length. -EINVAL: that is none of ours. */
int kernel_load_longer(const char *name, u64 sectors);
int kernel_clear(const char *name);	/* or none */
bool kernel_loads_linear(const char *name);	/* is that it? */
int kernel_suspend(const char *name);	/* -EINTR: a signal came */
int kernel_resume(const char *name);
bool kernel_is_loading(const char *name);	/* its first resume has not come, or has failed */
/* Until kernel_unlock() no other program makes a device of ours, takes a cache away, or gives one another table. */
int kernel_lock(void);
void kernel_unlock(int lock);
/* Keeps the slow device of a cache that does not run: while a device of ours has it, no mount,
 * no swap, no RAID and no volume group can take it or a partition of it. A cache's start can. */
int kernel_hold(const char *uuid, dev_t slow);
/* The device that is held, or was until now; 0: none. */
dev_t kernel_is_held(const char *uuid);
dev_t kernel_let_go(const char *uuid);
bool kernel_is_hold(const char *uuid);	/* by the uuid of a dm device */
/* Calls @fn with the uuid of each cache that something is kept for. */
void kernel_each_hold(void (*fn)(const char *uuid));
/* Negative errno. */
int kernel_message(const char *name, enum xp_command command);
/* The answer of the target to a message; malloc()ed into *answer. 0 or -errno. */
int kernel_ask(const char *name, const char *message, char **answer);
/* -EMSGSIZE: longer than @len. */
int kernel_status(const char *name, char *line, size_t len);
/* What the target prints as its table, into @r; takes @params to pieces. */
void table_read(char *params, struct running *r);
/* The kernel's log from its end on; -1: not readable. And the first that our target has said since, "" if nothing: closes
 * it. */
int kernel_log_open(void);
void kernel_log_reason(int fd, char *buf, size_t len);
/* What our target said in a record of it; false: nothing. */
bool kmsg_said(const char *record, char *buf, size_t len);
/* True if some dm device, ours or not, has the name. */
bool kernel_has_name(const char *name);
/* A device-mapper UUID: of a cache, or of a partition of one. */
bool kernel_is_ours(const char *uuid);
bool kernel_is_partition(const char *uuid);

/* A partition of a running cache: a linear device, of this UUID, as kpartx has them. */
#define KERNEL_PARTITION	"part%u-XPCACHE-"
struct partition {
	char name[128], node[160];
	dev_t dev;
	u32 number, open_count;
	u64 start, sectors;	/* 512 bytes */
	bool holds;		/* it has the cache open: not if it is half-made */
};
/* Those of the cache with this UUID that there are, in no order; free() the result. -errno. */
int kernel_partitions(const char *cache, struct partition **list, size_t *n);
/* A device that shows a part of another. -errno; -EBUSY: there is one of the name, or of the UUID. */
int kernel_linear(const char *name, const char *uuid, dev_t of, u64 start, u64 sectors);
int kernel_take_away(const char *name);

/* ------------------------------------------------------- partitions.c ---- */

/* Those that there are, by number; of a cache with a ublk device the kernel's own. -errno. */
int partitions_of(const struct running *r, struct partition **list, size_t *n);
/* Has what libblkid looks at a partition table, and is it nothing else as a whole? 0 or 1; -EUCLEAN: both. */
struct blkid_struct_probe;
int partitions_alone(struct blkid_struct_probe *probe);
/* Each of the table becomes /dev/mapper/NAMEpN, if it is not there, and what the table has no more
 * goes. Complains of those that cannot: the others are as they should be. Of a cache that the
 * kernel does not run these two do nothing. */
enum xc partitions_show(const struct running *r);
/* The same of the cache with this UUID. */
enum xc partitions_started(const char *uuid);
struct partitions {
	struct partition *v;
	size_t n;
};
/* They go, and what programs wrote to the cache itself, which they kept open, is written out.
 * Complains if one is in use, or if that was lost (@force: goes on); then all are there again.
 * free() hidden->v. */
enum xc partitions_hide(const struct running *r, bool force, struct partitions *hidden);
/* They are there again, without a look at a device that may have failed. */
void partitions_back(const struct running *r, struct partitions *hidden);
/* Complains if one is open. */
enum xc partitions_closed(const struct running *r);
/* How many have the cache open, or a partition of it. */
u32 partitions_users(const struct running *r);
/* What to use from now on, instead of what: a line for each. False: there is none. */
bool partitions_tell(const struct running *r);

/* ------------------------------------------------------------ user.c ---- */

/* As those of kernel.c, of the caches that this user's xpcached runs. -ENXIO: it does not. */
const char *user_directory(void);	/* of their sockets */
void user_uri(const char *name, char *uri, size_t len);
int user_find(const char *name, const char *uuid, struct running *r);
int user_list(struct running **list, size_t *n);
bool user_has(const char *name);
int user_message(const char *name, enum xp_command command);
/* Its slow device has grown: sectors that the cache had, and has now. xd_cache_resize()'s errors. */
int user_resize(const char *name, u64 *was, u64 *is);
int user_ask(const char *name, const char *message, char **answer);
int user_status(const char *name, char *line, size_t len);
void user_log(const char *name, char *path, size_t len);
/* "dirty-low" of dirty_low: a tunable's option, without the dashes before it. */
#define TUNABLE_OPTION	32u
void tunable_option(const struct xp_tunable *row, char text[TUNABLE_OPTION]);
bool user_can_start(void);	/* is xpcached installed? */
/* Returns when clients can connect; with @opt->offline none can. */
enum xc user_create(const char *name, const char *fast, const char *slow, const struct options *opt);
enum xc user_stop(const char *name, bool losing);

/* ------------------------------------------------------------ ublk.c ---- */

/* Does the kernel have it, and may we? Loads the module if it can. Says why not. */
enum xc ublk_ready(void);
/* Complains if somebody has the block device, or a partition of it, open. */
enum xc ublk_closed(const char *node);
/* Is it mounted, swap or part of another device? Without a look at each process. */
bool ublk_held(const char *node);

/* --------------------------------------------------------- running.c ---- */

/* The same of all, by name: no two have the same. */
int running_find(const char *name, const char *uuid, struct running *r);
int running_named(const char *name, struct running *r);	/* the uuid will do */
int running_list(struct running **list, size_t *n);
int running_message(const char *name, enum xp_command command);
int running_ask(const char *name, const char *message, char **answer);
int running_status(const char *name, char *line, size_t len);
/* @losing: what it cannot make durable by now. */
enum xc running_remove(const char *name, bool losing);
bool running_has_name(const char *name);
/* "PLACE tells more@rest": where its errors are told. Static. */
const char *running_log(const char *name, const char *rest);
/* What programs open: /dev/mapper/NAME, /dev/ublkbN, or an NBD URI. */
void running_node(const struct running *r, char *node, size_t len);
/* Makes its fast_path and slow_path known, which the kernel knows as numbers. */
void running_paths(struct running *r);

/* ---------------------------------------------------------- engine.c ---- */

/* By --engine, or by what the devices are and who we are. */
enum xc engine_choose(const struct options *opt, const char *fast, const char *slow, bool *user);
bool is_remote(const char *path);	/* an NBD URI */
/* Two URIs that name the same export of the same server, as far as their words tell. */
bool remote_same(const char *a, const char *b);
/* @uri with the paths in its query, of a socket or keys, made to lead from / and not from @folder. */
#define REMOTE_MAX	(4 * PATH_MAX)
void remote_resolve(const char *uri, const char *folder, char text[REMOTE_MAX]);
/* The folder one is in; complains if it is gone. */
enum xc folder_get(char folder[PATH_MAX]);
/* Complains if the slow device at the URI is a running cache's: no lock guards it. */
enum xc remote_check_free(const char *uri);
struct nbd_handle;
/* Complains if what they are reached by cannot be had; else the next two may be called. */
enum xc remote_check_library(const char *uri);
/* Not connected yet; its URI may name files with keys. NULL: no memory. */
struct nbd_handle *remote_new(void);
/* Size and sector of a server's device. Why it cannot be the slow one; NULL: it can. */
const char *remote_learn(struct nbd_handle *nbd, struct device *d);
/* As device_open(); with @files a remote one too, of which only the size is learnt. */
enum xc device_open_any(struct device *d, const char *path, bool files);

/* ---------------------------------------------------------- caches.c ---- */

/* A cache that some fast device holds, running or not. */
struct cache {
	struct device fast;	/* closed */
	struct xp_sb sb;
	char name[XP_NAME_LEN], uuid[UUID_HEX];
	int err;		/* 0, or why the superblock was refused, */
	struct xp_message message;	/* in words */
	bool running;
};

struct caches {
	struct cache *v;
	size_t n;
};

int caches_scan(struct caches *all);
/* That one, and its copies. */
int caches_scan_for(const char *uuid, struct caches *all);
/* Does a device other than @fast hold it too? Perhaps that one has what is dirty. @path, of @len or 0, says which. */
bool caches_have_copy(const char *uuid, const struct device *fast, char *path, size_t len);
void caches_free(struct caches *all);
/* Is the cache on one of them? @damaged: also where no more of it can be read than that. */
bool caches_have(const struct caches *all, const char *uuid, bool damaged);
/* Reads the superblock of one device. As xp_sb_read(). */
int cache_read(struct cache *c, struct device *fast);
/* Complains if @d is the slow device of a cache, other than that on @but_fast. */
enum xc caches_check_slow(const struct device *d, dev_t but_fast);
/* The one called @name (or of that uuid) that does not run, on @opt->fast if given. */
enum xc caches_find_stopped(const char *name, const struct options *opt, struct cache *c);
/* The running one called @name; "/dev/mapper/NAME" and the uuid will do. */
enum xc caches_find_running(const char *name, struct running *r);
const char *cache_plain_name(const char *name);
enum xc cache_check_name(const char *name);	/* with a complaint */

/* ----------------------------------------------------------- known.c ---- */

enum start_when {
	START_NOT, START_AT_BOOT, START_IN_INITRAMFS,
	START_TO_LEAVE,		/* in the initramfs: / moves back to the disk alone */
	START_GONE,		/* never: its end has begun, no image takes it in, nothing is kept for it */
};

/* A cache of this machine, whether its devices are here or not. */
struct known {
	char name[XP_NAME_LEN], uuid[UUID_HEX];
	enum start_when start;
	struct xp_tunables limits;	/* of a start that is given none */
	struct xp_sb_slow slow;
};

/* All of them; free() the result. Complains of records that cannot be read, once. */
size_t known_all(struct known **list);
bool known_elsewhere(void);	/* not those that the machine boots with */
size_t known_broken(void);	/* how many of those, the last time, do not say that they are not to start */
/* How many there are of the name; the one of the uuid. */
unsigned int known_find(const char *name_or_uuid, struct known *k);
/* For a start that is given none: as they were given to create, or are edited since. */
void known_limits(const char *uuid, struct options *opt);
bool known_is_noted(const char *uuid);	/* be it in a record that cannot be read */
/* Whole or not at all. Negative errno. */
int known_write(const struct known *k);
/* What is noted of the cache of that superblock. */
void known_of(struct known *k, const struct xp_sb *sb, enum start_when start, const struct xp_tunables *limits);
/* Notes a cache that is not known yet: true; complains if it cannot. */
bool known_note(const struct xp_sb *sb, bool user, const struct xp_tunables *limits);
/* Its slow device has another size, in the record too if there is one. */
void known_resized(const char *uuid, u64 sectors);
int known_forget(const char *uuid);	/* 0: it is not known any more. Negative errno */
/* Who starts it, or keeps its slow device, or lets it go for good, does that alone. -1: another
 * does, or it is not known. */
int known_lock(const char *uuid, bool wait);
void known_unlock(int lock);
/* Of this boot: what it had is home, it does not run, and its slow device is used alone. */
int left_write(const char *uuid);
bool left_is(const char *uuid);
bool left_find(char uuid[UUID_HEX]);	/* one of them, if any */
void left_forget(const char *uuid);

/* ----------------------------------------------------------- fence.c ---- */

/* Lets go of the slow device, for the start of its cache. For fence_again(), if that fails. */
dev_t fence_lift(const char *uuid);
/* Ends the lock of known_lock(): whom udev has told meanwhile that it is kept asks again. */
void fence_again(const char *uuid, dev_t slow, int lock);
/* Lets go of it until the next boot, before and after. */
enum xc fence_open(const char *uuid);
void fence_opened(const char *uuid, dev_t slow);
/* The cache is to be no more: forgets it, and lets its slow device go (0: it is looked for). */
enum xc fence_end(const char *uuid, dev_t slow);
/* Complains if it is the slow device of a cache that this machine knows, other than @but. */
enum xc fence_check(const struct device *slow, const char *but);
/* Lets go of what is kept for caches that are not known, by an initramfs older than their end. One
 * that is here and would lose something has only lost its record: it is noted again. */
void fence_end_unknown(void);
/* Lets udev look at a slow device and its partitions again. */
void fence_changed(dev_t slow);

/* --------------------------------------------------- sleep.c, restore.c ---- */

/* One that a killed hibernate has left suspended goes on first. */
bool sleep_is_asleep(const char *name_or_uuid);
/* As hibernate --end, of one cache. */
enum xc sleep_wake(const char *name, const struct options *opt);
enum xc say_asleep(const char *name);	/* complains */
/* Nobody sleeps or wakes one until it is closed; -1: it cannot be had. */
int sleep_lock(void);
void sleep_has_started(const char *uuid);	/* it is no killed hibernate's any more */
void sleep_has_stopped(const char *uuid);
/* A device that a killed hibernate has left suspended goes on; *@r: as it is then. Not what others have
 * suspended. */
enum xc sleep_mend(struct running *r);
/* Before the cache starts on @slow (0: not known): the memory of a system that hibernates is here,
 * which slept with it, and must never come back then. Complains; --boot and --force erase it. */
enum xc sleep_no_image(const struct cache *c, dev_t slow, const struct options *opt);

/* ----------------------------------------------------- status.c, flush.c ---- */

struct status {
	char line[2048];	/* the kernel's words, NUL-separated */
	const char *state;
	const char *name[64], *value[64];
	unsigned int n;
};
int status_read(const char *name, struct status *s);
/* Takes s->line to pieces. -EPROTO: it is no status. */
int status_parse(struct status *s);
u64 status_number(const struct status *s, const char *name);
const char *status_text(const struct status *s, const char *name);
/* All of it, to stdout; its figures as JSON, to be put. */
void status_show(const struct status *s);
struct json_object *status_json(const struct status *s);

/* Complains if it is suspended: whoever wants something of the device would wait for ever. */
enum xc flush_awake(const char *name);
/* What programs wrote there without a sync goes to the cache. */
enum xc flush_pages(const char *node);
/* Brings every dirty block home, with a progress bar. */
enum xc flush_home(const char *name);
/* Until @enough are left or fewer; by @end (seconds_now()), or it complains. */
enum xc flush_nearly(const char *name, u64 enough, double end);
/* The same of the cache @c at rest, by a daemon; it rests in order after that. */
enum xc flush_stopped(struct cache *c, const struct options *opt);
/* The same of a cache that does not run: by a daemon that has no clients, and ends after it. */
enum xc flush_by_user(const char *name, const char *fast, const char *slow, const struct options *opt);
/* flush --offline --rescue: all that can be read goes home, and nothing is written to the fast device. */
enum xc rescue_run(const struct options *opt);
/* Starts the cache @c; its slow device is looked for, or @opt->slow. */
enum xc start_cache(struct cache *c, const struct options *opt);
/* The slow device as it is @named (or NULL), or the only one that it can be. */
bool slow_known(const struct cache *c, const char *named, char *path, size_t len);
/* Complains of each cache that could not be stopped or flushed without this program. XC_OK: none. */
enum xc needed_check(void);
/* The one that the user has named, if it is that of the cache: else complains. @remote: an NBD URI will do. */
enum xc slow_named(const struct cache *c, const struct options *opt, bool remote, struct device *slow);
/* Whether that is the slow device of @c, of this size or another, by all that is known of it; else @why. */
bool slow_same(const struct cache *c, const struct device *slow, char *why, size_t len);
/* Complains if the two are on one disk, or the slow one is in use. */
/* Refuses a slow device that dirty blocks reach past the end of; with opt->discard_dirty the cache forgets all it has.
 * The fast device must be free. */
enum xc slow_fits(const struct cache *c, const struct device *slow, const struct options *opt);
enum xc slow_check_free(const struct device *fast, const struct device *slow);
/* The device that is its slow one; 0: it is not here yet. */
dev_t slow_of(const struct cache *c);
/* The dirty blocks of a cache that does not run. False: they cannot be told. */
bool cache_dirty(const struct cache *c, u64 *dirty);
/* It does not run, and has nothing dirty. */
bool cache_is_home(const struct cache *c);
/* Starts the known ones that are to start by themselves, as their devices come. */
enum xc start_at_boot(const struct options *opt);
/* A cache of a slow device that is in use: not started, and the device is only looked at. */
enum xc create_adopted(const struct options *opt, const char *slow, struct xp_sb *sb);
/* Takes the superblocks of a cache that has nothing dirty; else refuses. @copied: another device holds it too, so
 * that it stays known. */
enum xc erase_stopped(const struct cache *c, const char *slow, bool copied);
/* The cache that / is on. False: it is on none. */
bool root_is_on(char uuid[UUID_HEX]);
/* / is on it, or on volumes of it alone. */
bool root_is_on_disk(dev_t disk);
/* Complains if the running cache is open. */
enum xc stop_check(const struct running *r);
/* Stops it, or complains: of who uses it, and unless forced of what would be lost. Under sleep_lock(),
 * but for a cache of xpcached. */
enum xc stop_locked(const char *name, const struct options *opt);
/* Of a running cache that start is asked for: stops it if a device of it was pulled out and is here again. */
enum xc replug_end(struct options *opt);

/* ---------------------------------------------- accept.c, bare.c ---- */

/* Of --accept-loss, --accept-older: XP_ACCEPT_*. */
u32 accept_of(const struct options *opt);
/* Complains if they are given where they cannot be: they are said of one cache that does not run. @todo: what to do. */
enum xc accept_check_none(const struct options *opt, const char *todo);
/* Complains of what is asked of a stopped cache only, whether it may be lost or goes over what the disk has. */
enum xc accept_check_running(const struct options *opt, const char *todo);
/* Before @c starts: recovers it here as far as they say, and tells what is lost. After it the journal is as any. */
enum xc accept_losses(const struct cache *c, const char *slow, const struct options *opt);

/*
 * A fast device of @fast_blocks without a superblock: @sb as it would be laid out today, of the cache whose journal
 * is there. What is said of the slow device, and the name, are missing. @told: blocks of it that are the cache's, or 0.
 * -ENOENT: there is no such journal. -ENODATA: nothing tells how many they are. -ESTALE: the journal says that they are not so
 * many. -EEXIST: @told is not what the fingerprint has noted (*@noted; 0: nothing), which the journal does not contradict.
 */
int bare_superblock(const struct xp_media *m, u64 fast_blocks, u64 told, u64 *noted, struct xp_sb *sb);

/* ------------------------------------ behind.c, mark.c, fingerprint.c ---- */

/* Complains if the slow device was written since @c came to rest, and @opt does not say what is to
 * become of its dirty blocks. When it returns 0 the cache may start: what it had clean is dropped
 * if the disk is another. */
enum xc behind_check(const struct cache *c, const char *slow_path, const struct options *opt, u64 doubt);
/* Of a slow device of another size that says nothing of itself: does more speak for it than against it, of what was noted
 * at the last rest and of what the cache has clean? */
bool behind_recognises(const struct cache *c, const char *slow_path);
/* The same look alone, of a cache that offline_look() has: @what was written, "": nothing. -errno. */
int behind_tells(const struct offline *o, const char *slow_path, u64 doubt, char *what, size_t len);
/* Takes all that is clean from a cache at rest, so that who starts it later finds nothing. */
enum xc behind_empty(const struct cache *c);
/* Before all that asks for the fingerprint: a cache that has nothing and no fingerprint gets one.
 * That is the first start of one that was made while its disk was in use. */
void behind_note_first(const struct cache *c, const char *slow_path);
/*
 * Before the cache on @fast starts: if writes have passed it, what it has is dropped, and the mark
 * that said so erased; that is told. *@place: where the next mark may be written, 0: nowhere.
 * *@doubt, for behind_check(): a block that cannot be read, and may say so; 0: none.
 * @opt: may dirty blocks be lost with the clean ones, may journal blocks be; NULL: dirty ones may.
 */
enum xc mark_prepare(const char *name, const char *fast, const char *slow, const struct options *opt, u32 *place, u64 *doubt);
/* Would it find one? Changes nothing. */
bool mark_there(const struct xp_media *m, const struct xp_sb *sb, const char *slow, u64 *doubt);
/* The cache on @fast has come to rest, @seq was its newest journal block or one of the last: for
 * behind_check(). Complains if it cannot be. */
void fingerprint_at_rest(const char *fast, const char *slow, u64 seq);

/* ------------------------------------------------------------- verbs ---- */

/* What contradicts what among the options of histogram; looks at nothing else. */
enum xc histogram_check(const struct options *opt);
enum xc hibernate_check(const struct options *opt);

enum xc create_run(struct options *opt);
enum xc list_run(struct options *opt);
enum xc status_run(struct options *opt);
enum xc histogram_run(struct options *opt);
enum xc top_run(struct options *opt);
enum xc flush_run(struct options *opt);
enum xc stop_run(struct options *opt);
enum xc start_run(struct options *opt);
enum xc remove_run(struct options *opt);
enum xc partitions_run(struct options *opt);
enum xc resize_run(struct options *opt);
/* A cache of the kernel's engine that runs; @slow is longer than its table. Complains. Under sleep_lock(). */
enum xc resize_in_kernel(const struct running *r, const struct device *slow);
/* A cache that does not run, whose fast device may have grown: opt->arg or opt->fast says which. Complains. */
enum xc resize_stopped(const struct options *opt);
/* Of a cache that runs, as cache_read() has it: says so if the fast device has more room than the cache takes. */
void fast_tell_grown(const struct cache *c, const char *name, const char *slow);
enum xc check_run(struct options *opt);
enum xc dump_run(struct options *opt);
enum xc adopt_run(struct options *opt);
enum xc fence_run(struct options *opt);
enum xc forget_run(struct options *opt);
enum xc hibernate_run(struct options *opt);
enum xc bench_verb_run(struct options *opt);
void bench_help(void);		/* its tests */

#endif /* XP_TOOL_H */
