# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=crash usr=host with=xpcached timeout=900
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/crash
#
# A small cache at work over recorded disks: requests of all kinds, a stop and a
# start, and requests again. What is judged is the record, by tests/crash/replay.
# With ENGINE=user the cache is xpcached's, as ublk's device where there is one, else
# behind the kernel's NBD client.

. ./lib.sh

FAST=/dev/vda
DIARY=/dev/vdb
LIMITS="--dirty-low 20 --dirty-high 60 --idle-ms 700"
export XPCACHE_RUNTIME_DIR=/run/xpcache

if [ "$ENGINE" = user ]; then
	if modprobe ublk_drv; then
		CACHE=/dev/ublkb0
		LIMITS="$LIMITS --ublk"
		plug() { [ -b $CACHE ] || die start "no $CACHE"; }
		unplug() { :; }
	else
		CACHE=/dev/nbd0
		modprobe nbd
		plug() { must nbd-client -b 512 -unix $XPCACHE_RUNTIME_DIR/xpcache0.sock $CACHE; }
		unplug() { must nbd-client -d $CACHE; }
	fi
	counter() { xpcache status xpcache0 --json | sed -n "s/^.*\"$1\": *\([0-9]*\).*/\1/p"; }
	# As a service manager does it: no commit of the tool's comes before.
	stop()
	{
		unplug
		must killall -TERM xpcached
		settled sh -c '! pidof xpcached' || die stop "xpcached runs on"
	}
else
	plug() { [ -b $CACHE ] || die start "no $CACHE"; }
fi

load() { try "load-$1" crashload run $CACHE $DIARY "$1" "$SEED" "$SECONDS_EACH"; }

must crashload fill $SLOW
# shellcheck disable=SC2086 # several words
must xpcache create --engine "$ENGINE" --fast $FAST --slow $SLOW $LIMITS
plug
must crashload mark $DIARY ready
load 1
must crashload mark $DIARY stopping
stop
must crashload mark $DIARY stopped
# shellcheck disable=SC2086
must xpcache start --engine "$ENGINE" --fast $FAST --slow $SLOW $LIMITS
plug
load 2
note "$(xpcache status xpcache0 --json | tr -d ' \n"' | sed 's/.*counters:{\([^}]*\).*/\1/')"
[ "$(counter written_back)" -gt 0 ] && [ "$(counter evicted)" -gt 0 ] && pass all-was-at-work ||
	fail all-was-at-work "$(counter written_back) blocks written back, $(counter evicted) evicted"
must crashload mark $DIARY last
