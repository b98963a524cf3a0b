# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=1G quick=no extra=16M timeout=1200 memory=512M watch=no sanitized=no
#
# detach and attach of a cache that is in use: by a mounted file system that is written to all the time.

. ./sleeping.sh
FILES=40
. ./writing.sh

detached() { is_asleep "$1"; }
attached() { is_awake "$1"; }

# stopped_at CALL VERB - killed before its n-th such call, "call:n"; 0: it was.
stopped_at()
{
	strace -o /dev/null -e trace="${1%:*}" -e inject="${1%:*}:signal=KILL:when=${1#*:}" xpcache "$2" xpcache0 >/dev/null 2>&1
	[ $? = 137 ]
}

create --idle-ms 0 --dirty-low 40
must mkfs.ext4 -q -F $CACHE
must mount $CACHE /mnt
begin_to_write

same=$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)
for turn in 1 2; do
	goes_on "before-$turn"
	must dmsetup message xpcache0 0 set stream_kib 12$turn	# what its record does not know
	try "detach-$turn" xpcache detach xpcache0
	detached "detached-$turn"
	equal "same-device-$turn" "$same" "$(dmsetup info -c --noheadings -o uuid,major,minor xpcache0)"
	equal "fast-is-free-$turn" "" "$(ls /sys/class/block/nvme0n1/holders)"
	equal "nothing-cached-$turn" "0 0 " "$(xpcache check $FAST --json | sed -n 's/^ *"\(dirty\|clean\)":\([0-9]*\).*/\2/p' | tr '\n' ' ')"
	goes_on "detached-$turn"
	try "attach-$turn" xpcache attach xpcache0
	attached "attached-$turn"
	equal "same-limits-$turn" "40 12$turn " "$(xpcache status --json xpcache0 |
		sed -n 's/^ *"\(dirty_low\|stream_kib\)": *\([0-9]*\).*/\2/p' | head -n 2 | tr '\n' ' ')"
done
goes_on attached
try attach-again xpcache attach xpcache0
try detach-again xpcache detach xpcache0
try detached-already xpcache detach xpcache0
xpcache status xpcache0 | grep -q 'xpcache attach xpcache0 reattaches it' && pass status-names-the-way ||
	fail status-names-the-way "$(xpcache status xpcache0)"
refused histogram-of-it 3 "xpcache attach xpcache0 reattaches it" xpcache histogram xpcache0
refused remove-of-it 3 "xpcache attach xpcache0 reattaches it" xpcache remove xpcache0
refused forget-of-it 3 "it is detached" xpcache forget xpcache0
refused stop-of-it 3 "in use" xpcache stop xpcache0
refused start-with-more 2 "keeps its name" xpcache start xpcache0 --slow $SLOW
refused start-of-the-device 3 "xpcache attach xpcache0 reattaches it" xpcache start --fast $FAST --slow $SLOW
refused create-over-it 3 "which is detached" xpcache create --fast $FAST --slow /dev/vda --name other --force --discard-dirty
refused needed 3 "nothing is dirty" xpcache list --needed
try start-all xpcache start --all
try start-boot xpcache start --boot
detached still
try hibernate-end xpcache hibernate --end
detached hibernated
try start-attaches xpcache start xpcache0
attached started
end_to_write on-the-way
written on-the-way

# ---- killed on its way ----
begin_to_write
for step in mlockall:1 alarm:1 alarm:2 pwrite64:1 fdatasync:2 munlockall:1; do
	try "killed-at-$step" stopped_at $step detach
	try "detach-after-$step" xpcache detach xpcache0
	detached "after-$step"
	goes_on "after-$step"
	must xpcache attach xpcache0
done
for step in alarm:1 alarm:2 munlockall:1; do
	must xpcache detach xpcache0
	try "attach-killed-at-$step" stopped_at $step attach
	try "attach-after-$step" xpcache attach xpcache0
	attached "attach-after-$step"
	goes_on "attach-after-$step"
done
end_to_write killed
written killed

# ---- an interrupt at the switch comes too late ----
strace -o /dev/null -e trace=mlockall -e inject=mlockall:signal=INT:when=1 xpcache detach xpcache0 >/tmp/out 2>&1
equal interrupted-at-the-switch 0 $?
grep -q 'xpcache0: detached' /tmp/out && pass it-says-so || fail it-says-so "$(cat /tmp/out)"
detached interrupted
must xpcache attach xpcache0

# ---- what fails while it is suspended leaves it neither suspended nor half detached ----
strace -o /tmp/trace -e trace=ioctl,alarm xpcache detach xpcache0 >/dev/null 2>&1
suspended=$(awk '/^alarm\(0\)/ { print n + 1; exit } /^ioctl/ { n++ }' /tmp/trace)
must xpcache attach xpcache0
for last in 0 1 2; do
	strace -o /dev/null -e trace=ioctl -e inject=ioctl:error=ENOMEM:when=$suspended..$((suspended + last)) \
		xpcache detach xpcache0 >/tmp/out 2>&1
	equal "failed-$last" 1 $?
	attached "failed-$last"
	equal "goes-on-$last" Active "$(dmsetup info -c --noheadings -o suspended xpcache0)"
	equal "nothing-left-$last" "" "$(find /run/xpcache -name '*.asleep' -o -name '*.detached' -o -name '*.turning')"
done

# ---- what another program has suspended stays so ----
must dmsetup suspend xpcache0
refused attach-suspended 3 "another program has suspended it" xpcache attach xpcache0
refused detach-suspended 3 "another program has suspended it" xpcache detach xpcache0
must dmsetup resume xpcache0
must xpcache detach xpcache0
must dmsetup suspend xpcache0
xpcache flush xpcache0 >/tmp/out 2>&1
xpcache start xpcache0 >/tmp/out 2>&1
equal left-alone Suspended "$(dmsetup info -c --noheadings -o suspended xpcache0)"
must dmsetup resume xpcache0
must xpcache attach xpcache0

# ---- what was written past it, and stopped and started ----
must xpcache detach xpcache0
pattern past 4 >/mnt/past
must umount /mnt
equal stop-detached "xpcache start xpcache0 brings it back" "$(xpcache stop xpcache0 | tail -n 1)"
try start-again xpcache start xpcache0
attached started-again
must mount $CACHE /mnt
equal past "$(pattern past 4 | sha256sum)" "$(sha256sum </mnt/past)"
written started-again
must umount /mnt
must xpcache detach xpcache0
must xpcache stop xpcache0
try remove-as-advised xpcache remove xpcache0 --fast $FAST
try file-system e2fsck -fn $SLOW
