# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The parts flash and disk of the lab (tests/lab/lab): the same requests to a raw fast
# device, to dm-linear over it, to xpcache and its peers, and to the slow device of MODEL.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

MANY=10000	# for a p99.9

# qd CASE RW DEPTH - what fio sees with more than one at a time, in the warm part.
qd()
{
	must fio --name="$1" --filename="$DEV" --rw="$2" --bs=4k --size=8m --direct=1 \
		--ioengine=libaio --iodepth="$3" --number_ios=$COUNT --lat_percentiles=1 \
		--output-format=json --output=/tmp/fio.json >/dev/null
	report "FIO $target $1 $2 $(tr -d '\n ' </tmp/fio.json)"
}

# "Again" is where the cache has been warmed. "New" and "miss" are spread, so that no two
# of them are likely to be in one block of dm-cache, which takes a block in after hits.
measure()
{
	local size count
	warm
	row read-hit read 4096 0 8 $MANY
	[[ $target == @(raw|linear) ]] || row read-miss read 4096 512 256 $COUNT
	row write-new write 4096 64 64 $COUNT
	row write-again write 4096 0 8 $MANY
	row sync-new sync 4096 128 64 $COUNT
	row sync-again sync 4096 0 8 $MANY
	row dsync-new dsync 4096 192 64 $COUNT
	row dsync-again dsync 4096 0 8 $MANY
	row mixed mixed 4096 0 8 $MANY
	for size in 16 64 128 1024; do
		count=$((size == 1024 ? 64 : 250))
		row write-${size}k write $((size << 10)) 16 32 $count
		row read-${size}k read $((size << 10)) 16 32 $count
	done
	for depth in 4 32; do
		qd read-qd$depth randread $depth
		qd write-qd$depth randwrite $depth
	done
}

# Devices of their own: the others' sectors are 4 KiB. dm-writecache's blocks are, and it
# takes nothing smaller.
measure_512()
{
	[ "$target" != writecache ] || return 0
	warm
	row 512b-again write 512 0 8 $COUNT
	row 512b-sync sync 512 0 8 $COUNT
	row 512b-new write 512 64 64 $COUNT
	row off-again write 4096 0 7 $COUNT 7
	row off-sync sync 4096 0 7 $COUNT 7
	row off-new write 4096 192 32 $COUNT 7
}

# The same, where the slow device has a partition from sector 63 on.
measure_grid()
{
	warm
	row grid-again write 4096 0 7 $COUNT 7
	row grid-sync sync 4096 0 7 $COUNT 7
	row grid-new write 4096 192 32 $COUNT 7
}

for target in ${TARGETS//,/ }; do
	SECTOR=4096 on_devices measure
	SECTOR=512 on_devices measure_512
	[ "$target" != xpcache ] || SECTOR=512 PARTITION_AT=63 on_devices measure_grid
done
pass measured
