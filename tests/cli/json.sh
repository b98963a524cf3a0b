# SPDX-License-Identifier: GPL-2.0-only
# What a verb prints with --json is what docs/xpcache.schema.json says of it, in each state that a cache may be in.

cat >fits.py <<'PY'
import json, sys
import jsonschema
schema = json.load(open(sys.argv[1], encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(schema)
schema["anyOf"] = [{"$ref": "#/$defs/" + sys.argv[2]}]
validator = jsonschema.Draft202012Validator(schema)
text, count = sys.stdin.read(), 0
while text.strip():
    value, end = json.JSONDecoder().raw_decode(text.lstrip())
    text, count = text.lstrip()[end:], count + 1
    wrong = jsonschema.exceptions.best_match(validator.iter_errors(value))
    if wrong:
        sys.exit(f"{wrong.json_path}: {wrong.message}"[:300])
print(count)
PY
fits() { python3 fits.py "$root/docs/xpcache.schema.json" "$1"; }
# json NAME SCHEMA CODE ARGUMENT...: what the command prints is as the schema has it
json()
{
	local code said
	"$xpcache" "${@:4}" >"printed" 2>err
	code=$?
	said=$(fits "$2" <printed 2>&1)
	same "json: $1" "$code $said" "$3 1"
}

rm -f fast slow
truncate -s 64M fast
truncate -s 256M slow
"$xpcache" create --fast fast --slow slow --name json --idle-ms 0 >out 2>&1 || fail "json: a cache" "$(cat out)"
json "status, of a new cache" status 0 status --json
PATH=/usr/bin:$PATH nbdsh -u "nbd+unix:///?socket=$dir/run/json.sock" -c '
h.pwrite(b"d" * 65536, 0); h.pwrite(b"p" * 512, 1 << 20); h.zero(65536, 4096); h.flush(); h.pread(65536, 0); h.pread(65536, 1 << 21)'
json "status" status 0 status json --json
cp printed status.json
json "list" list 0 list --json
json "set" set 0 set json --json
json "histogram" histogram 0 histogram json --json
json "histogram of a class" histogram 0 histogram json --class write --json
"$xpcache" histogram json --interval 0.1 --count 3 --json >printed 2>&1
same "json: histograms, one after another" "$(fits histogram <printed)" 3
"$xpcache" top --interval 0.1 --count 2 --json >printed 2>&1
same "json: top" "$(fits top <printed)" 2
json "bench" bench 0 bench json --quick --seconds 0.2 --json
cp printed a.json
"$xpcache" bench json --quick --seconds 0.2 --output b.json >out 2>&1
same "json: the file of bench" "$(fits bench <b.json)" 1
"$xpcache" bench diff a.json b.json --json >printed 2>&1
same "json: bench diff" "$(fits bench_diff <printed)" 1
json "bench, other tests" bench 0 bench json --quick --seconds 0.1 --test warmup,distribution,working-set --json
"$xpcache" stop json >out 2>&1
json "list, one that is stopped" list 0 list --json
json "status, and none runs" status 0 status --json
json "dump" dump 0 dump fast --json
json "check" check 0 check fast --json
json "check of both devices, and of data" check 0 check fast --slow slow --data --json
cp fast sound
LD_PRELOAD=$badread BADREAD=300 BADREAD_ENDS=/fast "$xpcache" check fast --json >printed 2>err
same "json: check, and a place cannot be read" "$(fits check <printed)" 1
cp sound fast
"$xpcache" flush --offline --rescue --fast fast --slow slow --json >printed 2>err
same "json: rescue" "$(fits rescue <printed)" 1
for at in 0 65536; do	# both superblocks
	printf x | dd of=fast bs=1 seek=$((at + 200)) conv=notrunc status=none
done
"$xpcache" check fast --json >printed 2>err
same "json: check without a superblock" "$? $(fits check <printed)" "4 1"
cp sound fast

# A schema that takes anything says nothing.
changed() { python3 -c 'import json, sys
d = json.load(sys.stdin)
exec(sys.argv[1])
json.dump(d, sys.stdout)' "$1" <status.json | fits status 2>&1; }
same "json: what is as it was" "$(changed pass)" 1
same "json: of a detached cache" "$(changed 'd["caches"][0].update(counters={}, fast=None, state="asleep"); del d["caches"][0]["latency"]')" 1
for change in 'd["caches"][0]["more"] = 1' 'del d["caches"][0]["state"]' 'd["caches"][0]["hit_ratio"] = "0.5"' \
	'd["caches"][0]["latency"]["write"]["p51"] = 1' 'd["caches"][0]["counters"].pop("dirty")'; do
	case $(changed "$change") in
	[0-9]) fail "json: the schema sees $change" "it does not" ;;
	*) pass "json: the schema sees $change" ;;
	esac
done
rm -f fast slow sound
