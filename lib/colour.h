/* SPDX-License-Identifier: GPL-2.0-only */
/* colour.h - colours, where stdout is a terminal that has some. */
#ifndef XP_LIB_COLOUR_H
#define XP_LIB_COLOUR_H

/* Colour escapes, or "" where stdout is not a terminal. */
const char *colour_good(void), *colour_bad(void), *colour_dim(void), *colour_off(void);

#endif
