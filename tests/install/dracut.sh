# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
# The module of dracut, by Debian 12's dracut-core: what is in the image. A module of the kernel's stands for
# ours; nothing boots here (tests/debian/jobs/dracut.sh does).

. "$root/tests/install/debian.sh"
our_packages
a_debian bookworm || fail "dracut: a Debian" "status $?"
cp -L /etc/resolv.conf "$tree/etc/" 2>/dev/null
ok "dracut: installed" inside sh -c 'apt-get -q update && apt-get -qy install --no-install-recommends dracut-core /root/xpcache_*.deb'
on_a_cache
modules=$tree/lib/modules/$was
mkdir -p "$modules/updates/dkms"
cp "$modules"/kernel/drivers/md/dm-zero.ko* "$modules/updates/dkms/$(cd "$modules/kernel/drivers/md" && ls dm-zero.ko* | sed s/zero/xpcache/)"
inside depmod "$was"

image() { inside dracut --force --no-hostonly --drivers dm_mod /root/image "$was"; }
listed() { inside lsinitrd /root/image | grep -cE -e "$1"; }
holds='[ /](usr/lib/udev/rules.d/59-xpcache.rules|usr/lib/udev/rules.d/65-xpcache-md.rules|usr/sbin/xpcache|usr/sbin/xpcached|etc/xpcache/'$record')$'
ok "dracut: an image" image
same "dracut: the fence, the programs, the record" "$(listed "$holds")" 5
same "dracut: its hooks" "$(listed 'hooks/initqueue/(settled|finished)/05-?xpcache-start')" 2
same "dracut: the module" "$(listed '/dm-xpcache.ko') $(listed '/dm-mod.ko')" "1 1"

# Without it: where GRUB's menu passes the kernel over, the image keeps the disk; else there is none.
rm -r "$modules/updates"
inside depmod "$was"
rm "$tree/root/image"
ok "dracut: an image without the module" image
grep -q "no module dm-xpcache for Linux $was" out && pass "dracut: that is said" || fail "dracut: that is said" "it is not"
same "dracut: it keeps the disk all the same" "$(listed "$holds") $(listed '/dm-xpcache.ko')" "5 0"
rm "$tree/root/image" "$tree/boot/grub/grub.cfg"
expects "dracut: none where another menu may take it" 1 "no module dm-xpcache for Linux $was" image
[ ! -e "$tree/root/image" ] && pass "dracut: indeed" || fail "dracut: indeed" "there is one"
