# SPDX-License-Identifier: GPL-2.0-only
# vm: slow=32M quick=no timeout=900 sanitized=no
#
# A fast device with medium errors (scsi_debug), by the kernel's engine: in places of the ring, in
# both superblocks, in slots. It is started by the tool, and by dmsetup with no tool before it. scsi_debug fails reads
# of one range, whatever is written there: nothing heals but by hand.

. ./lib.sh

PARAMETERS=/sys/module/scsi_debug/parameters

# bad BLOCK COUNT - 4 KiB each, of the fast device; heal.
bad()
{
	echo $(($1 * 8)) >$PARAMETERS/medium_error_start
	echo $(($2 * 8)) >$PARAMETERS/medium_error_count
	echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts
	! dd if=$FAST bs=4k skip="$1" count=1 iflag=direct of=/dev/null 2>/dev/null && pass "$3-is-bad" ||
		fail "$3-is-bad" "it can be read"
}
heal() { echo 0 >/sys/bus/pseudo/drivers/scsi_debug/opts; }

# slot_of LBA - its block on the fast device.
slot_of()
{
	xpcache dump $FAST --json | tr -d ' \n' | grep -o "{\"lba\":$1,[^}]*}" |
		sed "s/.*\"slot\":\([0-9]*\).*/\1/" | {
		read -r slot
		echo $((data_start + slot))
	}
}

# As a power cut leaves it: what the device held then.
keep() { must dd if=$FAST of=/tmp/"$1" bs=1M iflag=direct status=none; }
bring_back() { must dd if=/tmp/"$1" of=$FAST bs=1M oflag=direct conv=notrunc status=none; }

table_start()
{
	dmsetup create xpcache0 --table "0 $(blockdev --getsz $SLOW) xpcache $FAST $SLOW 0" 2>&1 && settled test -b $CACHE
}
table_stop() { must dmsetup remove --retry xpcache0; }
nothing_dirty() { [ "$(counter dirty)" = 0 ]; }
# reads NAME - all of it is as it should be.
reads() { equal "$1" "$(md5sum </tmp/wanted | cut -d " " -f 1)" "$(checksum $CACHE)"; }

modprobe scsi_debug dev_size_mb=24 delay=0 || die scsi-debug "no such module"
settled grep -q scsi_debug /sys/block/sd*/device/model || die scsi-debug "no disk"
FAST=$(grep -l scsi_debug /sys/block/sd*/device/model | sed 's,/sys/block/\([a-z]*\)/.*,/dev/\1,')

must dd if=/dev/urandom of=/tmp/wanted bs=1M count=32 status=none
must dd if=/tmp/wanted of=$SLOW bs=1M oflag=direct conv=notrunc status=none
create --idle-ms 0
stop
ring=$(dumped $FAST journal_start)
places=$(dumped $FAST journal_blocks)
data_start=$(dumped $FAST data_start)
note "ring $ring+$places, slots from $data_start"

# ---- a place of the ring that nobody needs, a copy of the superblock ----
bad $((ring + places / 2)) 1 unneeded
try unneeded-starts xpcache start xpcache0
reads unneeded-reads
must dd if=/dev/urandom of=/tmp/new bs=4k count=16 status=none
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=100 conv=notrunc status=none
must dd if=/tmp/new of=$CACHE bs=4k seek=100 conv=notrunc,fsync oflag=direct status=none
equal unneeded-given-up 1 "$(counter bad_places)"
heal
keep crashed
stop
for copy in 0 16; do	# XP_SB_BLOCK_A, XP_SB_BLOCK_B
	bad $copy 1 superblock-$copy
	try superblock-$copy-table table_start
	reads superblock-$copy-reads
	table_stop
	heal
done

# ---- after a cut: the newest commit may have been there ----
bring_back crashed
seq=$(xpcache dump $FAST --json | tr -d ' \n' | sed 's/.*"used":[0-9]*,"seq":\([0-9]*\),.*/\1/')
note "the journal ends with block $seq"
after=$((ring + (seq + 2) % places))
bad $after 1 behind-the-head
out=$(table_start 2>&1) && fail behind-the-head-table "it has started" || pass behind-the-head-table
dmesg | grep -q "the last commit before the cut may be lost" && pass behind-the-head-says ||
	fail behind-the-head-says "$(dmesg | grep xpcache | tail -n 1)"
advice=$(dmesg | sed -n 's/.*; \(xpcache start .*\) goes on.*/\1/p' | tail -n 1)
equal kernel-names-the-way "xpcache start xpcache0 --accept-loss" "$advice"
out=$(xpcache start xpcache0 2>&1) && fail behind-the-head "it has started" || pass behind-the-head
grep -q -- --accept-loss <<<"$out" && pass names-the-way || fail names-the-way "$out"
# shellcheck disable=SC2086
try goes-on $advice
reads goes-on-reads
stop
heal

