# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=32M slow=64M with=unknown-key.ko quick=6.12 kernel=6.12
#
# A kernel that takes signed modules only: the tool says what it is about. unknown-key.ko
# is our module, signed by a key that this kernel does not know.

. ./lib.sh

says='^xpcache: module refused: Secure Boot: dm-xpcache: sign it, see SECURE BOOT in man xpcache'
module=/usr/lib/modules/$(uname -r)/extra/dm-xpcache.ko
must cp $module /unsigned.ko

# What a kernel that was booted by Secure Boot has; then, what Secure Boot makes of that
# with other settings.
locked_down() { mount -t securityfs security /sys/kernel/security && echo integrity >/sys/kernel/security/lockdown; }
enforced() { echo 1 >/sys/module/module/parameters/sig_enforce; }

for mode in locked_down enforced; do
	must $mode
	for kind in unsigned unknown-key; do
		case $kind in unsigned) must cp /unsigned.ko $module ;; *) must cp /usr/bin/$kind.ko $module ;; esac
		refused $mode-$kind-create 1 "$says" xpcache create --fast $FAST --slow $SLOW
		must xpcache create --fast $FAST --slow $SLOW --no-start
		refused $mode-$kind-start 1 "$says" xpcache start xpcache0
		try $mode-$kind-remove xpcache remove xpcache0
	done
done
try signed-by-the-kernels-own modprobe loop
