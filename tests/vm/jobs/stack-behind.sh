# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=96M slow=512M timeout=900 usr=host campaign=stack with=xpcached
#
# The slow disk is used without its cache, and the file system is not the first thing on it: in a
# logical partition of an MBR, in a volume group, encrypted. And not only files are changed.

. ./lib.sh
. ./layers.sh

# ---- a file system in a logical partition: as layers.sh has it for others ----
make_mbr()
{
	must sfdisk -q --force "$2" <<-'TABLE'
	label: dos
	size=100M
	type=5
	size=200M
	TABLE
	must partx -u "$2"
}
open_mbr() { :; }
close_mbr() { :; }
node_mbr()
{
	case $2 in
	/dev/mapper/*) echo "$2p5" ;;
	*) echo "${2}5" ;;
	esac
}

change_mbr() { echo 'size=50M, type=83' | must sfdisk -q --force --append $SLOW; }
change_lvm() { must lvrename -q --devices $SLOW upper volume renamed; }
change_luks()
{
	echo 'another' >/tmp/another
	must cryptsetup luksAddKey --batch-mode --key-file /tmp/key --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
		$SLOW /tmp/another
}

# on KIND MEMBER COMMAND... - with the file system mounted.
on()
{
	"open_$1" upper "$2"
	must mount "$("node_$1" upper "$2")" /mnt
	"${@:3}"
	must umount /mnt
	"close_$1" upper
}

write_file() { echo once >/mnt/by-the-live-system || fail live-system "cannot write"; }
written() { equal $kind-what-the-live-system-wrote once "$(cat /mnt/by-the-live-system)"; }

rest()
{
	must xpcache flush xpcache0
	must xpcache stop xpcache0
}

for kind in mbr lvm luks; do
	"make_$kind" upper $SLOW
	"open_$kind" upper $SLOW
	must mkfs.ext4 -q -F "$("node_$kind" upper $SLOW)"
	"close_$kind" upper
	create
	on $kind $CACHE fill /mnt/files 10 300
	rest
	start_says $kind-nobody-wrote 0 quiet
	rest
	"open_$kind" upper $SLOW
	"close_$kind" upper
	start_says $kind-only-opened 0 quiet
	rest
	on $kind $SLOW write_file
	start_says $kind-used-without-the-cache 0 "was written without the cache"
	on $kind $CACHE written
	rest
	start_says $kind-and-nobody-since 0 quiet
	rest
	change_$kind
	start_says $kind-changed-without-the-cache 0 "was written without the cache"
	must xpcache remove xpcache0
	wipefs -qa $SLOW
	partx -d $SLOW 2>/dev/null || true	# what there was of partitions
done
