# SPDX-License-Identifier: GPL-2.0-only
# vm: driver=lab usr=host clock=instructions memory=4G fast=16M slow=16M timeout=3000
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# The part start of the lab: what 8 million slots take of memory, and of time to start,
# nearly every one in use. Of the devices only the metadata is kept: what is written to
# the rest is forgotten, and nobody reads it.

. ./lib.sh
. ./labdevices.sh
. ./labrows.sh

modprobe -q dm_xpcache	# its own pages are none of a slot's

# KiB, as the kernel counts them.
allocated() { awk '/^(Slab|VmallocUsed|Percpu):/ { n += $2 } END { print n }' /proc/meminfo; }

LIMITS=(--dirty-low 99 --dirty-high 100 --idle-ms 0)

microseconds() { echo "${EPOCHREALTIME/./}"; }

head=$(disk fast 1024 completion_nsec=10000)
body=$(disk meta 31744 completion_nsec=10000 memory_backed=0)
FASTDEV=/dev/mapper/fast
SLOWDEV=$(disk slow 65536 completion_nsec=87000 memory_backed=0)
must dd if=/dev/zero of="$head" bs=1M count=1024 oflag=direct status=none
must dmsetup create fast <<-END
	0 $(sectors "$head") linear $head 0
	$(sectors "$head") $(sectors "$body") linear $body 0
END
target=xpcache
up_xpcache "${LIMITS[@]}"
slots=$(counter slots)
must dd if=/dev/zero of="$DEV" bs=1M count=$((slots * 98 / 100 / 256)) oflag=direct status=none
stop
# Of the host's /usr a busy host makes the machine wait, and then its clock runs to whatever timer is next.
must mkdir /tmp/program
# shellcheck disable=SC2046 # paths of libraries
must cp "$(command -v xpcache)" $(ldd "$(command -v xpcache)" | grep -o '/[^ ]*') /tmp/program
before=$(allocated)
began=$(microseconds)
must /tmp/program/ld-linux-x86-64.so.2 --library-path /tmp/program /tmp/program/xpcache start --slow "$SLOWDEV" "${LIMITS[@]}"
took=$(($(microseconds) - began))
[ "$(counter dirty)" -gt $((slots / 100 * 97)) ] || die start "there are $(counter dirty) of $slots blocks"
value slots "$slots"
value start-seconds "$(quotient $took 1000000)"
value slot-allocated "$(quotient $((($(allocated) - before) * 1024)) "$slots")"
value slot-says "$(quotient "$(counter memory)" "$slots")"
stop
pass measured
