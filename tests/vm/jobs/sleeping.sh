# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# sleeping.sh - what the jobs of hibernation share. Here they are the initramfs, and systemd.

. ./lib.sh

printf '#!/bin/sh\n' >/tmp/update-initramfs
chmod +x /tmp/update-initramfs
export XPCACHE_INITRAMFS=/tmp/update-initramfs

number() { stat -c '%Hr:%Lr' "$(readlink -f "$1")"; }
state() { xpcache list | awk -v name="${1:-xpcache0}" '$1 == name { print $2 }'; }
table() { dmsetup table "${1:-xpcache0}" | cut -d ' ' -f 3,4; }
# pattern WORD MIB - that much of it, and no block as another.
pattern() { awk -v word="$1" 'BEGIN { for (;;) print ++n, word }' 2>/dev/null | head -c $(($2 << 20)); }

# hibernates HOW - 0: and it is back.
hibernates()
{
	echo "$1" >/sys/power/disk
	(echo disk >/sys/power/state) 2>/tmp/error
}

sleeps()
{
	report SLEEP
	hibernates shutdown || die sleeps "$(cat /tmp/error)"
}

# looked_at DEVICE - as if the initramfs had been told to look there, and the kernel nothing.
looked_at() { sed -i "s,^at .*,at $1,; s/^kernel .*/kernel 0:0/" /run/xpcache/looked-for-image; }

# image_to DEVICE [PAGE] - as a boot that is told of it.
image_to()
{
	echo "${2:-0}" >/sys/power/resume_offset
	number "$1" >/sys/power/resume
	[ ! -e /run/xpcache/looked-for-image ] || looked_at "$1"
}

# keep_records DISK, know DISK - what a machine's /etc and initramfs keep.
keep_records() { tar -c -C / etc/xpcache | dd of="$1" bs=64k conv=fsync status=none; }
know() { tar -x -C / -f "$1"; }

# writes WORD PLACE DEVICE, holds NAME WORD PLACE DEVICE - 4 MiB, from that of its 64 KiB on.
writes()
{
	pattern "$1" 4 | dd of="${3:-$P2}" bs=64k seek="$2" iflag=fullblock oflag=direct status=none
}

holds()
{
	equal "$1" "$(pattern "$2" 4 | sha256sum)" \
		"$(dd if="${4:-$P2}" bs=64k skip="$3" count=64 iflag=direct status=none | sha256sum)"
}

is_asleep()
{
	equal "$1-table" "linear $(number "${3:-$SLOW}")" "$(table "${2:-xpcache0}")"
	equal "$1-state" asleep "$(state "${2:-xpcache0}")"
}

is_awake()
{
	equal "$1-table" xpcache "$(table "${2:-xpcache0}" | cut -d ' ' -f 1)"
	equal "$1-state" running "$(state "${2:-xpcache0}")"
}

# killed_at CALL - a --begin before its n-th such call, "call:n"; 0: it was.
killed_at()
{
	strace -o /dev/null -e trace="${1%:*}" -e inject="${1%:*}:signal=KILL:when=${1#*:}" \
		xpcache hibernate "${2:---begin}" >/dev/null 2>&1
	[ $? = 137 ]
}

# take_out DISK, put_in DISK - of the PCI bus, both.
take_out()
{
	local device
	device=$(readlink -f "/sys/class/block/${1#/dev/}/device")
	until [ -e "$device/remove" ]; do
		device=${device%/*}
	done
	echo 1 >"$device/remove"
	settled test ! -b "$1" || fail take-out "$1 is there still"
}

put_in()
{
	echo 1 >/sys/bus/pci/rescan
	settled test -b "$1" || fail put-in "$1 did not come back"
}
