// SPDX-License-Identifier: GPL-2.0-only
/*
 * forge - makes caches in plain files that a healthy tool would not: for the
 * tests of the command line.
 *
 *   forge FILE write LBA COUNT      COUNT dirty blocks, through the core itself
 *   forge FILE set FIELD VALUE      in both superblocks, checksums right
 */
#include "tool.h"

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

/* One aligned block, filled with its own number. */
static void write_block(struct xp *c, const struct xp_media *m, u64 lba)
{
	struct xp_req req = { .sector = lba * XP_BLOCK_SECTORS,
			      .nr_sectors = XP_BLOCK_SECTORS, .op = XP_WRITE };
	u64 data[XP_BLOCK_SIZE / 8], hash;
	struct xp_todo todo;
	enum xp_act act;

	for (size_t i = 0; i < XP_BLOCK_SIZE / 8; i++)
		data[i] = lba;
	xp_todo_init(&todo);
	act = xp_submit(c, &req, &todo);
	if (act != XP_FAST && act != XP_COPY)
		die("the core does not take the write into the cache", EINVAL);
	if (act == XP_COPY && req.copy.beside) {
		hash = xp_xxh64(data, XP_BLOCK_SIZE);
		xp_copied(c, &req, &hash, &todo);
	}
	must(m->write(m->ctx, req.target / XP_BLOCK_SECTORS, 1, data), "data");
	if (xp_end(c, &req, 0, &todo) != XP_DONE || req.err)
		die("the write did not end", EINVAL);
	write_journal(c, m, &todo);
}

static void write_blocks(struct media *m, const struct xp_sb *sb, u64 lba, u64 count)
{
	const struct xp_options opt = { .dirty_low = 100, .dirty_high = 100 };
	struct xp_message msg = { "" };
	void *memory = NULL, *scratch = NULL;
	struct xp *c;

	if (posix_memalign(&memory, XP_BLOCK_SIZE, xp_memory(sb)) ||
	    posix_memalign(&scratch, XP_BLOCK_SIZE, xp_recover_memory(sb)))
		die("memory", ENOMEM);
	memset(memory, 0, xp_memory(sb));
	c = xp_init(memory, sb, &opt);
	must(xp_recover(c, &m->io, scratch, true, &msg), msg.text);
	for (u64 i = 0; i < count; i++)
		write_block(c, &m->io, lba + i);
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
	else if (!strcmp(field, "slow.sectors"))
		sb->slow.sectors = cpu_to_le64(n);
	else if (!strcmp(field, "slow.hwid"))
		snprintf((char *)sb->slow.hwid, sizeof(sb->slow.hwid), "%s", value);
	else
		die(field, EINVAL);
}

int main(int argc, char **argv)
{
	struct xp_message msg = { "" };
	struct xp_sb sb;
	struct media m;
	struct stat st;
	int fd;

	if (argc != 5)
		die("forge FILE write LBA COUNT | set FIELD VALUE", EINVAL);
	fd = open(argv[1], O_RDWR);
	if (fd < 0 || fstat(fd, &st))
		die(argv[1], errno);
	must(media_init(&m, fd), "media");
	must(xp_sb_read(&m.io, st.st_size / XP_BLOCK_SIZE, &sb, &msg), msg.text);
	if (!strcmp(argv[2], "write")) {
		write_blocks(&m, &sb, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
	} else {
		set_field(&sb, argv[3], argv[4]);
		must(xp_sb_write(&m.io, &sb), "superblock");
	}
	media_done(&m);
	return 0;
}
