# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=1G quick=no extra=96M,16M,48M timeout=1800 memory=512M watch=no sanitized=no
#
# replace: a cache that is in use moves to another fast device, is killed there at each write, and loses one of the two.

. ./sleeping.sh
. ./writing.sh
A=$FAST B=/dev/vda RECORDS=/dev/vdb C=/dev/vdc

# Where the cache is now, and the other.
here() { xpcache list | awk '$1 == "xpcache0" && $2 != "moved" { print $3 }'; }
state() { xpcache list | awk '$1 == "xpcache0" && $2 != "moved" { print $2 }'; }
other() { [ "$1" = $A ] && echo $B || echo $A; }
attached()
{
	is_awake "$1"
	equal "$1-on" "$2" "$(here)"
}
no_cache() { refused "$1" 5 "no xpcache on this device" xpcache check "$2"; }

# moves NAME TO - and all is there.
moves()
{
	local from
	from=$(other "$2")
	try "$1" xpcache replace xpcache0 --fast "$2"
	attached "$1" "$2"
	no_cache "$1-left" "$from"
	equal "$1-from-is-free" "" "$(ls "/sys/class/block/${from#/dev/}/holders")"
}
# stopped_at CALL TO - killed before its n-th such call, "call:n"; 0: it was.
stopped_at()
{
	strace -o /dev/null -e trace="${1%:*}" -e inject="${1%:*}:signal=KILL:when=${1#*:}" \
		xpcache replace xpcache0 --fast "$2" >/dev/null 2>&1
	[ $? = 137 ]
}
# leaves TO - moves it there; $leave[TO] is the number of the write after which it has left the other, and $all[TO] of the last.
declare -A leave all
leaves()
{
	local from
	from=$(other "$1")
	strace -y -o /tmp/trace -e trace=pwrite64 xpcache replace xpcache0 --fast "$1" >/dev/null 2>&1
	leave[$1]=$(awk -v from="<$from>" '/^pwrite64/ { n++; if (index($0, from) && / 65536\)/ && !at) at = n } END { print at }' /tmp/trace)
	all[$1]=$(grep -c ^pwrite64 /tmp/trace)
	note "to $1: write ${leave[$1]} of ${all[$1]} leaves $from"
}

if [ "$BOOT" = 1 ]; then
	create --idle-ms 0 --dirty-low 40 --mode writethrough
	keep_records $RECORDS
	must dmsetup create over --table "0 600000 linear $CACHE 2048"
	refused over-itself 3 "lies on" xpcache replace xpcache0 --fast /dev/mapper/over --force
	must dmsetup remove over
	must mkfs.ext4 -q -F $CACHE
	must mount $CACHE /mnt
	begin_to_write
	same=$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)
	moves there $B
	equal same-device "$same" "$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)"
	equal same-limits "40 writethrough " "$(xpcache status --json xpcache0 |
		sed -n 's/^ *"\(dirty_low\|mode\)": *"*\([a-z0-9]*\).*/\2/p' | head -n 2 | tr '\n' ' ')"
	must xpcache set xpcache0 mode=writeback
	moves back $A
	settled eval '[ "$(newest)" -gt 4 ]'
	end_to_write moved
	written moved

	# ---- what is refused changes nothing ----
	refused itself 3 "is the fast device of xpcache0 already" xpcache replace xpcache0 --fast $A
	refused its-slow-device 3 "same" xpcache replace xpcache0 --fast $SLOW
	refused no-device 2 "fast DEV" xpcache replace xpcache0
	refused not-there 5 "nosuch" xpcache replace xpcache0 --fast /dev/nosuch
	must mkfs.ext4 -q -F $B
	refused holds-data 3 "force overwrites" xpcache replace xpcache0 --fast $B
	mkdir -p /tmp/b
	must mount $B /tmp/b
	refused in-use 3 "mounted" xpcache replace xpcache0 --fast $B --force
	must umount /tmp/b
	truncate -s 32M /tmp/file
	refused plain-file 2 "not a block device" xpcache replace xpcache0 --fast /tmp/file
	must dmsetup suspend xpcache0
	refused suspended 3 "another program has suspended it" xpcache replace xpcache0 --fast $B --force
	must dmsetup resume xpcache0
	attached refused $A
	try forced xpcache replace xpcache0 --fast $B --force
	attached forced $B
	moves back-again $A

	# ---- killed at each of its writes, and on the way between them ----
	begin_to_write
	leaves $B
	leaves $A
	for back in 99 2 1 0 -1 -2 -3 -4; do
		from=$(here)
		to=$(other "$from")
		n=$((leave[$to] > back ? leave[$to] - back : 1))
		stopped_at "pwrite64:$n" "$to" && pass "killed-at-$back" || fail "killed-at-$back" "it was not"
		case $back in
		-2) try "again-at-once-$back" xpcache replace xpcache0 --fast "$to" ;;
		*) try "attach-after-$back" xpcache attach xpcache0 ;;
		esac
		now=$(here)
		is_awake "after-$back"
		note "killed $back before it leaves $from: it is on $now"
		equal "right-one-$back" "$([ $back -ge 0 ] && echo "$from" || echo "$to")" "$now"
		if [ "$now" = "$to" ]; then
			no_cache "erased-$back" "$from"
		else
			equal "half-made-$back" "$([ $back = 99 ] || echo moved)" "$(xpcache list | awk -v d="$to" '$3 == d { print $2 }')"
			moves "again-after-$back" "$to"
		fi
	done
	for step in mlockall:1 alarm:2 munlockall:1; do
		to=$(other "$(here)")
		stopped_at $step "$to" && pass "killed-at-$step" || fail "killed-at-$step" "it was not"
		moves "again-after-$step" "$to"
	done
	end_to_write killed
	written killed

	# ---- the former device has another use by the time that it is to be erased ----
	from=$(here)
	to=$(other "$from")
	stopped_at "pwrite64:$((leave[$to] + 3))" "$to" && pass killed-before-the-erase || fail killed-before-the-erase "it was not"
	pattern other 1 | dd of="$from" bs=4k count=1 oflag=direct conv=notrunc status=none
	try attach-beside-another xpcache attach xpcache0
	attached beside-another "$to"
	equal not-touched "$(pattern other 1 | head -c 4096 | sha256sum)" "$(dd if="$from" bs=4k count=1 iflag=direct status=none | sha256sum)"
	must blkdiscard -z "$from"

	# ---- an interrupt before it leaves the old one ----
	from=$(here)
	to=$(other "$from")
	strace -o /dev/null -e trace=pwrite64 -e inject=pwrite64:signal=INT:when=3 xpcache replace xpcache0 --fast "$to" >/tmp/out 2>&1
	equal interrupted 130 $?
	attached interrupted "$from"
	no_cache nothing-left "$to"

	# ---- two at once: one of them moves it, and the other says so ----
	[ "$from" = $A ] || moves to-a $A
	xpcache replace xpcache0 --fast $B >/tmp/out.b 2>&1 &
	first=$!
	xpcache replace xpcache0 --fast $C >/tmp/out.c 2>&1
	c=$?
	wait $first
	b=$?
	note "$b: $(cat /tmp/out.b)"
	note "$c: $(cat /tmp/out.c)"
	case $(here) in
	$A) equal two-at-once "neither" "$b $c" ;;
	*) is_awake two-at-once ;;
	esac
	for device in $A $B $C; do
		[ "$device" = "$(here)" ] || no_cache "two-at-once-${device#/dev/}" $device
	done
	moves after-two $A

	# ---- superblocks that cannot be written ----
	must umount /mnt
	must xpcache remove xpcache0
	old=/dev/mapper/old sectors=$(blockdev --getsz $A)
	must dmsetup create old --table "0 $sectors linear $A 0"
	fails()
	{
		must dmsetup suspend --noflush --nolockfs old
		must dmsetup reload old <<<"$1"
		must dmsetup resume old
	}
	FAST=$old create --idle-ms 0
	keep_records $RECORDS
	must mount $CACHE /mnt
	fails "0 128 linear $A 0
