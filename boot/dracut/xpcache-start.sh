#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced again and again while devices come, until / is there: starts the cache that it is on. What
# the cache is made of may be made by another of these hooks, so it does not wait itself.

# shellcheck disable=SC2154 # hookdir is dracut's
xpcache_start() {
	[ ! -e "$hookdir/xpcache-started" ] || return 0
	modprobe -q dm-xpcache
	# What it waits for, and how far it is, is on the console meanwhile; a machine may have none.
	xpcache_console=${xpcache_console:-/dev/console}
	(: >"$xpcache_console") 2>/dev/null || xpcache_console=/dev/null
	if said=$(@SBINDIR@/xpcache start --boot --wait 1 2>&1 >"$xpcache_console"); then
		[ -z "$said" ] || info "$said"
		: >"$hookdir/xpcache-started"
		return 0
	fi
	xpcache_tries=$((${xpcache_tries:-0} + 1))
	[ "$xpcache_tries" -ge 20 ] || return 0
	xpcache_tries=0
	emergency_shell -n xpcache "$said

$(sh @WORDSDIR@/did-not-start)"
}

xpcache_start
