// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - what the target takes and tells, as the core has it, for tests/docs/rst.
 *
 *	tables			options, messages, states, status fields and classes, a line each
 *	tables table WORD...	is that a table line? No: exit code 1, and the core's sentence
 *	tables message WORD...	is that a message?
 */
#include <stdlib.h>
#include "cache.h"
#include "histogram.h"
#include "layout.h"
#include "command.h"
#include "message.h"
#include "options.h"
#include "../unit/abort.h"

#define FAST_BLOCKS	3072

static struct xp *make_cache(void)
{
	static u8 memory[1 << 20] __attribute__((aligned(XP_BLOCK_SIZE)));
	static const struct xp_options opt = {
		.dirty_low = XP_DEFAULT_DIRTY_LOW, .dirty_high = XP_DEFAULT_DIRTY_HIGH,
	};
	struct xp_sb sb = { .slow.sectors = cpu_to_le64(1 << 20) };
	struct xp_message msg;

	if (xp_sb_layout(&sb, FAST_BLOCKS, &msg) || xp_memory(&sb, false) > sizeof(memory))
		exit(1);
	return xp_init(memory, &sb, &opt);
}

static void print_status(struct xp *c, bool running)
{
	static const u8 uuid[16];
	struct xp_backend backend = { .running = running, .uuid = uuid, .not_memory = "word" };
	char text[4096];

	if (xp_status_print(c, &backend, text, sizeof(text)) >= sizeof(text))
		exit(1);
	printf("status %s\n", text);
}

/* Its name, its default, what it is where nobody has said it, and its range: two numbers, or the words. */
static void print_option(const struct xp_tunable *row)
{
	struct xp_tunables t;
	char text[16];
	u32 i;

	xp_tunables_init(&t);
	xp_tunable_text(row, row->initial, text, sizeof(text));
	printf("option %s %s", row->name, text);
	xp_tunable_text(row, xp_tunable_value(&t, row), text, sizeof(text));
	printf(" %s", text);
	if (!row->word)
		printf(" %u to %u", row->min, row->max);
	for (i = row->min; row->word && i <= row->max; i++)
		printf(" %s%s", row->word[i], i < row->max ? "," : "");
	printf("\n");
}

static void print_all(void)
{
	struct xp *c = make_cache();
	u32 i;

	for (i = 0; i < XP_TUNABLES; i++)
		print_option(&xp_tunable_rows[i]);
	for (i = 0; i < XP_COMMANDS; i++)
		printf("message %s\n", xp_command_name((enum xp_command)i));
	for (i = 0; i < XP_CLASSES; i++)
		printf("class %s\n", xp_class_name[i]);
	printf("bins %u\n", XP_BINS);
	for (i = 0; i < XP_BINS; i++)
		printf("bin %u %llu\n", i, (unsigned long long)xp_bin_low(i));
	print_status(c, true);
	print_status(c, false);
	c->failed = -EIO;
	print_status(c, true);
}

/* And one that changes options must be able to, from the defaults. */
static int try_message(u32 nr, char **word, struct xp_message *msg)
{
	enum xp_command command;
	struct xp_tunables t;
	int err = xp_command_parse(&command, nr, word, msg);

	xp_tunables_init(&t);
	if (!err && command >= XP_COMMAND_HISTOGRAM_ON)
		err = xp_command_change(command, &t, nr, word, msg);
	return err;
}

int main(int argc, char **argv)
{
	struct xp_message msg;
	struct xp_table table;
	int err = 0;

	if (argc < 2)
		print_all();
	else if (!strcmp(argv[1], "table"))
		err = xp_table_parse(&table, (u32)argc - 2, argv + 2, &msg);
	else
		err = try_message((u32)argc - 2, argv + 2, &msg);
	if (err)
		printf("%s\n", msg.text);
	return !!err;
}
