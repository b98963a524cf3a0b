# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M extra=256M usr=host campaign=stack timeout=900
#
# One half of a mirror is cached; then it stands alone.

. ./lib.sh
. ./layers.sh

stack plain plain md
