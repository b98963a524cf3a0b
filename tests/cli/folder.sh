# SPDX-License-Identifier: GPL-2.0-only
# What the daemon takes along from who starts it: no folder, no file, no limit that kills it.

trap 'pkill -f "xpcached serve.*$dir" ; kill $(cat nbd.pid 2>/dev/null) 2>/dev/null; rm -rf "$dir"' EXIT
daemon_of() { pgrep -f "xpcached serve.*$1"; }
socket_uri() { echo "nbd+unix:///?socket=$1"; }
write_at() { PATH=/usr/bin:$PATH nbdsh -u "$1" -c "h.pwrite(b'x' * 65536, $2); h.flush()"; }

devices
mkdir here
exec 9>lock
flock 9
(cd here && "$xpcache" create --fast ../fast --slow ../slow --name leaves --idle-ms 0 >../out 2>&1) || fail "folder: create" "exit code"
exec 9>&-
same "folder: the daemon has left it" "$(readlink /proc/"$(daemon_of leaves.sock)"/cwd)" /
flock -n lock true
same "folder: and has no file that its caller had open" "$?" 0
expect "folder: its devices by their whole names" 0 "leaves +running +$dir/fast +$dir/slow" list
expect "folder: stop" 0 "leaves: stopped" stop leaves

# Names that lead from a folder.
mkdir words
mv fast slow words
(cd words && exec "$(dirname "$xpcache")/xpcached" serve --fast fast --slow slow --socket s --control c --log l --detach) >out 2>&1
same "folder: serve, by names from a folder" "$? $(find words -type s -printf '%f ' ; ls words/l)" "0 $(find words -type s -printf '%f ')words/l"
daemon=$(daemon_of "--socket s")
same "folder: it has left that" "$(readlink /proc/"$daemon"/cwd)" /
same "folder: both sockets are there" "$(find words -type s -printf '%f\n' | sort | xargs)" "c s"
write_at "$(socket_uri "$dir/words/s")" 0 >out 2>&1 && pass "folder: a client" || fail "folder: a client" "cannot write"
kill "$daemon"
while kill -0 "$daemon" 2>/dev/null; do sleep 0.05; done
same "folder: its sockets are gone after it" "$(find words -type s)" ""
mv words/fast words/slow .
(cd here && XPCACHE_RUNTIME_DIR=run "$xpcache" start --fast ../fast --slow ../slow >../out 2>&1)
same "folder: a runtime directory from a folder" "$? $(readlink /proc/"$(daemon_of 'run/leaves.sock')"/cwd)" "0 /"
(cd here && XPCACHE_RUNTIME_DIR=run "$xpcache" remove leaves >../out 2>&1)
same "folder: and remove there" "$?" 0

# A server's socket, named from a folder: also when it connects again, and to one who asks whose it is.
mkdir "with space"
serve_slow() { (cd "with space" && nbdkit -P ../nbd.pid -U server file ../slow >/dev/null 2>&1); until [ -S "with space/server" ]; do sleep 0.05; done; }
stop_slow() { kill -9 "$(cat nbd.pid)"; while kill -0 "$(cat nbd.pid)" 2>/dev/null; do sleep 0.05; done; rm -f "with space/server" nbd.pid; }
devices
serve_slow
(cd "with space" && "$xpcache" create --fast ../fast --slow "nbd+unix:///?socket=server" --name far --idle-ms 0 >../out 2>&1) ||
	fail "folder: create before a server" "exit code"
stop_slow
serve_slow
for _ in $(seq 100); do grep -q "connected again" run/far.log && break; sleep 0.1; done
same "folder: it connects again" "$(grep -c 'connected again' run/far.log)" 1
truncate -s 64M fast2
(cd "with space" && "$xpcache" create --fast ../fast2 --slow "nbd+unix:///?socket=server" --name other >../out 2>&1)
same "folder: the same server for another cache" "$? $(grep -c 'it is the slow device of the xpcache far' out)" "3 1"
expect "folder: remove it" 0 "far: removed" remove far
stop_slow

# A limit on the size of files is the error of a write.
devices
(ulimit -f 32768; "$xpcache" create --fast fast --slow slow --name small --idle-ms 0 >out 2>&1)
same "folder: create with a limit on the size of files" "$? $(grep -c 'fast device: writes beyond 32.0 MiB will fail' out)" "0 1"
(PATH=/usr/bin:$PATH nbdsh -u "$(socket_uri "$dir/run/small.sock")" -c '
for i in range(16 * 40):
    try: h.pwrite(b"x" * 65536, i << 16)
    except nbd.Error: pass') >out 2>&1
expect "folder: it runs on" 0 "small +(running|failed)" list
same "folder: the log tells of it" "$(grep -c 'File too large' run/small.log | sed 's/[1-9][0-9]*/some/')" some
"$xpcache" stop small --force >out 2>&1
devices
(ulimit -f 8; "$xpcache" create --fast fast --slow slow --name small --no-start >stdout 2>stderr)
same "folder: the command line is not killed either" "$? $(cut -c1-54 stderr)" "1 xpcache: cannot write the metadata: File too large: fa"
(ulimit -S -f 1024; "$xpcache" create --fast fast --slow slow --name soft --idle-ms 0 >out 2>&1)
same "folder: of a limit that may be raised nothing is said" "$? $(grep -c 'will fail' out)" "0 0"
expect "folder: remove the last" 0 "soft: removed" remove soft
rm -rf here words "with space"
