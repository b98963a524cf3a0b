# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=256M usr=host campaign=stack timeout=900
#
# The cache is encrypted.

. ./lib.sh
. ./layers.sh

stack plain plain luks
