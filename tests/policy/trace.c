// SPDX-License-Identifier: GPL-2.0-only
/* trace.c - opens a trace, recognises its format, and gives its input to the format's reader. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "trace_read.h"

/* By how sure its signature is: text without one comes last. */
static const struct trace_reader *const readers[] = {
	&trace_own, &trace_srt, &trace_blktrace, &trace_fio, &trace_blkparse, &trace_msr, &trace_vscsi,
};

size_t trace_look(struct trace *t, size_t n)
{
	if (t->len - t->at < n) {
		memmove(t->buffer, t->buffer + t->at, t->len - t->at);
		t->len -= t->at;
		t->at = 0;
		t->len += fread(t->buffer + t->len, 1, sizeof(t->buffer) - t->len, t->file);
	}
	return t->len - t->at;
}

void trace_skip(struct trace *t, size_t n)
{
	t->at += n;
	t->offset += n;
}

int trace_whole(struct trace *t, size_t size, struct xp_message *msg)
{
	size_t len = trace_look(t, size);

	if (!len)
		return 0;
	return len < size ? trace_bad_byte(t, "the last record is cut off", msg) : 1;
}

int trace_bad_line(const struct trace *t, const char *what, struct xp_message *msg)
{
	snprintf(msg->text, sizeof(msg->text), "%.150s: line %llu: %s", t->path, (unsigned long long)t->line, what);
	return -1;
}

int trace_bad_byte(const struct trace *t, const char *what, struct xp_message *msg)
{
	snprintf(msg->text, sizeof(msg->text), "%.150s: byte %llu: %s", t->path, (unsigned long long)t->offset, what);
	return -1;
}

int trace_line(struct trace *t, char **line, struct xp_message *msg)
{
	size_t len = min(trace_look(t, TRACE_LINE), (size_t)TRACE_LINE), end;
	u8 *start = t->buffer + t->at, *newline;

	if (!len)
		return 0;
	t->line++;
	newline = memchr(start, '\n', len);
	if (!newline && len == TRACE_LINE)
		return trace_bad_line(t, "is longer than 4095 bytes", msg);
	end = newline ? (size_t)(newline - start) : len;
	if (memchr(start, 0, end))
		return trace_bad_line(t, "has a NUL in it: is no text", msg);
	trace_skip(t, end + !!newline);
	if (end && start[end - 1] == '\r')
		end--;
	/* The last line of a file may end without a newline: the buffer is never full there. */
	start[end] = 0;
	*line = (char *)start;
	return 1;
}

bool trace_is_ours(struct trace *t, u64 device)
{
	if (!t->has_device) {
		t->has_device = true;
		t->device = device;
	}
	t->others += device != t->device;
	return device == t->device;
}

u64 trace_hash(const char *name)
{
	u64 hash = 0xcbf29ce484222325ull;

	for (; *name; name++)
		hash = (hash ^ (u8)*name) * 0x100000001b3ull;
	return hash;
}

bool trace_number(const char *word, u64 *number)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*number = strtoull(word, &end, 10);
	return !errno && !*end;
}

u32 trace_words(char *line, const char *separators, char **word, u32 room)
{
	char *save, *next = strtok_r(line, separators, &save);
	u32 nr = 0;

	for (; next && nr < room; next = strtok_r(NULL, separators, &save))
		word[nr++] = next;
	return nr;
}

bool trace_place_sectors(struct trace_op *op, u64 sector, u64 nr_sectors)
{
	bool none = op->op == XP_FLUSH;

	if (sector > TRACE_SECTORS || nr_sectors > TRACE_SECTORS - sector || nr_sectors > 0xffffffffu)
		return false;
	op->sector = none ? 0 : sector;
	op->nr_sectors = none ? 0 : (u32)nr_sectors;
	return none || nr_sectors;
}

bool trace_place(struct trace_op *op, u64 byte, u64 bytes)
{
	if (byte > TRACE_SECTORS * 512 || bytes > TRACE_SECTORS * 512 - byte)
		return false;
	if (!bytes)
		return trace_place_sectors(op, byte / 512, 0);
	return trace_place_sectors(op, byte / 512, (byte + bytes + 511) / 512 - byte / 512);
}

struct trace *trace_open(const char *path, struct xp_message *msg)
{
	struct trace *t = calloc(1, sizeof(*t));
	size_t len, i;

	if (t)
		t->path = strdup(path);
	if (t && t->path)
		t->file = fopen(path, "rb");
	if (!t || !t->path || !t->file) {
		snprintf(msg->text, sizeof(msg->text), "%.150s: %s", path, strerror(errno));
		trace_close(t);
		return NULL;
	}
	len = trace_look(t, TRACE_LINE);
	for (i = 0; i < sizeof(readers) / sizeof(readers[0]) && !t->reader; i++)
		if (readers[i]->knows(t->buffer, len))
			t->reader = readers[i];
	if (ferror(t->file) || !t->reader) {
		snprintf(msg->text, sizeof(msg->text), "%.150s: %s", path, ferror(t->file) ? "cannot be read" :
			 len ? "byte 0: is no trace of a known format" : "is empty");
		trace_close(t);
		return NULL;
	}
	return t;
}

int trace_next(struct trace *t, struct trace_op *op, struct xp_message *msg)
{
	int got;

	memset(op, 0, sizeof(*op));
	got = t->reader->next(t, op, msg);
	return got == 0 && ferror(t->file) ? trace_bad_byte(t, "cannot be read", msg) : got;
}

const char *trace_format(const struct trace *t)
{
	return t->reader->name;
}

u64 trace_others(const struct trace *t)
{
	return t->others;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->file)
		fclose(t->file);
	free(t->path);
	free(t);
}
