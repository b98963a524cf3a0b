# SPDX-License-Identifier: GPL-2.0-only
# dracut's module, between functions of dracut that say what they are asked for: nothing boots here.

make -s -C "$root" boot-install DESTDIR="$dir/installed" PREFIX=/usr sbindir="$dir/sbin" wordsdir="$dir/words" >out 2>&1 ||
	fail "dracut: install" "make"
module=$dir/installed/usr/lib/dracut/modules.d/90xpcache
etc=$dir/sysroot/etc/xpcache
mkdir -p "$etc" sbin words hooks
cp "$dir/installed$dir/words/did-not-start" words

# asked FUNCTION: what it asks dracut for, and its exit code; MISSING is a kernel without the module
asked()
(
	dracutsysrootdir=$dir/sysroot moddir=MODULE kernel=6.1.0-test initdir=$dir/image
	for name in require_binaries inst_multiple inst_rules inst_hook dracut_need_initqueue dfatal dwarn; do
		eval "$name() { echo $name \"\$@\"; }"
	done
	inst_simple() { echo inst_simple "$@"; [ -z "${2:-}" ] || command install -D "$1" "$initdir$2"; }
	instmods() { echo instmods "hostonly=$hostonly" "$@"; [ -z "${MISSING:-}" ]; }
	hostonly=yes
	. "$module/module-setup.sh"
	$1
	echo "exit code $?"
)
record() { echo '{"name": "x", '"$2"'}' >"$etc/$1.json"; }

one=11111111111111111111111111111111 two=22222222222222222222222222222222
same "dracut: nothing is known" "$(asked check)" "exit code 255"
record $one '"start" : "boot"'
same "dracut: one is known" "$(asked check | xargs)" "require_binaries $dir/sbin/xpcache exit code 0"
same "dracut: it is not started there, and takes no module" "$(MISSING=1 asked installkernel)" "instmods hostonly= dm_mod
exit code 0"
record $two '"start" : "leave"'
same "dracut: nor does one that is to be left" "$(MISSING=1 asked installkernel)" "instmods hostonly= dm_mod
exit code 0"
for start in '"start": "initramfs"' '"start":"initramfs"' '"start" : "initramfs"'; do
	record $two "$start"
	MISSING=1 asked installkernel >out
	same "dracut: $start, and no module: no image" "$(tail -n 1 out) $(grep -c 'dfatal xpcache: no module dm-xpcache for Linux 6.1.0-test, .*dkms autoinstall -k 6.1.0-test' out)" "exit code 1 1"
	# Where the boot menu passes such a kernel over, its image keeps the disks and stops.
	printf '#!/bin/sh\n[ "$1" != %s ]\n' starts >words/kernels
	chmod +x words/kernels
	same "dracut: $start, passed over" "$(MISSING=1 asked installkernel | tail -n 1)" "exit code 0"
	same "dracut: $start, but all are to start it" "$(XPCACHE_EVERY_KERNEL=1 MISSING=1 asked installkernel | tail -n 1)" "exit code 1"
	printf '#!/bin/sh\n' >words/kernels
	same "dracut: $start, or this one does" "$(MISSING=1 asked installkernel | tail -n 1)" "exit code 1"
	rm words/kernels
	same "dracut: $start" "$(asked installkernel | xargs)" "instmods hostonly= dm_mod instmods hostonly= -c dm_xpcache exit code 0"
done
same "dracut: what is in it" "$(asked install)" "inst_simple $etc/$one.json /etc/xpcache/$one.json
inst_simple $etc/$two.json /etc/xpcache/$two.json
inst_multiple $dir/sbin/xpcache $dir/sbin/xpcached sleep
inst_simple $dir/words/did-not-start
inst_rules 59-xpcache.rules 65-xpcache-md.rules
inst_hook initqueue/settled 05 MODULE/xpcache-start.sh
inst_hook initqueue/finished 05 MODULE/xpcache-started.sh
dracut_need_initqueue
exit code 0"
same "dracut: what the system starts is only known there" "$(cat "image/etc/xpcache/$one.json")" '{"name": "x", "start" : "no"}'
same "dracut: the other is as it is" "$(cat "image/etc/xpcache/$two.json")" "$(cat "$etc/$two.json")"

record $two '"start": "gone"'
same "dracut: what is gone is not in it" "$(asked install | grep -c "$two") $(MISSING=1 asked installkernel | tail -n 1)" "0 exit code 0"

# The hooks, in dracut's loop: the cache comes when a file says so.
cat >sbin/xpcache <<'EOF2'
#!/bin/sh
echo "asked $*" >>asked
[ -e here ] || { echo "its fast device is not here" >&2; exit 5; }
echo started
EOF2
chmod +x sbin/xpcache
# turns N: so many, in one shell, and what was said
turns()
(
	hookdir=$dir/hooks xpcache_console=${console:-$dir/console}
	modprobe() { :; }
	info() { echo "info $*"; }
	emergency_shell() { echo "shell $*"; }
	for _ in $(seq "$1"); do
		! (. "$module/xpcache-started.sh") || break
		. "$module/xpcache-start.sh"
	done
	(. "$module/xpcache-started.sh")
	echo "finished $?"
)
same "dracut: it waits without a word" "$(turns 19)" "finished 1"
same "dracut: a second for each" "$(sort asked | uniq -c | xargs)" "19 asked start --boot --wait 1"
turns 20 >out
same "dracut: then it stops, once" "$(grep -c '^shell -n xpcache its fast device is not here' out) $(grep -c 'Ctrl-D or exit goes on' out) $(tail -n 1 out)" "1 1 finished 1"
touch here
same "dracut: it comes" "$(turns 3)" "finished 0"
same "dracut: what it says is on the console" "$(cat console)" started
rm -f "$dir/hooks/xpcache-started" console
sed -i 's/echo started/echo warned >\&2/' sbin/xpcache
same "dracut: a machine without a console" "$(console=$dir/none/console turns 1)" "info warned
finished 0"
rm asked
same "dracut: and is not asked again" "$(turns 3) $(cat asked 2>/dev/null)" "finished 0 "
rm -rf installed sbin words hooks sysroot image here
