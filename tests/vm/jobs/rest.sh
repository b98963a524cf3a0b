# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=16M slow=64M timeout=300 quick=6.12
#
# A suspend closes the journal, and has no error of its own: a commit asked for afterwards tells
# whether that went well.

. ./lib.sh

FRONT=/dev/mapper/front
sectors=$(blockdev --getsz $FAST)

# turn TABLE: of the device in front of the fast one
turn()
{
	must dmsetup suspend --noflush --nolockfs front
	must dmsetup load front <<<"$1"
	must dmsetup resume front
}

must dmsetup create front --table "0 $sectors linear $FAST 0"
must xpcache create --fast $FRONT --slow $SLOW --name xpcache0 --idle-ms 600000
write_blocks 0 8 if=/dev/urandom status=none
must dmsetup suspend xpcache0
try commit-at-rest dmsetup message xpcache0 0 commit
must dmsetup resume xpcache0
try commit-after-it dmsetup message xpcache0 0 commit

# What was acknowledged and not flushed has its records in memory still: they go nowhere. However slow the machine
# is: nothing reaches the journal from before the write on.
journal=$(($(dumped $FAST data_start) * 8))
must dmsetup create gate --table "0 $journal linear $FAST 0"
turn "0 $journal linear /dev/mapper/gate 0
$journal $((sectors - journal)) linear $FAST $journal"
must dmsetup load gate --table "0 $journal error"
must dmsetup suspend --noflush --nolockfs gate
write_blocks 16 8 if=/dev/urandom status=none
must dmsetup resume gate
must dmsetup suspend --noflush --nolockfs xpcache0
dmesg | grep -q 'closing the cache failed' && pass close-fails || fail close-fails "$(dmesg | tail -n 3)"
commits() { dmsetup message xpcache0 0 commit 2>&1; }
commits && fail commit-after-a-bad-close "it is answered as if all were well" || pass commit-after-a-bad-close
commits && fail and-again "it is answered as if all were well" || pass and-again
turn "0 $sectors linear $FAST 0"
must dmsetup resume xpcache0
equal it-has-failed failed "$(state)"
commits && fail commit-of-a-failed-one "it is answered as if all were well" || pass commit-of-a-failed-one
must xpcache stop xpcache0 --force
try start xpcache start --fast $FRONT --slow $SLOW
try commit-once-it-is-back dmsetup message xpcache0 0 commit
must xpcache remove xpcache0
