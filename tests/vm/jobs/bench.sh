# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M slow-iops=120 timeout=600 quick=no sanitized=no
#
# xpcache bench of a running cache: a cold one says so, a warm one hides the disk, and
# nothing is written unless asked for, and then to no device that is in use. The machine
# is emulated, on a host that may be busy: what is asserted of times is of medians.

. ./lib.sh

export LC_ALL=C

# says NAME TEXT... - bench has said all of them.
says()
{
	local name=$1 text
	shift
	for text; do
		grep -qE -e "$text" /tmp/said || {
			fail "$name" "it does not say \"$text\": $(head -n 1 /tmp/said)"
			return
		}
	done
	pass "$name"
}

# measure ARGUMENT...
measure()
{
	xpcache bench xpcache0 "$@" >/tmp/said 2>&1 || fail bench "$* ended with status $?: $(tail -n 1 /tmp/said)"
	cat /tmp/said
}

must dd if=/dev/urandom of=$SLOW bs=1M count=64 oflag=direct
slow=$(sha256sum <$SLOW)
create --idle-ms 0

measure --seconds 3
says cold-says-so '^(Not helping|Slower than no cache|Partly hidden)\.' 'It is cold: (100|9[0-9.]*)% of these reads' \
	'^! The cache is cold' '^! Places are all over the device'

# Read from one end to the other, and kept all the same.
must dmsetup message xpcache0 0 stream_kib 0
must dd if=$CACHE of=/dev/null bs=64k count=256 iflag=direct
settled test "$(counter fills)" -ge 4000
must dmsetup message xpcache0 0 stream_kib 4096
sleep 1
measure --seconds 3 --range 16M
says warm-hides '^(Mostly hidden|As fast as the fast drive|Partly hidden)\. Your cache hides' 'With xpcache .* faster' \
	'Fast drive .* limit' 'costs [+-].* per hit' '^  Hidden +([789][0-9]|100)%'
measure --seconds 3 --places cached --json
says json-of-a-cache '"kind": "cache"' '"hit_ratio": 1.0,' '"sentence": "Your cache hides [0-9.]+% of' \
	'"before": ' '"after": ' '"id": "headline\\?/R"'
dd if=$CACHE of=/dev/null bs=64k count=256 iflag=direct status=none
measure --seconds 3
says workload '^! Places are drawn at the hit rate of all reads' 'still waits? for the disk'
measure --test working-set,warmup --range 32M --quick --json
says curves '"working_set": \[' '"distribution": "zipf"' '"warmup": \{' '"held_before": [1-9]' \
	'"ratio": 0.25, "distribution": "uniform", "warmed": 1.0, "hit_ratio": (1.0|0.9)' \
	'"ratio": 0.5, "distribution": "uniform", "warmed": 1.0, "hit_ratio": (1.0|0.9)'
equal nothing-dirty 0 "$(counter dirty)"
must xpcache stop xpcache0
equal slow-untouched "$slow" "$(sha256sum <$SLOW)"
start

must mkfs.ext4 -q -F $CACHE
must mount $CACHE /mnt
xpcache bench xpcache0 --destructive --force --test mixed >/tmp/said 2>&1
equal mounted-is-refused "3 1" "$? $(grep -c 'in use, mounted at /mnt' /tmp/said)"
must umount /mnt
measure --destructive --force --test mixed --quick
says writes 'mixed/C/0%' 'mixed/C/50% writes' 'mixed/R/50% writes'
must xpcache stop xpcache0
try scratch-alone-was-written xpcache check $FAST
start
must xpcache remove xpcache0
