# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: slow-iops=150 timeout=900
#
# How long a boot takes without a cache, with a cold and with a warm one. The runner tells the time
# from power to login.
. /mnt/desktop.sh

waited 300 at_rest
note "boot $BOOT, / on $(findmnt -no SOURCE /): $(systemd-analyze | head -n 1)"
case $BOOT in
1) reboot_now ;;
2)
	must xpcache adopt --fast $FAST --yes
	reboot_now
	;;
3 | 4)
	[ "$(findmnt -no SOURCE /)" = ${CACHE}p$ROOT ] || fail "root-$BOOT" "is not on the cache"
	reboot_now
	;;
5)
	note "$(xpcache status xpcache0 --json | tr -d ' \n' | grep -oE '"(hits|misses)":[0-9]+' | tr '\n' ' ')"
	pass measured
	;;
esac
