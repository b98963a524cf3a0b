# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091
#
# As the installer of Debian does at its end.
. /mnt/lib.sh

must grub-install /dev/sda
must update-grub
sync