128 8 error
136 $((sectors - 136)) linear $A 136"
	refused second-fails 1 "cannot write the superblock" xpcache replace xpcache0 --fast $B
	attached second-fails $old
	no_cache second-fails-b $B
	fails "0 8 error
8 $((sectors - 8)) linear $A 8"
	refused first-fails 1 "cannot write the superblock" xpcache replace xpcache0 --fast $B
	attached first-fails $old
	no_cache first-fails-b $B
	fails "0 $sectors linear $A 0"
	try both-do xpcache replace xpcache0 --fast $B
	attached both-do $B
	must dmsetup remove old
	no_cache both-do-a $A
	from=$B

	# ---- one of the two alone ----
	[ "$from" = $B ] || moves to-b $B
	stopped_at "pwrite64:$((leave[$A] + 1))" $A && pass between || fail between "it was not killed"
	must umount /mnt
	is_asleep between
	must xpcache stop xpcache0
	xpcache list >/tmp/out
	note "$(cat /tmp/out)"
	xpcache dump $A >/tmp/a.out 2>&1
	xpcache dump $B >/tmp/b.out 2>&1
	note "$(head -n 2 /tmp/a.out /tmp/b.out)"
	grep -q "has not moved to this device yet" /tmp/a.out && pass coming || fail coming "$(head -n 2 /tmp/a.out)"
	grep -q "has moved from this device" /tmp/b.out && pass away || fail away "$(head -n 2 /tmp/b.out)"
	take_out $B
	refused coming-alone 4 "connect the other" xpcache start xpcache0
	refused coming-alone-by-name 4 "connect the other" xpcache start xpcache0 --fast $A --slow $SLOW
	equal coming-listed "moved no-fast" "$(xpcache list | awk '$1 == "xpcache0" { print $2 }' | sort | xargs)"
	(sleep 6; echo 1 >/sys/bus/pci/rescan) &
	try late-away xpcache start --boot --wait 60
	attached late-away $A
	wait $!
	must xpcache stop xpcache0
	must xpcache start xpcache0
	no_cache erased-later $B
	must mount $CACHE /mnt
	moves to-b-again $B
	stopped_at "pwrite64:$((leave[$A] + 1))" $A && pass between-again || fail between-again "it was not killed"
	must umount /mnt
	must xpcache stop xpcache0
	take_out $A
	refused away-alone 4 "connect that one" xpcache start xpcache0
	refused away-create 3 "a device that was of the xpcache xpcache0" xpcache create --fast $B --slow $RECORDS --name other --no-start
	put_in $A
	cut_power
