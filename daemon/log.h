/* SPDX-License-Identifier: GPL-2.0-only */
/* log.h - what the daemon tells while it runs: to stderr, or the journal. A line without its end. */
#ifndef XD_LOG_H
#define XD_LOG_H

/* Not too often. */
void xd_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In any case: what happens seldom, and others' lines must not hide. */
void xd_log_event(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* XD_LOG_H */
