# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The latency lab (tests/lab/lab): the same requests to a raw fast device, to
# dm-linear over it, to xpcache and to its peers, over a slow device of MODEL.
# Each figure is a line: ROW target case JSON.

. ./lib.sh

MIB=$((1 << 20))
COUNT=2000
TARGETS=${TARGETS:-raw,linear,xpcache,writecache,dmcache,bcache}

modprobe null_blk nr_devices=0
for module in dm_writecache dm_cache dm_cache_smq bcache; do
	modprobe $module
done
mount -t configfs configfs /sys/kernel/config

# ------------------------------------------------------------- devices ----

# disk NAME MIB SETTING=VALUE... - a memory-backed null_blk; prints its node.
disk()
{
	local dir=/sys/kernel/config/nullb/$1 word node
	mkdir "$dir"
	for word in size="$2" memory_backed=1 blocksize=4096 irqmode=2 queue_mode=2 \
		submit_queues=1 hw_queue_depth=64 "${@:3}" power=1; do
		echo "${word#*=}" >"$dir/${word%%=*}"
	done
	node=/dev/$1
	[ -b "$node" ] || node=/dev/nullb$(cat "$dir/index")
	echo "$node"
}

# The models: Optane Memory, a flash disk, a hard disk with a volatile cache.
slow_disk()
{
	case $MODEL in
	flash)	disk slow 1024 completion_nsec=87000 ;;
	disk)	disk slow 1024 completion_nsec=8000000 hw_queue_depth=1 cache_size=16 ;;
	esac
}

devices()
{
	FASTDEV=$(disk fast 256 completion_nsec=10000)
	SLOWDEV=$(slow_disk)
	# The first touch of a page of null_blk's costs 1.6 us.
	must dd if=/dev/zero of="$FASTDEV" bs=1M count=256 oflag=direct status=none
}

no_devices()
{
	local name
	for name in fast slow meta; do
		[ -d /sys/kernel/config/nullb/$name ] || continue
		echo 0 >/sys/kernel/config/nullb/$name/power
		rmdir /sys/kernel/config/nullb/$name
	done
}

sectors() { blockdev --getsz "$1"; }

# up_TARGET sets DEV; down_TARGET takes it away.
up_raw() { DEV=$FASTDEV; }
down_raw() { :; }

up_linear()
{
	must dmsetup create linear --table "0 $(sectors "$FASTDEV") linear $FASTDEV 0"
	DEV=/dev/mapper/linear
}
down_linear() { must dmsetup remove linear; }

up_xpcache()
{
	must xpcache create --fast "$FASTDEV" --slow "$SLOWDEV" --force \
		--dirty-low 80 --dirty-high 95 --idle-ms 0
	DEV=$CACHE
}
down_xpcache() { must xpcache remove xpcache0; }

up_writecache()
{
	must dd if=/dev/zero of="$FASTDEV" bs=4k count=1 oflag=direct status=none
	must dmsetup create writecache --table \
		"0 $(sectors "$SLOWDEV") writecache s $SLOWDEV $FASTDEV 4096 0"
	DEV=/dev/mapper/writecache
}
down_writecache() { must dmsetup remove writecache; }

up_dmcache()
{
	local meta
	meta=$(disk meta 16 completion_nsec=10000)
	must dmsetup create dmcache --table \
		"0 $(sectors "$SLOWDEV") cache $meta $FASTDEV $SLOWDEV 64 1 writeback smq 0"
	DEV=/dev/mapper/dmcache
}
down_dmcache() { must dmsetup remove dmcache; }

up_bcache()
{
	must make-bcache --writeback -C "$FASTDEV" -B "$SLOWDEV"
	echo "$FASTDEV" >/sys/fs/bcache/register
	echo "$SLOWDEV" >/sys/fs/bcache/register
	settled test -b /dev/bcache0 || die bcache "no /dev/bcache0"
	echo 0 >/sys/block/bcache0/bcache/sequential_cutoff
	echo 0 >"$(echo /sys/fs/bcache/*/congested_read_threshold_us)"
	echo 0 >"$(echo /sys/fs/bcache/*/congested_write_threshold_us)"
	DEV=/dev/bcache0
}
down_bcache()
{
	local set
	set=$(echo /sys/fs/bcache/*-*)
	echo 1 >/sys/block/bcache0/bcache/stop
	echo 1 >"$set/stop"
	settled test ! -e "$set"
}

# --------------------------------------------------------------- cases ----

# row CASE OP SIZE FIRST SPAN COUNT - the places in MiB.
row()
{
	local figures
	figures=$(latency "$DEV" "$2" "$3" $(($4 * MIB)) $(($5 * MIB)) "$6" 1) ||
		die "$target-$1" "it could not be measured"
	report "ROW $target $1 $figures"
}

# qd CASE RW DEPTH - what fio sees with more than one at a time, in the warm part.
qd()
{
	must fio --name="$1" --filename="$DEV" --rw="$2" --bs=4k --size=8m --direct=1 \
		--ioengine=libaio --iodepth="$3" --number_ios=$COUNT --lat_percentiles=1 \
		--output-format=json --output=/tmp/fio.json >/dev/null
	report "FIO $target $1 $2 $(tr -d '\n ' </tmp/fio.json)"
}

# The first 8 MiB are in the cache; where a cache promotes by reads, by reads.
warm()
{
	must dd if=/dev/zero of="$DEV" bs=4k count=2048 oflag=direct status=none
	for _ in 1 2 3 4; do
		must dd if="$DEV" of=/dev/null bs=4k count=2048 iflag=direct status=none
	done
}

measure()
{
	local size count
	warm
	row read-hit read 4096 0 8 $COUNT
	[ "$target" = raw ] || [ "$target" = linear ] || row read-miss read 4096 512 8 $COUNT
	row write-new write 4096 16 8 $COUNT
	row write-again write 4096 16 8 $COUNT
	row sync-new sync 4096 32 8 $COUNT
	row sync-again sync 4096 32 8 $COUNT
	row dsync-new dsync 4096 48 8 $COUNT
	row dsync-again dsync 4096 48 8 $COUNT
	row mixed mixed 4096 0 8 $COUNT
	for size in 16 64 128 1024; do
		count=$((size == 1024 ? 64 : 250))
		row write-${size}k write $((size << 10)) 64 32 $count
		row read-${size}k read $((size << 10)) 64 32 $count
	done
	for depth in 4 32; do
		qd read-qd$depth randread $depth
		qd write-qd$depth randwrite $depth
	done
}

for target in ${TARGETS//,/ }; do
	devices
	up_"$target"
	measure
	down_"$target"
	no_devices
done
# The slow device alone, for the misses.
target=slow
DEV=$(slow_disk)
row read-miss read 4096 512 8 $COUNT
no_devices
pass measured
