# SPDX-License-Identifier: GPL-2.0-only
# vm: pmem=64M fast=16M slow=64M timeout=600 quick=no
#
# The fast device is memory, and fails: the driver knows of bad blocks, or is taken from its
# device under load. What the slow disk holds as well is read from there, without an error;
# what only the memory has is an error, and nothing else.

. ./lib.sh

DRIVER=/sys/bus/nd/drivers/nd_pmem

# Then it knows of no bad block any more.
bind() { echo "$NAMESPACE" >$DRIVER/bind && settled test -b $FAST; }
gone() { echo "$NAMESPACE" >$DRIVER/unbind || die gone "the driver was not unbound"; }

# bad_from SECTOR - to the end. Its list holds 512 sectors an entry; 6.1 cannot order them itself.
bad_from()
{
	local at
	for ((at = $1; at < $(blockdev --getsz $FAST); at += 512)); do
		echo "$at 512" >/sys/block/pmem0/badblocks || die bad-blocks "the driver does not take them"
	done
}

ended() { ! kill -0 "$1" 2>/dev/null; }
cached() { [ "$(counter clean)" -ge "$1" ]; }

# Blocks 0 to 511 clean in the cache.
warm()
{
	read_blocks 0 512 of=/dev/null
	settled cached 512 || die warm "only $(counter clean) blocks are clean after a minute"
}

restart() { must xpcache start --fast $FAST --slow $SLOW --idle-ms 0 "$@"; }

put_back()
{
	refused "$1-stop-asks" 1 'journal cannot be written' xpcache stop xpcache0
	try "$1-stop-force" xpcache stop xpcache0 --force
	try "$1-bind" bind
	restart
	equal "$1-memory-again" memory "$(counter fast_access)"
}

persistent_memory
NAMESPACE=$(basename "$(readlink -f /sys/block/pmem0/device)")
must dd if=/dev/urandom of=/tmp/wanted bs=1M count=32 status=none
must dd if=/tmp/wanted of=$SLOW bs=1M oflag=direct conv=notrunc status=none
create --idle-ms 0
equal memory memory "$(counter fast_access)"

# ---- bad blocks: where the data is, all of them; the journal is sound ----
warm
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must write_blocks 100 8 if=/tmp/new conv=notrunc,fsync
first=$(dumped $FAST data_start)
bad_from $((first * 8))
equal clean-is-read-elsewhere "$(wanted 0 100)" "$(read_blocks 0 100 | md5sum)"
equal in-small-pieces "$(wanted 3 1)" "$(read_blocks 3 1 | md5sum)"
[ "$(counter fast_errors)" -gt 0 ] && pass errors-counted || fail errors-counted "no error of the fast device was counted"
ends_in_error dirty-is-an-error read_blocks 100 1
ends_in_error dirty-in-the-middle-is-an-error read_blocks 96 16
equal around-it "$(wanted 108 400)" "$(read_blocks 108 400 | md5sum)"
# The driver mends a block that is written whole; of such memory it does not even ask the firmware.
try write-of-a-bad-block write_blocks 0 1 if=/tmp/wanted skip=4000
equal which-is-mended "$(wanted 4000 1)" "$(read_blocks 0 1 | md5sum)"

