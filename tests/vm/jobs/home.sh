# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 clock=instructions watch=no memory=3G fast=16M slow=16M with=seekdisk.ko timeout=1800 quick=no
# shellcheck disable=SC2034,SC2154 # variables of and for labdevices.sh
#
# The way home to a disk that seeks (tests/vm/seekdisk): the same dirty blocks in the cache and in dm-writecache, until
# all of them are on the disk. An instruction takes a nanosecond: nothing here is noise.

. ./lib.sh
. ./labdevices.sh

MODEL=seek
MOST=110		# percent of dm-writecache's time
SLOWDEV=/dev/seekdisk

must insmod /usr/bin/seekdisk.ko mib=1280
FASTDEV=$(fast_disk 512)

seconds() { cut -d ' ' -f 1 /proc/uptime; }

of_disk() { tr , ' ' <"/sys/module/seekdisk/parameters/$1" | awk '{ print $2 }'; }

# Less than what dm-writecache begins to write back by itself.
soil()
{
	case $1 in
	apart)	set -- --bs=4k --size=1g --io_size=32m ;;
	pieces)	set -- --bs=64k --size=1g --io_size=128m ;;
	dense)	set -- --bs=4k --size=128m --io_size=96m ;;
	esac
	must fio --name=soil --filename="$DEV" --direct=1 --ioengine=libaio --iodepth=8 --rw=randwrite --randseed=7 "$@" >/dev/null
}

go_home_xpcache() { must xpcache flush xpcache0 >/dev/null; }
go_home_writecache() { must dmsetup message writecache 0 flush; }

# home TARGET PATTERN - seconds in $took; requests and seeks of the disk in $did.
home()
{
	local begun served seeks flushes
	must dd if=/dev/zero of="$FASTDEV" bs=1M count=1 oflag=direct status=none
	up_"$1"
	soil "$2"
	served=$(of_disk served) seeks=$(of_disk seeks) flushes=$(cat /sys/module/seekdisk/parameters/flushes)
	begun=$(seconds)
	go_home_"$1"
	took=$(awk "BEGIN { printf \"%.1f\", $(seconds) - $begun }")
	did="$(($(of_disk served) - served)) requests, $(($(of_disk seeks) - seeks)) seeks,"
	did="$did $(($(cat /sys/module/seekdisk/parameters/flushes) - flushes)) FLUSHes"
	down_"$1"
}

for pattern in ${PATTERNS:-apart pieces dense}; do
	home writecache "$pattern"
	theirs=$took their_did=$did
	home xpcache "$pattern"
	note "$pattern: $took s with $did; dm-writecache $theirs s with $their_did"
	part=$(awk "BEGIN { printf \"%.0f\", 100 * $took / $theirs }")
	[ "$part" -le $MOST ] && pass "$pattern" || fail "$pattern" "$part % of dm-writecache's time, at most $MOST"
done
