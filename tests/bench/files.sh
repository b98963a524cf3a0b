# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # sourced by run
# What bench never writes over, and what becomes of a result that cannot be written. Devices
# are in tests/vm/jobs/benchguard.sh: a mistake must not cost a disk.

truncate -s 8M plain
cp plain other
ln -f plain hard
ln -sf plain soft
before=$(sha256sum <plain)
for name in plain hard soft; do
	expect "-o: what is measured is not written over, by $name" 3 "what is to be measured: ./$name: give another" \
		./plain --seconds 0.1 -o ./$name
	expect "--html: what is measured is not written over, by $name" 3 "what is to be measured: ./$name" \
		./plain --seconds 0.1 --html ./$name
done
expect "-o: nor the second of them" 3 "what is to be measured: ./plain" ./other ./plain --seconds 0.1 -o ./plain
for suffix in .new .state .state.new; do
	ln -f plain r.json$suffix
	expect "nor by what is written beside: $suffix" 3 "what is to be measured: .*r.json$suffix" \
		./plain --seconds 0.1 -o r.json
	rm r.json$suffix
done
ln -s plain r.json.new
expect "nor by a link beside" 3 "no file: .*r.json.new" ./other --seconds 0.1 -o r.json
rm r.json.new
same "it was not written" "$(sha256sum <plain)" "$before"

mkdir folder
expect "-o of a folder" 3 "not a file: folder: give a file" ./plain -o folder --seconds 3
expect "--html of a folder" 3 "not a file: folder: give a file" ./plain --html folder --seconds 3
expect "-o in no folder" 1 "cannot write there.*: .*none/r.json" ./plain -o none/r.json --seconds 3
expect "one file for both" 2 "the same file: r.json" ./plain -o r.json --html r.json
expect "a page in the place of the state" 2 "goes on from is there: r.json.state" ./plain -o r.json --html r.json.state
[ ! -e r.json ] && [ ! -e r.json.new ] && [ ! -e r.json.state ] && pass "nothing is left of what was refused" ||
	fail "nothing is left of what was refused" "$(ls r.json*)"

expect "-o to the terminal" 0 '"xpcache_bench": 1' ./plain --seconds 0.1 -o /dev/stdout
echo old >target.json
ln -s target.json link.json
chmod 640 target.json
expect "-o through a link" 0 "^headline/1" ./plain --seconds 0.1 -o link.json
[ -L link.json ] && pass "it stays a link" || fail "it stays a link" "link.json"
holds "and leads to the result" target.json 'schema(j)'
same "of the same mode" "$(stat -c %a target.json)" 640
