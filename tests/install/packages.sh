# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The packages, in a Debian that has nothing else: what they put where, DKMS for the kernels of
# the tests, and that they stay while a cache needs them.

ok "packages: make deb" make -C "$root" --no-print-directory deb
program=$(ls "$root"/build/deb/xpcache_*.deb) module=$(ls "$root"/build/deb/xpcache-dkms_*.deb)
version=$(dpkg-deb -f "$program" Version)
lintian --allow-root --fail-on error,warning --suppress-tags bad-distribution-in-changes-file "$root"/build/deb/*.changes >out 2>&1 &&
	pass "packages: lintian" || fail "packages: lintian" "status $?"

# ------------------------------------------------------ a Debian for them ----

# What they depend on, what linux-headers does, and what signs modules.
include=$({
	dpkg-deb -f "$program" Depends
	dpkg-deb -f "$module" Depends
	echo "gcc, make, libc6-dev, libelf1, pahole, openssl, bash-completion"
} | tr ',' '\n' | sed 's/^ *\([^ ]*\).*/\1/' | sort -u | xargs | tr ' ' ,)
tree=$dir/debian
archive=$root/build/install/debian-$(md5sum <<<"$include" | cut -c 1-8).tar
if [ ! -e "$archive" ]; then
	mkdir -p "$root/build/install"
	"$root/tests/vm/archive" sources >sources
	mmdebstrap --variant=minbase --mode=root --include="$include" --aptopt='Apt::Install-Recommends "false"' \
		"$(. /etc/os-release && echo "$VERSION_CODENAME")" "${archive%.tar}.new.tar" sources >out 2>&1 &&
		mv "${archive%.tar}.new.tar" "$archive" || { fail "packages: a Debian to install them in" "status $?"; return; }
fi
mkdir "$tree"
tar -xf "$archive" -C "$tree" --numeric-owner --exclude='./dev/*'

# Of this machine it sees no disk: loop devices are made for it one by one.
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C NO_COLOR=1 DEBIAN_FRONTEND=noninteractive chroot "$tree" "$@"; }
attach() { mount "${@:1:$#-1}" "$tree/${*: -1}" && at_end "umount -l '$tree/${*: -1}'"; }
attach -t proc proc proc
attach -t tmpfs dev dev
attach -t tmpfs run run
for node in null:3 zero:5 urandom:9 random:8; do
	mknod -m 666 "$tree/dev/${node%:*}" c 1 "${node#*:}"
done
ln -s /proc/self/fd "$tree/dev/fd"
attach --bind -o ro /sys sys
for series in 6.1 6.12; do
	kver=$("$root/tests/vm/kernel" $series)
	mkdir -p "$tree/kernel/$series" "$tree/lib/modules/$kver"
	attach --bind "$root/build/kernel/$series/root" "kernel/$series"
	mount -o remount,bind,ro "$tree/kernel/$series"
	ln -s "/kernel/$series/usr/src/linux-headers-$kver" "$tree/lib/modules/$kver/build"
	touch "$tree/lib/modules/$kver/modules.order" "$tree/lib/modules/$kver/modules.builtin"
done
cp "$program" "$module" "$tree/root/"

# ----------------------------------------------------------- what is there ----

has_module() { ls "$tree/lib/modules/$1/updates/dkms/dm-xpcache.ko"* >out 2>&1; }
signer() { inside modinfo -F signer "/lib/modules/$1/updates/dkms/$(cd "$tree/lib/modules/$1/updates/dkms" && ls)"; }
old=$(cat "$root/build/kernel/6.1/version") new=$(cat "$root/build/kernel/6.12/version")

