# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.1,6.12 usr=host fast=32M slow=4G timeout=3600 watch=no quick=no sanitized=no
#
# A hot set stays: a quarter of the cache, read in random order until it is cached, is read once more after each
# of a row of scans, each more than eight caches long. What xpcache must keep is asserted; what bcache and dm-cache
# smq keep, over the same disks and by their own counters, is printed beside it.

. ./lib.sh

MIB=$((1 << 20))
HOT=2048			# blocks of 4 KiB: 8 of 32 MiB
HOT_AT=$((64 * MIB))
SCANNED=272			# MiB
LEAST=256			# of them from the slow disk: eight caches
WARM=${WARM:-40}		# of the hot set, at most, until it is cached; AGAIN: after a scan
AGAIN=${AGAIN:-4}
FILES_AT=512 FILES=768		# MiB; a file system
PART=/dev/mapper/files
CACHES=${CACHES:-xpcache,bcache,dmcache}
SIZES=${SIZES:-64K,128K,256K,1M,8M}

modprobe -a brd dm_cache dm_cache_smq bcache || die modules "not in this kernel"
HEAD=/dev/ram0 META=/dev/ram1

# ------------------------------------------------------------- caches ----

# up_CACHE sets DEV; down_CACHE takes it away; hits_CACHE and reads_CACHE are its own counters.

up_xpcache()
{
	create
	DEV=$CACHE
}
down_xpcache() { remove; }
hits_xpcache() { counter requests_read_hit; }
reads_xpcache() { echo $(($(counter read_hits) + $(counter read_misses))); }

