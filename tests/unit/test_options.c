// SPDX-License-Identifier: GPL-2.0-only
/* The words of a table line and of a message: what is taken, and how each bad one is refused. */
#include "fixture.h"
#include "command.h"
#include "options.h"

static struct xp_message msg;

/* Words are separated by one blank here. */
static u32 split(char *line, char **word)
{
	u32 n = 0;

	for (char *w = strtok(line, " "); w; w = strtok(NULL, " "))
		word[n++] = w;
	return n;
}

static int parse(struct xp_table *t, const char *text)
{
	static char line[512];
	char *word[64];

	snprintf(line, sizeof(line), "%s", text);
	msg.text[0] = '\0';
	return xp_table_parse(t, split(line, word), word, &msg);
}

static void refused(const char *line, const char *why)
{
	struct xp_table t;

	assert_int_equal(parse(&t, line), -EINVAL);
	assert_string_equal(msg.text, why);
}

static void devices_alone_mean_defaults(void **state)
{
	struct xp_table t;

	(void)state;
	assert_int_equal(parse(&t, "8:0 /dev/sdb"), 0);
	assert_string_equal(t.fast, "8:0");
	assert_string_equal(t.slow, "/dev/sdb");
	assert_int_equal(t.tunables.dirty_low, 10);
	assert_int_equal(t.tunables.dirty_high, 80);
	assert_int_equal(t.tunables.idle_ms, 5000);
	assert_int_equal(t.tunables.histogram, 1);
	assert_int_equal(t.tunables.stream_kib, 4096);
	assert_int_equal(t.tunables.writeback_delay, 0);
	assert_int_equal(t.tunables.mode, XP_MODE_KEPT);
	assert_int_equal(t.tunables.mark, 0);
	assert_int_equal(t.tunables.verify, 0);
	assert_int_equal(parse(&t, "a b 0"), 0);
	assert_int_equal(t.tunables.dirty_high, 80);
}

static void options_are_set_in_any_order(void **state)
{
	struct xp_table t;

	(void)state;
	assert_int_equal(parse(&t, "a b 6 idle_ms 0 dirty_high 99 dirty_low 98"), 0);
	assert_int_equal(t.tunables.dirty_low, 98);
	assert_int_equal(t.tunables.dirty_high, 99);
	assert_int_equal(t.tunables.idle_ms, 0);
}

static void each_end_of_a_range_is_in_it(void **state)
{
	struct xp_table t;

	(void)state;
	assert_int_equal(parse(&t, "a b 4 dirty_low 0 dirty_high 1"), 0);
	assert_int_equal(parse(&t, "a b 4 dirty_low 99 dirty_high 100"), 0);
	assert_int_equal(parse(&t, "a b 2 idle_ms 86400000"), 0);
	assert_int_equal(parse(&t, "a b 2 stream_kib 0"), 0);
	assert_int_equal(t.tunables.stream_kib, 0);
	assert_int_equal(parse(&t, "a b 2 stream_kib 1073741824"), 0);
	assert_int_equal(t.tunables.stream_kib, 1 << 30);
	assert_int_equal(parse(&t, "a b 2 writeback_delay 604800"), 0);
	assert_int_equal(t.tunables.writeback_delay, 604800);
}

static void missing_devices_are_refused(void **state)
{
	static const char expected[] =
		"expected <fast device> <slow device> [<nr args> [<name> <value>]...]";
	struct xp_table t;

	(void)state;
	refused("", expected);
	refused("a", expected);
	parse(&t, "a");
	assert_null(t.fast);
}

static void a_wrong_count_is_refused(void **state)
{
	(void)state;
	refused("a b 2", "the count of option words is \"2\", but 0 follow");
	refused("a b 2 dirty_low", "the count of option words is \"2\", but 1 follow");
	refused("a b 2 dirty_low 5 idle_ms 5", "the count of option words is \"2\", but 4 follow");
	refused("a b dirty_low 5", "the count of option words is \"dirty_low\", but 1 follow");
	refused("a b -1 x", "the count of option words is \"-1\", but 1 follow");
	refused("a b 4294967298 dirty_low 5",
		"the count of option words is \"4294967298\", but 2 follow");
	refused("a b 3 dirty_low 5 idle_ms",
		"options are pairs of a name and a value, but 3 words follow their count");
}

