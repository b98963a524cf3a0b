# SPDX-License-Identifier: GPL-2.0-only
# docs/REMOTE.md: the blocks that it says are tested, as they stand there; and that it says of all
# others that they are not.

document=$root/docs/REMOTE.md
mkdir -p bin recipes
ln -s "$xpcache" bin/xpcache
trap '"$xpcache" stop xpcache0 >/dev/null 2>&1; stop_server; rm -rf "$dir"' EXIT

# Each tested block into a file of its name.
awk '
	/^<!-- tested: / { name = $0; sub(/^<!-- tested: /, "", name); sub(/ -->$/, "", name); next }
	/^```/ && inside { inside = 0; name = ""; next }
	/^```/ { inside = 1; next }
	inside && name != "" { print > ("recipes/" name) }
' "$document"
same "remote: the blocks that are tested" "$(find recipes -type f -printf '%f\n' | sort | xargs -d '\n' printf '%s/')" \
	"create/nbdkit/qemu-nbd/remove/stop, start/tls/"
untold=$(awk '
	/^## / { told = whole = 0 }
	/^### / { told = whole }
	/[Nn]ot tested here/ { told = 1 }
	/None of this is tested here/ { told = whole = 1 }
	/^The commands below use only these variables/ { settings = 1 }
	/^<!-- tested: / { tested = 1 }
	/^```/ && !inside { inside = 1; if (!told && !tested && !settings) print NR; settings = tested = 0; next }
	/^```/ { inside = 0 }
' "$document" | xargs)
same "remote: all other blocks are said not to be tested" "$untold" ""

uri="nbd+unix:///?socket=$dir/run/xpcache0.sock"
server=127.0.0.1 disk=$dir/disk.img fast=$dir/fast
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
export server port disk fast

# recipe NAME: it succeeds.
recipe() {
	if PATH=$dir/bin:$PATH bash -eu "recipes/$1" >out 2>&1 </dev/null; then
		pass "remote: $1"
	else
		fail "remote: $1" "exit code $?"
	fi
}

stop_server() {
	local file pid
	for file in nbdkit.pid qemu-nbd.pid; do
		[ -s $file ] || continue
		pid=$(cat $file)
		kill "$pid" 2>/dev/null
		while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
		rm -f $file
	done
}

# through NAME: data goes through the cache, and the slow device has it when the cache is removed.
through() {
	nbdcopy data "$uri" >out 2>&1 && pass "remote: $1, written" || fail "remote: $1, written" nbdcopy
	[ "$1" != nbdkit ] || recipe "stop, start"
	recipe remove
}

head -c 20M /dev/urandom >data
truncate -s 64M fast
truncate -s 256M disk.img
recipe nbdkit
recipe create
grep -q "^xpcache0 " out && pass "remote: it is listed" || fail "remote: it is listed" list
through nbdkit
cmp -n $((20 << 20)) data disk.img >out && pass "remote: nbdkit, home" || fail "remote: nbdkit, home" "it differs"
stop_server

recipe qemu-nbd
through qemu-nbd
stop_server
qemu-img convert -f qcow2 -O raw disk.qcow2 back >out 2>&1
cmp -n $((20 << 20)) data back >out && pass "remote: qemu-nbd, home" || fail "remote: qemu-nbd, home" "it differs"

truncate -s 0 disk.img
truncate -s 256M disk.img
recipe tls
nbdinfo --size "nbd://$server:$port/" >out 2>&1 && fail "remote: tls, without the key" "the server takes it" || pass "remote: tls, without the key"
through tls
cmp -n $((20 << 20)) data disk.img >out && pass "remote: tls, home" || fail "remote: tls, home" "it differs"
stop_server
trap 'rm -rf "$dir"' EXIT

# Where libnbd is not: a file of that name that is no library is found before it.
mkdir none
: >none/libnbd.so.0
LD_LIBRARY_PATH=$dir/none "$xpcache" create --fast fast --slow nbd://127.0.0.1:1/ >out 2>&1
same "remote: without libnbd" "$? $(grep -c '^xpcache: a remote disk needs libnbd.*: nbd://127.0.0.1:1/: install libnbd' out)" "1 1"
