# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=3G fast=16M slow=32M timeout=900
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/profile
#
# One kind of request after another, for tests/lab/profile to look at the instructions.

. ./lib.sh
. ./labdevices.sh

devices
up_"$TARGET"
warm
OF=$OP
FIRST=0
SPAN=$((8 << 20))
SIZE=4096
case $OP in
read) ;;
write-1024k)
	OF=write
	SIZE=$((1 << 20))
	SPAN=$((64 << 20))
	must latency "$DEV" $OF $SIZE 0 $SPAN 100 1
	;;
miss)	# of a device that misses nothing: reads
	OF=read
	if [ "$TARGET" != raw ] && [ "$TARGET" != linear ]; then
		FIRST=$((512 << 20))
		SPAN=$FIRST
	fi
	;;
*)	must latency "$DEV" "$OP" 4096 0 $SPAN 4000 1 ;;
esac
# Where the functions are, on a disk that the host can read.
must dd if=/proc/kallsyms of=$SLOW conv=sync,fsync bs=64k iflag=fullblock status=none
pass PROFILE
latency "$DEV" "$OF" $SIZE $FIRST $SPAN 100000000 2
