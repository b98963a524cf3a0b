# SPDX-License-Identifier: GPL-2.0-only
# The hook of initramfs-tools and what it puts into an image, between functions that say what they are
# asked for: nothing boots here.

make -s -C "$root" boot-install DESTDIR="$dir/installed" PREFIX=/usr sbindir="$dir/sbin" wordsdir="$dir/words" >out 2>&1 ||
	fail "initramfs: install" "make"
mkdir -p etc image mapper sbin words rules
cp "$dir/installed$dir/words/did-not-start" words
touch rules/59-xpcache.rules rules/65-xpcache-md.rules
cat >functions <<'END'
copy_exec() { echo "program ${1##*/}"; }
manual_add_modules() { :; }
block_dev_mod_add() { echo "driver of $1"; }
panic() { echo "panic $*"; touch "$DIR/here"; }
modprobe() { :; }
END
in_place() { sed "s,/usr/share/initramfs-tools/hook-functions,$dir/functions,; s,/scripts/functions,$dir/functions,; s,/usr/lib/udev/rules.d/\([56]\),$dir/rules/\1,g; s,/etc/xpcache,$dir/etc,g; s,/run/,$dir/,g; s,>>/conf/,>>$dir/,g; s,! -b,! -e," "$1"; }
in_place "$dir/installed/usr/share/initramfs-tools/hooks/xpcache" >hook
in_place "$dir/installed/usr/share/initramfs-tools/scripts/local-top/xpcache" >local-top

# image NAME EXPECTED: what of /etc/xpcache is in it
image() { rm -rf image; mkdir image; DESTDIR=$dir/image version=6.1.0-test sh hook >out 2>&1; same "$1" "$? $(cd "image$dir/etc" 2>/dev/null && echo *)" "$2"; }
record() { echo '{"name": "x", '"$2"'}' >"etc/$1.json"; }
one=11111111111111111111111111111111
rm -f etc/*
image "initramfs: nothing is known" "0 "
# Nor is what only remote disks and the watcher need, which is more than all else together: both programs are copied
# with their libraries.
ldd "$xpcache" "$dir/bin/xpcached" >out 2>&1
same "initramfs: no library of remote disks, and none of the watcher's" \
	"$(grep -c libdevmapper out) $(grep -cE 'libnbd|libxml2|libicu|libmicrohttpd|libgnutls|libsystemd' out)" "2 0"
record $one '"start": "boot"'
image "initramfs: one that the system starts, and what is said if the boot stops" "0 $one.json did-not-start"
same "initramfs: it is only known there" "$(cat "image$dir/etc/$one.json")" '{"name": "x", "start": "no"}'

# Without the module: none is made that is to start one.
record $one '"start": "leave"'
image "initramfs: one to leave needs no module" "0 $one.json did-not-start"
same "initramfs: but who leaves it" "$(grep -c 'program xpcached' out)" 1
record $one '"start" : "initramfs"'
image "initramfs: one to start needs it" "1 $one.json did-not-start"
same "initramfs: that is said" "$(grep -c 'no module dm-xpcache for Linux 6.1.0-test, .*dkms autoinstall -k 6.1.0-test' out)" 1

# Where the boot menu passes such a kernel over, its image keeps the disks and stops. But one that starts the
# cache is not given up for it, nor is one made while every kernel is to have one that does.
cp "$dir/installed$dir/words/kernels" words
mkdir -p boot/grub boot/loader/entries menu
touch boot/grub/grub.cfg menu/xpcache.cfg boot/vmlinuz-6.1.0-test boot/vmlinuz-6.9 boot/vmlinuz-6.10
printf '#!/bin/sh\ncat "$1"\n' >sbin/lsinitramfs
chmod +x sbin/lsinitramfs
export XPCACHE_KERNELS=$dir/boot XPCACHE_GRUB=$dir/menu
kernels() { PATH=$dir/sbin:$PATH "$dir/words/kernels" "$@" 2>&1; }
with() { echo "usr/lib/modules/$1/updates/dkms/dm-xpcache.ko.xz" >"boot/initrd.img-$1"; }
PATH=$dir/sbin:$PATH image "initramfs: passed over" "0 $one.json did-not-start"
same "initramfs: that is said" "$(grep -c 'Linux 6.1.0-test is not the boot menu.s default' out)" 1
XPCACHE_EVERY_KERNEL=1 PATH=$dir/sbin:$PATH image "initramfs: not where all are to start it" "1 $one.json did-not-start"
with 6.1.0-test
PATH=$dir/sbin:$PATH image "initramfs: nor in place of one that does" "1 $one.json did-not-start"
touch boot/loader/entries/6.10.conf
same "kernels: another loader's menu" "$(kernels guarded; echo $?)" 1
rm boot/loader/entries/6.10.conf
same "kernels: GRUB's alone" "$(kernels guarded; echo $?)" 0
same "kernels: the newest that can start the cache" "$(kernels default)" 6.1.0-test
with 6.9
same "kernels: and no older one" "$(kernels default)" 6.9
with 6.10
same "kernels: the newest of all" "$(kernels default)" ""
rm boot/initrd.img-*
same "kernels: none can" "$(kernels default | grep -c '^xpcache: no kernel in .* can start the cache')" 1
with 6.9
record $one '"start": "boot"'
same "kernels: / is on no cache" "$(kernels default)" ""
printf '#!/bin/sh\necho "$0 $*" | sed s,.*/,,\n' | tee sbin/update-grub >sbin/update-initramfs
chmod +x sbin/update-*
touch boot/initrd.img-6.10
same "kernels: an image needs nothing" "$(kernels complete 6.10)" ""
record $one '"start": "initramfs"'
same "kernels: an image is completed, and the menu" "$(kernels complete 6.10 | xargs)" "update-initramfs -u -k 6.10 update-grub"
same "kernels: not one that is complete, nor one that is not there" "$(kernels complete 6.9; kernels complete 6.1.0-test)" ""

