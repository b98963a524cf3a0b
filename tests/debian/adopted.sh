# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091
#
# What many jobs begin with, done once.
. /mnt/desktop.sh

must xpcache adopt --fast $FAST --yes
sync
