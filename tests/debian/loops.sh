# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# loops.sh - partitions of an image as loop devices (not every kernel looks for partitions on
# loop devices), and the end of them, whatever happens. Its caller says where $root is mounted.

loops=()

finish()
{
	# shellcheck disable=SC2154 # root
	umount -qR "$root" || true
	for loop in "${loops[@]}"; do
		losetup -d "$loop"
	done
	loops=()
}
trap finish EXIT

# attach IMAGE NUMBER - sets $loop.
attach()
{
	local start size
	read -r start size < <(sfdisk -l -o Device,Start,Sectors "$1" |
		awk -v name="$1$2" '$1 == name { print $2, $3 }')
	loop=$(losetup -f --show -o $((start * 512)) --sizelimit $((size * 512)) "$1")
	loops+=("$loop")
}

root_partition() { case $1 in gpt) echo 2 ;; dos) echo 1 ;; esac; }
swap_partition() { case $1 in gpt) echo 3 ;; dos) echo 2 ;; esac; }
home_partition() { case $1 in gpt) echo 4 ;; dos) echo 6 ;; esac; }
