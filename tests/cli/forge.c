// SPDX-License-Identifier: GPL-2.0-only
/*
 * forge - makes caches in plain files that a healthy tool would not: for the
 * tests of the command line.
 *
 *   forge FILE write LBA COUNT      COUNT dirty blocks, through the core itself
 *   forge FILE fua LBA COUNT        the same, each record beside its data
 *   forge FILE cut LBA COUNT        ... of which only the records landed: a power cut
 *   forge FILE fill LBA COUNT       clean blocks
 *   forge FILE discard LBA COUNT    blocks that were written turn to zeros
 *   forge FILE set FIELD VALUE      in both superblocks, checksums right
 *   forge FILE set-first, set-second FIELD VALUE      in one
 *   forge FILE head SEQ FIELD VALUE                   in a journal block's header
 *   forge FILE record SEQ INDEX FIELD VALUE           in a record of it
 */
#include "cache.h"
#include "checksum.h"
#include "message.h"
#include "superblock.h"
#include "lib/media.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void die(const char *what, int err)
{
	fprintf(stderr, "forge: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(1);
}

void xp_assert_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "forge: %s:%d: %s\n", file, line, what);
	abort();
}

static void must(int err, const char *what)
{
	if (err)
		die(what, err);
}

/* -------------------------------------------------------------- write ---- */

static void write_journal(struct xp *c, const struct xp_media *m, struct xp_todo *todo)
{
	while (todo->journal) {
		u32 i = __builtin_ctz(todo->journal);
		struct xp_journal_io io;

		todo->journal &= ~(1u << i);
		xp_journal_io(c, i, &io);
		xp_journal_end(c, i, m->write(m->ctx, io.target / XP_BLOCK_SECTORS, 1, io.data),
			       todo);
	}
}

static enum xp_act ask(struct xp *c, struct xp_req *req, enum xp_op op, u64 lba, bool fua,
		       struct xp_todo *todo)
{
	*req = (struct xp_req){ .sector = lba * XP_BLOCK_SECTORS, .nr_sectors = XP_BLOCK_SECTORS,
				.op = op, .fua = fua };
	return xp_submit(c, req, todo);
}

static void write_data(const struct xp_media *m, u64 sector, const u64 *data)
{
	must(m->write(m->ctx, sector / XP_BLOCK_SECTORS, 1, data), "data");
}

/* Not all of a FUA write: the power goes before its data is there, with @landed false. */
static void write_block(struct xp *c, const struct xp_media *m, u64 lba, const u64 *data,
			bool fua, bool landed)
{
	struct xp_todo todo;
	struct xp_req req;
	enum xp_act act;
	u64 hash;

	xp_todo_init(&todo);
	act = ask(c, &req, XP_WRITE, lba, fua, &todo);
	if (act != XP_FAST && act != XP_COPY)
		die("the core does not take the write into the cache", EINVAL);
	if (act == XP_COPY && req.copy.parallel) {
		hash = xp_checksum(data, XP_BLOCK_SIZE);
		xp_copied(c, &req, &hash, &todo);
		write_journal(c, m, &todo);
	}
	if (!landed)
		return;
	write_data(m, req.target, data);
	act = xp_end(c, &req, 0, &todo);
	write_journal(c, m, &todo);
	if (act == XP_WAIT && xp_list_pop(&todo.done) == &req.link)
		act = XP_DONE;
	if (act != XP_DONE || req.err)
		die("the write did not end", EINVAL);
}

static void fill_block(struct xp *c, const struct xp_media *m, u64 lba, const u64 *data)
{
	struct xp_todo todo;
	struct xp_req req;

	xp_todo_init(&todo);
	if (ask(c, &req, XP_READ, lba, false, &todo) != XP_SLOW_FILL ||
	    xp_end(c, &req, 0, &todo) != XP_DONE)
		die("the core does not want to fill", EINVAL);
	write_data(m, req.fill.target, data);
	xp_fill_end(c, &req.fill, 0, &todo);
	write_journal(c, m, &todo);
}

static void discard_block(struct xp *c, const struct xp_media *m, u64 lba)
{
	struct xp_todo todo;
	struct xp_req req;

	xp_todo_init(&todo);
	if (ask(c, &req, XP_DISCARD, lba, false, &todo) != XP_DONE)
		die("the block is not in the cache", EINVAL);
	write_journal(c, m, &todo);
}

/* One aligned block, filled with its own number. */
static void do_block(struct xp *c, const struct xp_media *m, const char *verb, u64 lba)
{
	static u64 data[XP_BLOCK_SIZE / 8];

	for (size_t i = 0; i < XP_BLOCK_SIZE / 8; i++)
		data[i] = lba;
	if (!strcmp(verb, "fill"))
		fill_block(c, m, lba, data);
	else if (!strcmp(verb, "discard"))
		discard_block(c, m, lba);
	else
		write_block(c, m, lba, data, strcmp(verb, "write") != 0, strcmp(verb, "cut") != 0);
}

static void use_cache(struct media *m, const struct xp_sb *sb, const char *verb, u64 lba, u64 count)
{
	const struct xp_options opt = { .slow_discards = true, .dirty_low = 100, .dirty_high = 100 };
	struct xp_message msg = { "" };
	void *memory = NULL, *scratch = NULL;
	struct xp *c;

	if (posix_memalign(&memory, XP_BLOCK_SIZE, xp_memory(sb, false)) ||
	    posix_memalign(&scratch, XP_BLOCK_SIZE, xp_recover_memory(sb)))
		die("memory", ENOMEM);
	memset(memory, 0, xp_memory(sb, false));
	c = xp_init(memory, sb, &opt);
	must(xp_recover(c, &m->io, scratch, true, &msg), msg.text);
	for (u64 i = 0; i < count; i++)
		do_block(c, &m->io, verb, lba + i);
	if (strcmp(verb, "cut") != 0)
		must(xp_close(c, &m->io), "close");
	free(scratch);
	free(memory);
}

