# SPDX-License-Identifier: GPL-2.0-only
# vm: campaign=bench kernel=6.12 usr=host clock=instructions watch=no memory=3G fast=16M slow=16M timeout=3000
#
# xpcache bench against fio, on devices of 10 us, 87 us and 8 ms; then its headline of a cache,
# cold and warm, computed anew. An instruction takes a nanosecond: nothing here is noise.

. ./lib.sh
. ./labdevices.sh

export LC_ALL=C

# relay COMMAND... - its lines PASS and FAIL are ours.
relay()
{
	local word name said status
	"$@" >/tmp/relay 2>&1
	status=$?
	cat /tmp/relay
	[ $status -eq 0 ] || grep -q '^FAIL ' /tmp/relay || fail "$1" "status $status: $(tail -n 1 /tmp/relay)"
	while IFS=: read -r name said; do
		word=${name%% *} name=${name#* }
		report "$word $PREFIX-${name// /-}:$said"
	done < <(grep -E '^(PASS|FAIL) ' /tmp/relay)
}

# 32 at a time only where the device is what is waited for, and not the one processor.
for ns in 10000 87000 8000000; do
	depth=1 seconds=1
	[ $ns -lt 8000000 ] || depth=32 seconds=10
	device=$(disk bench 256 completion_nsec=$ns)
	must dd if=/dev/urandom of="$device" bs=1M count=256 oflag=direct status=none
	PREFIX=$ns relay compare-fio --xpcache /usr/bin/xpcache --seconds $seconds --rounds 1 --depth $depth "$device"
	echo 0 >/sys/kernel/config/nullb/bench/power
	rmdir /sys/kernel/config/nullb/bench
done

# headline NAME ARGUMENT... - of the cache; its figures by hand.
headline()
{
	local name=$1
	shift
	must xpcache bench xpcache0 "$@" -o /tmp/$name.json
	PREFIX=$name relay by-hand /tmp/$name.json
}

# verdict NAME WORDS...
verdict()
{
	local said
	said=$(sed -n 's/.*"verdict": *"\([^"]*\)".*/\1/p' /tmp/$1.json)
	grep -qE "^(${*:2})$" <<<"$said" && pass "$1-verdict" || fail "$1-verdict" "$said"
}

MODEL=flash
devices
up_xpcache --idle-ms 0 --stream-kib 0
must dd if=$CACHE of=/dev/null bs=64k count=512 iflag=direct status=none
settled test "$(counter fills)" -ge 8000
headline flash --seconds 2 --range 32M
PREFIX=87000 relay compare-fio --legs /tmp/flash.json --seconds 2
must xpcache remove xpcache0
no_devices

MODEL=disk
devices
up_xpcache --idle-ms 0 --stream-kib 0
headline cold --seconds 2
verdict cold 'Not helping|Slower than no cache'
grep -q 'It is cold' /tmp/cold.json && pass cold-says-so || fail cold-says-so "$(grep sentence /tmp/cold.json)"
must dd if=$CACHE of=/dev/null bs=64k count=512 iflag=direct status=none
settled test "$(counter fills)" -ge 8000
headline warm --seconds 2 --range 32M
verdict warm 'Mostly hidden|As fast as the fast drive'
PREFIX=8000000 relay compare-fio --legs /tmp/warm.json --seconds 2
# One read in 40 misses.
headline mostly --seconds 4 --range 33587200
verdict mostly 'Mostly hidden'
must xpcache remove xpcache0