static void a_wrong_name_is_refused(void **state)
{
	(void)state;
	refused("a b 2 dirty 5",
		"unknown option \"dirty\"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid");
	refused("a b 2 DIRTY_LOW 5",
		"unknown option \"DIRTY_LOW\"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid");
	refused("a b 4 dirty_low 5 dirty_low 5", "option dirty_low is given twice");
}

static void a_wrong_value_is_refused(void **state)
{
	(void)state;
	refused("a b 2 dirty_low 101", "dirty_low is a number from 0 to 100, not \"101\"");
	refused("a b 2 dirty_high 0", "dirty_high is a number from 1 to 100, not \"0\"");
	refused("a b 2 idle_ms 86400001", "idle_ms is a number from 0 to 86400000, not \"86400001\"");
	refused("a b 2 dirty_low -1", "dirty_low is a number from 0 to 100, not \"-1\"");
	refused("a b 2 dirty_low +1", "dirty_low is a number from 0 to 100, not \"+1\"");
	refused("a b 2 dirty_low 0x5", "dirty_low is a number from 0 to 100, not \"0x5\"");
	refused("a b 2 dirty_low 5%", "dirty_low is a number from 0 to 100, not \"5%\"");
	refused("a b 2 idle_ms 18446744073709551621",
		"idle_ms is a number from 0 to 86400000, not \"18446744073709551621\"");
}

static const struct xp_tunable *row_of(const char *name)
{
	const struct xp_tunable *row = xp_tunable_rows;

	while (strcmp(row->name, name) != 0)
		row++;
	return row;
}

static void a_mode_is_a_word(void **state)
{
	static const char *const word[] = { "writeback", "writethrough", "writearound" };
	char line[64], text[16];
	struct xp_table t;

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		snprintf(line, sizeof(line), "a b 2 mode %s", word[i]);
		assert_int_equal(parse(&t, line), 0);
		assert_int_equal(t.tunables.mode, XP_MODE_WRITEBACK + i);
		xp_tunable_text(row_of("mode"), t.tunables.mode, text, sizeof(text));
		assert_string_equal(text, word[i]);
	}
	refused("a b 2 mode kept", "mode is not \"kept\", but one of writeback, writethrough, writearound");
	refused("a b 2 mode 2", "mode is not \"2\", but one of writeback, writethrough, writearound");
	refused("a b 2 mode Writeback", "mode is not \"Writeback\", but one of writeback, writethrough, writearound");
	refused("a b 2 mode \033", "mode is not \"?\", but one of writeback, writethrough, writearound");
}

/* What a start is told: that it is write-back, too, if somebody has said so. Else it is what the superblock has. */
static void a_start_is_told_what_was_said(void **state)
{
	char text[XP_TUNABLES_TEXT];
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	xp_tunables_print_said(&t, text);
	assert_string_equal(text, "");
	assert_false(xp_tunable_is_said(&t, row_of("mode")));
	t.mode = XP_MODE_WRITEBACK;
	xp_tunables_print_said(&t, text);
	assert_string_equal(text, " 2 mode writeback");
	assert_true(xp_tunable_is_said(&t, row_of("mode")));
	assert_false(xp_tunable_is_set(&t, row_of("mode")));
	t.idle_ms = 0;
	t.mode = XP_MODE_WRITEAROUND;
	xp_tunables_print_said(&t, text);
	assert_string_equal(text, " 4 idle_ms 0 mode writearound");
	assert_true(xp_tunable_is_set(&t, row_of("mode")));
}