else
	know $RECORDS
	take_out $B
	(sleep 6; echo 1 >/sys/bus/pci/rescan) &
	try boot xpcache start --boot --wait 60
	attached booted $A
	no_cache booted-other $B
	must mount $CACHE /mnt
	pattern last 8 >/mnt/last
	must umount /mnt
	must xpcache remove xpcache0
	try file-system e2fsck -fn $SLOW

	# ---- what protects against the loss of the fast device moves along ----
	must dd if=/dev/zero of=$SLOW bs=1M count=1 conv=fsync status=none
	must sfdisk -q $SLOW <<<'label: gpt
start=8MiB size=100MiB'
	FAST=$A create --idle-ms 50
	mark() { dmsetup table xpcache0 | grep -o ' mark [0-9]*'; }
	mark=$(mark)
	[ -n "$mark" ] && pass has-a-mark || fail has-a-mark "$(dmsetup table xpcache0)"
	moves with-mark $B
	equal same-mark "$mark" "$(mark)"
	must dd if=/dev/urandom of=$CACHE bs=1M seek=20 count=4 oflag=direct status=none
	must xpcache flush xpcache0
	take_out $B
	try goes-on dd if=/dev/urandom of=$CACHE bs=1M seek=20 count=4 oflag=direct conv=fsync status=none
fi
