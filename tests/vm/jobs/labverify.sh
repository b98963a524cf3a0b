# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=2400
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part verify of the lab: the same requests to a cache that compares what it reads with the
# sum of what was written, and to one that does not.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

# rows on|off
rows()
{
	row "verify-read-$1" read 4096 0 8 10000
	row "verify-part-$1" read 512 0 8 $COUNT
	row "verify-miss-$1" read 4096 512 256 $COUNT
	row "verify-new-$1" write 4096 64 64 $COUNT
	row "verify-write-$1" write 4096 0 8 10000
	row "verify-sync-$1" sync 4096 0 8 10000
	row "verify-merge-$1" write 512 0 8 $COUNT
	row "verify-big-read-$1" read $MIB 16 32 64
	row "verify-big-write-$1" write $MIB 16 32 64
}

MODEL=flash target=xpcache SECTOR=512
declare -A verify=([off]=0 [on]=1)
for state in off on; do
	devices
	up_xpcache --dirty-low 80 --dirty-high 95 --idle-ms 0 --verify ${verify[$state]}
	warm
	must dd if=/dev/zero of="$DEV" bs=1M seek=16 count=32 oflag=direct status=none
	rows $state
	[ "$(counter sum_errors)" = 0 ] || die verify-rot "$(counter sum_errors) blocks do not hold what was written"
	down_xpcache
	no_devices
done
pass measured