/* ---------------------------------------------------------------- set ---- */

static void set_field(struct xp_sb *sb, const char *field, const char *value)
{
	u64 n = strtoull(value, NULL, 0);

	if (!strcmp(field, "incompat"))
		sb->incompat = cpu_to_le64(n);
	else if (!strcmp(field, "ro_compat"))
		sb->ro_compat = cpu_to_le64(n);
	else if (!strcmp(field, "compat"))
		sb->compat = cpu_to_le64(n);
	else if (!strcmp(field, "version"))
		sb->version = cpu_to_le32(n);
	else if (!strcmp(field, "nr_slots"))
		sb->nr_slots = cpu_to_le64(n);
	else if (!strcmp(field, "generation"))
		sb->generation = cpu_to_le64(n);
	else if (!strcmp(field, "uuid"))
		memset(sb->uuid, n, sizeof(sb->uuid));
	else if (!strcmp(field, "name"))
		snprintf((char *)sb->name, sizeof(sb->name), "%s", value);
	else if (!strcmp(field, "slow.sectors"))
		sb->slow.sectors = cpu_to_le64(n);
	else if (!strcmp(field, "slow.hwid"))
		snprintf((char *)sb->slow.hwid, sizeof(sb->slow.hwid), "%s", value);
	else if (!strcmp(field, "slow.content"))
		snprintf((char *)sb->slow.content, sizeof(sb->slow.content), "%s", value);
	else if (!strcmp(field, "slow.path"))
		snprintf((char *)sb->slow.path, sizeof(sb->slow.path), "%s", value);
	else
		die(field, EINVAL);
}

static void set_one(struct media *m, struct xp_sb *sb, u64 block, const char *field, const char *value)
{
	set_field(sb, field, value);
	xp_sb_seal(sb);
	must(m->io.write(m->io.ctx, block, 1, sb), "superblock");
}

/* ------------------------------------------------------------ journal ---- */

static void set_head(struct xp_jheader *h, const char *field, u64 n)
{
	if (!strcmp(field, "tail"))
		h->tail_seq = cpu_to_le64(n);
	else if (!strcmp(field, "durable"))
		h->durable_seq = cpu_to_le64(n);
	else if (!strcmp(field, "incarnation"))
		h->incarnation = cpu_to_le64(n);
	else
		die(field, EINVAL);
}

static void set_bits(__le64 *word, u32 shift, u64 mask, u64 n)
{
	*word = cpu_to_le64((le64_to_cpu(*word) & ~(mask << shift)) | n << shift);
}

static void set_record(struct xp_record *r, const char *field, u64 n)
{
	if (!strcmp(field, "lba"))
		set_bits(&r->lba, 0, XP_MAX_LBAS - 1, n);
	else if (!strcmp(field, "kind"))
		set_bits(&r->lba, 40, 0xff, n);
	else if (!strcmp(field, "flags"))
		set_bits(&r->lba, 48, 0xff, n);
	else if (!strcmp(field, "slot"))
		r->slot = cpu_to_le32(n);
	else
		die(field, EINVAL);
}

/* What comes after "head" or "record". */
static void forge_journal(struct media *m, const struct xp_sb *sb, bool head, char **arg)
{
	u64 seq = strtoull(arg[0], NULL, 0);
	u64 at = le64_to_cpu(sb->journal_start) + seq % le64_to_cpu(sb->journal_blocks);
	struct xp_jblock b;

	must(m->io.read(m->io.ctx, at, 1, &b), "journal");
	if (le64_to_cpu(b.head.seq) != seq)
		die("no such journal block", ENOENT);
	if (head)
		set_head(&b.head, arg[1], strtoull(arg[2], NULL, 0));
	else
		set_record(&b.rec[strtoul(arg[1], NULL, 0)], arg[2], strtoull(arg[3], NULL, 0));
	b.head.checksum = cpu_to_le64(jblock_checksum(&b));
	must(m->io.write(m->io.ctx, at, 1, &b), "journal");
}

static void run(struct media *m, struct xp_sb *sb, int argc, char **arg)
{
	const char *verb = arg[0];

	if (!strcmp(verb, "head") && argc == 4) {
		forge_journal(m, sb, true, arg + 1);
	} else if (!strcmp(verb, "record") && argc == 5) {
		forge_journal(m, sb, false, arg + 1);
	} else if (argc != 3) {
		die("wrong arguments", EINVAL);
	} else if (!strcmp(verb, "set-first")) {
		set_one(m, sb, XP_SB_BLOCK_A, arg[1], arg[2]);
	} else if (!strcmp(verb, "set-second")) {
		set_one(m, sb, XP_SB_BLOCK_B, arg[1], arg[2]);
	} else if (!strcmp(verb, "set")) {
		set_field(sb, arg[1], arg[2]);
		must(xp_sb_write(&m->io, sb), "superblock");
	} else {
		use_cache(m, sb, verb, strtoull(arg[1], NULL, 0), strtoull(arg[2], NULL, 0));
	}
}

int main(int argc, char **argv)
{
	struct xp_message msg = { "" };
	struct xp_sb sb;
	struct media m;
	struct stat st;
	int fd;

	if (argc < 3)
		die("forge FILE VERB ...", EINVAL);
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		die(argv[1], errno);
	must(media_init(&m, fd), "media");
	must(xp_sb_read(&m.io, st.st_size / XP_BLOCK_SIZE, &sb, &msg), msg.text);
	run(&m, &sb, argc - 2, argv + 2);
	media_done(&m);
	return 0;
}
