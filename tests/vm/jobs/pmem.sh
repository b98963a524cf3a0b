# SPDX-License-Identifier: GPL-2.0-only
# vm: nvdimm=64M fast=16M slow=64M timeout=600 quick=6.12
#
# The fast device is memory: worked on by load and store, without a request of the block
# layer; what callers see is as with any other, also where a line is poisoned, and after a
# power cut. (What a cut finds in a processor's cache only the simulator shows.)

. ./lib.sh

NOTEBOOK=/dev/nvme0n1	# keeps what boot 2 is to find
POISON=/sys/module/dm_xpcache/parameters/poison

# of CLASS - how many the histograms have.
of() { dmsetup message xpcache0 0 histogram | awk -v c="$1" '$1 == c { print $2 }'; }

# stat DISK - its requests so far: reads, sectors; writes, sectors; flushes.
stat() { awk '{ print $1, $3, $5, $7, $16 }' "/sys/block/$1/stat"; }

# more BEFORE AFTER - what came between two of them.
more() { paste -d ' ' <(xargs -n 1 <<<"$1") <(xargs -n 1 <<<"$2") | awk '{ print $2 - $1 }' | xargs; }

poison() { echo "$1" >$POISON; }

persistent_memory
echo 1 >/sys/block/pmem0/queue/iostats

if [ "$BOOT" = 2 ]; then
	must xpcache start --all
	must dd if=$NOTEBOOK of=/tmp/wanted bs=1M count=8 status=none
	equal memory-after-the-cut memory "$(counter fast_access)"
	equal synced-is-there "$(wanted 0 2048)" "$(read_blocks 0 2048 | md5sum)"
	[ "$(counter read_hits)" -ge 2048 ] && pass warm-after-the-cut || fail warm-after-the-cut "$(counter read_hits) hits"
	comes_home
	exit 0
fi

create --idle-ms 0 --dirty-low 80 --dirty-high 95
dm=dm-$(dmsetup info -c --noheadings -o minor xpcache0)

# ---- what it says ----
equal access memory "$(counter fast_access)"
equal no-word-why-not "" "$(counter not_memory)"
grep -qE "^  fast +$FAST, [0-9.]+ MiB, as memory$" <<<"$(xpcache status xpcache0)" && pass status || fail status "$(xpcache status xpcache0)"
grep -qE '"fast_access": *"memory"' <<<"$(xpcache status xpcache0 --json)" && pass json || fail json "$(xpcache status xpcache0 --json)"
grep -q '^xpcache0 ' <<<"$(xpcache list)" && pass list || fail list "$(xpcache list)"
equal device-is-no-dax 0 "$(cat /sys/block/$dm/queue/dax)"

# ---- each request is counted once, everywhere but at the fast device ----
must dd if=/dev/urandom of=/tmp/wanted bs=1M count=8 status=none
was=$(stat $dm) below=$(stat pmem0) wrote=$(of write) stored=$(counter fast_bytes_written)
must write_blocks 0 256 if=/tmp/wanted
equal writes-counted "0 0 256 2048 0" "$(more "$was" "$(stat $dm)")"
equal writes-in-histogram 256 $(($(of write) - wrote))
# Records come on top, by lines: once a second, and not a block of them each time.
n=$(($(counter fast_bytes_written) - stored))
[ $n -ge $((256 * 4096)) ] && [ $n -le $((256 * 4200)) ] && pass bytes-stored || fail bytes-stored "$n of 256 blocks"
was=$(stat $dm) hits=$(counter read_hits) read=$(of read-hit)
equal data "$(wanted 0 256)" "$(read_blocks 0 256 | md5sum)"
equal reads-counted "256 2048 0 0 0" "$(more "$was" "$(stat $dm)")"
equal hits-counted 256 $(($(counter read_hits) - hits))
equal hits-in-histogram 256 $(($(of read-hit) - read))
must write_blocks 256 64 if=/tmp/wanted skip=256 oflag=dsync
was=$(counter flushes)
must write_blocks 320 1 if=/tmp/wanted skip=320 conv=notrunc,fsync
[ "$(counter flushes)" -gt "$was" ] && pass flush-is-seen || fail flush-is-seen "$was flushes before and after"
equal no-request-below "0 0 0 0 0" "$(more "$below" "$(stat pmem0)")"

