# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=64M timeout=900 quick=6.12
#
# The fast disk fails under a cache: what the slow disk holds as well is read from
# there, without an error; what only the fast one has is an error, and nothing else.

. ./lib.sh

FRONT=/dev/mapper/front
sectors=$(blockdev --getsz $FAST)

# turn TABLE - what the fast disk is from now on.
turn()
{
	must dmsetup suspend --noflush --nolockfs front
	must dmsetup load front --table "$1"
	must dmsetup resume front
}

works() { turn "0 $sectors linear $FAST 0"; }

# Its slots cannot be read or written; its journal can.
slots_fail()
{
	local first
	first=$(dumped $FRONT data_start)
	turn "0 $((first * 8)) linear $FAST 0
$((first * 8)) $((sectors - first * 8)) error"
}

cached() { [ "$(counter clean)" -ge "$1" ]; }

gone() { turn "0 $sectors error"; }

# put_back - a stop that says what is lost, and a start with the fast disk there.
put_back()
{
	refused stop-asks 1 'journal cannot be written' xpcache stop xpcache0
	try stop-force xpcache stop xpcache0 --force
	works
	must xpcache start --fast $FRONT --slow $SLOW --idle-ms 0
}

# part DEVICE - what its partition holds.
part() { dd if="$1" bs=1M skip=1 count=40 iflag=direct status=none | md5sum; }

# Blocks 0 to 511 clean in the cache.
warm()
{
	read_blocks 0 512 of=/dev/null
	settled cached 512 || die warm "only $(counter clean) blocks are clean after a minute"
}

if [ "$BOOT" = 2 ]; then
	# What passed is there, and nothing older: the fast disk is back with all that it had.
	held=$(part $SLOW)
	out=$(xpcache start --fast $FAST --slow $SLOW --idle-ms 0 2>&1)
	echo "$out"
	grep -q 'of no use, and dropped' <<<"$out" && pass start-says-so || fail start-says-so "$out"
	n=$(counter clean)
	[ "$n" -lt 300 ] && pass empty || fail empty "$n blocks: who looks for partitions reads a MiB and a little"
	equal nothing-stale "$held" "$(part $CACHE)"
	must xpcache remove xpcache0
	equal mark-erased 0 "$(dd if=$SLOW bs=4k skip=255 count=1 iflag=direct status=none | tr -d '\0' | wc -c)"
	exit 0
fi

must dd if=/dev/urandom of=/tmp/wanted bs=1M count=4 status=none
must dd if=/tmp/wanted of=$SLOW bs=1M oflag=direct conv=notrunc status=none
must dmsetup create front --table "0 $sectors linear $FAST 0"
must xpcache create --fast $FRONT --slow $SLOW --idle-ms 0

# ---- blocks that cannot be read ----
warm
slots_fail
equal clean-is-read-elsewhere "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
equal in-small-pieces "$(wanted 3 1)" "$(read_blocks 3 1 | md5sum)"
[ "$(counter fast_errors)" -gt 0 ] && pass errors-counted || fail errors-counted "no error of the fast disk was counted"
works
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must write_blocks 100 8 if=/tmp/new conv=notrunc,fsync
slots_fail
ends_in_error dirty-is-an-error read_blocks 100 1
ends_in_error dirty-in-the-middle-is-an-error read_blocks 96 16
equal around-it "$(wanted 0 100)" "$(read_blocks 0 100 | md5sum)"
works
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=100 conv=notrunc status=none
equal all-there-again "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"

# ---- gone, with nothing dirty ----
try flush all_home
warm
gone
equal gone-clean-reads "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
equal gone-never-cached "$(wanted 600 64)" "$(read_blocks 600 64 | md5sum)"
settled failed && pass found-gone || fail found-gone "a minute later it is $(state)"
grep -qE '^  failed +since 2.* cannot be written' <<<"$(xpcache status xpcache0)" && pass says-since || fail says-since "$(xpcache status xpcache0)"
equal nothing-stranded 0 "$(counter dirty_unreachable)"
ends_in_error gone-clean-write write_blocks 600 1 if=/dev/zero
try suspend dmsetup suspend xpcache0
try resume dmsetup resume xpcache0
equal gone-clean-after-resume "$(wanted 0 512)" "$(read_blocks 0 512 | md5sum)"
put_back
equal back-clean "$(wanted 0 1024)" "$(read_blocks 0 1024 | md5sum)"

