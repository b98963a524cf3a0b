# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# labdevices.sh - the lab's devices, and the targets over them.

modprobe null_blk nr_devices=0
for module in dm_writecache dm_cache dm_cache_smq bcache; do
	modprobe $module
done
mount -t configfs configfs /sys/kernel/config

# ------------------------------------------------------------- devices ----

# disk NAME MIB SETTING=VALUE... - a memory-backed null_blk with sectors of SECTOR bytes;
# prints its node.
disk()
{
	local dir=/sys/kernel/config/nullb/$1 word node
	mkdir "$dir"
	for word in size="$2" memory_backed=1 blocksize="${SECTOR:-4096}" irqmode=2 queue_mode=2 \
		submit_queues=1 hw_queue_depth=64 "${@:3}" power=1; do
		echo "${word#*=}" >"$dir/${word%%=*}"
	done
	node=/dev/$1
	[ -b "$node" ] || node=/dev/nullb$(cat "$dir/index")
	echo "$node"
}

# The models: Optane Memory, or memory; a flash disk, a hard disk with a volatile cache.
fast_disk()
{
	case $MODEL in
	pmem)	echo "$FAST" ;;
	*)	disk fast "$1" completion_nsec=10000 cache_size="${FAST_CACHE:-0}" ;;
	esac
}

slow_disk()
{
	case $MODEL in
	flash | pmem)	disk slow 1024 completion_nsec=87000 discard=1 ;;
	disk)		disk slow 1024 completion_nsec=8000000 hw_queue_depth=1 cache_size=16 discard=1 ;;
	esac
}

# FAST_MIB is the fast device's size; FAST_CACHE that of its volatile cache, if it has one.
devices()
{
	local mib=${FAST_MIB:-256}
	FASTDEV=$(fast_disk "$mib")
	SLOWDEV=$(slow_disk)
	# The first touch of a page of null_blk's costs 1.6 us.
	must dd if=/dev/zero of="$FASTDEV" bs=1M count="$mib" oflag=direct status=none
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

up_slow() { DEV=$SLOWDEV; }
down_slow() { :; }

up_linear()
{
	must dmsetup create linear --table "0 $(sectors "$FASTDEV") linear $FASTDEV 0"
	DEV=/dev/mapper/linear
}
down_linear() { must dmsetup remove linear; }

# up_xpcache [LIMIT...] - nothing goes home meanwhile, if the limits do not say so.
up_xpcache()
{
	[ $# -gt 0 ] || set -- --dirty-low 80 --dirty-high 95 --idle-ms 0
	[ -z "${PARTITION_AT:-}" ] ||
		must sfdisk -q --force --no-reread --no-tell-kernel "$SLOWDEV" <<<"label: dos
start=$PARTITION_AT,type=83"
	must xpcache create --fast "$FASTDEV" --slow "$SLOWDEV" --force "$@"
	DEV=$CACHE
}
down_xpcache() { must xpcache remove xpcache0; }

up_writecache()
{
	local way=s
	[ "$MODEL" != pmem ] || way=p
	must dd if=/dev/zero of="$FASTDEV" bs=4k count=1 oflag=direct status=none
	must dmsetup create writecache --table \
		"0 $(sectors "$SLOWDEV") writecache $way $SLOWDEV $FASTDEV 4096 0"
	DEV=/dev/mapper/writecache
}
down_writecache() { must dmsetup remove writecache; }

up_dmcache()
{
	local meta
	meta=$(disk meta 16 completion_nsec=10000)
	must dmsetup create dmcache --table \
		"0 $(sectors "$SLOWDEV") cache $meta $FASTDEV $SLOWDEV 64 1 ${PEER_MODE:-writeback} smq 0"
	DEV=/dev/mapper/dmcache
}
down_dmcache() { must dmsetup remove dmcache; }

# Buckets of the default size are too few here: it refuses a cache of 512, and goes on
# without one. It must not give way to the slow device because that seems idle.
up_bcache()
{
	local name
	must make-bcache --bucket 64k --writeback -C "$FASTDEV" -B "$SLOWDEV"
	echo "$FASTDEV" >/sys/fs/bcache/register
	echo "$SLOWDEV" >/sys/fs/bcache/register
	settled grep -qsE 'clean|dirty' /sys/block/bcache0/bcache/state ||
		die bcache "it has no cache"
	echo 0 >/sys/block/bcache0/bcache/sequential_cutoff
	for name in read write; do
		echo 0 >"$(echo /sys/fs/bcache/*-*/congested_${name}_threshold_us)"
	done
	echo "${PEER_MODE:-writeback}" >/sys/block/bcache0/bcache/cache_mode
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

# The first 8 MiB are in the cache; where a cache promotes by reads, by reads.
warm()
{
	must dd if=/dev/zero of="$DEV" bs=4k count=2048 oflag=direct status=none
	for _ in 1 2 3 4; do
		must dd if="$DEV" of=/dev/null bs=4k count=2048 iflag=direct status=none
	done
}
