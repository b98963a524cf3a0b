# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M usr=host campaign=stack timeout=900
#
# Both devices are logical volumes.

. ./lib.sh
. ./layers.sh

stack lvm lvm plain

# A volume that was resized is not the slow device that the cache knows.
open_below
must xpcache create --fast "$fast" --slow "$slow"
stop
lvreduce -q -y -f -l -1 slow/volume 2>/dev/null || die resize "lvreduce failed"	# it warns
refused resized 3 'slow device had' xpcache start xpcache0
must lvextend -q -l +1 slow/volume
start
remove
close_below