static void a_word_may_be_empty(void **state)
{
	char *word[] = { "a", "b", "2", "idle_ms", "" };
	struct xp_table t;

	(void)state;
	assert_int_equal(xp_table_parse(&t, 5, word, &msg), -EINVAL);
	assert_string_equal(msg.text, "idle_ms is a number from 0 to 86400000, not \"\"");
}

static void a_contradiction_is_refused(void **state)
{
	(void)state;
	refused("a b 4 dirty_low 60 dirty_high 50", "dirty_low, 60, is not below dirty_high, 50");
	refused("a b 4 dirty_high 50 dirty_low 50", "dirty_low, 50, is not below dirty_high, 50");
	refused("a b 2 dirty_low 80", "dirty_low, 80, is not below dirty_high, 80");
	refused("a b 2 dirty_high 10", "dirty_low, 10, is not below dirty_high, 10");
}

/* A tool that is older than the module still learns the devices. */
static void devices_are_known_where_options_are_not(void **state)
{
	struct xp_table t;

	(void)state;
	assert_int_equal(parse(&t, "8:0 8:16 2 colour blue"), -EINVAL);
	assert_string_equal(t.fast, "8:0");
	assert_string_equal(t.slow, "8:16");
}

static void what_does_not_print_is_not_printed(void **state)
{
	(void)state;
	refused("a b 2 \033[2J\n\177\377 5",
		"unknown option \"?[2J???\"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid");
	refused("a b 2 abcdefghijklmnopqrstuvwxyz012345 5",
		"unknown option \"abcdefghijklmnopqrstuvwxyz01...\"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid");
}

static void only_what_is_no_default_is_printed(void **state)
{
	char text[XP_TUNABLES_TEXT];
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	xp_tunables_print(&t, text);
	assert_string_equal(text, "");
	t.dirty_high = 81;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 2 dirty_high 81");
	t.dirty_low = 0;
	t.idle_ms = 1;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 6 dirty_low 0 dirty_high 81 idle_ms 1");
	t.histogram = 0;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 8 dirty_low 0 dirty_high 81 idle_ms 1 histogram 0");
	t.stream_kib = 7;
	t.writeback_delay = 600;
	t.mode = XP_MODE_WRITEBACK;
	t.verify = 1;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 14 dirty_low 0 dirty_high 81 idle_ms 1 histogram 0 stream_kib 7 writeback_delay 600 verify 1");
	t.mode = XP_MODE_WRITETHROUGH;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 16 dirty_low 0 dirty_high 81 idle_ms 1 histogram 0 stream_kib 7 writeback_delay 600"
		" mode writethrough verify 1");
	xp_tunables_init(&t);
	t.stream_kib = 0;
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 2 stream_kib 0");
}

/* Whatever a program puts in, as it is said to have room for all. */
static void the_largest_numbers_fit(void **state)
{
	char text[XP_TUNABLES_TEXT];
	struct xp_tunables t;

	(void)state;
	memset(&t, 0xff, sizeof(t));
	xp_tunables_print(&t, text);
	assert_string_equal(text, " 20 dirty_low 4294967295 dirty_high 4294967295 idle_ms 4294967295"
		" histogram 4294967295 stream_kib 4294967295 writeback_delay 4294967295 mode 4294967295 mark 4294967295"
		" verify 4294967295 grid 4294967295");
}

static void one_option_at_a_time(void **state)
{
	struct xp_tunables t;

	(void)state;
	xp_tunables_init(&t);
	assert_int_equal(xp_tunables_set(&t, "dirty_low", "80", &msg), 0);
	assert_int_equal(xp_tunables_check(&t, &msg), -EINVAL);
	assert_string_equal(msg.text, "dirty_low, 80, is not below dirty_high, 80");
	assert_int_equal(xp_tunables_set(&t, "dirty_high", "090", &msg), 0);
	assert_int_equal(xp_tunables_check(&t, &msg), 0);
	assert_int_equal(t.dirty_high, 90);
	assert_int_equal(xp_tunables_set(&t, "dirty_high", "0", &msg), -EINVAL);
	assert_int_equal(xp_tunables_set(&t, "dirty-high", "5", &msg), -EINVAL);
	assert_int_equal(t.dirty_high, 90);
}

