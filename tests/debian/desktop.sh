# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC1091
#
# desktop.sh - what jobs of the desktop share, beyond tests/vm/jobs/lib.sh.
. /mnt/lib.sh

# Numbers of the partitions that are /, swap and /home.
case $TABLE in
gpt) ROOT=2 SWAP=3 HOME_FS=4 ;;
dos) ROOT=1 SWAP=2 HOME_FS=6 ;;
esac
parts=("$ROOT" "$SWAP" "$HOME_FS")

reboot_now()
{
	report REBOOT
	systemctl reboot
	sleep infinity
}

# link UUID - the device that udev's link leads to, by the name a user knows.
link()
{
	local node
	node=$(readlink -e "/dev/disk/by-uuid/$1") || return
	case $node in
	/dev/dm-*) echo "/dev/mapper/$(cat "/sys/class/block/${node#/dev/}/dm/name")" ;;
	*) echo "$node" ;;
	esac
}

uuid_of() { blkid -p -o value -s UUID "$1"; }

# The other disk (`extra=`), whichever name it got.
data_disk()
{
	local wwid
	wwid=$(grep -l 5000c500a1b2c400 /sys/block/sd*/device/wwid)
	echo "/dev/$(basename "${wwid%/device/wwid}")"
}

# all_on PREFIX - /, swap and /home are on that disk, and the links lead there.
all_on()
{
	local n node
	equal root-on "$1$ROOT" "$(findmnt -no SOURCE /)"
	equal home-on "$1$HOME_FS" "$(findmnt -no SOURCE /home)"
	node=$(readlink -e "$1$SWAP")
	equal swap-on "$node" "$(awk 'NR == 2 { print $1 }' /proc/swaps)"
	for n in "${parts[@]}"; do
		equal "link-$n" "$1$n" "$(link "$(uuid_of "$1$n")")"
	done
}

# fenced - nobody gets at the disk below the cache.
fenced()
{
	local n
	for n in "${parts[@]}"; do
		! mount "$SLOW$n" /media 2>/dev/null || fail "raw-$n" "can be mounted"
		! swapon "$SLOW$n" 2>/dev/null || fail "raw-$n" "can be swapped to"
		equal "raw-$n-has-no-name" "" "$(find /dev/disk -lname "*/${SLOW#/dev/}$n" ! -path '*by-path*')"
	done
	! pvcreate -qqyf "$SLOW" 2>/dev/null || fail raw "is taken by LVM"
	! mdadm -q --create /dev/md9 --run --level=1 --raid-devices=2 "$SLOW" missing 2>/dev/null || fail raw "is taken by md"
	pass fenced
}

# keep - files of random bytes on / and /home, and what is in them; synced.
keep()
{
	local place
	for place in root home; do
		fill /$place/kept 20 300
		tree /$place/kept >/$place/kept.sum
	done
	sync
}

# kept [WHEN] - they are as they were.
kept()
{
	local place
	for place in root home; do
		equal "$place-kept${1-}" "$(cat /$place/kept.sum)" "$(tree /$place/kept)"
	done
}

# waited SECONDS COMMAND... - as settled, for longer.
waited()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 1
	done
}

# menu_at_rest - what was written for the boot loader is home, and nothing that is written from
# now on makes the rest go with it: what is dirty stays so.
menu_at_rest()
{
	systemctl stop xpcache-boot-files.path
	waited 300 menu_is_home || fail menu "does not come home"
}
menu_is_home() { [ "$(systemctl is-active xpcache-boot-files.service)" = inactive ]; }

# Nothing is being started but the test itself.
at_rest() { [ -z "$(systemctl list-jobs --plain --no-legend | grep -v xpcache-test)" ]; }

# up - nothing failed while it came up.
up()
{
	waited 600 at_rest
	equal no-failed-unit "" "$(systemctl --failed --plain --no-legend | awk '{ print $1 }')"
}

# adopted - the whole desktop is on the cache.
adopted()
{
	up
	all_on ${CACHE}p
	equal disk-is-below 1 "$(find /sys/block/${SLOW#/dev/}/holders -name 'dm-*' | wc -l)"
}

to_leave() { equal to-leave 1 "$(grep -c '"start": *"leave"' /etc/xpcache/*.json)"; }

nothing_below() { equal nothing-below 0 "$(find /sys/block/${SLOW#/dev/}/holders -name 'dm-*' | wc -l)"; }

nothing_left()
{
	equal no-record "" "$(ls /etc/xpcache)"
	equal no-cache "" "$(xpcache list | grep -o $FAST)"
}

# taken_back - the whole desktop is on its disk, and nothing is left of a cache: by itself, in a while.
taken_back()
{
	up
	all_on $SLOW
	nothing_below
	nothing_left
}
