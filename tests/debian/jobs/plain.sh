# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091
# vm: disk=disk slow-iops=150
. /mnt/lib.sh
pass "booted"
note "$(systemd-analyze | head -n1)"
note "$(findmnt -no SOURCE /)"
[ "$BOOT" -gt 1 ] && exit
report REBOOT
sleep 1
systemctl reboot
sleep infinity
