# SPDX-License-Identifier: GPL-2.0-only
# A zoned device, as fast or slow, whole or a partition, is refused before anything is written.

rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
if [ "$(id -u)" = 0 ]; then
	fast_disk=$(losetup -f --show fast) slow_disk=$(losetup -P -f --show slow)
	zoned_disks="$fast_disk $slow_disk"
	trap 'pkill -f "xpcached serve.*$dir"; losetup -d $zoned_disks; rm -rf "$dir"' EXIT
	# refuses NAME DISK ARGUMENT...: as DISK is zoned, in the words that say what to take
	refuses() { LD_PRELOAD=$zoned ZONED=${2#/dev/} expect "zoned: $1" 3 "^xpcache: zoned: .*: $2: take a disk that is not, or what dm-zoned makes" "${@:3}"; }

	devices="--fast $fast_disk --slow $slow_disk"
	for engine in user kernel; do
		# The kernel's engine asks for its module first, where there is none.
		words="create $devices --engine $engine --name zoned"
		[ $engine = user ] || words="$words --no-start"
		refuses "create, $engine, the fast one" "$fast_disk" $words
		refuses "create, $engine, the slow one" "$slow_disk" $words
	done
	same "zoned: nothing was written" "$(tr -d '\0' <fast | head -c 1 | wc -c) $(tr -d '\0' <slow | head -c 1 | wc -c)" "0 0"
	"$xpcache" create $devices --engine user --name zoned --idle-ms 0 >out 2>&1 || fail "zoned: one that is not" "it is refused"
	"$xpcache" stop zoned >out 2>&1
	for disk in $fast_disk $slow_disk; do
		refuses "start, $disk" "$disk" start zoned $devices --engine user
		refuses "flush --offline, $disk" "$disk" flush --offline $devices
		refuses "check, $disk" "$disk" check "$fast_disk" --slow "$slow_disk"
		LD_PRELOAD=$zoned ZONED=${disk#/dev/} "${xpcache}d" serve $devices --control run/zoned.control >out 2>&1
		same "zoned: the daemon, $disk" "$? $(grep -c "^xpcache: zoned: .*: $disk: take a disk" out)" "3 1"
	done
	refuses "flush --offline --rescue" "$slow_disk" flush --offline --rescue $devices
	expect "zoned: it starts as it is not" 0 "started" start zoned $devices --engine user
	expect "zoned: remove" 0 "removed" remove zoned
	losetup -d $zoned_disks
	trap 'rm -rf "$dir"' EXIT
fi
rm -f fast slow
