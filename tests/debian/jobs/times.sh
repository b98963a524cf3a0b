# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: slow-iops=6 timeout=3000
#
# How long a boot takes without a cache, with a cold and with a warm one. The runner tells the time
# from power to login. An emulated processor is some twenty times slower than the one that emulates
# it, so the disk makes a twentieth of a hard disk's 120 requests a second: then the two have the
# part in a boot that they have in a real machine. What a shell's loop takes tells how slow it is.
. /mnt/desktop.sh

waited 900 at_rest
note "boot $BOOT, / on $(findmnt -no SOURCE /): $(systemd-analyze | head -n 1)"
note "$(awk -v disk="${SLOW#/dev/}" '$3 == disk { print $4 " reads of the disk since the kernel began, " int($6 / 2048) " MiB" }' /proc/diskstats)"
note "200,000 turns of a shell's loop: $( { TIMEFORMAT=%U; time dash -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; } 2>&1) s"
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
	note "$(xpcache status xpcache0 --json | tr -d ' \n' | grep -oE '"read_(hits|misses)":[0-9]+' | tr '\n' ' ')"
	pass measured
	;;
esac
