/* SPDX-License-Identifier: GPL-2.0-only */
/* status_show.h - a status, as people read it. */
#ifndef XP_TOOLS_STATUS_SHOW_H
#define XP_TOOLS_STATUS_SHOW_H

struct status;

/* All of it, to stdout; its figures as JSON, to be put. */
void status_show(const struct status *s);

#endif
