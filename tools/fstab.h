/* SPDX-License-Identifier: GPL-2.0-only */
/* What of /etc/fstab has to change for a disk that moves behind a cache. */
#ifndef FSTAB_H
#define FSTAB_H

#include "tool.h"

struct fstab {
	dev_t disk;		/* lines of what is on it */
	bool tell;		/* print each change */
	unsigned int changes;	/* how many there were */
};

/* Changes nothing; complains of what could not be changed. */
enum xc fstab_look(struct fstab *f);
/* The old file stays beside it. */
enum xc fstab_change(struct fstab *f);
void fstab_restore(void);

#endif /* FSTAB_H */
