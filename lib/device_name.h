/* SPDX-License-Identifier: GPL-2.0-only */
/* device_name.h - numbers, kernel names and nodes of block devices. */
#ifndef XP_LIB_DEVICE_NAME_H
#define XP_LIB_DEVICE_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "/dev/sda", "/dev/mapper/x" of a kernel name. */
void device_node(const char *kname, char *path, size_t len);
/* "8:16", as sysfs and table lines have it; false: it is none. */
bool device_number(const char *text, dev_t *dev);
/* The kernel name of a device number; false: gone. */
bool device_kname(dev_t dev, char *kname, size_t len);
/* Its "/dev/sda"; false: gone. */
bool device_node_of(dev_t dev, char *path, size_t len);

#endif