# The newer kernel comes later.
mv "$tree/lib/modules/$new" "$tree/newer"
ok "packages: installed" inside sh -c 'dpkg -i /root/xpcache_*.deb /root/xpcache-dkms_*.deb'
# Units are in /lib or in /usr/lib, as the release has them: lintian tells if it is the other.
same "packages: files" "$(inside dpkg -L xpcache | while read -r file; do [ -d "$tree/$file" ] || echo "$file"; done |
		sed 's,^/usr/lib/systemd/system/,/lib/systemd/system/,' | grep -v -e '^/usr/share/doc/' -e '^/usr/share/lintian/' | sort | xargs)" \
	"$({
		printf '%s\n' $(printf '/lib/systemd/system/%s ' $units) /usr/sbin/xpcache /usr/sbin/xpcached /usr/libexec/xpcache/xpcache-bench /usr/libexec/xpcache/xpcached-watch \
			/usr/share/bash-completion/completions/xpcache /usr/share/fish/vendor_completions.d/xpcache.fish \
			/usr/share/zsh/vendor-completions/_xpcache
		for file in $at_boot $of_system; do
			case $file in
			etc/*) echo "/$file" ;;
			lib/systemd/system/*) echo "/$file" ;;
			*) echo "/usr/$file" ;;
			esac
		done
		cd "$root/docs" && ls ./*.8 | sed 's,^\./\(.*\),/usr/share/man/man8/\1.gz,'
	} | sort | xargs)"
same "packages: documents can be read" "$(cd "$tree/usr/share/doc/xpcache" && ls ./*.md* ./*.rst* | xargs)" \
	"$(cd "$root" && { ls docs/*.md docs/*.rst; echo README.md; } | sed 's,.*/,,; s,^,./,' | sort | xargs)"
same "packages: sources" "$(cd "$tree/usr/src/xpcache-$version" && ls | xargs)" \
	"$(cd "$root" && { ls core/*.[ch] dm-target/*.[ch] dm-target/Kbuild | xargs -n 1 basename; printf '%s\n' dkms.conf installed try; } | sort | xargs)"
same "packages: version" "$(inside xpcache version | cut -d , -f 1)" "xpcache $version"
same "packages: caches start with the machine, and no port is opened" "$(find "$tree/etc/systemd" -name '*xpcache*' -printf '%f\n' | sort | xargs)" \
	"xpcache-boot-files.path xpcache-left.service xpcache.service"
same "packages: completion" "$(inside bash -c '. /usr/share/bash-completion/bash_completion
	_completion_loader xpcache
	COMP_WORDS=(xpcache st) COMP_CWORD=1
	_xpcache xpcache st xpcache
	echo "${COMPREPLY[@]}"' 2>&1)" "start status stop"

has_module "$old" && pass "packages: module for $old" || fail "packages: module for $old" "not there"
same "packages: vermagic of it" "$(inside modinfo -F vermagic "/lib/modules/$old/updates/dkms/dm-xpcache.ko" | cut -d ' ' -f 1)" "$old"
[ -n "$(signer "$old")" ] && [ -e "$tree/var/lib/dkms/mok.pub" ] && pass "packages: it is signed by the key that INSTALL.md names" ||
	fail "packages: it is signed by the key that INSTALL.md names" "$(ls "$tree/var/lib/dkms")"
mv "$tree/newer" "$tree/lib/modules/$new"
ok "packages: another kernel comes" inside /etc/kernel/header_postinst.d/dkms "$new"
has_module "$new" && pass "packages: module for $new" || fail "packages: module for $new" "not there"
same "packages: vermagic of it, too" "$(inside modinfo -F vermagic "/lib/modules/$new/updates/dkms/dm-xpcache.ko" | cut -d ' ' -f 1)" "$new"

# ------------------------------------------------------------ going away ----

installed() { inside dpkg-query -W -f '${db:Status-Status}' "$1"; }
stays() {	# NAME TEXT
	expects "packages: $1 keeps xpcache" 1 "^xpcache: $2" inside dpkg -r xpcache
	expects "packages: $1 keeps xpcache-dkms" 1 "^xpcache: $2" inside dpkg -r xpcache-dkms
	same "packages: both are there still" "$(installed xpcache), $(installed xpcache-dkms), $(ls "$tree/usr/sbin/xpcache")" \
		"installed, installed, $tree/usr/sbin/xpcache"
	has_module "$old" && has_module "$new" && pass "packages: and the modules" || fail "packages: and the modules" "not there"
}

# A cache on loop devices that its own /dev has; the user engine runs it.
rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
fast=$(losetup -f --show "$dir/fast")
at_end "losetup -d $fast"
slow=$(losetup -f --show "$dir/slow")
at_end "losetup -d $slow"
for loop in "$fast" "$slow"; do
	mknod "$tree$loop" b $(stat -c '0x%t 0x%T' "$loop")
done
at_end "pkill -f 'xpcached serve --fast $fast '"
ok "packages: a cache" inside xpcache create --engine user --fast "$fast" --slow "$slow" --idle-ms 0
stays "a cache that runs" "the cache runs, 0 blocks .0 B. dirty: xpcache0: end what uses it, then xpcache flush xpcache0"
head -c 8M /dev/urandom >data
ok "packages: dirty" nbdcopy data "nbd+unix:///?socket=$tree/run/xpcache/xpcache0.sock"
ok "packages: at rest" inside xpcache stop xpcache0
stays "a dirty cache" "the stopped cache xpcache0 has [0-9,]+ blocks [(][0-9.]+ MiB[)] dirty: $fast: xpcache flush --offline --fast $fast --slow $slow writes them back"
ok "packages: an upgrade is not held up" inside sh -c 'dpkg -i /root/xpcache_*.deb /root/xpcache-dkms_*.deb'
flush=$(inside xpcache list --needed 2>&1 | sed -n 's/.*: \(xpcache flush .*\) writes them back$/\1/p')
# shellcheck disable=SC2086 # the words that it has said
ok "packages: what it says to do" inside ${flush:-false}
cmp -n $((8 << 20)) data slow >out 2>&1 && pass "packages: and all is home" || fail "packages: and all is home" "it differs"
ok "packages: then xpcache-dkms goes" inside dpkg -P xpcache-dkms
ok "packages: and xpcache" inside dpkg -P xpcache
same "packages: nothing is left" "$(find "$tree"/usr "$tree"/lib "$tree"/etc "$tree"/var/lib/dkms -name '*xpcache*' -not -path '*/sys/*')" ""
