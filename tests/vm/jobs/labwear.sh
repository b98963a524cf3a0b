# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part wear of the lab: what the fast device has written for each block of 4 KiB that
# came, and was not in the cache.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

# wear CASE OP FIRST - records that are still in memory are written in the end, too.
wear()
{
	local before
	before=$(counter fast_bytes_written)
	must latency "$DEV" "$2" 4096 $(($3 * MIB)) $((64 * MIB)) $COUNT 1
	must dmsetup message xpcache0 0 commit
	value "wear-$1" "$(quotient $(($(counter fast_bytes_written) - before)) $COUNT)"
}

measure_wear()
{
	wear plain write 0
	wear sync sync 64
	wear dsync dsync 128
	local before	# the start has looked for a partition table
	before=$(counter fills)
	wear filled read 512
	[ $(($(counter fills) - before)) -eq $COUNT ] || die wear-filled "some reads were not kept"
}

MODEL=flash target=xpcache
on_devices measure_wear
pass measured
