# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The packages for Fedora, as far as Debian's rpm goes: built, looked at, installed in a folder, and gone again. What
# they depend on is another distribution's, and so are their scripts' programs: neither is asked for here.

ok "rpm: make rpm" make -C "$root" --no-print-directory rpm RPM_FLAGS=--nodeps
program=$(ls "$root"/build/rpm/RPMS/x86_64/xpcache-[0-9]*.rpm) module=$(ls "$root"/build/rpm/RPMS/noarch/xpcache-dkms-*.rpm)
same "rpm: versions" "$(rpm -qp --qf '%{NAME} %{VERSION}\n' "$program" "$module" | xargs)" "xpcache $version xpcache-dkms $version"
if rpmlint "$root/packaging/rpm/xpcache.spec" "$program" "$module" >out 2>&1 || ! grep -E ': E: ' out | grep -v -E 'no-(signature|packager-tag|group-tag)$'; then
	pass "rpm: rpmlint has no error"
else
	fail "rpm: rpmlint has no error" "see above"
fi

# What make install and make dkms-install put there, and the licence.
make -C "$root" --no-print-directory install dkms-install DESTDIR="$dir/wanted" PREFIX=/usr INITRAMFS=dracut >out 2>&1 || fail "rpm: make install" "status $?"
wanted() { (cd "$dir/wanted" && find . -type f -printf '/%P\n'); echo /LICENSE; }
files() { rpm -qpl "$@" | sed 's,^/usr/share/licenses/.*/LICENSE$,/LICENSE,; s,\(/man/.*\)\.gz$,\1,; s,\(/man/.*\)\.zst$,\1,' | grep -v '/\.build-id\|^/usr/share/licenses/[^/]*$' | sort -u; }
same "rpm: files" "$(files "$program" "$module" | while read -r file; do [ -d "$dir/wanted$file" ] || echo "$file"; done)" "$(wanted | sort -u)"

mkdir fedora
in_fedora() { rpm --root "$dir/fedora" --dbpath /var/lib/rpm "$@"; }
in_fedora --initdb
ok "rpm: installed" in_fedora -i --nodeps --noscripts "$program" "$module"
same "rpm: the program runs" "$(fedora/usr/sbin/xpcache version | cut -d , -f 1)" "xpcache $version"
same "rpm: the daemon" "$(fedora/usr/sbin/xpcached --version | grep -c "xpcached $version")" 1
same "rpm: dracut's module" "$(ls fedora/usr/lib/dracut/modules.d/90xpcache | xargs)" "module-setup.sh xpcache-start.sh xpcache-started.sh"
same "rpm: nothing of initramfs-tools'" "$(find fedora -path '*initramfs*' -o -path '*kernel/post*' -o -path '*grub.d*')" ""
same "rpm: dkms.conf" "$(bash -c '. fedora/usr/src/xpcache-*/dkms.conf && echo "$PACKAGE_NAME-$PACKAGE_VERSION"')" "xpcache-$version"
ok "rpm: as they were" in_fedora -V --nodeps --noscripts xpcache xpcache-dkms
ok "rpm: gone" in_fedora -e --nodeps --noscripts xpcache xpcache-dkms
same "rpm: nothing is left" "$(find fedora -name '*xpcache*')" ""
