# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=32M slow=64M usr=host with=unknown-key.ko,xpcached kernel=6.12 timeout=600 quick=no
#
# A kernel that takes signed modules only: the tool says what it is about. unknown-key.ko
# is our module, signed by a key that this kernel does not know.

. ./lib.sh

says='^xpcache: module refused: Secure Boot: dm-xpcache: sign it, see SECURE BOOT in man xpcache'
module=/usr/lib/modules/$(uname -r)/extra/dm-xpcache.ko

# What a kernel that was booted by Secure Boot has; then, what Secure Boot makes of that
# with other settings.
locked_down() { mount -t securityfs security /sys/kernel/security && echo integrity >/sys/kernel/security/lockdown; }
enforced() { echo 1 >/sys/module/module/parameters/sig_enforce; }

for mode in locked_down enforced; do
	must $mode
	for kind in unsigned unknown-key; do
		[ $kind = unsigned ] || must mount --bind /usr/bin/$kind.ko $module
		refused $mode-$kind-create 1 "$says" xpcache create --engine kernel --fast $FAST --slow $SLOW
		must xpcache create --fast $FAST --slow $SLOW --no-start
		refused $mode-$kind-start 1 "$says" xpcache start --engine kernel xpcache0
		said=$(xpcache start xpcache0 2>&1)
		equal $mode-$kind-by-user "module refused: Secure Boot: the engine in user space runs it" "$(head -n 1 <<<"$said")"
		try $mode-$kind-remove xpcache remove xpcache0
		[ $kind = unsigned ] || must umount $module
	done
done
try signed-by-the-kernels-own modprobe loop
