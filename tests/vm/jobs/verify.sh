# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=12M slow=128M slow-iops=800 timeout=1800 quick=6.12
#
# What is written is what is read: mixed sizes and alignments from two sides, on
# a cache a tenth of the working set, with a slow disk slow enough that the cache
# fills with dirty blocks. PASSES=n writes everything n times (1).

. ./lib.sh

# Both disks split what is larger, so that a bio comes back in pieces and is then
# used again for its next part.
for disk in $FAST $SLOW; do
	echo 32 >"/sys/block/${disk##*/}/queue/max_sectors_kb" || die limits "$disk has none to set"
done
create --dirty-low 85 --dirty-high 95 --idle-ms 0

most_dirty()
{
	local most=0 now
	while now=$(counter dirty); [ -n "$now" ]; do
		[ "$now" -gt "$most" ] && echo $((most = now)) >/tmp/most
		sleep 0.2
	done
}
most_dirty &
watcher=$!

try fio-verify fio --name=mixed --filename=$CACHE --direct=1 --ioengine=libaio --iodepth=8 \
	--rw=randwrite --numjobs=2 --size=60m --offset_increment=60m --loops="${PASSES:-1}" \
	--bssplit=512/15:1k/5:4k/30:8k/10:12800/5:64k/15:66048/5:256k/10:1m/5 --blockalign=512 \
	--fsync=64 --serialize_overlap=1 --randrepeat=0 \
	--verify=xxhash --verify_fatal=1 --verify_backlog=512
kill $watcher

slots=$(counter slots)
dmsetup status xpcache0
most=$(cat /tmp/most)
note "$slots slots, at most $most dirty; $(counter seq) journal blocks written to a ring of $(counter journal_blocks); $(counter write_bypass) writes bypassed; $(counter evicted) evicted"
[ $((most * 100 / slots)) -ge 85 ] && pass full-of-dirty ||
	fail full-of-dirty "at most $most of $slots slots were dirty"
[ "$(counter seq)" -gt "$(counter journal_blocks)" ] && pass journal-wrapped ||
	fail journal-wrapped "$(counter seq) blocks in a ring of $(counter journal_blocks)"
[ "$(counter evicted)" -gt "$slots" ] && pass evicted-and-filled-again ||
	fail evicted-and-filled-again "only $(counter evicted) evictions for $slots slots"
equal fast-errors 0 "$(counter fast_errors)"
equal slow-errors 0 "$(counter slow_errors)"

comes_home
