# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part through of the lab: write-through, of xpcache and of those peers that have it. A write ends when both devices
# have it, and a sync when both are flushed.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

PEER_MODE=writethrough

# count FLASH DISK - requests, fewer where each takes two accesses of a hard disk.
count() { [ "$MODEL" = flash ] && echo "$1" || echo "$2"; }

measure_through()
{
	warm
	row "through-$MODEL-read" read 4096 0 8 $COUNT
	row "through-$MODEL-write" write 4096 0 8 "$(count $COUNT 200)"
	row "through-$MODEL-sync" sync 4096 0 8 "$(count $COUNT 200)"
	row "through-$MODEL-dsync" dsync 4096 0 8 "$(count $COUNT 200)"
	row "through-$MODEL-write-64k" write 65536 16 32 "$(count 250 50)"
}

for MODEL in flash disk; do
	for target in ${TARGETS//,/ }; do
		devices
		if [ "$target" = xpcache ]; then
			up_xpcache --idle-ms 0 --mode writethrough
		else
			up_"$target"
		fi
		measure_through
		down_"$target"
		no_devices
	done
done
pass measured
