# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The packages for Arch Linux, as far as Debian's makepkg goes, and the other files that no tool here runs.

shellcheck "$root/packaging/arch/PKGBUILD" >out 2>&1 && pass "arch: shellcheck" || fail "arch: shellcheck" "status $?"
ok "nix: it parses" nix-instantiate --parse "$root/packaging/nix/default.nix"
# makepkg runs as nobody at least who is not root.
mkdir arch
(cd "$root" && tar -c --exclude=./build --exclude=./.git .) | tar -x -C arch
chmod 755 "$dir"
chown -R nobody arch
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$dir/arch" LC_ALL=C.UTF-8 "$@"; }
ok "arch: makepkg" as_nobody sh -c "cd arch/packaging/arch && PKGEXT=.pkg.tar PACMAN=true makepkg --nodeps"
make -C "$root" --no-print-directory install dkms-install DESTDIR="$dir/arch-wanted" PREFIX=/usr sbindir=/usr/bin libexecdir=/usr/lib INITRAMFS=dracut >out 2>&1 || fail "arch: make install" "status $?"
same "arch: files" "$(for package in arch/packaging/arch/*.pkg.tar; do tar -tf "$package"; done | grep -v -e '/$' -e '^\.' | sed 's,\(/man/.*\)\.gz$,\1,' | sort)" \
	"$(cd arch-wanted && find . -type f -printf '%P\n' | sort)"
same "arch: packages" "$(cd arch/packaging/arch && ls ./*.pkg.tar | xargs)" "./xpcache-$version-1-x86_64.pkg.tar ./xpcache-dkms-$version-1-any.pkg.tar"

