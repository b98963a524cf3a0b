# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M extra=256M usr=host campaign=stack timeout=900
#
# Everything at once: volume and mirror below, encryption above.

. ./lib.sh
. ./layers.sh

stack lvm md luks