# ---- pieces of blocks, requests of all sizes, and callers who do not wait ----
# Sector by sector over blocks in the cache, and over some that are not.
must dd if=/tmp/wanted of=$CACHE bs=512 skip=1001 seek=1001 count=333 oflag=direct conv=notrunc status=none
must dd if=/tmp/wanted of=$CACHE bs=512 skip=8001 seek=8001 count=333 oflag=direct conv=notrunc status=none
equal sectors-over-blocks "$(dd if=/tmp/wanted bs=512 count=2568 status=none | md5sum)" \
	"$(dd if=$CACHE bs=512 count=2568 iflag=direct status=none | md5sum)"
equal sectors-read-singly "$(dd if=/tmp/wanted bs=512 skip=8001 count=333 status=none | md5sum)" \
	"$(dd if=$CACHE bs=512 skip=8001 count=333 iflag=direct status=none | md5sum)"
must dd if=/tmp/wanted of=$CACHE bs=1M oflag=direct conv=notrunc status=none
equal large-requests "$(md5sum </tmp/wanted)" "$(dd if=$CACHE bs=1M count=8 iflag=direct status=none | md5sum)"
echo 3 >/proc/sys/vm/drop_caches
equal by-the-page-cache "$(md5sum </tmp/wanted)" "$(dd if=$CACHE bs=5000 count=8388608 iflag=count_bytes status=none | md5sum)"

# sized NAME OPTION... - writes of all sizes, verified.
sized()
{
	try "$1" fio --name=sized --filename=$CACHE --direct=1 --rw=randwrite --size=16m --offset=16m \
		--bssplit=512/20:4k/50:64k/20:256k/10 --blockalign=512 --serialize_overlap=1 --randrepeat=0 \
		--verify=xxhash --verify_fatal=1 --verify_backlog=64 "${@:2}"
}

# Who has written pieces of blocks leaves nothing behind: no bio of them ends.
mkdir -p /cg
must mount -t cgroup2 cgroup2 /cg
echo +io >/cg/cgroup.subtree_control
mkdir /cg/writer
(echo "$BASHPID" >/cg/writer/cgroup.procs && exec dd if=/tmp/wanted of=$CACHE bs=512 skip=1001 seek=1001 count=100 oflag=direct conv=notrunc status=none) ||
	fail pieces-of-a-cgroup "it could not write"
must rmdir /cg/writer
for _ in {1..30}; do
	grep -q '^nr_dying_descendants 0$' /cg/cgroup.stat && break
	sleep 1
done
equal no-cgroup-is-kept "nr_dying_descendants 0" "$(grep dying_descendants /cg/cgroup.stat)"
umount /cg

sized queue --ioengine=libaio --iodepth=8 --fsync=16
sized synced --ioengine=psync --sync=1 --io_size=2m
sized uring --ioengine=io_uring --iodepth=8
try polled fio --name=polled --filename=$CACHE --direct=1 --rw=randread --bs=4k --size=8m --ioengine=pvsync2 --hipri=1
hits=$(counter read_hits)
try nowait fio --name=nowait --filename=$CACHE --direct=1 --rw=randread --bs=4k --size=8m --ioengine=pvsync2 --nowait=1 --number_ios=1000
[ $(($(counter read_hits) - hits)) -ge 1000 ] && pass nowait-hits || fail nowait-hits "$(($(counter read_hits) - hits)) of 1000"

# ---- goes home, and comes back ----
try flush xpcache flush xpcache0
equal all-is-home "$(checksum $CACHE)" "$(checksum $SLOW)"
stop
must xpcache start --fast $FAST --slow $SLOW --idle-ms 0 --dirty-low 80 --dirty-high 95
equal memory-after-start memory "$(counter fast_access)"
equal same-after-start "$(md5sum </tmp/wanted)" "$(read_blocks 0 2048 | md5sum)"
try suspend dmsetup suspend xpcache0
try resume dmsetup resume xpcache0
equal memory-after-resume memory "$(counter fast_access)"

