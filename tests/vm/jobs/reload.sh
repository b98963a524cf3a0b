# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M slow-iops=2000 timeout=1800 quick=no
#
# Suspend, resume, table reload and messages while two sides read and write.

. ./lib.sh

ROUNDS=${ROUNDS:-5}

create --idle-ms 1000

verified_load $CACHE &
load=$!

table() { dmsetup table xpcache0 | cut -d ' ' "$@"; }
now() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

longest=0
for ((n = 1; n <= ROUNDS; n++)); do
	sleep 1
	began=$(now)
	must dmsetup suspend xpcache0
	took=$(($(now) - began))
	[ $took -gt $longest ] && longest=$took
	sleep 0.2
	must dmsetup resume xpcache0
	must dmsetup message xpcache0 0 flush
	must dmsetup message xpcache0 0 commit
	must dmsetup reload xpcache0 --table "$(table -f 1-5) 2 dirty_high $((50 + n % 29))"
	must dmsetup resume xpcache0
	must dmsetup message xpcache0 0 flush_stop
	equal "options-of-table-$n" "2 dirty_high $((50 + n % 29))" "$(table -f 6-)"
done
note "the longest of $ROUNDS suspends took $longest ms"

kill -0 $load 2>/dev/null && pass load-all-the-while || fail load-all-the-while "it ended early"
end_load $load

comes_home
