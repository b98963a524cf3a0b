# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091,SC2154
# vm: timeout=1200
#
# The power goes while a system moves onto a cache, or off it: before the initramfs is made that the
# next boot is to have, and after. Each time the next boot is right, and what was begun can be ended.
. /mnt/desktop.sh

# Both ask whether it is to be there: xpcache-left.service, which begins by itself, waits for the job.
cut_there()
{
	printf '#!/bin/sh\n[ "$1" != prereqs ] || exit 0\n%s\n' "$(wait_there before)" >/etc/initramfs-tools/hooks/zz-cut
	printf '#!/bin/sh\n%s\n' "$(wait_there after)" >/etc/initramfs/post-update.d/zz-cut
	chmod +x /etc/initramfs-tools/hooks/zz-cut /etc/initramfs/post-update.d/zz-cut
}

wait_there()
{
	echo "while [ ! -e /run/cut ]; do sleep 1; done"
	echo "start=\$(sed -n 's/.*\"start\": *\"\([a-z]*\)\".*/\1/p' /etc/xpcache/*.json)"
	echo "grep -qx \"$1 \$start\" /run/cut || exit 0"
	echo "[ $1 = before ] || [ -e ${CACHE}p$ROOT ] || sync"	# what is on a cache the loader does not read yet
	echo "echo CUT >$REPORT; sleep infinity"
}

# cut WHEN START COMMAND... - there, with that in the record; never comes back.
cut()
{
	echo "$1 $2" >/run/cut
	"${@:3}"
	die "cut-$1-$2" "${*:3} ended before the power went"
}

case $BOOT in
5 | 6 | 7 | 10) ;;
*) echo no >/run/cut ;;
esac

case $BOOT in
1)	# Noted, and no image has it.
	mkdir -p /etc/initramfs/post-update.d
	cut_there
	sync
	cut before leave xpcache adopt --fast $FAST --yes
	;;
2)	# The images leave it.
	taken_back
	cut before initramfs xpcache adopt --fast $FAST --yes
	;;
3)	# The image starts it.
	taken_back
	cut after initramfs xpcache adopt --fast $FAST --yes
	;;
4)	# To leave, and the image starts it.
	adopted
	menu_at_rest
	keep
	equal dirty yes "$([ "$(counter dirty)" -gt 500 ] && echo yes)"
	cut before leave xpcache adopt --undo
	;;
5)	# To leave, and the image leaves it: but the loader reads it only once it is home. By itself.
	all_on ${CACHE}p
	kept
	menu_at_rest
	fill /root/more 10 300
	sync
	cut after leave sleep 900
	;;
6)	# If it was not home, the image of before: by itself.
	kept
	if [ -e ${CACHE}p$ROOT ]; then
		echo no >/run/cut
		adopted
		to_leave
	fi
	reboot_now
	;;
7)	# Left, and the image leaves it once more; by itself.
	all_on $SLOW
	kept
	cut before gone sleep 900
	;;
8)	# Taken back, and the image of before starts it.
	kept
	taken_back
	must xpcache adopt --fast $FAST --yes
	cut before leave xpcache adopt --undo
	;;
9)	# It runs: it is left, by itself.
	adopted
	kept
	to_leave
	reboot_now
	;;
10)	# Gone, and no image has it; by itself.
	all_on $SLOW
	kept
	cut after gone sleep 900
	;;
11)
	kept
	taken_back
	;;
esac
