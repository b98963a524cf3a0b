# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M usr=host campaign=stack timeout=900
#
# Both devices are logical volumes.

. ./lib.sh
. ./layers.sh

stack lvm lvm plain
