# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091
# vm: table=dos timeout=1200
#
# adopt.sh, on a disk with an MBR.
. /mnt/adopt.sh
