# SPDX-License-Identifier: GPL-2.0-only
# Every way to get the command line wrong: exit code 2, nothing touched.

truncate -s 64M fast
truncate -s 256M slow
"$xpcache" >out 2>&1
same "no verb: help" "$? $(grep -c "xpcache create" out)" "2 1"
expect "unknown verb" 2 "no such verb: mend: xpcache help" mend
expect "unknown option" 2 "wrong option: --quick" create --quick
expect "unknown letter" 2 "wrong option: -y: xpcache create" create -yq
expect "a word of two lines" 2 "wrong option: --qui.ck" create $'--qui\nck'
expect "option of another verb" 2 "wrong option: --json" create --json
expect "value missing" 2 "a value is missing: --fast" create --fast
expect "value where none goes" 2 "wrong option: --force=yes" create --force=yes
expect "fast missing" 2 "the fast device is missing" create --slow slow
expect "slow missing" 2 "the slow device is missing" create --fast fast
expect "one word too many" 2 "one word too many: more" create --fast fast --slow slow --no-start more
expect "name missing" 2 "missing: stop" stop
expect "name empty" 2 "the name is empty" check ""
expect "device missing" 2 "missing: check" check
for value in -1 101 ten 5x "" 99999999999999999999; do
	expect "dirty-low \"$value\"" 2 "dirty_low is a number from 0 to 100, not \"${value:0:4}.*\": --dirty-low: " \
		create --fast fast --slow slow --dirty-low "$value"
done
expect "dirty-high 0" 2 "a number from 1 to 100, not \"0\": --dirty-high" create --fast fast --slow slow --dirty-high 0
expect "low above high" 2 "dirty_low, 60, is not below dirty_high, 50: --dirty-low" \
	create --fast fast --slow slow --dirty-low 60 --dirty-high 50
expect "low above the default high" 2 "dirty_low, 90, is not below dirty_high, 80: --dirty-low" \
	create --fast fast --slow slow --dirty-low 90
expect "low as high" 2 "dirty_low, 50, is not below dirty_high, 50: --dirty-low" \
	create --fast fast --slow slow --dirty-low 50 --dirty-high 50
expect "low above high at start" 2 "dirty_low, 90, is not below dirty_high, 80" start --dirty-low 90
expect "idle too long" 2 "a number from 0 to 86400000, not .*--idle-ms" create --fast fast --slow slow --idle-ms 86400001
expect "limits of what does not run" 2 "give them to xpcache start" \
	create --fast fast --slow slow --no-start --idle-ms 1
expect "the last of two counts" 2 "dirty_low, 90, is not" \
	create --fast fast --slow slow --dirty-low 5 --dirty-low 90
for name in "a b" "../x" "-x" ".x" "control" "" "0123456789012345678901234567890123"; do
	expect "name \"$name\"" 2 "not a name for a cache" create --fast fast --slow slow --no-start "--name=$name"
done
for value in 0 -1 0.05 x 1x "" nan inf 86401; do
	expect "interval \"$value\"" 2 "0.1 to 86400 seconds, not \"$value\": --interval: " top --interval "$value"
done
for value in 0 -1 1.5 x "" 1000000000; do
	expect "count \"$value\"" 2 "a number from 1 to 999999999, not \"$value\": --count: " top --count "$value"
done
expect "no such class" 2 "no class \"reads\": --class: one of read-hit .* slow-flush" histogram xpcache0 --class reads
expect "count of one look" 2 "one look only: --count: give --interval" histogram xpcache0 --count 2
expect "total of one look" 2 "one look only: --total: give --interval" histogram xpcache0 --total
expect "JSON and CSV" 2 "give one of them" histogram xpcache0 --json --csv
expect "CSV and hgrm" 2 "give one of them" histogram xpcache0 --csv --hgrm --class write
expect "hgrm of no class" 2 "of one class: --hgrm: give --class" histogram xpcache0 --hgrm
expect "hgrm of an interval" 2 "of one look: --hgrm" histogram xpcache0 --hgrm --class write --interval 1
expect "histogram of what" 2 "missing: histogram" histogram
expect "top of one" 2 "one word too many" top xpcache0
expect "hibernate without a word" 2 "goes with one of its options: hibernate: give --begin, --end" hibernate
expect "hibernate both" 2 "goes with one of its options" hibernate --begin --end
expect "hibernate a name" 2 "goes with one of its options" hibernate --end xpcache0
expect "help of histogram" 0 "--class CLASS" histogram --help --count 2
expect "help" 0 "Exit codes: 0 done" help
expect "--help" 0 "Exit codes: 0 done" --help
expect "help of a verb" 0 "--dirty-low PERCENT" help create
expect "verb --help" 0 "--all" start --help
expect "help of an option, by its verb" 0 "A cache in use is not stopped" stop --help
expect "help of all options of a verb" 0 "recorded in /etc/xpcache" start --help
expect "help of no verb" 2 "no such verb" help mend
expect "version" 0 "format 2" version
same "nothing was written" "$(tr -d '\0' <fast | wc -c) $(tr -d '\0' <slow | wc -c)" "0 0"

# The program of bench does bench alone, whatever else is typed; and says what it is.
bench=$(dirname "$xpcache")/xpcache-bench
for verb in $("$xpcache" help | sed -n 's/^  xpcache \([a-z]*\) .*/\1/p'); do
	case $verb in
	bench | completion | help | version) ;;
	*) expects "xpcache-bench $verb" 2 "^xpcache: this program only does bench: $verb: run xpcache $verb\$" "$bench" "$verb" -y ;;
	esac
done
expects "xpcache-bench, unknown verb" 2 "no such verb: mend: xpcache help" "$bench" mend
expects "xpcache-bench bench" 2 "a device is missing: bench" "$bench" bench
expects "xpcache-bench help" 0 "Exit codes: 0 done" "$bench" help
expects "xpcache-bench --help" 0 "Exit codes: 0 done" "$bench" --help
expects "xpcache-bench bench --help" 0 "--destructive" "$bench" bench --help
expects "xpcache-bench --version" 0 "format 2" "$bench" --version

# No line of a help is longer than a terminal's, and each option says something.
for verb in "" $("$xpcache" help | sed -n 's/^  xpcache \([a-z]*\) .*/\1/p'); do
	"$xpcache" help $verb >out
	same "help ${verb:-of all}: 80 columns at most" "$? $(awk 'length > 80' out)" "0 "
	same "help ${verb:-of all}: no option without a word about it" \
		"$(awk '/^  --/ { if (option) print option; option = NF <= 2 && !/^  --[a-z-]+ +[a-z]/ ? $1 : ""; next } /^  +[^ -]/ { option = "" } END { print option }' out | xargs)" ""
done
# What an option does for one verb is said of an option that the verb has.
rows=$(sed -En 's/^\t\{ "([a-z]+)", "([a-z-]+)",.*/\1 \2/p' "$root/tools/commands.c")
while read -r verb option; do
	"$xpcache" help "$verb" | grep -q "^  --$option\b" || echo "$verb --$option"
done <<<"$rows" >out
same "help: texts of options that verbs have" "$(wc -w <<<"$rows" | awk '{ print ($1 > 20) }') $(cat out)" "1 "
for words in --help "serve --help" "watch --help"; do
	"$(dirname "$xpcache")/xpcached" $words >out
	same "xpcached $words: 80 columns at most" "$? $(awk 'length > 80' out)" "0 "
done
