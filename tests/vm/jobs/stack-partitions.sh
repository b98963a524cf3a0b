# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M extra=512M usr=host campaign=stack timeout=900
#
# A volume group and swap on partitions of a cached disk; and a disk that is half of a mirror, whose
# partition table is the mirror's.

. ./lib.sh
. ./layers.sh

P1=${CACHE}p1
P2=${CACHE}p2

parts() { dmsetup ls | cut -f 1 | grep '^xpcache0p' | sort | xargs; }

must sfdisk -q --force $SLOW <<<'label: gpt
size=256M
size=100M'
must partx -u $SLOW
create --idle-ms 0 --dirty-low 80 --dirty-high 90
must mkswap $P2
must swapon $P2
refused stop-while-swap 3 "in use, used as swap: xpcache0p2: swapoff it first" xpcache stop xpcache0
must swapoff $P2

make_lvm upper $P1
open_lvm upper $P1
must mkfs.ext4 -q "$(node_lvm upper)"
must mount "$(node_lvm upper)" /mnt
fill /mnt/files 10 300
tree /mnt >/tmp/wanted
must umount /mnt
refused stop-while-a-volume 3 "in use, part of /dev/mapper/upper-volume: xpcache0p1: take that apart first" xpcache stop xpcache0
refused hide-while-a-volume 3 "in use, part of" xpcache partitions xpcache0 --hide
equal all-are-there "xpcache0p1 xpcache0p2" "$(parts)"
close_lvm upper
stop
equal gone "" "$(parts)"
start
open_lvm upper $P1
must mount "$(node_lvm upper)" /mnt
equal files-after-start "$(cat /tmp/wanted)" "$(tree /mnt)"
must umount /mnt
close_lvm upper
remove

# With its metadata at the end the table is where a disk has its own.
must wipefs -qa $SLOW
must mdadm --create /dev/md1 --run --level=1 --metadata=1.0 --assume-clean --raid-devices=2 $SLOW "$LEG"
must sfdisk -q --force /dev/md1 <<<'label: gpt
size=256M'
close_md slow
equal table-in-sight gpt "$(sfdisk -d $SLOW | sed -n 's/^label: //p')"
create
equal half-of-a-mirror-has-none "" "$(parts)"
remove
