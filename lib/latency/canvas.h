/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * canvas.h - what is drawn as text: figures in columns, bars, times.
 *
 * Columns are counted in characters: a micro sign or a block is one, whatever its bytes.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#define CANVAS_WIDTH	80	/* of what is drawn, whatever the terminal's */

struct canvas {
	FILE *f;
	bool utf8;	/* block characters and the micro sign; else '#' and "us" */
};

/* Can what is printed be UTF-8? As the locale says. */
bool canvas_utf8(void);

/* @text in @width columns, at the left or the right of them; longer stays whole. */
void canvas_left(const struct canvas *c, int width, const char *text);
void canvas_right(const struct canvas *c, int width, const char *text);
/* A bar of @part (0 to 1) of @width columns; what is not nothing shows. */
void canvas_bar(const struct canvas *c, int width, double part);

/* Of three figures: "85 ns", "10.4 us", "1.00 s"; lives until the eighth next text. */
const char *canvas_time(const struct canvas *c, double ns);

#endif /* CANVAS_H */
