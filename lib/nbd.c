// SPDX-License-Identifier: GPL-2.0-only
/* nbd.c - libnbd, loaded when a remote disk is first met. */
#include "lib/nbd.h"
#include "core/message.h"
#include "core/words.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

struct nbd_calls libnbd;

static bool loaded;

static void load(void)
{
	/* It stays: its threads' errors are kept in their own storage. */
	void *library = dlopen("libnbd.so.0", RTLD_NOW | RTLD_NODELETE);

	if (!library)
		return;
#define NBD_FIND(name) libnbd.name = (typeof(libnbd.name))dlsym(library, "nbd_" #name);
	NBD_CALLS(NBD_FIND)
#undef NBD_FIND
#define NBD_FOUND(name) && libnbd.name
	loaded = true NBD_CALLS(NBD_FOUND);
#undef NBD_FOUND
}

int nbd_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? 0 : -ELIBACC;
}

const char *nbd_why(void)
{
	static __thread char text[XP_MESSAGE_MAX];
	const char *why = libnbd.get_error();

	snprintf(text, sizeof(text), "%s", why ? why : "no answer");
	xp_words_clean(text, sizeof(text));
	return text;
}

int nbd_failure(void)
{
	int err = libnbd.get_errno();

	return err > 0 ? -err : -EIO;
}
