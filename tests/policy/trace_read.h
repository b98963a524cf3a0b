/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_read.h - what the readers of the formats share: the input, by bytes or by lines, and complaints.
 */
#ifndef POLICY_TRACE_READ_H
#define POLICY_TRACE_READ_H

#include <stdio.h>
#include "trace.h"

#define TRACE_LINE	4096u	/* bytes of the longest line, with its end */

struct trace_reader {
	const char *name;
	/* Does the file begin so? @head: its first bytes, @len of them. */
	bool (*knows)(const u8 *head, size_t len);
	/* As trace_next(). */
	int (*next)(struct trace *t, struct trace_op *op, struct xp_message *msg);
};

extern const struct trace_reader trace_own, trace_blktrace, trace_fio, trace_vscsi, trace_msr, trace_blkparse,
				 trace_srt;

struct trace {
	FILE *file;
	char *path;
	const struct trace_reader *reader;
	u8 buffer[65536];
	size_t at, len;		/* of the buffer: what is to come */
	u64 offset;		/* in the file, of buffer[at] */
	u64 line;		/* number of the line that was taken last */
	bool begun;		/* the reader has seen the header */
	bool big;		/* blktrace: big-endian */
	u32 version;		/* of the format */
	bool has_device;
	u64 device;		/* number or hash of the name of the first */
	u64 others;
	u64 delay_ns;		/* fio: sum of its waits */
	u32 sector_bytes;	/* srt */
};

/* At least @n bytes (at most those of the buffer) from buffer[at] on, if the file has so many: how many there are. */
size_t trace_look(struct trace *t, size_t n);
void trace_skip(struct trace *t, size_t n);
/* Is a record of @size bytes, at most those of the buffer, at buffer[at]? 1, 0: there is no more, -1: it is cut off. */
int trace_whole(struct trace *t, size_t size, struct xp_message *msg);
/* The next line without its end, NUL-terminated, to be changed at will. 1, 0: no more, -1: too long, or has a NUL. */
int trace_line(struct trace *t, char **line, struct xp_message *msg);
/* Always -1, with *msg "<path>: line <n>: <what>" or "<path>: byte <offset>: <what>". */
int trace_bad_line(const struct trace *t, const char *what, struct xp_message *msg);
int trace_bad_byte(const struct trace *t, const char *what, struct xp_message *msg);
/* Is the request of the first device named? */
bool trace_is_ours(struct trace *t, u64 device);
u64 trace_hash(const char *name);
/* All of @word is a decimal number. */
bool trace_number(const char *word, u64 *number);
/* The words of @line, between any of @separators: how many, at most @room. */
u32 trace_words(char *line, const char *separators, char **word, u32 room);
/* Bytes become the sectors that they touch. False: out of range, or nothing where there must be something. */
bool trace_place(struct trace_op *op, u64 byte, u64 bytes);
bool trace_place_sectors(struct trace_op *op, u64 sector, u64 nr_sectors);

#endif
