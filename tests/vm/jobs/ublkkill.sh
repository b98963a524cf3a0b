# SPDX-License-Identifier: GPL-2.0-only
# vm: kernel=6.12 fast=64M slow=192M extra=16M usr=host with=xpcached timeout=1800 quick=no
#
# The daemon behind a block device is killed while four programs write, sync and report: what was
# synced is there after the next start, and no block is a mixture. The device never goes on over
# a daemon that died: whoever has it open gets errors from then on. In write-through and write-around the slow disk
# alone has what was synced; in the last round the mode is changed all the time.

. ./lib.sh

export XPCACHE_RUNTIME_DIR=/run/xpcache
NODE=/dev/ublkb0
NOTEBOOK=/dev/vda
PROGRESS=/run/said

up() { must xpcache "$1" --engine user --ublk --fast $FAST --slow $SLOW; }

# changes - of the mode, until the daemon is gone; none is waited for to its end.
changes()
{
	local mode
	while :; do
		for mode in writeback writethrough writearound; do
			timeout -s INT 0.3 xpcache set xpcache0 mode=$mode >/dev/null 2>&1
			pgrep -x xpcached >/dev/null || break 2
			echo $mode >>/run/changes
		done
	done
}
has_changed() { [ "$(wc -l </run/changes)" -ge "$1" ]; }

must powercut init $SLOW $NOTEBOOK
up create
modes=(writeback writethrough writearound changing)
for ((round = 1; round <= ${ROUNDS:-4}; round++)); do
	mode=${modes[(round - 1) % 4]}
	[ $mode = changing ] || try "set-$round" xpcache set xpcache0 mode=$mode
	: >$PROGRESS
	REPORT=$PROGRESS powercut write $NODE $NOTEBOOK $round $((round * 77)) &
	settled acknowledged $((round * 40)) || die "acknowledged-$round" "$(tail -n 3 $PROGRESS)"
	if [ $mode = changing ]; then
		: >/run/changes
		changes &
		changer=$!
		settled has_changed 7 || fail "changed-$round" "$(cat /run/changes)"
		settled acknowledged $((round * 80))
	fi
	exec 7<$NODE
	kill -9 "$(pgrep -x xpcached)"
	pkill -9 -x powercut	# which does not end by errors
	wait
	settled [ ! -e $NODE ] && pass "device-dies-$round" || fail "device-dies-$round" "$(ls /dev/ublk*)"
	equal "dead-for-who-has-it-$round" 0 "$(dd bs=4k count=1 iflag=direct status=none <&7 2>/dev/null | wc -c)"
	exec 7<&-
	if [ $mode = changing ]; then
		wait $changer
		note "$(wc -l </run/changes) changes of the mode"
	elif [ $mode != writeback ]; then
		# what was under way may be on the other alone: of this look nothing is noted
		must dd if=$NOTEBOOK of=/run/notebook bs=1M status=none
		powercut check $SLOW /run/notebook $round $((round * 77)) "$(last i)" "$(last a)" && pass "alone-$round"
	fi
	up start
	powercut check $NODE $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass "nothing-lost-$round"
	note "$mode: killed after $(last a)"
done
try remove xpcache remove xpcache0
round=$((round - 1))
powercut check $SLOW $NOTEBOOK $round $((round * 77)) "$(last i)" "$(last a)" && pass complete-after-remove
