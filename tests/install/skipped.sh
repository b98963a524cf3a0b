# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The packages beside a kernel that the module does not build for, on Debian 12 and 13: apt ends well and says
# why that kernel has none, the others have theirs; and while / is on a cache, the initramfs of the skipped one
# keeps the disk, and it is not what boots by default. Its packages are those of the suite's own kernel,
# named anew, with other headers.

. "$root/tests/install/debian.sh"

# named NEW - what the packages of $was say of themselves, of NEW
named() { sed "s/$was/$1/g; s/${was%-amd64}/${1%-amd64}/g"; }

# forge NEW [FILE EXPRESSION] - packages of such a kernel: /root/image.deb, /root/headers.deb; FILE of its headers is edited
forge()
{
	local new=$1 deb script common file
	rm -rf "$tree"/root/{image,headers}
	for deb in image headers; do
		mkdir -p "$tree/root/$deb"/{DEBIAN,lib/modules/"$new"}
		printf '%s\n' "Package: linux-$deb-$new" 'Version: 1' 'Architecture: amd64' 'Maintainer: nobody <nobody@xpcache.invalid>' \
			'Description: a kernel of the test' >"$tree/root/$deb/DEBIAN/control"
		for script in postinst prerm postrm preinst; do
			file=$tree/var/lib/dpkg/info/linux-$deb-$was.$script
			[ ! -e "$file" ] || named "$new" <"$file" >"$tree/root/$deb/DEBIAN/$script"
		done
		chmod 755 "$tree/root/$deb/DEBIAN"/p* 2>/dev/null
	done
	mkdir "$tree/root/image/boot"
	cp "$tree/boot/vmlinuz-$was" "$tree/root/image/boot/vmlinuz-$new"
	cp "$tree/boot/config-$was" "$tree/root/image/boot/config-$new"
	cp "$tree/lib/modules/$was"/modules.{order,builtin,builtin.modinfo} "$tree/root/image/lib/modules/$new/"
	(cd "$tree/lib/modules/$was" && find kernel/drivers/md kernel/drivers/dax kernel/lib kernel/crypto kernel/fs/ext4 kernel/fs/jbd2 -name '*.ko*' -print0 |
		cpio -0pd --quiet "$tree/root/image/lib/modules/$new") 2>/dev/null
	mkdir -p "$tree/root/headers/usr/src"
	common=linux-headers-${was%-amd64}-common
	cp -a "$tree/usr/src/linux-headers-$was" "$tree/root/headers/usr/src/linux-headers-$new"
	cp -a "$tree/usr/src/$common" "$tree/root/headers/usr/src/linux-headers-${new%-amd64}-common"
	for file in Makefile .kernelvariables include/generated/utsrelease.h include/config/kernel.release include/config/auto.conf; do
		file=$tree/root/headers/usr/src/linux-headers-$new/$file
		[ ! -e "$file" ] || { named "$new" <"$file" | sed "s/$common/linux-headers-${new%-amd64}-common/g" >edited && cat edited >"$file"; }
	done
	ln -s "/usr/src/linux-headers-$new" "$tree/root/headers/lib/modules/$new/build"
	if [ $# -gt 1 ]; then
		file=$tree/root/headers/usr/src/linux-headers-${new%-amd64}-common/include/linux/$2
		sed "$3" "$file" >edited
		! cmp -s edited "$file" || { : >out; fail "skipped: doctoring $2" "'$3' changes nothing"; }
		cat edited >"$file"
	fi
	for deb in image headers; do
		inside dpkg-deb -Znone -b "/root/$deb" "/root/$deb.deb" >/dev/null || fail "skipped: a package of $new" dpkg-deb
	done
}

has_module() { ls "$tree/lib/modules/$1/updates/dkms/dm-xpcache.ko"* >/dev/null 2>&1; }
# modules NAME KERNEL... - these have it, and no other
modules()
{
	local name=$1 kernel
	shift
	same "$name" "$(for kernel in "$tree"/lib/modules/*; do ! has_module "${kernel##*/}" || echo "${kernel##*/}"; done | sort | xargs)" \
		"$(printf '%s\n' "$@" | sort | xargs)"
}
in_image() { inside lsinitramfs "/boot/initrd.img-$1" | grep -cE -e "$2"; }
# What boots if nobody chooses, as GRUB reads its menu; the entry must be there.
boots()
{
	local default entry
	default=$(sed -n 's/^ *set default="\(.*\)"$/\1/p' "$tree/boot/grub/grub.cfg" | grep -v next_entry | tail -n 1)
	case $default in
	0 | '${saved_entry}') entry=$(grep -m 1 '^menuentry ' -A 20 "$tree/boot/grub/grub.cfg") ;;
	*) entry=$(grep -F "'${default##*>}'" -A 20 "$tree/boot/grub/grub.cfg") ;;
	esac
	sed -n 's/^[[:space:]]*linux[[:space:]].*vmlinuz-\([^ ]*\) .*/\1/p' <<<"$entry" | head -n 1
}
whole() { same "$1: and no package is half installed" "$(inside dpkg --audit)" ""; }

