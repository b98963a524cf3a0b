# SPDX-License-Identifier: GPL-2.0-only
# vm: campaign=commands clock=instructions watch=no memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash
#
# What commands without data cost: mkfs, fstrim, blkdiscard with and without -z, in requests to the
# disk below and in time, on the disk itself, dm-linear, dm-cache, and a cache that is empty, full of
# clean blocks, or has a few dirty ones. Then how the time of zeroes grows with their length, and how
# long a reader beside them waits. An instruction takes a nanosecond: nothing here is noise.

. ./lib.sh
. ./labdevices.sh

MODEL=commands
COMMANDS=${COMMANDS:-mkfs.ext4,mkfs.xfs,fstrim,discard,zeroes}
DEVICES=${DEVICES:-raw,linear,dmcache,empty,clean,dirty}
LENGTHS=${LENGTHS:-linear,empty,clean}	# devices
SIZES=${SIZES:-1 4 16 64}	# GiB
BELOW=/dev/mapper/below
RUNS=10			# of dirty blocks
modprobe zram || die zram "no such module"

# The disk: memory that takes discards and zeroes and keeps only what has been written, below a
# dm-linear that counts them and is asked for 1 GiB at once, as a disk is.
slow_disk()
{
	local zram
	zram=$(cat /sys/class/zram-control/hot_add)
	echo 64G >/sys/block/zram"$zram"/disksize
	must dmsetup create below --table "0 $((64 << 21)) linear /dev/zram$zram 0" >/dev/null
	echo $((1 << 30)) >"$(queue_of below)/discard_max_bytes"
	echo $BELOW
}
no_slow_disk()
{
	local zram
	must dmsetup remove below
	for zram in /sys/block/zram*; do
		echo 1 >"$zram/reset"
		echo "${zram##*zram}" >/sys/class/zram-control/hot_remove
	done
}

node_of() { dmsetup info -c --noheadings -o blkdevname "$1"; }
queue_of() { echo "/sys/block/$(node_of "$1")/queue"; }
now_us() { echo "${EPOCHREALTIME/./}"; }
# Reads, writes, discards; zeroes are counted as writes.
requests() { awk '{ print $1 + $5 + $12 }' "/sys/block/$(node_of below)/stat"; }

# ------------------------------------------------------------ devices ----

up_raw() { DEV=$SLOWDEV; }
up_linear()
{
	must dmsetup create linear --table "0 $(sectors "$SLOWDEV") linear $SLOWDEV 0"
	DEV=/dev/mapper/linear
}
up_empty() { up_xpcache --dirty-low 90 --dirty-high 95 --idle-ms 0; }
up_clean() { up_empty; }
up_dirty() { up_empty; }
down_empty() { down_xpcache; }
down_clean() { down_xpcache; }
down_dirty() { down_xpcache; }

# cached - 40,000 blocks in runs of 16, all over the disk.
cached()
{
	latency "$DEV" read 65536 0 $((64 << 30)) 2500 1 >/dev/null || die clean "it could not be read"
	[ "$(counter clean)" -ge 39000 ]
}

ready_raw() { :; }
ready_linear() { :; }
ready_dmcache() { :; }
ready_empty() { :; }
ready_clean() { settled cached || die clean "only $(counter clean) blocks are clean"; }
ready_dirty()
{
	local n
	for ((n = 0; n < RUNS; n++)); do
		must dd if=/dev/zero of="$DEV" bs=4k seek=$(((n * 6 << 18) + (1400 << 8) + 77)) count=5 oflag=direct status=none
	done
	equal "$name-dirty-blocks" $((RUNS * 5)) "$(counter dirty)"
}

# ----------------------------------------------------------- commands ----

