# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# layers.sh - devices made of devices, to lie below a cache or on it. Each kind is
# made once of a member, under a name (fast, slow, upper), and then opened and
# closed by it:
#
#	make_KIND NAME MEMBER; open_KIND NAME MEMBER; node_KIND NAME MEMBER; close_KIND NAME
#
# There is no udev here: lvm and mdadm are told so.

export MDADM_NO_UDEV=1
LEG=/dev/vda	# the other half of a mirror

mkdir -p /etc/lvm /run/lock/lvm /run/cryptsetup /dev/md
cat >/etc/lvm/lvm.conf <<-'CONF'
	devices {
		obtain_device_list_from_udev = 0
		external_device_info_source = "none"
		use_devicesfile = 0
	}
	activation {
		udev_sync = 0
		udev_rules = 0
		monitoring = 0
	}
	global {
		use_lvmpolld = 0
		event_activation = 0
	}
CONF
echo 'not a secret' >/tmp/key

# ---- the device as it is ----
make_plain() { :; }
open_plain() { :; }
close_plain() { :; }
node_plain() { echo "$2"; }

# ---- a logical volume ----
# A volume group on a cache is on the disk below it as well, and LVM will not
# choose: it is shown the member and nothing else. A user would use a filter.
declare -A lvm_member
make_lvm()
{
	must pvcreate -q -y "$2"
	must vgcreate -q --devices "$2" "$1" "$2"
	must lvcreate -q -y --devices "$2" -l '100%FREE' -n volume "$1"
	must vgchange -q --devices "$2" -an "$1"
}
open_lvm()
{
	lvm_member[$1]=$2
	must vgchange -q --devices "$2" -ay "$1"
}
close_lvm() { must vgchange -q --devices "${lvm_member[$1]}" -an "$1"; }
node_lvm() { echo "/dev/$1/volume"; }

# ---- dm-crypt, with a LUKS header ----
make_luks()
{
	must cryptsetup luksFormat --batch-mode --type luks2 --key-file /tmp/key \
		--pbkdf pbkdf2 --pbkdf-force-iterations 1000 "$2"
}
open_luks() { must cryptsetup open --type luks2 --allow-discards --key-file /tmp/key "$2" "$1"; }
close_luks() { must cryptsetup close "$1"; }
node_luks() { echo "/dev/mapper/$1"; }

# ---- a mirror of the member and $LEG; of the member alone when that is empty ----
node_md()
{
	case $1 in
	slow)	echo /dev/md1 ;;
	upper)	echo /dev/md2 ;;
	esac
}
make_md()
{
	must mdadm --create "$(node_md "$1")" --run --level=1 --metadata=1.2 \
		--assume-clean --raid-devices=2 "$2" "$LEG"
	close_md "$1"
}
# shellcheck disable=SC2086 # $LEG is one word or none
open_md() { must mdadm --assemble "$(node_md "$1")" --run "$2" $LEG; }
close_md() { must mdadm --stop "$(node_md "$1")"; }

# ----------------------------------------------------------- one stack ----

# stack FAST-KIND SLOW-KIND UPPER-KIND - a cache on devices of two kinds, and under
# one of a third, from its making until the slow device stands alone.
stack()
{
	kind_fast=$1 kind_slow=$2 kind_upper=$3
	fast=$("node_$1" fast $FAST) slow=$("node_$2" slow $SLOW)
	on_cache=$("node_$3" upper $CACHE) alone=$("node_$3" upper "$slow")

	"make_$kind_fast" fast $FAST
	"make_$kind_slow" slow $SLOW
	open_below
	try create xpcache create --fast "$fast" --slow "$slow" --idle-ms 0 || exit 1
	same_limits
	"make_$kind_upper" upper $CACHE
	"open_$kind_upper" upper $CACHE
	must mkfs.ext4 -q "$on_cache"
	must mount "$on_cache" /mnt
	fill /mnt/kept 12 300
	fill /mnt/deleted 8 300
	sync
	through_the_cache
	tree /mnt/kept >/tmp/kept
	put_away stop

	open_below
	must xpcache start --all
	"open_$kind_upper" upper $CACHE
	must mount "$on_cache" /mnt
	equal files-after-start "$(cat /tmp/kept)" "$(tree /mnt/kept)"
	rm -r /mnt/deleted
	must fstrim /mnt
	fill /mnt/new 12 300
	tree /mnt >/tmp/all
	note "$(counter dirty) blocks dirty, $(counter discards) discards before remove"
	put_away remove

	LEG='' open_below
	LEG='' "open_$kind_upper" upper "$slow"
	try fsck-alone e2fsck -fn "$alone"
	must mount "$alone" /mnt
	equal files-alone "$(cat /tmp/all)" "$(tree /mnt)"
	must umount /mnt
	"close_$kind_upper" upper
	close_below
}

open_below()
{
	"open_$kind_slow" slow $SLOW
	"open_$kind_fast" fast $FAST
}

close_below()
{
	"close_$kind_slow" slow
	"close_$kind_fast" fast
}

# put_away stop|remove - everything, from the top down.
put_away()
{
	must umount /mnt
	"close_$kind_upper" upper
	try "$1" xpcache "$1" xpcache0
	close_below
}

# queue DEVICE ATTRIBUTE
queue() { cat "/sys/dev/block/$(mountpoint -x "$1")/queue/$2"; }

# What the cache shows is the slow device's sector, and what it promises itself.
same_limits()
{
	equal logical-sector "$(queue "$slow" logical_block_size)" "$(queue $CACHE logical_block_size)"
	equal flush-and-fua "write back 1" "$(queue $CACHE write_cache) $(queue $CACHE fua)"
	[ "$(queue $CACHE discard_max_bytes)" -gt 0 ] && pass discard ||
		fail discard "the cache takes none"
}

# No stack is tested by going around the cache.
through_the_cache()
{
	[ "$(counter write_blocks)" -gt 1500 ] && [ "$(counter flushes)" -gt 0 ] && pass through-the-cache ||
		fail through-the-cache "$(counter write_blocks) blocks, $(counter flushes) flushes"
}
