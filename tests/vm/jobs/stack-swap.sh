# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=24M slow=640M slow-iops=400 memory=512M campaign=stack timeout=1800
#
# Swap on the cache: a machine with too little memory, dirty blocks at their limit,
# a disk as slow as a hard disk. Nothing hangs, no page is lost (I11). First on the
# device itself, then in a file on it, beside writers who wait for every write.

. ./lib.sh

LEFT=120			# MiB for all programs
MIB=${MIB:-240}			# of the one that wants too much
SECONDS_EACH=${SECONDS_EACH:-40}

# Unpacking the guest takes more memory than the test should have.
take_memory()
{
	local free
	free=$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
	echo $(((free - LEFT) / 2)) >/proc/sys/vm/nr_hugepages
	note "$(awk '/^MemAvailable/ { print int($2 / 1024) }' /proc/meminfo) of $free MiB available"
}

swapped() { awk '$1 == "pswpout" { print $2 }' /proc/vmstat; }

# pressure NAME - twice the memory there is.
pressure()
{
	local before bypassed
	before=$(swapped) bypassed=$(counter write_bypass)
	try "$1-every-page" memory "$MIB" "$SECONDS_EACH" 2
	bypassed=$(($(counter write_bypass) - bypassed))
	note "$1: $(($(swapped) - before)) pages swapped out, $(counter written_back) written back, $bypassed writes bypassed"
	[ $(($(swapped) - before)) -gt $((MIB * 256 / 2)) ] && pass "$1-under-pressure" ||
		fail "$1-under-pressure" "only $(($(swapped) - before)) pages were swapped out"
	# A write goes around the cache if no slot is free and next to none is clean, and never else.
	[ $bypassed -gt 1000 ] && pass "$1-dirty-at-its-limit" || fail "$1-dirty-at-its-limit" "$bypassed writes bypassed"
}

take_memory
create --dirty-low 50 --dirty-high 80

must mkswap $CACHE
must swapon $CACHE
pressure device
try swapoff swapoff $CACHE

must mkfs.ext4 -q -F $CACHE
must mount $CACHE /mnt
must dd if=/dev/zero of=/mnt/swap bs=1M count=400 status=none
chmod 600 /mnt/swap
must mkswap /mnt/swap
must swapon /mnt/swap
fio --name=beside --directory=/mnt --size=16m --bs=4k --rw=randwrite --fdatasync=1 \
	--time_based --runtime=3600 --verify=xxhash --verify_backlog=64 --verify_fatal=1 \
	--randrepeat=0 >/tmp/fio.log 2>&1 &
beside=$!
flushes=$(counter flushes)
synced() { [ "$(counter flushes)" -gt $((flushes + $1)) ]; }
try writers-begin settled synced 20
flushes=$(counter flushes)
pressure file
kill -0 $beside && synced 0 && pass writers-beside || fail writers-beside "$(tail -n 1 /tmp/fio.log)"
kill -INT $beside
wait $beside
try swapoff-file swapoff /mnt/swap
grep -q 'verify:' /tmp/fio.log && fail beside-verified "$(grep -m 1 'verify:' /tmp/fio.log)" ||
	pass beside-verified
must umount /mnt
equal no-oom "" "$(dmesg | grep -m 1 'Out of memory')"
no_errors errors
remove
try fsck-alone e2fsck -fn $SLOW