/* ----------------------------------------------------------- messages ---- */

static void message_refused(const char *text, const char *why)
{
	enum xp_command command = (enum xp_command)XP_COMMANDS;
	char line[128], *word[8];

	snprintf(line, sizeof(line), "%s", text);
	assert_int_equal(xp_command_parse(&command, split(line, word), word, &msg), -EINVAL);
	assert_string_equal(msg.text, why);
	assert_int_equal(command, XP_COMMANDS);
}

/* What holds, and what is to hold, as a message says it. */
static struct xp_tunables held;

static int change(const char *text)
{
	char line[128], *word[16];
	enum xp_command command;
	u32 nr;

	snprintf(line, sizeof(line), "%s", text);
	nr = split(line, word);
	assert_int_equal(xp_command_parse(&command, nr, word, &msg), 0);
	return xp_command_change(command, &held, nr, word, &msg);
}

static void changes(const char *text, const char *options)
{
	char now[XP_TUNABLES_TEXT];

	assert_int_equal(change(text), 0);
	xp_tunables_print(&held, now);
	assert_string_equal(now, options);
}

static void change_refused(const char *text, const char *why)
{
	struct xp_tunables before = held;

	assert_int_equal(change(text), -EINVAL);
	assert_string_equal(msg.text, why);
	assert_memory_equal(&held, &before, sizeof(held));
}

static void messages_are_known_by_name(void **state)
{
	static const char *const name[] = {
		"flush", "flush_stop", "commit", "histogram", "histogram_on", "histogram_off", "stream_kib", "set",
	};
	enum xp_command command;

	(void)state;
	for (u32 i = 0; i < XP_COMMANDS; i++) {
		char *word[] = { (char *)xp_command_name((enum xp_command)i), "idle_ms", "7" };
		u32 nr = i == XP_COMMAND_STREAM_KIB ? 2 : i == XP_COMMAND_SET ? 3 : 1;

		assert_string_equal(word[0], name[i]);
		assert_int_equal(xp_command_parse(&command, nr, word, &msg), 0);
		assert_int_equal(command, i);
	}
	assert_int_equal(xp_command_parse(&command, 1, (char *[]){ "FLUSH" }, &msg), 0);
	assert_int_equal(command, XP_COMMAND_FLUSH);
}

static void a_message_has_the_range_of_its_option(void **state)
{
	(void)state;
	xp_tunables_init(&held);
	changes("stream_kib 0", " 2 stream_kib 0");
	changes("Stream_KiB 1073741824", " 2 stream_kib 1073741824");
	refused("a b 2 writeback_delay 604801", "writeback_delay is a number from 0 to 604800, not \"604801\"");
	refused("a b 2 stream_kib 1073741825", "stream_kib is a number from 0 to 1073741824, not \"1073741825\"");
	change_refused("stream_kib 1073741825", "stream_kib is a number from 0 to 1073741824, not \"1073741825\"");
	change_refused("stream_kib -1", "stream_kib is a number from 0 to 1073741824, not \"-1\"");
	message_refused("stream_kib", "message stream_kib is two words, not 1");
	message_refused("stream_kib 1 2", "message stream_kib is two words, not 3");
}

static void recording_is_an_option_with_messages_of_its_own(void **state)
{
	(void)state;
	xp_tunables_init(&held);
	changes("histogram_off", " 2 histogram 0");
	changes("histogram_off", " 2 histogram 0");
	changes("histogram_on", "");
	changes("set histogram 0", " 2 histogram 0");
}

