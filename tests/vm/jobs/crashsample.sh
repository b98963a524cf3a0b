# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=crash timeout=600
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/crash
#
# Crash images that the core has recovered in user space, started here: the cached
# device must read the same, and so must the slow disk alone after remove. Each
# image is three files one after another on the diary's disk.

. ./lib.sh

FAST=/dev/nvme0n1
IMAGES=/dev/vda

# part N FILE OFFSET SECTORS - of image N.
part() { dd if=$IMAGES bs=512 skip=$(($1 * EACH + $2)) count="$3" status=none; }

for ((n = 0; n < SAMPLES; n++)); do
	part $n 0 "$FAST_SECTORS" | must dd of=$FAST bs=512 iflag=fullblock oflag=direct status=none
	part $n "$FAST_SECTORS" "$SLOW_SECTORS" |
		must dd of=$SLOW bs=512 iflag=fullblock oflag=direct status=none
	part $n $((FAST_SECTORS + SLOW_SECTORS)) "$SLOW_SECTORS" >/tmp/wanted
	must xpcache start --fast $FAST --slow $SLOW
	dd if=$CACHE bs=512 iflag=direct status=none | try "image-$n-reads-the-same" cmp - /tmp/wanted
	must xpcache remove xpcache0
	dd if=$SLOW bs=512 iflag=direct status=none | try "image-$n-came-home" cmp - /tmp/wanted
done