# ---- what the block layer gets instead of a store is durable when it ends, too ----
TRACE=/sys/kernel/tracing
number=$(sed 's/:/,/' /sys/block/pmem0/dev)
seen=""
# Its writes of the fast device, by the block layer.
traced()
{
	echo >$TRACE/trace
	must "${@:2}"
	settled grep -q "block_bio_queue: $number W" $TRACE/trace || fail "trace-$1" "no write of the fast device was seen"
	seen+=$(grep -oE "block_bio_queue: $number W.*" $TRACE/trace)$'\n'
}
piece=$((2 * 8 + 3))
must mount -t tracefs trace $TRACE
echo 1 >$TRACE/events/block/block_bio_queue/enable
traced whole write_blocks 1 1 if=/tmp/wanted skip=1
traced piece dd if=/tmp/wanted of=$CACHE bs=512 skip=$piece seek=$piece count=1 oflag=direct conv=notrunc status=none
traced large dd if=/tmp/wanted of=$CACHE bs=64k skip=1 seek=1 count=1 oflag=direct conv=notrunc status=none
traced fill read_blocks 3000 1 of=/dev/null
echo 0 >$TRACE/events/block/block_bio_queue/enable
equal none-is-without-fua "" "$(grep . <<<"$seen" | grep -vE " WFA?S?M? ")"
umount $TRACE
equal it-runs running "$(state)"
refused flush-says-so 1 'I/O errors' xpcache flush xpcache0
must xpcache stop xpcache0
gone
try bind bind
restart
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=100 conv=notrunc status=none
equal mended-stays "$(wanted 4000 1)" "$(read_blocks 0 1 | md5sum)"
must write_blocks 0 1 if=/tmp/wanted
equal all-there-again "$(wanted 0 8192)" "$(read_blocks 0 8192 | md5sum)"

# ---- the memory goes under readers, with nothing dirty ----
try flush all_home
warm
for n in 0 1; do
	fio --name=readers$n --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=4 --rw=randread \
		--bs=4k --size=2m --time_based --runtime=8 >/tmp/readers$n.log 2>&1 &
	readers[n]=$!
done
sleep 3
gone
for n in 0 1; do
	wait "${readers[n]}" && pass reader-$n-sees-no-error || fail reader-$n-sees-no-error "$(grep -m 1 -E 'err=' /tmp/readers$n.log)"
done
equal clean-reads "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
equal never-cached "$(wanted 6000 64)" "$(read_blocks 6000 64 | md5sum)"
settled failed && pass found-gone || fail found-gone "a minute later it is $(state)"
grep -qE '^  failed +since 2.* cannot be written' <<<"$(xpcache status xpcache0)" && pass says-since || fail says-since "$(xpcache status xpcache0)"
equal nothing-stranded 0 "$(counter dirty_unreachable)"
ends_in_error clean-write write_blocks 600 1 if=/dev/zero
try suspend dmsetup suspend xpcache0
try resume dmsetup resume xpcache0
equal clean-after-resume "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
put_back clean
equal back-clean "$(wanted 0 8192)" "$(read_blocks 0 8192 | md5sum)"

# ---- it goes under writers who sync ----
fio --name=writers --filename=$CACHE --direct=1 --ioengine=psync --rw=randwrite --bs=4k --offset=48m --size=2m \
	--fsync=4 --numjobs=2 --time_based --runtime=300 >/tmp/writers.log 2>&1 &
writers=$!
must write_blocks 300 8 if=/tmp/new conv=notrunc,fsync
sleep 3
gone
settled ended $writers && pass writers-end || fail writers-end "they are at it a minute later"
wait $writers && fail writers-hear-of-it "fio saw no error" || pass writers-hear-of-it
ends_in_error dirty-reads read_blocks 304 1
equal dirty-around-it "$(wanted 308 200)" "$(read_blocks 308 200 | md5sum)"
ends_in_error dirty-write write_blocks 600 1 if=/dev/zero
settled failed && pass found-gone-dirty || fail found-gone-dirty "a minute later it is $(state)"
[ "$(counter dirty_unreachable)" -ge 8 ] && pass stranded || fail stranded "$(counter dirty_unreachable) blocks"
refused gone-flush-says-so 1 'journal cannot be written, and [0-9]* blocks' xpcache flush xpcache0
put_back dirty
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=300 conv=notrunc status=none
equal back-dirty "$(wanted 0 8192)" "$(read_blocks 0 8192 | md5sum)"
try flush-when-back xpcache flush xpcache0
must xpcache remove xpcache0
equal slow-alone "$(md5sum </tmp/wanted)" "$(dd if=$SLOW bs=1M count=32 iflag=direct status=none | md5sum)"