# ---- a block of the chain ----
bring_back crashed
bad $((ring + seq % places)) 1 head
out=$(table_start 2>&1) && fail head-table "it has started" || pass head-table
xpcache flush --offline --rescue --fast $FAST --slow $SLOW >/tmp/out 2>&1
equal rescue-code 4 $?
grep -q "what a part of the journal said is lost" /tmp/out && pass rescue-says || fail rescue-says "$(tail -n 1 /tmp/out)"
heal

# ---- a slot, while it runs: dirty, then clean ----
bring_back crashed
slot=$(slot_of 103)
bad "$slot" 1 slot
try slot-table table_start
read_blocks 103 1 of=/tmp/got 2>/tmp/err && fail dirty-is-an-error "it can be read" || pass dirty-is-an-error
equal beside-it "$(wanted 104 12)" "$(read_blocks 104 12 | md5sum)"
equal before-it "$(wanted 100 3)" "$(read_blocks 100 3 | md5sum)"
try written-anew write_blocks 103 1 if=/tmp/new
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=103 count=1 conv=notrunc status=none
must dmsetup message xpcache0 0 flush
settled nothing_dirty && pass all-home || fail all-home "$(counter dirty) are dirty"
reads dirty-reads
equal arrived "$(md5sum </tmp/wanted | cut -d " " -f 1)" "$(checksum $SLOW)"
heal
table_stop
slot=$(slot_of 110)
bad "$slot" 1 clean-slot
try clean-table table_start
reads clean-reads
[ "$(counter fast_errors)" -gt 0 ] && pass clean-was-read || fail clean-was-read "no read of it failed"
reads clean-again
equal alone "$(wanted 110 1)" "$(read_blocks 110 1 | md5sum)"
equal alone-again "$(wanted 110 1)" "$(read_blocks 110 1 | md5sum)"
equal slot-given-up 1 "$(counter bad_slots)"
table_stop
heal

# ---- a slot that a start believes, as it cannot be read: the write was under way at the cut ----
keep believed
must forge /tmp/believed cut 200 1
seq=$(xpcache dump /tmp/believed --json | tr -d ' \n' | sed 's/.*"used":[0-9]*,"seq":\([0-9]*\),.*/\1/')
slot=$(od -An -v -tu4 -w24 -j $(((ring + seq % places) * 4096 + 64)) -N 4032 /tmp/believed | awk '$1 == 200 { slot = $3 } END { print slot }')
bring_back believed
bad $((data_start + slot)) 1 believed
try believed-table table_start
dmesg | grep -q "1 dirty blocks cannot be read, and are errors until they are written anew" && pass believed-is-told ||
	fail believed-is-told "$(dmesg | grep xpcache | tail -n 1)"
read_blocks 200 1 of=/tmp/got 2>/tmp/err && fail believed-is-an-error "it can be read" || pass believed-is-an-error
table_stop
heal
try healed-table table_start
read_blocks 200 1 of=/tmp/got 2>/tmp/err && fail healed-is-an-error "it can be read" || pass healed-is-an-error
equal healed-beside-it "$(wanted 201 12)" "$(read_blocks 201 12 | md5sum)"
try healed-written-anew write_blocks 200 1 if=/tmp/new
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=200 count=1 conv=notrunc status=none
must dmsetup message xpcache0 0 flush
settled nothing_dirty && pass healed-all-home || fail healed-all-home "$(counter dirty) are dirty"
reads healed-reads
table_stop

# ---- a slot that has a part of its block: what it lacks need not be readable ----
part=$((300 * 8 + 2))
remove
create --idle-ms 0
must dd if=/tmp/new of=/tmp/wanted bs=512 seek=$part count=1 conv=notrunc status=none
must dd if=/tmp/new of=$CACHE bs=512 seek=$part count=1 oflag=direct conv=notrunc,fsync status=none
slot=$(slot_of 300)
echo $((slot * 8 + 5)) >$PARAMETERS/medium_error_start
echo 1 >$PARAMETERS/medium_error_count
echo 2 >/sys/bus/pseudo/drivers/scsi_debug/opts
! dd if=$FAST bs=4k skip="$slot" count=1 iflag=direct of=/dev/null 2>/dev/null && pass part-is-bad || fail part-is-bad "it can be read"
equal part-reads "$(wanted 300 1)" "$(read_blocks 300 1 | md5sum)"
must dmsetup message xpcache0 0 flush
settled nothing_dirty && pass part-all-home || fail part-all-home "$(counter dirty) are dirty"
equal part-arrived "$(md5sum </tmp/wanted | cut -d " " -f 1)" "$(checksum $SLOW)"
stop
heal
