/* SPDX-License-Identifier: GPL-2.0-only */
/* What of /etc/fstab has to change for a disk that moves behind a cache. */
#ifndef FSTAB_H
#define FSTAB_H

#include "lib/exit.h"

#include <stdbool.h>
#include <sys/types.h>

struct fstab {
	const char *path;	/* NULL: /etc/fstab */
	const char *crypttab, *resume;	/* NULL: of this system; what is wrong there is only said */
	dev_t disk;		/* lines of what is on it */
	bool tell;		/* print each change */
	unsigned int changes;	/* how many there were */
};

/* Changes nothing; complains of what could not be changed. */
enum xc fstab_look(struct fstab *f);
/* The old file stays beside it. */
enum xc fstab_change(struct fstab *f);
/* The old file again, if nobody has edited the new one; else the new one stays: it is right
 * without the cache as well. */
void fstab_restore(const struct fstab *f);

#endif /* FSTAB_H */
