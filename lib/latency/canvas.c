// SPDX-License-Identifier: GPL-2.0-only
/* canvas.c - figures in columns, bars, times. */
#include "lib/latency/canvas.h"
#include "platform.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

bool canvas_utf8(void)
{
	locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = l && !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");

	if (l)
		freelocale(l);
	return utf8;
}

/* The bytes after the first of a character are 10xxxxxx. */
static int columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void blanks(const struct canvas *c, int n)
{
	if (n > 0)
		fprintf(c->f, "%*s", n, "");
}

void canvas_left(const struct canvas *c, int width, const char *text)
{
	fputs(text, c->f);
	blanks(c, width - columns(text));
}

void canvas_right(const struct canvas *c, int width, const char *text)
{
	blanks(c, width - columns(text));
	fputs(text, c->f);
}

/* In eighths of a column, where there are characters for them. */
static void bar_of_blocks(const struct canvas *c, int width, double part)
{
	static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int n = max((int)(part * width * 8 + 0.5), part > 0);

	for (int i = 0; i < n / 8; i++)
		fputs("█", c->f);
	fputs(eighths[n % 8], c->f);
	blanks(c, width - (n + 7) / 8);
}

void canvas_bar(const struct canvas *c, int width, double part)
{
	int n = (int)(part * width + 0.5);

	if (c->utf8) {
		bar_of_blocks(c, width, part);
		return;
	}
	for (int i = 0; i < n; i++)
		fputc('#', c->f);
	if (!n && part > 0)
		fputc('.', c->f);
	blanks(c, width - max(n, part > 0));
}

const char *canvas_time(const struct canvas *c, double ns)
{
	static const char unit[][3] = { "ns", "us", "ms", "s" };
	static char text[8][24];
	static unsigned int next;
	char *s = text[next++ % 8];
	int i = 0, digits;

	while (ns >= 999.5 && i < 3) {
		ns /= 1000;
		i++;
	}
	digits = !i || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2;
	snprintf(s, sizeof(text[0]), "%.*f %s", digits, ns, i == 1 && c->utf8 ? "µs" : unit[i]);
	return s;
}
