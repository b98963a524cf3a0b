// SPDX-License-Identifier: GPL-2.0-only
/*
 * poison.c - the test parameter "poison": loads from a fast device that is
 * memory fail as if a line there were poisoned.
 *
 * Only a module that is built with XP_DEBUG=1 has it (module.mk). The parameter
 * is "<first sector> <number of sectors>", for all fast devices; "0 0" is none.
 */
#include <linux/moduleparam.h>

#include "backend.h"

DEFINE_STATIC_KEY_FALSE(xs_poisoned);
static DEFINE_SPINLOCK(poison_lock);
static struct {
	u64 first, nr;		/* of poison_lock */
} poison;

#define POISON_MAX	(U64_MAX >> SECTOR_SHIFT)

static int poison_set(const char *text, const struct kernel_param *kp)
{
	u64 first, nr;
	char end;

	if (sscanf(text, "%llu %llu %c", &first, &nr, &end) != 2 || first > POISON_MAX ||
	    nr > POISON_MAX - first) {
		DMERR("poison: give the first sector and the number of sectors, or 0 0 for none");
		return -EINVAL;
	}
	spin_lock(&poison_lock);
	poison.first = first;
	poison.nr = nr;
	spin_unlock(&poison_lock);
	if (nr)
		static_branch_enable(&xs_poisoned);
	else
		static_branch_disable(&xs_poisoned);
	return 0;
}

static int poison_get(char *text, const struct kernel_param *kp)
{
	u64 first, nr;

	spin_lock(&poison_lock);
	first = poison.first;
	nr = poison.nr;
	spin_unlock(&poison_lock);
	return sysfs_emit(text, "%llu %llu\n", first, nr);
}

static const struct kernel_param_ops poison_ops = {
	.set = poison_set,
	.get = poison_get,
};

module_param_cb(poison, &poison_ops, NULL, 0600);
MODULE_PARM_DESC(poison, "for tests: loads of these sectors of fast devices that are memory fail: <first> <number>");

bool xs_poison_covers(u64 at, u32 bytes)
{
	bool yes;

	spin_lock(&poison_lock);
	yes = at < (poison.first + poison.nr) << SECTOR_SHIFT &&
	      at + bytes > poison.first << SECTOR_SHIFT;
	spin_unlock(&poison_lock);
	return yes;
}
