# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=16M timeout=1200
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part histogram of the lab: the same requests while the target records how long they
# take, and while it does not.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

# rows on|off FIRST - where nothing is in the cache from FIRST MiB on.
rows()
{
	row "histogram-read-$1" read 4096 0 8 10000
	row "histogram-new-$1" write 4096 "$2" 32 $COUNT
	row "histogram-write-$1" write 4096 0 8 10000
	row "histogram-sync-$1" sync 4096 0 8 10000
}

measure_histogram()
{
	warm
	must dmsetup message xpcache0 0 histogram_off
	rows off 64
	must dmsetup message xpcache0 0 histogram_on
	rows on 128
}

MODEL=flash target=xpcache
on_devices measure_histogram
pass measured
