# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part busy of the lab: requests while the cache is at work, and writes past its end.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

# soil COUNT - more dirty blocks, none beside another, than the slow device takes
# meanwhile: each is a request of its own.
soil() { must latency "$DEV" write 4096 $((16 * MIB)) $((480 * MIB)) "$1" 2; }

# It is full, of clean blocks, before: now a block comes in only when another goes. They are
# read: what a stream has written does not stay when it is home. Two fifths are dirty then:
# writers are not slowed.
begin_xpcache()
{
	syncs=30000
	up_xpcache --idle-ms 0 --stream-kib 0
	must dd if="$DEV" of=/dev/null bs=256k skip=2048 count=1024 iflag=direct status=none
	soil 26000
}

# It writes back while it is more than half full. Each sync waits for the disk.
begin_writecache()
{
	syncs=1000
	up_writecache
	soil 50000
}

# What must grow meanwhile: writes that the disk has done (a block counts as home when its
# batch is), and, in a full cache, evicted blocks.
work_xpcache() { echo "$(awk '{ print $5 }' "/sys/block/${SLOWDEV#/dev/}/stat") $(counter evicted)"; }
work_writecache() { dmsetup status writecache | awk '{ print $6, $6 }'; }

# Of blocks that are in the cache.
busy()
{
	local before after
	read -ra before <<<"$(work_"$target")"
	row busy-read read 4096 0 8 100000
	row busy-write write 4096 0 8 50000
	row busy-sync sync 4096 0 8 $syncs
	row busy-dsync dsync 4096 0 8 $syncs
	read -ra after <<<"$(work_"$target")"
	{ [ "${after[0]}" -gt "${before[0]}" ] && [ "${after[1]}" -gt "${before[1]}" ]; } ||
		die "$target-busy" "there was no work in the background: ${before[*]}, then ${after[*]}"
}

# Limits as they are by default; the cache is full before the first that counts.
overflow()
{
	must latency "$DEV" write 4096 0 $((1024 * MIB)) 20000 2
	row overflow write 4096 0 1024 30000
}

# With one place for a request and no scheduler, who waits for it may wait for ever: a reader
# whose request has just ended is there first (seen on 6.1). Disks have one by default.
fair() { must sh -c "echo mq-deadline >/sys/block/${SLOWDEV#/dev/}/queue/scheduler; echo 64 >/sys/block/${SLOWDEV#/dev/}/queue/nr_requests"; }

MODEL=disk
for target in ${TARGETS//,/ }; do
	[ "$target" != slow ] || continue
	devices
	fair
	begin_"$target"
	warm
	# Misses without end: in the cache each evicts a block. They wait for the disk, and
	# leave the processor alone.
	latency "$DEV" read 4096 $((768 * MIB)) $((256 * MIB)) 1000000 3 &
	reader=$!
	busy
	kill $reader
	wait $reader
	down_"$target"
	no_devices
done

FAST_MIB=64
for target in ${TARGETS//,/ }; do
	devices
	if [ "$target" = xpcache ]; then
		up_xpcache --idle-ms 0
	else
		up_"$target"
	fi
	overflow
	down_"$target"
	no_devices
done
pass measured
