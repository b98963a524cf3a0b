// SPDX-License-Identifier: GPL-2.0-only
/* kernel_module.c - the target in the kernel, and its module, through libkmod. */
#include "lib/kernel.h"
#include "lib/complain.h"
#include "lib/exit.h"
#include "lib/kernel_task.h"
#include "lib/kmod.h"
#include "platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <syslog.h>
#include <unistd.h>

#define MODULE		"dm-xpcache"

static int insert_all(struct kmod_list *list)
{
	struct kmod_module *module;
	struct kmod_list *l;
	int err = list ? 0 : -ENOENT;

	for (l = list; l; l = libkmod.list_next(list, l)) {
		module = libkmod.module_get_module(l);
		if (!err)
			err = libkmod.module_probe_insert_module(module, 0, NULL, NULL, NULL, NULL);
		libkmod.module_unref(module);
	}
	return err;
}

int kernel_load(const char *module)
{
	struct kmod_list *list = NULL;
	struct kmod_ctx *ctx;
	int err = -ENOMEM;

	if (kmod_load())
		return kmod_probe(module);
	ctx = libkmod.new(NULL, NULL);
	if (ctx) {
		libkmod.set_log_priority(ctx, LOG_EMERG);
		err = libkmod.module_new_from_lookup(ctx, module, &list);
		if (!err)
			err = insert_all(list);
		libkmod.module_unref_list(list);
		libkmod.unref(ctx);
	}
	return err;
}

static bool locked_down(void)
{
	FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char modes[128] = "[none]";

	if (f) {
		if (!fgets(modes, sizeof(modes), f))
			strcpy(modes, "[none]");
		fclose(f);
	}
	return !strstr(modes, "[none]");
}

/* Not signed, or by a key that the kernel does not know: Secure Boot, lockdown or module.sig_enforce. */
static bool signature_missing(int err)
{
	return err == -EKEYREJECTED || err == -ENOKEY || (err == -EPERM && geteuid() == 0 && locked_down());
}

static u32 target_minor;

/* 1: it has the target; 0: it has not; negative: there is no device mapper. */
static int has_target(void)
{
	struct dm_task *t = task_new(DM_DEVICE_LIST_VERSIONS, NULL);
	struct dm_versions *v;
	int found = 0;

	if (!t || task_run(t)) {
		found = -ENODEV;
	} else {
		for (v = dm_task_get_versions(t); v && !found;
		     v = v->next ? (void *)((char *)v + v->next) : NULL) {
			found = !strcmp(v->name, TARGET);
			target_minor = v->version[1];
		}
	}
	if (t)
		dm_task_destroy(t);
	return found;
}

static int load_error;	/* of the module, the last time there was no target */

/* As has_target(), when what can be loaded is. */
static int find_target(void)
{
	int have = has_target();

	if (have > 0)
		return have;
	load_error = kernel_load(MODULE);
	return has_target();
}

u32 kernel_target_minor(void)
{
	return target_minor;
}

bool kernel_has_target(void)
{
	return find_target() > 0;
}

bool kernel_refuses_sleep(void)
{
	return has_target() <= 0 || target_minor >= 2;
}

const char *kernel_no_target(void)
{
	static char text[128];

	if (signature_missing(load_error))
		return "module refused: Secure Boot";
	if (!load_error || load_error == -ENOENT)
		return "the running kernel has no xpcache target";
	snprintf(text, sizeof(text), "module not loaded: %s", strerror(-load_error));
	return text;
}

enum xc kernel_ready(void)
{
	struct utsname uts;
	int have = find_target();

	if (have > 0)
		return XC_OK;
	uname(&uts);
	if (have < 0)
		return complain(XC_FAILED, "/dev/mapper/control", "modprobe dm-mod",
				"no device mapper in the running kernel (%s)", uts.release);
	if (signature_missing(load_error))
		return complain(XC_FAILED, MODULE, "sign it, see SECURE BOOT in man xpcache; or give --engine user",
				"%s", kernel_no_target());
	if (load_error && load_error != -ENOENT)
		return complain(XC_FAILED, MODULE, "dmesg may tell more", "%s", kernel_no_target());
	return complain(XC_FAILED, uts.release,
			"install xpcache-dkms and linux-headers-$(uname -r), or in the sources of xpcache: "
			"make module-install; or give --engine user",
			"%s", kernel_no_target());
}
