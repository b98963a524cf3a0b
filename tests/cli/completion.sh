# SPDX-License-Identifier: GPL-2.0-only
# The completion for bash offers the verbs and options that the program has, and what runs.

completion=$root/tools/completion/xpcache
cat >complete <<'EOF2'
. "$completion"
COMP_WORDS=("$xpcache" "${@:2}") COMP_CWORD=$#
COMP_CWORD=$((COMP_CWORD - 1))
_xpcache "$xpcache" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
EOF2
export completion xpcache
# offers WORD... - what it offers for the last of these, in one line
offers() { bash ./complete xpcache "$@" 2>&1 | sort | xargs; }

mkdir -p offered
cd offered || exit 1
cp ../complete .
verbs=$("$xpcache" help | sed -n 's/^  xpcache \([a-z]*\) .*/\1/p' | sort | xargs)
same "completion: verbs" "$(offers '')" "$verbs"
same "completion: st" "$(offers st)" "start status stop"
same "completion: se" "$(offers se)" "set"
for verb in $verbs; do
	same "completion: options of $verb" "$(offers "$verb" --)" \
		"$("$xpcache" "$verb" --help | sed -n 's/^  \(--[a-z-]*\) .*/\1/p' | sort | xargs)"
done
same "completion: one option" "$(offers start --disc)" "--discard-dirty"
same "completion: engines" "$(offers create --engine '')" "auto kernel user"
same "completion: engines of bench" "$(offers bench --engine '')" "io_uring psync"
same "completion: classes" "$(offers histogram xpcache0 --class read-)" "$("$xpcache" histogram x --class '?' 2>&1 | sed 's/.*one of//' | tr ' ' '\n' | grep '^read-' | sort | xargs)"
same "completion: tests of bench" "$(offers bench --test crys)" "crystal"
same "completion: of bench" "$(offers bench re)" "report"
same "completion: options to set" "$(offers set quick '')" "dirty-high= dirty-low= histogram= idle-ms= mode= stream-kib= verify= writeback-delay="
same "completion: one option to set" "$(offers set quick str)" "stream-kib="
same "completion: a value to set" "$(offers set quick idle-ms = d) $(offers set quick idle-ms =)" "default default"
same "completion: words to set" "$(offers set quick mode = w) $(offers set quick mode =)" \
	"writearound writeback writethrough default writearound writeback writethrough"
same "completion: modes" "$(offers start quick --mode writet)" "writethrough"
same "completion: verbs of help" "$(offers help rem)" "remove"
# Nothing of what a file is called is run.
touch 'disk one' '$(touch run)'
same "completion: files" "$(offers create --fast 'disk')" "disk one"
same "completion: after a device" "$(offers create --fast /dev/sda --sl)" "--slow"
same "completion: a word before is no command" "$(offers check '/touch ran/e;#' --js)$(ls ran 2>/dev/null)" "--json"
same "completion: a file's name is no command" "$(offers check '$(')$(ls run 2>/dev/null)" '$(touch run)'
truncate -s 64M fast
truncate -s 256M slow
"$xpcache" create --fast fast --slow slow --name quick >out 2>&1
same "completion: caches" "$(offers stop q)" "quick"
same "completion: a cache to set" "$(offers set q)" "quick"
cd ..

# What still needs the program.
expect "needed: a cache that runs" 3 "the cache runs, 0 blocks .0 B. dirty: quick: end what uses it" list --needed
XPCACHE_RUNTIME_DIR=$dir/other expect "needed: that nobody lists" 3 "xpcached runs a cache, as process [0-9]+: $dir/offered/fast: stop it" list --needed
"$xpcache" remove quick >out 2>&1
