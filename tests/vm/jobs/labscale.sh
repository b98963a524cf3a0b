# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host memory=2G fast=16M slow=16M timeout=1800
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/scale
#
# Read hits from all processors at once, through dm-linear and through xpcache in turn.
# Both devices answer at once, on the processor that asks: nothing else is waited for.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

# at_once NAME MIB
at_once() { disk "$1" "$2" irqmode=0 submit_queues="$CPUS"; }

# together - requests a second, of one reader on each processor.
together()
{
	local cpu
	for ((cpu = 0; cpu < CPUS; cpu++)); do
		taskset -c $cpu latency "$DEV" read 4096 0 $((8 * MIB)) "$READS" $cpu >/tmp/reader$cpu &
	done
	wait
	cat /tmp/reader* | sed 's/.*"mean":\([0-9]*\).*/\1/' |
		awk '{ n += 1e9 / $1 } END { printf "%d", n }'
}

FASTDEV=$(at_once fast 64) SLOWDEV=$(at_once slow 1024)
up_xpcache
warm
FASTDEV=$(at_once meta 64)
up_linear
warm
for ((round = 0; round < ROUNDS; round++)); do
	for DEV in /dev/mapper/linear $CACHE; do
		report "SPEED $(basename "$DEV") $(together)"
	done
done
pass measured
