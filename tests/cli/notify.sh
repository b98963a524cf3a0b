# SPDX-License-Identifier: GPL-2.0-only
# What xpcached serve tells the service manager: by a path or by an abstract name. One that is not there is no error.

truncate -s 64M fast
truncate -s 256M slow
cat >manager.py <<'EOF2'
"""manager.py ADDRESS PROGRAM... - a service manager: what it is told until the program, told to stop, has ended."""
import os
import signal
import socket
import subprocess
import sys

manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind("\0" + sys.argv[1][1:] if sys.argv[1][0] == "@" else sys.argv[1])
manager.settimeout(20)
program = subprocess.Popen(sys.argv[2:], env={**os.environ, "NOTIFY_SOCKET": sys.argv[1]})
said = manager.recv(4096).decode()
program.send_signal(signal.SIGTERM)
while "STOPPING=1" not in said:
    said += "\n" + manager.recv(4096).decode()
print(said, program.wait(), sep="\n")
EOF2
"$xpcache" create --fast fast --slow slow --no-start >out 2>&1 || fail "notify: create" "no cache"
for address in "$dir/manager" "@$dir/manager"; do
	python3 manager.py "$address" bin/xpcached serve --fast fast --slow slow --socket "$dir/sock" >told 2>out
	same "notify: at ${address//$dir/}" "$(grep -v ' stops, and waits for ' told | sed "s,$dir,,g" | xargs)" "READY=1 STATUS=xpcache0 /sock STOPPING=1 0"
done
NOTIFY_SOCKET=$dir/nobody timeout -s TERM 2 bin/xpcached serve --fast fast --slow slow --socket "$dir/sock" >out 2>&1
same "notify: nobody is there" "$? $(cat out)" "124 "
rm -f fast slow manager manager.py told sock
