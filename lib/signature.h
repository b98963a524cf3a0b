/* SPDX-License-Identifier: GPL-2.0-only */
/* signature.h - what libblkid sees on a device: file systems, RAID and LVM members, partition tables. */
#ifndef XP_LIB_SIGNATURE_H
#define XP_LIB_SIGNATURE_H

#include "platform.h"

/* "ext4 file system, gpt partition table"; 0 and "" if there is nothing. */
int signature_list(int fd, u64 bytes, char *buf, size_t len);
int signature_wipe(int fd, u64 bytes);
/* "gpt:UUID" or "ext4:UUID", or "". */
void signature_content(int fd, char *buf, size_t len);

#endif
