# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# harness.sh - what test scripts share: result lines, their sum, a folder that goes away, waiting. tests/harness.py has the
# same for Python. A job in a virtual machine reports through a port instead: tests/vm/jobs/lib.sh.
#
#	. "$root/tests/harness.sh"
#	suite=cli			the word behind PASS and FAIL
#	scratch cli			into a folder of its own
#	pass NAME; fail NAME WHY...	a line each
#	tally "cli $part"		the sum; the status is that of the script

passed=0 failed=0
suite=

pass() { passed=$((passed + 1)); echo "PASS ${suite:+$suite }$1"; }

# fail NAME WHY... - with the end of what a command has said in ./out.
fail()
{
	failed=$((failed + 1))
	echo "FAIL ${suite:+$suite }$1: ${*:2}"
	[ ! -s out ] || quoted out
}

# quoted FILE... - the end of them, as what is no result.
quoted() { tail -q -n 30 "$@" 2>/dev/null | cut -c 1-300 | sed 's/^/     | /'; }

# tally [NAME] - the sum; status 0 if something passed and nothing failed.
tally()
{
	echo "${1:+$1: }$passed passed, $failed failed"
	[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# same NAME GOT WANTED - two texts. What a command has said before has no part in it.
same()
{
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		[ ! -e out ] || : >out
		fail "$1" "\"$2\" is not \"$3\""
	fi
}

# ok NAME COMMAND... - it succeeds.
ok()
{
	local name=$1
	shift
	if "$@" >out 2>&1; then pass "$name"; else fail "$name" "status $?"; fi
}

# expects NAME CODE TEXT COMMAND... - the exit code, and TEXT (an extended regular expression) somewhere in what it says. With
# `complaint` set, standard error is one complaint if the code is not among $complaint.
expects()
{
	local name=$1 code=$2 text=$3 got
	shift 3
	"$@" >stdout 2>stderr </dev/null
	got=$?
	cat stdout stderr >out
	if [ $got -ne "$code" ]; then
		fail "$name" "exit code $got, not $code"
	elif ! grep -qE -e "$text" out; then
		fail "$name" "does not say \"$text\""
	elif [ -n "${complaint:-}" ] && [[ " $complaint " != *" $code "* ]] && [ "$(grep -c . stderr)" -ne 1 ]; then
		fail "$name" "not one line of complaint"
	elif [ -n "${complaint:-}" ] && [[ " $complaint " != *" $code "* ]] && ! grep -qE '^xpcache: [^:]+.*: .+' stderr; then
		fail "$name" "not \"xpcache: what: where: what to do\""
	else
		pass "$name"
	fi
}

# wait_until SECONDS COMMAND... - until it succeeds.
wait_until()
{
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt "$end" ] || return 1
		sleep 0.05
	done
}

# at_end COMMAND - a line of shell for the end of the script; the last one comes first.
at_end() { harness_end=("$1" "${harness_end[@]}"); }
harness_end=()
harness_leave()
{
	local command
	for command in "${harness_end[@]}"; do eval "$command"; done
}
trap harness_leave EXIT

# scratch NAME [PLACE] - into a folder of its own, $dir, which goes away with the script.
scratch()
{
	dir=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/xpcache-$1.XXXXXX") && cd "$dir" || exit 1
	at_end "rm -rf '$dir'"
}
