# SPDX-License-Identifier: GPL-2.0-only
# The completions offer the verbs and options that the program has, and what runs.

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
	same "completion: words of $verb" "$("$xpcache" completion words -- "$verb" '' 2>/dev/null | cut -f 1 | grep '[][| ]')" ""
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
same "completion: a value in the option's word" "$(offers start quick --mode = writet) $(offers start quick --verify =)" "writethrough 0 1"
same "completion: one more test of bench" "$(offers bench --test crystal,hea)" "crystal,headline"
same "completion: shells" "$(offers completion '')" "bash fish zsh"
same "completion: no verb" "$(offers frobnicate --)" ""
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

# The other shells; what they show beside a word is the help's.
for shell in fish zsh; do
	command -v "$shell" >/dev/null || { fail "completion: $shell" "there is none: scripts/bootstrap check"; continue; }
	"$xpcache" completion $shell >script
	case $shell in
	fish)
		cat >other <<-'EOF3'
			source script
			complete -C "xpcache $argv"
		EOF3
		;;
	zsh)
		cat >other <<-'EOF3'
			compdef() { :; }
			source ./script
			_describe() { local name=${argv[-1]}; [[ $argv[-2] != -S ]] || name=$argv[-3]; print -rl -- "${(@)${(P)name}//:/	}"; }
			_files() { print -rl -- *(N); }
			words=("$xpcache" ${=1}) CURRENT=$#words
			[[ $1 != *' ' ]] || { words+=(""); CURRENT=$#words; }
			_xpcache | while IFS= read -r line; do [[ $line != "$words[CURRENT]"* ]] || print -r -- "$line"; done
		EOF3
		;;
	esac
	# words LINE - what is offered there, without what it does
	words() { PATH=$(dirname "$xpcache"):$PATH $shell other "$1" 2>&1 | cut -f 1 | sort | xargs; }
	same "completion, $shell: verbs" "$(words st)" "start status stop"
	same "completion, $shell: what a verb does" "$(PATH=$(dirname "$xpcache"):$PATH $shell other "vers" | cut -f 2)" "show the version"
	same "completion, $shell: options" "$(words "start quick --disc")" "--discard-dirty"
	same "completion, $shell: values" "$(words "create --engine ")" "auto kernel user"
	same "completion, $shell: a value in the option's word" "$(words "create --mode=writet")" "--mode=writethrough"
	same "completion, $shell: words to set" "$(words "set quick mode=w")" "mode=writearound mode=writeback mode=writethrough"
	same "completion, $shell: tests of bench" "$(words "bench --test crystal,hea")" "crystal,headline"
	same "completion, $shell: files" "$(words "create --fast fas")" "fast"
	same "completion, $shell: caches" "$(words "stop q")" "quick"
done
for shell in bash fish zsh; do
	same "completion: $shell, of the program" "$("$xpcache" completion $shell)" \
		"$(cat "$root/tools/completion/$(case $shell in bash) echo xpcache ;; fish) echo xpcache.fish ;; zsh) echo _xpcache ;; esac)")"
done
expect "completion: another shell" 2 "no completion for this shell: ksh: xpcache completion bash, fish or zsh" completion ksh
expect "completion: of no shell" 2 "a shell is missing: completion: xpcache completion bash, fish or zsh" completion
cd ..

# A word that is nearly one of them.
expect "typed wrongly: a verb" 2 "no such verb: stauts: did you mean status\\? xpcache help shows all" stauts
expect "typed wrongly: a verb to help with" 2 "no such verb: flsuh: did you mean flush\\? xpcache help shows all" help flsuh
expect "typed wrongly: an option" 2 "wrong option: --fsat: did you mean --fast\\? xpcache create --help shows all" create --fsat x
expect "typed wrongly: with its value" 2 "wrong option: --mdoe=x: did you mean --mode\\? xpcache create --help shows all" create --mdoe=x
expect "typed wrongly: another verb's option" 2 "wrong option: --undo: xpcache stop --help shows all" stop --undo
expect "typed wrongly: nothing like it" 2 "no such verb: frobnicate: xpcache help shows all" frobnicate
same "version: -V" "$("$xpcache" -V) $("$(dirname "$xpcache")/xpcached" -V)" "$("$xpcache" version) $("$(dirname "$xpcache")/xpcached" --version)"

# What still needs the program.
expect "needed: a cache that runs" 3 "the cache runs, 0 blocks .0 B. dirty: quick: end what uses it" list --needed
XPCACHE_RUNTIME_DIR=$dir/other expect "needed: that nobody lists" 3 "xpcached runs a cache, as process [0-9]+: $dir/offered/fast: stop it" list --needed
"$xpcache" remove quick >out 2>&1