# ---- poison ----
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must write_blocks 100 8 if=/tmp/new conv=notrunc,fsync
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=100 conv=notrunc status=none
equal dirty 8 "$(counter dirty)"
errors=$(counter fast_errors)
poison "0 $(blockdev --getsz $FAST)" || fail poison-taken "it was not"
equal poison-read-back "0 $(blockdev --getsz $FAST)" "$(cat $POISON)"
equal clean-is-read-elsewhere "$(wanted 0 100)" "$(read_blocks 0 100 | md5sum)"
ends_in_error dirty-is-an-error read_blocks 100 1
ends_in_error dirty-in-the-middle-is-an-error read_blocks 96 16
equal around-it "$(wanted 108 400)" "$(read_blocks 108 400 | md5sum)"
[ "$(counter fast_errors)" -gt "$errors" ] && pass errors-counted || fail errors-counted "no error of the fast device was counted"
ends_in_error piece-needs-the-rest dd if=/dev/zero of=$CACHE bs=512 seek=$((100 * 8 + 3)) count=1 oflag=direct conv=notrunc status=none
must write_blocks 101 1 if=/dev/zero
must dd if=/dev/zero of=/tmp/wanted bs=4k seek=101 count=1 conv=notrunc status=none
refused flush-cannot 1 'I/O errors, and 8 blocks' xpcache flush xpcache0
for text in "" x 1 "1 2 3" "-1 5" "1 -5" "18446744073709551615 1" "1 36028797018963968"; do
	if poison "$text" 2>/dev/null; then fail nonsense "'$text' was taken"; fi
done
equal nonsense-changes-nothing "0 $(blockdev --getsz $FAST)" "$(cat $POISON)"
poison "0 0" || fail poison-off "it was not"
equal whole-again "$(wanted 0 2048)" "$(read_blocks 0 2048 | md5sum)"
try flush-again xpcache flush xpcache0
equal home-again "$(md5sum </tmp/wanted)" "$(DEV=$SLOW read_blocks 0 2048 | md5sum)"
# place_of LBA - fast sector of the dirty block: where poison ends its reading.
place_of()
{
	local first=0 end mid
	end=$(($(blockdev --getsz $FAST) / 8))
	while [ $((end - first)) -gt 1 ]; do
		mid=$(((first + end) / 2))
		poison "$((first * 8)) $(((mid - first) * 8))"
		if read_blocks "$1" 1 >/dev/null 2>&1; then first=$mid; else end=$mid; fi
	done
	poison "0 0"
	echo $((first * 8))
}

# One bad block, and sound ones on both sides.
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must write_blocks 100 8 if=/tmp/new conv=notrunc,fsync
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=100 conv=notrunc status=none
place=$(place_of 103)
poison "$place 8"
ends_in_error one-is-bad read_blocks 103 1
equal its-neighbour-is-not "$(wanted 104 1)" "$(read_blocks 104 1 | md5sum)"
refused flush-but-one 1 'I/O errors, and 1 block' xpcache flush xpcache0
equal the-bad-one-is-dirty 1 "$(counter dirty)"
equal its-neighbours-are-home "$(wanted 100 3)$(wanted 104 4)" "$(DEV=$SLOW read_blocks 100 3 | md5sum)$(DEV=$SLOW read_blocks 104 4 | md5sum)"
poison "0 0"
try flush-the-bad-one xpcache flush xpcache0

# The rest of a clean block is on the slow device as well.
poison "0 $(blockdev --getsz $FAST)"
must dd if=/tmp/new of=/tmp/wanted bs=512 seek=$((50 * 8 + 3)) count=1 conv=notrunc status=none
try piece-over-clean dd if=/tmp/new of=$CACHE bs=512 seek=$((50 * 8 + 3)) count=1 oflag=direct conv=notrunc status=none
poison "0 0"
equal piece-and-the-rest "$(wanted 50 1)" "$(read_blocks 50 1 | md5sum)"
try flush-the-piece xpcache flush xpcache0

stop
poison "0 $(blockdev --getsz $FAST)"
refused start-from-poison 1 'superblock|read' xpcache start xpcache0
poison "0 0"
must xpcache start --fast $FAST --slow $SLOW --idle-ms 0 --dirty-low 80 --dirty-high 95
equal same-after-poison "$(wanted 0 2048)" "$(read_blocks 0 2048 | md5sum)"

# ---- and the power goes, with dirty blocks ----
must dd if=/dev/urandom of=/tmp/wanted bs=1M count=6 seek=1 conv=notrunc status=none
must write_blocks 256 1536 if=/tmp/wanted skip=256 conv=notrunc,fsync
must dd if=/tmp/wanted of=$NOTEBOOK bs=1M oflag=direct conv=fsync status=none
dirty=$(counter dirty)
[ "$dirty" -ge 1536 ] && pass dirty-at-the-cut || fail dirty-at-the-cut "$dirty blocks"
cut_power
