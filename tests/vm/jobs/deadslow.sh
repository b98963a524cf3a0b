# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=64M timeout=300 quick=6.12
#
# The slow disk dies under a cache full of dirty blocks: reads of those go on,
# nobody waits for ever, and when the disk is back nothing is missing.

. ./lib.sh

DISK=/dev/mapper/disk
sectors=$(blockdev --getsz $SLOW)

# turn TABLE - what the disk is from now on.
turn()
{
	must dmsetup suspend --noflush --nolockfs disk
	must dmsetup load disk --table "$1"
	must dmsetup resume disk
}

write() { dd of=$CACHE bs=4k oflag=direct conv=notrunc status=none "$@"; }
first() { dd if="$1" bs=1M count=13 iflag=direct status=none | md5sum; }

# ends_in_error NAME COMMAND... - soon, and with I/O's own error.
ends_in_error()
{
	local out status
	out=$("${@:2}" 2>&1)
	status=$?
	[ $status -eq 1 ] && grep -q 'Input/output error' <<<"$out" && pass "$1" ||
		fail "$1" "status $status: $(tail -n 1 <<<"$out")"
}

must dmsetup create disk --table "0 $sectors linear $SLOW 0"
must xpcache create --fast $FAST --slow $DISK --dirty-low 95 --dirty-high 98 --idle-ms 0

must dd if=/dev/urandom of=$CACHE bs=1M count=13 oflag=direct conv=notrunc,fsync status=none
wanted=$(first $CACHE)
turn "0 $sectors error"

# What is dirty is tried again after a second, then two, four and so on. A gap is from the last look that did
# not see a try to the first that sees the next: never shorter than the pause, how slowly we ever look; and
# the last pause is three seconds longer than the first, of which a slow look may hide a half.
tries() { counter writeback_flushes; }
hundredths() { local at; read -r at _ </proc/uptime; echo $((10#${at/./})); }
must dmsetup message xpcache0 0 flush
tried=$(tries) before=$(hundredths) gaps= unseen= end=$((SECONDS + 120))
until [ $SECONDS -ge $end ] || [ "$(wc -w <<<"$gaps")" -ge 3 ]; do
	look=$(hundredths) now=$(tries)
	if [ "$now" -gt "$tried" ]; then
		gaps="$gaps ${unseen:+$(($(hundredths) - unseen))}" unseen=$before tried=$now
	fi
	before=$look
	sleep 0.2
done
note "hundredths of a second from try to try:$gaps"
grows() { [ $# = 3 ] && [ "$1" -ge 100 ] && [ "$2" -ge 200 ] && [ "$3" -ge 400 ] && [ $(($3 - $1)) -ge 150 ]; }
# shellcheck disable=SC2086 # numbers
try pauses-grow grows $gaps
xpcache status xpcache0 | grep -qE "trouble +blocks cannot be written back since $(date +%Y)" && pass status-says-since-when ||
	fail status-says-since-when "$(xpcache status xpcache0 | grep trouble)"
must dmsetup message xpcache0 0 flush_stop

# The slots that are left, and then around the cache.
ends_in_error write-of-new-blocks write if=/dev/zero seek=3328 count=4000
equal no-free-slot 0 "$(counter free)"
ends_in_error write-of-a-cached-block write if=/dev/zero count=1
equal reads-go-on "$wanted" "$(first $CACHE)"
try suspend dmsetup suspend xpcache0
try resume dmsetup resume xpcache0
# Anew after the resume: it must not be remembered as an error for ever either.
ends_in_error write-after-resume write if=/dev/zero count=1

turn "0 $sectors linear $SLOW 0"
try flush-when-it-is-back xpcache flush xpcache0
equal no-trouble-then "" "$(xpcache status xpcache0 | grep trouble)"
try write-when-it-is-back write if=/dev/zero seek=3328 count=100
equal nothing-lost "$wanted" "$(first $CACHE)"
must xpcache remove xpcache0
equal same-without-cache "$wanted" "$(first $DISK)"