static void a_message_sets_any_of_a_running_cache(void **state)
{
	(void)state;
	xp_tunables_init(&held);
	changes("set dirty_low 30", " 2 dirty_low 30");
	changes("SET idle_ms 0 stream_kib 8", " 6 dirty_low 30 idle_ms 0 stream_kib 8");
	/* the first of them alone would contradict what holds */
	changes("set mode writearound", " 8 dirty_low 30 idle_ms 0 stream_kib 8 mode writearound");
	changes("set mode writeback", " 6 dirty_low 30 idle_ms 0 stream_kib 8");
	changes("set dirty_low 90 dirty_high 95", " 8 dirty_low 90 dirty_high 95 idle_ms 0 stream_kib 8");
	changes("set idle_ms 5000 stream_kib 4096", " 4 dirty_low 90 dirty_high 95");
}

static void all_of_a_set_or_none(void **state)
{
	(void)state;
	xp_tunables_init(&held);
	changes("set dirty_high 50", " 2 dirty_high 50");
	change_refused("set dirty_low 50", "dirty_low, 50, is not below dirty_high, 50");
	change_refused("set idle_ms 1 dirty_low 60", "dirty_low, 60, is not below dirty_high, 50");
	change_refused("set idle_ms 1 dirty_high 101", "dirty_high is a number from 1 to 100, not \"101\"");
	change_refused("set idle_ms 1 idle_ms 2", "option idle_ms is given twice");
	change_refused("set idle_ms 1 colour 2",
		"unknown option \"colour\"; known are dirty_low, dirty_high, idle_ms, histogram, stream_kib, writeback_delay, mode, mark, verify, grid");
	message_refused("set", "message set takes a name and a value, or more such pairs");
	message_refused("set idle_ms", "message set takes a name and a value, or more such pairs");
	message_refused("set idle_ms 1 verify", "message set takes a name and a value, or more such pairs");
}

static void what_a_start_sets_stays(void **state)
{
	(void)state;
	xp_tunables_init(&held);
	change_refused("set idle_ms 1 verify 1",
		       "verify stays while the cache runs: stop it, and start it with the other value");
	change_refused("set mark 7", "mark stays while the cache runs: stop it, and start it with the other value");
	changes("set mark 0 verify 0 idle_ms 1", " 2 idle_ms 1");
	held.verify = 1;
	changes("set verify 1", " 4 idle_ms 1 verify 1");
	change_refused("set verify 0", "verify stays while the cache runs: stop it, and start it with the other value");
}

#define KNOWN	"flush, flush_stop, commit, histogram, histogram_on, histogram_off, stream_kib, set"

static void other_messages_are_refused(void **state)
{
	(void)state;
	message_refused("", "unknown message \"\"; known are " KNOWN);
	message_refused("flus", "unknown message \"flus\"; known are " KNOWN);
	message_refused("stop now", "unknown message \"stop\"; known are " KNOWN);
	message_refused("flush now", "message flush is one word, not 2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_alone_mean_defaults),
		cmocka_unit_test(options_are_set_in_any_order),
		cmocka_unit_test(each_end_of_a_range_is_in_it),
		cmocka_unit_test(missing_devices_are_refused),
		cmocka_unit_test(a_wrong_count_is_refused),
		cmocka_unit_test(a_wrong_name_is_refused),
		cmocka_unit_test(a_wrong_value_is_refused),
		cmocka_unit_test(a_mode_is_a_word),
		cmocka_unit_test(a_start_is_told_what_was_said),
		cmocka_unit_test(a_word_may_be_empty),
		cmocka_unit_test(a_contradiction_is_refused),
		cmocka_unit_test(devices_are_known_where_options_are_not),
		cmocka_unit_test(what_does_not_print_is_not_printed),
		cmocka_unit_test(only_what_is_no_default_is_printed),
		cmocka_unit_test(the_largest_numbers_fit),
		cmocka_unit_test(one_option_at_a_time),
		cmocka_unit_test(messages_are_known_by_name),
		cmocka_unit_test(a_message_has_the_range_of_its_option),
		cmocka_unit_test(recording_is_an_option_with_messages_of_its_own),
		cmocka_unit_test(a_message_sets_any_of_a_running_cache),
		cmocka_unit_test(all_of_a_set_or_none),
		cmocka_unit_test(what_a_start_sets_stays),
		cmocka_unit_test(other_messages_are_refused),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