# Files on it, half of them deleted again.
before_fstrim()
{
	local n
	must mkfs.ext4 -q -F "$BELOW"
	must mount "$BELOW" /mnt
	for ((n = 0; n < 64; n++)); do
		must dd if=/dev/zero of=/mnt/$n bs=1M count=2 status=none
	done
	for ((n = 0; n < 64; n += 2)); do
		rm /mnt/$n
	done
	must umount /mnt
}
# Nothing initializes the tables of the file system meanwhile.
ready_fstrim() { must mount -o noinit_itable "$DEV" /mnt; }
after_fstrim()
{
	must umount /mnt
	try "$name-whole" e2fsck -fn "$DEV"
}
# command NAME
command_mkfs.ext4() { mkfs.ext4 -q -F "$DEV"; }
command_mkfs.xfs() { mkfs.xfs -q -f "$DEV"; }
command_fstrim() { fstrim /mnt; }
command_discard() { blkdiscard -f "$DEV"; }
# 1 GiB at once as well: of a disk that names no limit, as zram, 6.1 forgets what is beyond 4 GiB.
zeroes() { blkdiscard -z -f -p 1G "$@"; }
command_zeroes() { zeroes "$DEV"; }

is_function() { [ "$(type -t "$1")" = function ]; }

# measure COMMAND DEVICE - requests in $nr, microseconds in $us.
measure()
{
	local name=$1-$2 before from
	FASTDEV=$(fast_disk 256) SLOWDEV=$(slow_disk)
	! is_function "before_$1" || before_"$1"
	up_"$2"
	ready_"$2"
	! is_function "ready_$1" || ready_"$1"
	before=$(requests) from=$(now_us)
	must command_"$1"
	us=$(($(now_us) - from)) nr=$(($(requests) - before))
	# File systems write, what has no data does not.
	case $name in discard-empty | discard-clean | zeroes-empty | zeroes-clean)
		equal "$name-dirty" 0 "$(counter dirty)" ;;
	esac
	! is_function "after_$1" || after_"$1"
	down_"$2"
	no_devices
	no_slow_disk
}

# bound NAME FIGURE MOST
bound() { [ "$2" -le "$3" ] && pass "$1" || fail "$1" "$2, may be $3"; }

# lengths DEVICE - zeroes of 1 to 64 GiB: microseconds a GiB; and with a reader beside them his longest wait.
lengths()
{
	local from gib least='' most=0 each row="zeroes of $SIZES GiB, $1, ms a GiB:"
	FASTDEV=$(fast_disk 256) SLOWDEV=$(slow_disk)
	up_"$1"
	ready_"$1"
	for gib in $SIZES; do
		from=$(now_us)
		must zeroes -l "${gib}G" "$DEV"
		each=$((($(now_us) - from) / gib))
		row+=" $((each / 1000)).$(printf %03d $((each % 1000)))"
		[ -n "$least" ] && [ "$least" -le $each ] || least=$each
		[ $most -ge $each ] || most=$each
	done
	bound "lengths-$1" "$most" $((least * 3 / 2))
	# The disk has one processor and does not give it away: two of its requests.
	beside_zeroes
	bound "reader-$1" $((longest / 1000)) $((most * 2))
	note "$row; reads beside 64: $reads, the longest $((longest / 1000)) us"
	down_"$1"
	no_devices
	no_slow_disk
}
beside_zeroes()
{
	local figures writer
	reads=0 longest=0
	zeroes "$DEV" &
	writer=$!
	while kill -0 $writer 2>/dev/null; do
		figures=$(latency "$DEV" read 4096 $((1 << 29)) $((1 << 26)) 50 1) || die reader "it could not read"
		reads=$((reads + 50))
		figures=${figures#*\"max\":}
		[ "${figures%%[,\}]*}" -le $longest ] || longest=${figures%%[,\}]*}
	done
	wait $writer || die zeroes "status $?"
}

for command in ${COMMANDS//,/ }; do
	row="$command:" linear_nr='' linear_us=''
	for device in ${DEVICES//,/ }; do
		# It takes no zeroes but written ones: minutes, and nothing to compare with.
		[ "$command-$device" != zeroes-dmcache ] || continue
		measure "$command" "$device"
		row+=" $device $nr requests $((us / 1000)).$(printf %03d $((us % 1000))) ms;"
		case $device in
		linear) linear_nr=$nr linear_us=$us ;;
		empty | clean | dirty)
			[ -n "$linear_nr" ] || continue
			more=0
			[ "$device" != dirty ] || more=$RUNS	# one for each
			bound "$command-$device-requests" "$nr" $((linear_nr * 3 / 2 + more))
			bound "$command-$device-time" "$us" $((linear_us * 3 / 2))
			;;
		esac
	done
	note "$row"
done
for device in ${LENGTHS//,/ }; do
	lengths "$device"
done
