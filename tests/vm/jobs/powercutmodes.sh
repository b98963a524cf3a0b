# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M extra=16M memory=1G driver=powercut
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/powercut
#
# As powercut.sh, in other modes than write-back: through-raw and around-raw, where the slow disk alone has all that was
# flushed after each cut; and modes-raw, where the mode is another one several times a second.

. ./lib.sh

WAY=${KIND%-raw}
KIND=raw

# Before the cache starts: what would be left, had the fast device died.
slow_alone()
{
	[ "$STEP" != first ] && [ "$WAY" != modes ] || return 0
	powercut alone $SLOW /dev/vda "$ROUND" "$SEED" "$ISSUED" "$ACKED" && pass "slow-device-alone"
}

disturb()
{
	local mode=0 modes=(writethrough writearound writeback)
	while [ "$WAY" = modes ]; do
		must dmsetup message xpcache0 0 set mode "${modes[mode++ % 3]}"
		sleep 0.1
	done
}

# The mode is kept: later lives are not told.
begin_mode()
{
	case $WAY in
	through) must dmsetup message xpcache0 0 set mode writethrough ;;
	around) must dmsetup message xpcache0 0 set mode writearound ;;
	esac
	[ "$WAY" != modes ] || return
	until [ "$(counter dirty)" = 0 ]; do
		sleep 0.05	# what a start has found
	done
	[[ $(dmsetup table xpcache0) = *" mode write$WAY"* ]] || fail mode "$(dmsetup table xpcache0)"
}

slow_alone
. ./powercut.sh
