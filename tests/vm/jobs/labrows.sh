# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # variables from tests/lab/lab
#
# labrows.sh - figures of the lab, a line each: ROW target case JSON for times, in ns;
# VALUE target case NUMBER for what is none.

MIB=$((1 << 20))
COUNT=2000

# row CASE OP SIZE FIRST SPAN COUNT [SECTORS] - the places in MiB, and so many sectors further.
row()
{
	local figures
	figures=$(latency "$DEV" "$2" "$3" $(($4 * MIB + ${7:-0} * 512)) $(($5 * MIB)) "$6" 1) ||
		die "$target-$1" "it could not be measured"
	report "ROW $target $1 $figures"
}

# value CASE NUMBER
value() { report "VALUE $target $1 $2"; }

# quotient A B - to two places.
quotient() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# on_devices WHAT - does it with the target set up anew.
on_devices()
{
	devices
	up_"$target"
	"$1"
	down_"$target"
	no_devices
}