# ---- gone, with dirty blocks ----
must dd if=/dev/urandom of=/tmp/new bs=4k count=8 status=none
must write_blocks 300 8 if=/tmp/new conv=notrunc,fsync
gone
ends_in_error gone-dirty-reads read_blocks 304 1
equal gone-dirty-around-it "$(wanted 308 200)" "$(read_blocks 308 200 | md5sum)"
ends_in_error gone-dirty-write write_blocks 600 1 if=/dev/zero
settled failed && pass found-gone-dirty || fail found-gone-dirty "a minute later it is $(state)"
equal stranded 8 "$(counter dirty_unreachable)"
refused flush-says-so 1 'journal cannot be written, and 8 blocks' xpcache flush xpcache0
put_back
must dd if=/tmp/new of=/tmp/wanted bs=4k seek=300 conv=notrunc status=none
equal back-dirty "$(wanted 0 1024)" "$(read_blocks 0 1024 | md5sum)"
try flush-when-back xpcache flush xpcache0
must xpcache remove xpcache0
equal slow-alone "$(md5sum </tmp/wanted)" "$(dd if=$SLOW bs=1M count=4 iflag=direct status=none | md5sum)"

# ---- gone with nothing dirty, and a place for a mark: a file system goes on ----
must dd if=/dev/zero of=$SLOW bs=1M count=1 oflag=direct conv=notrunc status=none
must sfdisk -q $SLOW <<<'label: gpt
start=2048, size=40MiB
'
must xpcache create --fast $FRONT --slow $SLOW --idle-ms 0
grep -q ' mark 255$' <<<"$(dmsetup table xpcache0)" && pass place || fail place "$(dmsetup table xpcache0)"
must dmsetup create part --table "0 81920 linear $CACHE 2048"
must mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0 /dev/mapper/part
must mount /dev/mapper/part /mnt
fill /mnt/before 4 1000
must sync
echo 3 >/proc/sys/vm/drop_caches
before=$(tree /mnt/before)
settled all_home || die clean "$(counter dirty) blocks are dirty"
gone
fill /mnt/while 6 1000 && sync /mnt/while && pass files-are-written || fail files-are-written "they are not"
must dd if=/dev/urandom of=/mnt/before/file0 bs=1k count=1000 conv=notrunc,fsync status=none
equal passing 1 "$(counter passthrough)"
grep -q 'writes go to the slow device' <<<"$(xpcache status xpcache0)" && pass says-passing || fail says-passing "$(xpcache status xpcache0)"
echo 3 >/proc/sys/vm/drop_caches
equal the-rest-is-read "$(tail -n +2 <<<"$before")" "$(tree /mnt/before | tail -n +2)"
while=$(tree /mnt)
must umount /mnt
must e2fsck -f -n /dev/mapper/part
must dmsetup remove part
try stop-needs-no-force xpcache stop xpcache0
works
# Past the tool, which knows the place: the cache has it noted itself.
if dmsetup create past --table "0 $(blockdev --getsz $SLOW) xpcache $FRONT $SLOW"; then
	fail past-the-tool-it-refuses "it starts"
	dmsetup remove past
elif dmesg | grep -q 'writes have passed this cache, says sector 2040'; then
	pass past-the-tool-it-refuses
else
	fail past-the-tool-it-refuses "for another reason"
fi
out=$(xpcache start --fast $FRONT --slow $SLOW --idle-ms 0 2>&1)
echo "$out"
grep -q 'of no use, and dropped' <<<"$out" && pass start-drops || fail start-drops "$out"
must dmsetup create part --table "0 81920 linear $CACHE 2048"
must mount /dev/mapper/part /mnt
equal all-that-passed "$while" "$(tree /mnt)"

# The same, and the power goes.
must sync
echo 3 >/proc/sys/vm/drop_caches
tree /mnt >/dev/null
settled all_home || die clean-again "$(counter dirty) blocks are dirty"
gone
fill /mnt/third 4 1000 && sync /mnt/third && pass written-before-the-cut || fail written-before-the-cut "they are not"
must umount /mnt
equal passing-before-the-cut 1 "$(counter passthrough)"
cut_power
