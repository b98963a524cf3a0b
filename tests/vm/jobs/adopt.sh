# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M timeout=600
#
# A disk that already holds an ext4 with files: cached, used, released. Then it
# mounts alone and every file is what it should be.

. ./lib.sh

must mkfs.ext4 -q -F $SLOW
must mount $SLOW /mnt
fill /mnt/untouched 15 300
fill /mnt/changed 15 300
fill /mnt/deleted 15 100
tree /mnt/untouched >/tmp/untouched
must umount /mnt

create
must mount $CACHE /mnt
equal files-there-after-create "$(cat /tmp/untouched)" "$(tree /mnt/untouched)"
for n in {0..14}; do
	dd if=/dev/urandom of=/mnt/changed/file$n bs=5000 seek=$n count=3 conv=notrunc status=none
done
rm -r /mnt/deleted
fill /mnt/new 15 700
dd if=/dev/urandom of=/mnt/new/large bs=1M count=10 status=none
sync
tree /mnt >/tmp/wanted
must umount /mnt
note "$(counter dirty) blocks dirty before remove"

try remove xpcache remove xpcache0
equal nothing-mapped "" "$(dmsetup ls --target xpcache | grep -v '^No devices')"
equal no-signature-left "" "$(blkid -p $FAST)"
try fsck e2fsck -fn $SLOW
must mount $SLOW /mnt
equal every-file "$(cat /tmp/wanted)" "$(tree /mnt)"
equal untouched-files "$(cat /tmp/untouched)" "$(tree /mnt/untouched)"
must umount /mnt
