# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=crash timeout=600
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/crash
#
# A small cache at work over recorded disks: requests of all kinds, a stop and a
# start, and requests again. What is judged is the record, by tests/crash/replay.

. ./lib.sh

FAST=/dev/vda
DIARY=/dev/vdb

load() { try "load-$1" crashload run $CACHE $DIARY "$1" "$SEED" "$SECONDS_EACH"; }

must crashload fill $SLOW
create --dirty-low 20 --dirty-high 60 --idle-ms 700
must crashload mark $DIARY ready
load 1
stop
must xpcache start --fast $FAST --slow $SLOW --dirty-low 20 --dirty-high 60 --idle-ms 700
load 2
note "$(dmsetup status xpcache0)"
[ "$(counter destaged)" -gt 0 ] && [ "$(counter evicted)" -gt 0 ] && pass all-was-at-work ||
	fail all-was-at-work "$(counter destaged) blocks destaged, $(counter evicted) evicted"
must crashload mark $DIARY last
