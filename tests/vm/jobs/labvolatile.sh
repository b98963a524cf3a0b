# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part volatile of the lab: the fast device has a volatile cache, and a FLUSH takes it
# as long as a write. How many of them does a sync take?

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

flushes() { awk '{ print $16 }' /sys/block/"${FASTDEV#/dev/}"/stat; }

# counted CASE OP
counted()
{
	local before
	before=$(flushes)
	row "$1" "$2" 4096 0 8 $COUNT
	value "$1-flushes" "$(quotient $(($(flushes) - before)) $COUNT)"
}

measure_volatile()
{
	warm
	counted volatile-write write
	counted volatile-sync sync
	counted volatile-dsync dsync
}

MODEL=flash
FAST_CACHE=16
for target in ${TARGETS//,/ }; do
	on_devices measure_volatile
done
pass measured
