# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M extra=256M usr=host campaign=stack timeout=900
#
# The slow device is a mirror.

. ./lib.sh
. ./layers.sh

stack plain md plain
