# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 clock=instructions watch=no memory=3G fast=16M slow=16M with=seekdisk.ko timeout=1800 quick=no
# shellcheck disable=SC2034,SC2154 # variables of and for labdevices.sh
#
# Writeback beside somebody who reads from the disk, and without: what it takes away from reads of blocks that are not
# cached, how long all of it takes once nobody reads, that hits do not hold it up, and writes of more than a cache.
# A disk that seeks (tests/vm/seekdisk); an instruction takes a nanosecond.

. ./lib.sh
. ./labdevices.sh

MODEL=seek
DIRTY=${DIRTY:-17000}		# blocks, everywhere in the first quarter of the disk
READS=${READS:-2500}

must insmod /usr/bin/seekdisk.ko mib=1280
SLOWDEV=/dev/seekdisk
FASTDEV=$(fast_disk 512)

now() { awk '{ print $1 }' /proc/uptime; }
percent() { awk "BEGIN { printf \"%.1f\", 100 * $1 / $2 }"; }

# reads DEV OFFSET - KiB/s of reads at a time, of blocks that nobody has read. Those of another OFFSET are beside them.
reads()
{
	fio --name=reads --filename="$1" --direct=1 --ioengine=psync --rw=randread --bs=4k --blockalign=16k \
		--offset=$((256 * 1048576 + $2)) --size=1000m --io_size=$((READS * 4))k --minimal | cut -d ';' -f 7
}

# scattered DEV COUNT - blocks are written.
scattered()
{
	must fio --name=scattered --filename="$1" --direct=1 --ioengine=libaio --iodepth=16 --rw=randwrite --bs=4k --size=256m \
		--io_size=$(($2 * 4))k >/dev/null
}

# all_written_back - waits; the seconds in $took.
all_written_back()
{
	local begun
	begun=$(now)
	until [ "$(counter dirty)" = 0 ]; do
		sleep 0.5
	done
	took=$(awk "BEGIN { printf \"%.1f\", $(now) - $begun }")
}

# at_least NAME IS BOUND WHAT
at_least() { awk "BEGIN { exit !($2 >= $3) }" && pass "$1" || fail "$1" "$4: $2, at least $3"; }

# Half a second after the reader has begun, so that the disk is in use when the first block is dirty.
reads_beside_dirty_blocks()
{
	local alone beside dirty
	alone=$(reads $CACHE 0)
	reads $CACHE 4096 >beside &
	sleep 0.5
	scattered $CACHE "$DIRTY"
	dirty=$(counter dirty)
	wait
	beside=$(<beside)
	note "reads: $alone KiB/s alone, $beside beside writeback: $(percent "$beside" "$alone") %;" \
		"$dirty blocks dirty at first, $(counter written_back) written back"
	[ "$dirty" -ge $((DIRTY * 9 / 10)) ] || fail dirty "$dirty blocks of $DIRTY"
	[ "$(counter written_back)" -ge $((READS / 50)) ] && pass goes-on || fail goes-on "$(counter written_back) blocks were written back beside the reads"
	at_least reads-beside-writeback "$(percent "$beside" "$alone")" 90 "percent of the speed without"
}

# The best there is: the same blocks in order of their place, by nobody else.
best_of_disk()
{
	local begun
	begun=$(now)
	must fio --name=best --filename=$SLOWDEV --direct=1 --ioengine=libaio --iodepth=4 --rw=write:12k --bs=4k \
		--offset=512m --size=512m --io_size=$(($1 * 4))k >/dev/null
	best=$(awk "BEGIN { printf \"%.1f\", $(now) - $begun }")
}

idle_writes_all_back()
{
	local dirty
	dirty=$(counter dirty)
	all_written_back
	best_of_disk "$dirty"
	note "idle: $dirty blocks in $took s, $best s by the disk alone"
	at_least idle-is-fast "$(percent "$best" "$took")" 50 "percent of the disk's speed"
}

# A desktop that lives from the cache.
hits_do_not_hold_it_up()
{
	local n
	must dd if=$CACHE of=/dev/null bs=4k count=1 iflag=direct status=none
	scattered $CACHE 300
	for ((n = 0; n < 300; n++)); do
		must dd if=$CACHE of=/dev/null bs=4k count=1 iflag=direct status=none
		sleep 0.1
	done
	[ "$(counter dirty)" = 0 ] && pass hits-do-not-hold-it-up || fail hits-do-not-hold-it-up "$(counter dirty) blocks are dirty"
}

# written DEV MIB - KiB/s of a sequential write of so much, to its end on the disk or in the cache.
written()
{
	fio --name=written --filename="$1" --direct=1 --ioengine=libaio --iodepth=4 --rw=write --bs=1m --size="$2"m \
		--end_fsync=1 --minimal | cut -d ';' -f 48
}

# A file that is longer than the cache, 3 and 10 times: no slower than without, but for what fits into the cache.
written_caches()
{
	local caches disk cache
	FASTDEV=$(disk small 64 completion_nsec=10000)
	for caches in 3 10; do
		disk=$(written $SLOWDEV $((64 * caches)))
		up_xpcache --dirty-low 10 --dirty-high 80
		cache=$(written $CACHE $((64 * caches)))
		note "written, $caches caches: $disk KiB/s by the disk, $cache by the cache: $(percent "$cache" "$disk") %;" \
			"$(counter stream_bypass_written) blocks passed"
		at_least written-$caches-caches "$(percent "$cache" "$disk")" 95 "percent of the disk's speed"
		down_xpcache
	done
}

up_xpcache --dirty-low 10 --dirty-high 80
reads_beside_dirty_blocks
idle_writes_all_back
hits_do_not_hold_it_up
down_xpcache
written_caches