# What GRUB takes by default: the newest that can, if nobody has chosen otherwise.
printf '#!/bin/sh\necho saved_entry=$SAVED\n' >sbin/grub-editenv
chmod +x sbin/grub-editenv
# menu DEFAULT SAVED [DISABLE_SUBMENU]
menu() { (GRUB_DEFAULT=$1 SAVED=${2:-} GRUB_DISABLE_SUBMENU=${3:-} GRUB_DISABLE_UUID= GRUB_DEVICE=/dev/x GRUB_DEVICE_UUID=${UUID-U} PATH=$dir/sbin:$PATH
	export SAVED; set -e; . "$dir/installed/etc/default/grub.d/xpcache.cfg" 2>/dev/null; echo "$GRUB_DEFAULT"); }
id='gnulinux-advanced-U>gnulinux-6.9-advanced-U'
same "menu: by default" "$(menu 0; menu ''; menu saved; menu saved 0; menu gnulinux-simple-U)" "$(printf '%s\n' "$id" "$id" "$id" "$id" "$id")"
same "menu: chosen" "$(menu 2; menu saved own; menu '1>2')" "2
saved
1>2"
same "menu: without a submenu, and UUID" "$(menu 0 '' y; UUID= menu 0)" "gnulinux-6.9-advanced-U
gnulinux-advanced-/dev/x>gnulinux-6.9-advanced-/dev/x"
with 6.10
same "menu: the newest can" "$(menu 0; menu saved)" "0
saved"
unset XPCACHE_KERNELS XPCACHE_GRUB
rm -rf boot menu sbin/*
record $one '"start": "boot"'

# Its fast device's driver is in it; of one asleep, or not here, nobody knows it.
cat >sbin/xpcache <<'END'
#!/bin/sh
printf '{ "caches":[ {\n "fast":"/dev/null"\n },\n{ "fast":null\n },\n{ "fast":"/dev/none"\n },\n{ "fast": "/dev/zero"\n } ] }\n'
END
chmod +x sbin/xpcache
image "initramfs: with drivers" "0 $one.json did-not-start"
same "initramfs: the driver of each fast device" "$(grep -o 'driver of .*' out | xargs)" "driver of /dev/null driver of /dev/zero"
rm sbin/xpcache

# Its record cannot be read, but says that it is not to start: the boot goes on.
XPCACHE_ETC=$dir/image$dir/etc LD_PRELOAD=$holding HOLDING=$dir/mapper "$xpcache" start --boot --wait 0.1 >out 2>&1
same "initramfs: a broken record of what the system starts" "$? $(grep -c 'mend it' out)" "0 1"
for start in '"start": "initramfs"' '"start": "x"' '"star'; do
	record $one "$start"
	XPCACHE_ETC=$dir/etc LD_PRELOAD=$holding HOLDING=$dir/mapper "$xpcache" start --boot --wait 0.1 >out 2>&1
	same "initramfs: a broken record, $start" "$? $(grep -c 'mend it' out)" "1 1"
done

# Where the boot stops: what it waits for is said at once, what was wrong by panic.
cat >sbin/xpcache <<'END'
#!/bin/sh
[ "$1" = start ] || { echo "$*" >>"$DIR/asked"; echo "no memory: $SAYS" >&2; exit "$SAYS"; }
[ ! -e "$DIR/here" ] || { echo started; exit 0; }
echo waiting
grep -q waiting "$DIR/console" && echo "it was told at once" >&2
echo "its fast device is not here" >&2
exit 5
END
chmod +x sbin/xpcache
cp words/did-not-start etc
DIR=$dir PATH=$dir/sbin:$PATH SAYS=0 sh local-top >console 2>&1
same "initramfs: it waits, stops, and goes on" "$(grep -E '^(waiting|panic it was told at once|its fast device is not here|started)$' console | tr '\n' ' ') $(grep -c 'Ctrl-D or exit goes on' console)" \
	"waiting panic it was told at once its fast device is not here started  1"
# A memory is looked for first. That it is not restored is said; where a disk is missing the boot stops, once.
same "initramfs: asked for a memory" "$(cat asked) $(cat param.conf 2>/dev/null)" "hibernate --resume "
# But not where a panic is another boot.
for says in 3 5 "5 30"; do
	rm -f here asked param.conf
	[ "$says" = 5 ] || touch here
	DIR=$dir PATH=$dir/sbin:$PATH SAYS=${says% *} panic=${says#[35]} resume=UUID=1 sh local-top >console 2>&1
	same "initramfs: no memory, $says" "$(cat asked; xargs <param.conf) $(grep -c '^panic ' console) $(grep -cE '^(panic )?no memory: '"${says% *}"'$' console) $(grep -c '^started' console)" \
		"hibernate --resume UUID=1
resume= noresume=y $([ "$says" != 5 ]; echo $?) 1 1"
done
rm -f asked param.conf
DIR=$dir PATH=$dir/sbin:$PATH SAYS=5 noresume=y sh local-top >console 2>&1
same "initramfs: noresume" "$(ls asked param.conf 2>/dev/null) $(grep -c '^started' console)" " 1"
# What is written while the boot loader's files go home goes home too; then it ends.
mkdir files
cat >sbin/xpcache <<'END'
#!/bin/sh
echo "$*" >>"$DIR/asked"
[ "$(grep -c . "$DIR/asked")" -gt 2 ] || echo more >>"$DIR/files/grub.cfg"
END
DIR=$dir XPCACHE_BOOT="$dir/files $dir/none" "$dir/installed$dir/words/boot-files-home" >out 2>&1
same "boot files: home until nothing is newer" "$? $(uniq -c asked | xargs)" "0 3 flush --boot"
printf '#!/bin/sh\nexit 5\n' >sbin/xpcache
XPCACHE_BOOT=$dir/files "$dir/installed$dir/words/boot-files-home" >out 2>&1
same "boot files: a cache that cannot" "$?" 5
# At shutdown, too: it is told to end while it waits, and has asked nothing yet.
printf '#!/bin/sh\necho "$*" >>"$DIR/asked"\n' >sbin/xpcache
rm -f asked
printf '#!/bin/sh\n>>"$DIR/sleeps"\nexec /bin/sleep "$@"\n' >sbin/sleep
chmod +x sbin/sleep
DIR=$dir PATH=$dir/sbin:$PATH XPCACHE_BOOT=$dir/files "$dir/installed$dir/words/boot-files-home" >out 2>&1 &
until [ -e sleeps ]; do sleep 0.1; done
kill $!
wait $!
same "boot files: home before the machine goes down" "$? $(uniq -c asked | xargs)" "0 1 flush --boot"
rm -rf files asked sleeps sbin/sleep

# Swap is after the caches: what is not so would be a circle if the caches were after it.
mkdir units
cp -r "$dir/installed/usr/lib/systemd/system"/{xpcache.service,swap.d} units
printf '[Unit]\nBefore=swap.target\n[Swap]\nWhat=/dev/null\n' >units/dev-null.swap
verify() { SYSTEMD_UNIT_PATH=$dir/units: systemd-analyze verify --man=no dev-null.swap xpcache.service >out 2>&1; }
verify
same "swap: units in order" "$? $(cat out)" "0 "
sed -i 's/^After=/After=dev-null.swap /' units/xpcache.service
verify
same "swap: it is after the caches, so at shutdown before their end" "$(grep -c 'ordering cycle' out)" 1
rm -rf units
rm -rf installed etc image sbin words rules functions hook local-top here console xpcache-said
mkdir etc
