# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 clock=instructions watch=no memory=3G fast=16M slow=16M with=seekdisk.ko timeout=1800 quick=no
# shellcheck disable=SC2034,SC2154 # variables of and for labdevices.sh
#
# Sequential reads through the cache, of a disk that seeks (tests/vm/seekdisk): cold, and with every second MiB, every
# second 64 KiB or every second block of 4 KiB cached, each as a part of the speed of the disk itself. The disk is one
# that must seek for each gap, or one that reads ahead. An instruction takes a nanosecond: nothing here is noise.

. ./lib.sh
. ./labdevices.sh

MODEL=seek
RANGE=64			# MiB, and a range of its own for each figure
APART=4				# MiB between two of them: none goes on where a stream has ended
AHEAD=${AHEAD:-0,1024}		# KiB
PATTERNS=${PATTERNS:-cold,1m,64k,4k}
READERS=${READERS:-1m-qd1,128k-qd32,buffered,1m-random}
SLOWDEV=/dev/seekdisk

must insmod /usr/bin/seekdisk.ko mib=1280
FASTDEV=$(fast_disk 512)

# Bounds in percent; of reads everywhere in the range 1.1 times the disk's time. Those that are OWED are not kept yet;
# one that is kept must be taken off the list. With every second MiB cached whole requests are hits, and the disk seeks
# over each; with every second block a request of 1 MiB fills 128 runs, and each takes its instructions.
LEAST='1m-qd1 97 128k-qd32 95 buffered 97 1m-random 91'
OWED='
ahead-1024-1m-1m-qd1 ahead-1024-1m-buffered
ahead-0-4k-1m-qd1
'
OWED=${OWED//$'\n'/ }

of_disk() { tr , ' ' <"/sys/module/seekdisk/parameters/$1" | awk '{ print $1 }'; }

# every_second SIZE - of the range becomes clean: whatever is read, but for more than 256 KiB at once.
every_second()
{
	local clean size=$1 blocks=$((RANGE << 7))
	[ "$1" != 1m ] || size=64k
	clean=$(counter clean)
	must dmsetup message xpcache0 0 stream_kib 0
	must fio --name=fill --filename=$CACHE --direct=1 --rw=read --bs="$size" --zonemode=strided --zonesize="$1" \
		--zonerange="$1" --zoneskip="$1" --offset=${place}m --size=${RANGE}m --io_size=$((RANGE / 2))m >/dev/null
	sleep 2		# no time, but looks at the status would take some
	clean=$(($(counter clean) - clean))
	must dmsetup message xpcache0 0 stream_kib 4096
	[ $clean -ge $blocks ] || die "every-second-$1" "$clean of $blocks blocks are clean: $(dmsetup status xpcache0)"
}

# read_range DEV READER - KiB/s in $speed; requests and seeks of the disk in $did. The arm is before the range.
read_range()
{
	local way size=${2%%-*} served seeks
	case $2 in
	buffered)	way="--rw=read --direct=0 --ioengine=psync" size=128k ;;
	*-random)	way="--rw=randread --direct=1 --ioengine=psync" ;;
	*)		way="--rw=read --direct=1 --ioengine=libaio --iodepth=${2##*-qd}" ;;
	esac
	must dd if=$SLOWDEV of=/dev/null bs=1M skip=$((place - 1)) count=1 iflag=direct status=none
	echo 3 >/proc/sys/vm/drop_caches
	served=$(of_disk served) seeks=$(of_disk seeks)
	# shellcheck disable=SC2086 # words
	speed=$(fio --name=read --filename="$1" --bs=$size $way --offset=${place}m --size=${RANGE}m --minimal |
		cut -d ';' -f 7) || die "read-$2" "status $?"
	did="$(($(of_disk served) - served)) requests, $(($(of_disk seeks) - seeks)) seeks"
}

# judge NAME READER PART - of the speed of the disk, in percent.
judge()
{
	local least=${LEAST#*"$2 "}
	least=${least%% *}
	if [ "${3%.*}" -ge "$least" ]; then
		[[ " $OWED " != *" $1 "* ]] && pass "$1" || fail "$1" "is kept: take it off OWED"
	elif [[ " $OWED " = *" $1 "* ]]; then
		note "$1: owed: $3 % of the disk's speed, at least $least"
	else
		fail "$1" "$3 % of the disk's speed, at least $least"
	fi
}

# patterns AHEAD - each in a new cache, which has room for all of it.
patterns()
{
	local pattern reader name part raw raw_did place=1
	echo "$1" >/sys/module/seekdisk/parameters/ahead_kib
	for pattern in ${PATTERNS//,/ }; do
		up_xpcache --idle-ms 0
		for reader in ${READERS//,/ }; do
			[ "$pattern" = cold ] || every_second "$pattern"
			read_range $SLOWDEV "$reader"
			raw=$speed raw_did=$did
			read_range $CACHE "$reader"
			part=$(awk "BEGIN { printf \"%.1f\", 100 * $speed / $raw }")
			name=ahead-$1-$pattern-$reader
			note "$name: $part %: $((raw * 1024 / 1000000)) MB/s of the disk with $raw_did;" \
				"$((speed * 1024 / 1000000)) MB/s of the cache with $did"
			judge "$name" "$reader" "$part"
			place=$((place + RANGE + APART))
		done
		down_xpcache
	done
}

for ahead in ${AHEAD//,/ }; do
	patterns "$ahead"
done