# Its superblock is before the disk, so that it has the same disk as the others. It does not give way to a slow
# device that seems idle: a guest's clock is not the disk's.
up_bcache()
{
	local name
	must dmsetup create backing <<-TABLE
		0 16 linear $HEAD 0
		16 $(blockdev --getsz $SLOW) linear $SLOW 0
	TABLE
	must make-bcache --wipe-bcache --bucket 32k --writeback -C $FAST -B /dev/mapper/backing
	echo $FAST >/sys/fs/bcache/register
	echo /dev/mapper/backing >/sys/fs/bcache/register
	settled grep -qsE 'clean|dirty' /sys/block/bcache0/bcache/state || die bcache "it has no cache"
	for name in read write; do
		echo 0 >"$(echo /sys/fs/bcache/*-*/congested_${name}_threshold_us)"
	done
	DEV=/dev/bcache0
}
down_bcache()
{
	local set
	set=$(echo /sys/fs/bcache/*-*)
	echo 1 >/sys/block/bcache0/bcache/stop
	echo 1 >"$set/stop"
	settled test ! -e "$set" || die bcache "it does not stop"
	must dmsetup remove --retry backing
}
bcache_counts() { cat "${@/#//sys/block/bcache0/bcache/stats_total/}" | awk '{ n += $1 } END { print n }'; }
hits_bcache() { bcache_counts cache_hits cache_bypass_hits; }
reads_bcache() { bcache_counts cache_hits cache_misses cache_bypass_hits cache_bypass_misses; }

up_dmcache()
{
	must dd if=/dev/zero of=$META bs=4k count=1 oflag=direct status=none
	must dmsetup create dmcache --table "0 $(blockdev --getsz $SLOW) cache $META $FAST $SLOW 64 1 writeback smq 0"
	DEV=/dev/mapper/dmcache
}
down_dmcache() { must dmsetup remove dmcache; }
hits_dmcache() { dmsetup status dmcache | awk '{ print $8 }'; }
reads_dmcache() { dmsetup status dmcache | awk '{ print $8 + $9 }'; }

# -------------------------------------------------------------- reads ----

# bcache adds to what can be read every 14 s.
counted() { [ "$(reads_$cache)" -ge "$1" ]; }

# read_hot - once, in random order; the reads of it that were hits in $hits.
read_hot()
{
	local reads
	reads=$(reads_$cache) hits=$(hits_$cache)
	latency "$DEV" read 4096 $HOT_AT $((HOT * 4096)) $HOT $((++pass)) >/dev/null || die hot-set "it could not be read"
	settled counted $((reads + HOT)) || die hot-set "$(($(reads_$cache) - reads)) of $HOT reads were counted"
	hits=$(($(hits_$cache) - hits))
}

is_kept() { [ $((hits * 100)) -ge $((HOT * 99)) ]; }

# warm_up LEAST MOST - until it is cached; the times that it was read in $passes.
warm_up()
{
	for ((passes = 1; passes <= $2; passes++)); do
		read_hot
		[ $passes -lt "$1" ] || ! is_kept || return 0
	done
	passes="not by $2"
}
percent() { awk "BEGIN { printf \"%.2f %%\", 100 * $1 / $HOT }"; }

slow_mib() { awk '{ print int($3 / 2048) }' "/sys/block/${SLOW##*/}/stat"; }

# range MIB SIZE FLAG - dd of what no other scan reads, but for what is hot.
range() { dd if="$DEV" of=/dev/null bs="$2" skip=$(($1 * MIB)) count=$((SCANNED * MIB)) iflag="$3"skip_bytes,count_bytes status=none; }

scan_cat() { cat /mnt/film >/dev/null; }
# GNU tar reads no file if it writes to /dev/null.
scan_tar() { tar -C /mnt -cf - tree | cat >/dev/null; }
scan_over() { range 0 "$1" ''; }
scan_over_direct() { range 0 "$1" direct,; }
scan_dd() { range $place "$1" ''; }
scan_dd_direct() { range $place "$1" direct,; }

# scan FUNCTION SIZE - and how much of the hot set was still cached after it.
scan()
{
	local name=$1${2:+-$2} from kept why
	name=${name//_/-}
	echo 3 >/proc/sys/vm/drop_caches
	from=$(slow_mib)
	why=$(told)
	"scan_$1" "${@:2}" || die "$cache-$name" "status $?"
	[[ $1 != dd* ]] || place=$((place + SCANNED))
	from=$(($(slow_mib) - from))
	why=$(told | paste -d ' ' - <(cut -d ' ' -f 2 <<<"$why") | awk '{ printf " %s %s", $1, $2 - $3 }')
	[ "$from" -ge $LEAST ] || fail "$cache-$name-read" "only $from MiB of the slow disk"
	[ $cache != bcache ] || sleep 15	# the scan is counted then
	read_hot
	kept=$hits
	row[$name]+=" | $(percent $kept)"
	names+=("$name")
	if [ $cache = xpcache ]; then
		is_kept && pass "$name" || fail "$name" "$kept of $HOT reads are hits; the scan:$why"
	fi
	is_kept || { warm_up 1 "$AGAIN" && row[$name]+=" ($passes)"; }
}

# What xpcache counts of what it keeps.
told()
{
	[ $cache = xpcache ] || return 0
	dmsetup status xpcache0 | tr ' ' '\n' | grep -A 1 -xE \
		'streams_seen|stream_bypass_blocks|fills|fills_dropped|evicted|ghost_hits|read_blocks_slow' | grep -v -- -- | paste -d ' ' - -
}

scans()
{
	local size
	place=$((FILES_AT + FILES))
	must dmsetup create files --table "0 $((FILES * 2048)) linear $DEV $((FILES_AT * 2048))"
	must mount -t ext4 -o ro,noload $PART /mnt
	scan cat
	scan tar
	must umount /mnt
	must dmsetup remove --retry files
	for size in ${SIZES//,/ }; do
		scan dd "$size"
		scan dd_direct "$size"
	done
	scan over 128K
	scan over_direct 1M
}

# A film, and a tree of half as much in larger files, half in small ones.
make_files()
{
	local n
	must dmsetup create files --table "0 $((FILES * 2048)) linear $SLOW $((FILES_AT * 2048))"
	must mkfs.ext4 -q -E lazy_itable_init=0 $PART
	must mount $PART /mnt
	mkdir /mnt/tree
	must dd if=/dev/zero of=/mnt/film bs=1M count=$SCANNED oflag=direct status=none
	must dd if=/dev/zero of=/mnt/tree/large bs=1M count=$((SCANNED / 2)) oflag=direct status=none
	# 64 KiB to 1 MiB.
	for ((n = 0; n < SCANNED; n++)); do
		must dd if=/dev/zero of=/mnt/tree/$n bs=$((64 + n * 7 % 16 * 64))k count=1 oflag=direct status=none
	done
	must umount /mnt
	must dmsetup remove --retry files
}

declare -A row
make_files
title="hits of the hot set after a scan (reads of all of it until it was cached again)"
for cache in ${CACHES//,/ }; do
	names=() pass=0
	must dd if=/dev/zero of=$FAST bs=1M count=1 oflag=direct status=none
	up_$cache
	warm_up 4 "$WARM"
	title+=" | $cache, $(percent $hits) after $passes before"
	[ $cache != xpcache ] || { is_kept && pass warm || fail warm "$hits of $HOT reads are hits"; }
	scans
	down_$cache
done
note "$title"
for name in "${names[@]}"; do
	note "$name${row[$name]}"
done