# beside SUITE
beside()
{
	local at=$1 old='dm_submit_bio_remap: this kernel does not have it'
	a_debian "$1" || { fail "skipped: $1" "no such Debian, status $?"; return; }
	at="skipped: $1"

	forge 99.1.0-1-amd64 device-mapper.h 's/\<dm_submit_bio_remap\>/dm_submit_bio_another/'
	ok "$at: such a kernel" inside sh -c 'apt-get -qy install /root/image.deb /root/headers.deb'
	ok "$at: the packages beside it" inside sh -c 'apt-get -qy install /root/xpcache_*.deb /root/xpcache-dkms_*.deb'
	same "$at: in one line of ours" "$(grep -c "^xpcache: no module dm-xpcache for Linux 99.1.0-1-amd64, which is skipped: needs $old:" out)" 1
	modules "$at: the others have the module" "$was"
	whole "$at"
	ok "$at: dkms status" inside dkms status
	same "$at: of which it says nothing" "$(grep -c 'skipped\|99[.]1' out)" 0

	on_a_cache
	ok "$at: purged" inside sh -c 'apt-get -qy purge linux-image-99.1.0-1-amd64 linux-headers-99.1.0-1-amd64 && update-initramfs -u -k all && update-grub'
	same "$at: / on a cache" "$(in_image "$was" dm-xpcache.ko) $(boots)" "1 $was"
	ok "$at: then such a kernel comes" inside sh -c 'apt-get -qy install /root/image.deb /root/headers.deb'
	# Once when the headers come, and once when the kernel does.
	same "$at: it is skipped, and that is said" "$(grep -c "^xpcache: no module dm-xpcache for Linux 99.1.0-1-amd64, which is skipped: needs $old:" out) $(
		grep -c '^xpcache: Linux 99.1.0-1-amd64 is not the boot menu.s default meanwhile' out)" "2 1"
	modules "$at: the others keep the module" "$was"
	whole "$at"
	same "$at: its initramfs holds the disk, and has the program that says why" "$(
		in_image 99.1.0-1-amd64 "^(usr/lib/udev/rules.d/59-xpcache.rules|usr/sbin/xpcache|usr/sbin/xpcached|scripts/local-top/xpcache|etc/xpcache/$record|etc/xpcache/did-not-start)$") $(
		in_image 99.1.0-1-amd64 /dm-mod.ko) $(in_image 99.1.0-1-amd64 dm-xpcache.ko)" "6 1 0"
	same "$at: it does not boot by default" "$(boots)" "$was"
	echo GRUB_DEFAULT=saved >>"$tree/etc/default/grub"
	ok "$at: a saved default" inside update-grub
	same "$at: none is saved" "$(boots)" "$was"
	ok "$at: which one is" inside sh -c 'grub-editenv - set saved_entry=own && update-grub'
	same "$at: stays" "$(grep -c '^ *set default="${saved_entry}"' "$tree/boot/grub/grub.cfg")" 1
	inside grub-editenv - unset saved_entry

	# What starts the cache is not given up for what cannot: its image stays, and that is an error.
	mv "$tree/lib/modules/$was/updates" "$tree/root/"
	inside depmod "$was"
	expects "$at: an image that starts the cache stays" 1 "^xpcache: no module dm-xpcache for Linux ${was//+/.}" inside update-initramfs -u -k "$was"
	same "$at: as it is" "$(in_image "$was" dm-xpcache.ko)" 1
	mv "$tree/root/updates" "$tree/lib/modules/$was/"
	inside depmod "$was"

	# Its headers learn what they lacked.
	inside apt-get -qy purge linux-headers-99.1.0-1-amd64 >/dev/null 2>&1
	forge 99.1.0-1-amd64
	ok "$at: headers come that it builds for" inside sh -c 'apt-get -qy install /root/headers.deb'
	modules "$at: now it has the module" "$was" 99.1.0-1-amd64
	same "$at: in its initramfs, and it boots by default" "$(in_image 99.1.0-1-amd64 dm-xpcache.ko) $(boots)" "1 99.1.0-1-amd64"

	# What needs.c does not name: a kernel on which it does not compile.
	inside apt-get -qy purge linux-image-99.1.0-1-amd64 linux-headers-99.1.0-1-amd64 >/dev/null 2>&1
	forge 99.2.0-1-amd64 device-mapper.h 's/\<dm_target_offset\>/dm_target_another/'
	ok "$at: a kernel that lacks what nobody has named" inside sh -c 'apt-get -qy install /root/image.deb /root/headers.deb'
	same "$at: is skipped, which is said once for each of the two" "$(grep -c "^xpcache: no module dm-xpcache for Linux 99.2.0-1-amd64, which is skipped: it does not build: .*dm_target_offset.*/var/log/xpcache-dkms-99.2.0-1-amd64.log" out)" 2
	modules "$at: and the others keep the module then" "$was"
	whole "$at"
	expects "$at: dkms by hand" 77 'which is skipped: it does not build' inside dkms build "xpcache/$(dpkg-deb -f "$module" Version)" -k 99.2.0-1-amd64
	forge 99.3.0-1-amd64
	ok "$at: a kernel without headers" inside sh -c 'apt-get -qy install /root/image.deb'
	same "$at: is not what boots" "$(boots) $(in_image 99.3.0-1-amd64 'dm-xpcache.ko|59-xpcache') $(grep -c 'install linux-headers-99.3.0-1-amd64' out)" "$was 1 1"
}

our_packages
for release in ${SUITES:-bookworm trixie}; do
	beside "$release"
done
