# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=64G usr=host with=xpcached timeout=1500 quick=6.12 sanitized=no
#
# What the devices ask of callers, the cache asks of them: a fast disk with protection information
# (scsi_debug) gets pages that nobody changes meanwhile. And what carries no data costs what it
# costs below: discards, zeroes and mkfs, beside dm-linear, on an empty cache and on clean blocks.

. ./lib.sh

queue()
{
	local name=${1##*/}
	case $1 in /dev/mapper/*) name=$(dmsetup info -c --noheadings -o blkdevname "$name") ;; esac
	cat "/sys/block/$name/queue/$2"
}
now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }
# Reads, writes, discards of the slow disk.
requests() { awk '{ print $1 + $5 + $12 }' "/sys/block/${SLOW##*/}/stat"; }

# costs COMMAND... - in $ms and $nr.
costs()
{
	local from before
	before=$(requests) from=$(now_ms)
	must "$@" >/dev/null
	sync
	ms=$(($(now_ms) - from)) nr=$(($(requests) - before))
}

# beside NAME COMMAND... - of $LINEAR and of $CACHE. No more than half as many requests more, and
# two. Of time, which depends on the host, no more than what a look at each block would not do with.
beside()
{
	local name=$1 linear_ms linear_nr
	shift
	costs "$@" "$LINEAR"
	linear_ms=$ms linear_nr=$nr
	$prepare
	costs "$@" "$CACHE"
	note "$name: dm-linear $linear_nr requests, $linear_ms ms; cache $nr requests, $ms ms"
	[ "$nr" -le $((linear_nr * 3 / 2 + 2)) ] && pass "$name-requests" || fail "$name-requests" "$nr, dm-linear $linear_nr"
	[ "$ms" -le $((linear_ms * 3 + 1000)) ] && pass "$name-time" || fail "$name-time" "$ms ms, dm-linear $linear_ms"
}

# What has just gone around the cache keeps fills away until it is flushed.
cached()
{
	local n
	for n in $(seq 0 15); do
		must dd if=$CACHE of=/dev/null bs=64k skip=$((n * 1024)) count=16 iflag=direct status=none
	done
	[ "$(counter clean)" -ge 4000 ]
}
# 16 MiB of clean blocks, here and there in the first GiB.
clean_blocks() { settled cached || die clean "only $(counter clean) blocks are clean after a minute"; }

# ---- no data ----
for f in /sys/class/scsi_disk/*/max_write_same_blocks; do echo 1024 >"$f"; done
create --idle-ms 0 --dirty-low 90 --dirty-high 95
LINEAR=/dev/mapper/linear
must dmsetup create linear --table "0 $(blockdev --getsz $SLOW) linear $SLOW 0"
equal discard-limit "$(queue $SLOW discard_max_bytes)" "$(queue $CACHE discard_max_bytes)"
equal zeroes-limit "$(queue $SLOW write_zeroes_max_bytes)" "$(queue $CACHE write_zeroes_max_bytes)"
for prepare in : clean_blocks; do
	# What blkdiscard has read to look for signatures may be cached when zeros come: dirty, then.
	must xpcache flush xpcache0
	beside "discard-$prepare" blkdiscard
	equal "discard-$prepare-nothing-dirty" 0 "$(counter dirty)"
	beside "zeroes-1G-$prepare" blkdiscard -z -l 1G
done
remove
must dmsetup remove linear

# ---- pages that change ----
modprobe scsi_debug dev_size_mb=64 dif=1 dix=1 guard=0 delay=0 max_queue=32 || die scsi-debug "no such module"
settled grep -q scsi_debug /sys/block/sd*/device/model || die scsi-debug "no disk"
FAST=$(grep -l scsi_debug /sys/block/sd*/device/model | sed 's,/sys/block/\([a-z]*\)/.*,/dev/\1,')
note "by itself: $(mapped "$FAST" 5)"
create --idle-ms 0
equal asks-for-stable-pages 1 "$(queue $CACHE stable_writes)"
said=$(mapped $CACHE 20)
note "written $said times well, and with an error"
equal page-cache "0" "${said#* }"
no_errors no-errors
remove

# ---- a slow device that cannot discard ----
must modprobe -r scsi_debug
must modprobe scsi_debug dev_size_mb=64 lbpu=0 lbpws=0 lbpws10=0 delay=0
settled grep -q scsi_debug /sys/block/sd*/device/model || die scsi-debug "no disk"
cannot=$(grep -l scsi_debug /sys/block/sd*/device/model | sed 's,/sys/block/\([a-z]*\)/.*,/dev/\1,')
FAST=/dev/nvme0n1
equal it-has-none 0 "$(queue "$cannot" discard_max_bytes)"
must xpcache create --fast $FAST --slow "$cannot" --idle-ms 0 --force
equal none-is-offered 0 "$(queue $CACHE discard_max_bytes)"
must xpcache remove xpcache0

# ---- zoned devices ----
# 16 zones of 64 MiB, in memory; nothing can be written back to one.
must modprobe null_blk nr_devices=1 gb=1 zoned=1 zone_size=64 memory_backed=1
equal it-is-zoned host-managed "$(queue /dev/nullb0 zoned)"
for engine in kernel user; do
	refused "zoned-slow-$engine" 3 '^xpcache: zoned: .*: /dev/nullb0: take a disk that is not' \
		xpcache create --fast $FAST --slow /dev/nullb0 --engine $engine --force
	refused "zoned-fast-$engine" 3 '^xpcache: zoned: .*: /dev/nullb0: take a disk that is not' \
		xpcache create --fast /dev/nullb0 --slow $SLOW --engine $engine --force
done
# What is stacked on it says so itself.
must dmsetup create above --table "0 $(blockdev --getsz /dev/nullb0) linear /dev/nullb0 0"
refused zoned-below-linear 3 'zoned: .*: /dev/mapper/above: take' xpcache create --fast $FAST --slow /dev/mapper/above --force
must dmsetup remove above
# Of one that an older version has made: the superblock says it is the slow one.
must xpcache create --fast $FAST --slow $SLOW --no-start --force
for verb in "start --engine user" "start --engine kernel" "flush --offline" "flush --offline --rescue --force"; do
	refused "zoned-${verb// /}" 3 'zoned|not the slow device' xpcache $verb --fast $FAST --slow /dev/nullb0
done
must xpcache remove xpcache0 --fast $FAST
