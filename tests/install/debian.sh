# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # root
# A Debian of its own for a test, as a tar archive that is made once.

# debian SUITE PACKAGES - $archive has that suite and those packages, a comma between two.
debian()
{
	local mirror
	archive=$root/build/install/$1-$(md5sum <<<"$2" | cut -c 1-8).tar
	[ ! -e "$archive" ] || return 0
	mkdir -p "$root/build/install"
	mirror=$("$root/tests/vm/archive" mirror) || return
	echo "deb $mirror $1 main" >sources
	mmdebstrap --variant=minbase --mode=root --include="$2" --aptopt='Apt::Install-Recommends "false"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
		"$1" "${archive%.tar}.new.tar" sources >out 2>&1 && mv "${archive%.tar}.new.tar" "$archive"
}

inside() { env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C NO_COLOR=1 DEBIAN_FRONTEND=noninteractive chroot "$tree" "$@"; }
attach() { mount "${@:1:$#-1}" "$tree/${*: -1}" && at_end "umount -l '$tree/${*: -1}'"; }

# a_debian SUITE - sets $tree, and $was, its kernel.
a_debian()
{
	local node
	debian "$1" "$(dpkg-deb -f "$program" Depends | tr ',' '\n' | sed 's/^ *\([^ ]*\).*/\1/' | xargs | tr ' ' ,),dkms,openssl,initramfs-tools,linux-image-amd64,linux-headers-amd64,grub2-common" ||
		return
	tree=$(mktemp -d "$dir/$1.XXXXXX")
	chmod 755 "$tree"
	tar -xf "$archive" -C "$tree" --numeric-owner --exclude='./dev/*'
	attach -t proc proc proc
	attach -t tmpfs dev dev
	attach -t tmpfs run run
	attach --bind -o ro /sys sys
	for node in null:3 zero:5 urandom:9 random:8; do
		mknod -m 666 "$tree/dev/${node%:*}" c 1 "${node#*:}"
	done
	ln -s /proc/self/fd "$tree/dev/fd"
	# What / is on it would ask of this machine.
	cat >"$tree/usr/sbin/grub-probe" <<-'END'
		#!/bin/sh
		case "$*" in
		*target=device*) echo /dev/vda1 ;;
		*target=fs_uuid*) echo 01234567-89ab-cdef-0123-456789abcdef ;;
		*target=fs*) echo ext2 ;;
		*) exit 1 ;;
		esac
	END
	mkdir -p "$tree/boot/grub" "$tree/etc/initramfs-tools/conf.d"
	touch "$tree/boot/grub/grub.cfg"
	echo MODULES=list >"$tree/etc/initramfs-tools/conf.d/modules"
	echo ext4 >>"$tree/etc/initramfs-tools/modules"
	was=$(cd "$tree/lib/modules" && echo *)
	cp "$root"/build/deb/*.deb "$tree/root/"
}

# our_packages - sets $program and $module.
our_packages()
{
	[ -e "$(ls "$root"/build/deb/xpcache-dkms_*.deb 2>/dev/null)" ] || ok "make deb" make -C "$root" --no-print-directory deb
	program=$(ls "$root"/build/deb/xpcache_*.deb) module=$(ls "$root"/build/deb/xpcache-dkms_*.deb)
}

# on_a_cache - / is to be on a cache of a disk that is nowhere; its $record.
record=00000000000000000000000000000001.json
on_a_cache()
{
	mkdir -p "$tree/etc/xpcache"
	cat >"$tree/etc/xpcache/$record" <<-END
		{ "name": "nowhere", "uuid": "${record%.json}", "start": "initramfs",
		  "slow": { "hardware": "none", "content": "", "path": "/dev/none", "sectors": 8, "logical_size": 512 } }
	END
}
