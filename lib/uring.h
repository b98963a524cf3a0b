/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef URING_H
#define URING_H



/* 0, or the -errno that io_uring is refused with here. */
int uring_usable(void);
/* "Operation not permitted (the sysctl kernel.io_uring_disabled forbids it)"; of this thread, until its next call. */
const char *uring_why(int err);

#endif /* URING_H */
