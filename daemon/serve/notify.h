/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * notify.h - what the service manager is told: a datagram to the socket that it has named, as sd_notify(3) has it for
 * programs without libsystemd. The data path does without: with that library come four more.
 */
#ifndef XD_NOTIFY_H
#define XD_NOTIFY_H

/* Lines like READY=1. Any thread. Nobody is told where nobody asked, and a manager that does not answer is none. */
void notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* XD_NOTIFY_H */
