/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmod.h - libkmod, loaded when a module is first to be: libkmod.new() is its kmod_new().
 *
 * With it come libcrypto and three decompressors. Linked, they would be set up each time that udev asks whose a
 * disk is, although the module is there.
 */
#ifndef XP_KMOD_H
#define XP_KMOD_H

#include <libkmod.h>

/* What we call of it. */
#define KMOD_CALLS(CALL)								\
	CALL(list_next) CALL(module_get_module) CALL(module_new_from_lookup)		\
	CALL(module_probe_insert_module) CALL(module_unref) CALL(module_unref_list)	\
	CALL(new) CALL(set_log_priority) CALL(unref)

struct kmod_calls {
#define KMOD_MEMBER(name) typeof(kmod_##name) *name;
	KMOD_CALLS(KMOD_MEMBER)
#undef KMOD_MEMBER
};

/* To be called after kmod_load() only. */
extern struct kmod_calls libkmod;

/* Not from two threads at once. -ELIBACC: it is not there, or is too old. */
int kmod_load(void);

/*
 * What it would do, by modprobe. Prints nothing: what that says is turned into an error. -ENOENT: there is no such
 * module; -EIO: it failed, and does not say why.
 */
int kmod_probe(const char *module);

#endif /* XP_KMOD_H */
