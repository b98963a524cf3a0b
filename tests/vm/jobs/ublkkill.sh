# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 fast=64M slow=192M extra=16M usr=host with=xpcached timeout=1800 quick=no
#
# The daemon behind a block device is killed while four programs write, sync and report: what was
# synced is there after the next start, and no block is a mixture. The device never goes on over
# a daemon that died: whoever has it open gets errors from then on.

. ./lib.sh

export XPCACHE_RUNTIME_DIR=/run/xpcache
NODE=/dev/ublkb0
NOTEBOOK=/dev/vda
PROGRESS=/run/said

up() { must xpcache "$1" --engine user --ublk --fast $FAST --slow $SLOW; }

must powercut init $SLOW $NOTEBOOK
up create
for ((round = 1; round <= ${ROUNDS:-3}; round++)); do
	: >$PROGRESS
	REPORT=$PROGRESS powercut write $NODE $NOTEBOOK $round $((round * 77)) &
	settled acknowledged $((round * 40)) || die "acknowledged-$round" "$(tail -n 3 $PROGRESS)"
	exec 7<$NODE
	kill -9 "$(pgrep -x xpcached)"
	pkill -9 -x powercut	# which does not end by errors
	wait
	settled [ ! -e $NODE ] && pass "device-dies-$round" || fail "device-dies-$round" "$(ls /dev/ublk*)"
	equal "dead-for-who-has-it-$round" 0 "$(dd bs=4k count=1 iflag=direct status=none <&7 2>/dev/null | wc -c)"
	exec 7<&-
	up start
	powercut check $NODE $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass "nothing-lost-$round"
	note "killed after $(last a)"
done
try remove xpcache remove xpcache0
round=$((round - 1))
powercut check $SLOW $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass complete-after-remove
