# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=1G slow=512M timeout=600 quick=6.12
#
# A caller's FLUSH is answered by the fast device, which writes two blocks for it; and a
# slot costs at most 24 bytes of memory, but for half a MiB.

. ./lib.sh

# The block layer's own count of flushes that reached the slow disk.
disk_flushes() { awk '{ print $16 }' /sys/block/sda/stat; }

create --idle-ms 0
flushes=$(counter flushes)
disk=$(disk_flushes)
try fio fio --name=sync --filename=$CACHE --direct=1 --rw=randwrite --bs=4k --size=32m \
	--number_ios=1501 --fsync=1 --randrepeat=0
[ $(($(counter flushes) - flushes)) -ge 1500 ] && pass flushes-reach-the-target ||
	fail flushes-reach-the-target "$(($(counter flushes) - flushes)) of 1500"
equal none-passed-on 0 "$(counter flushes_slow)"
equal none-bypassed 0 "$(counter write_bypass)"
equal disk-saw-writeback-only "$(counter writeback_flushes)" "$(($(disk_flushes) - disk))"

slots=$(counter slots)
memory=$(counter memory)
note "$(awk -v m="$memory" -v s="$slots" 'BEGIN { printf "%.2f", m / s }') bytes a slot ($memory for $slots)"
[ $((memory)) -le $((slots * 19 + (512 << 10))) ] && pass memory-per-slot ||
	fail memory-per-slot "$memory bytes for $slots slots"
# A block that is synced alone takes a block of the journal along; one that was read in, as the
# look for a partition table at the start, does not.
blocks=$(counter write_blocks) fills=$(counter fills)
least=$(((8192 * blocks + 4096 * fills) / (blocks + fills)))
wear=$(xpcache status xpcache0 | sed -n 's/^  written .* \([0-9,]*\) bytes for each block taken in$/\1/p')
[ "${wear/,/}" -ge $least ] && [ "${wear/,/}" -le 8300 ] && pass wear-in-status ||
	fail wear-in-status "$wear bytes for each block"
xpcache status xpcache0
must xpcache remove xpcache0
