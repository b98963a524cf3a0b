# SPDX-License-Identifier: GPL-2.0-only
# vm: usr=host with=xpcached,xpcached-watch fast=64M slow=256M timeout=900 quick=no sanitized=no
#
# xpcached watch before the kernel's own device mapper and an NVMe drive, with no more
# privileges than its unit leaves it: its figures are the target's, and what happens is told.

. ./lib.sh

URL=http://127.0.0.1:19798
ip link set lo up || ifconfig lo up

# metric SERIES - its value, by a question of its own.
metric() { curl -s $URL/metrics | awk -v series="xpcache_$1 " 'index($0, series) == 1 { print $2 }'; }
# of CLASS FIELD - 2: count; of the target's answer.
of() { dmsetup message xpcache0 0 histogram | awk -v c="$1" -v f="$2" '$1 == c { print $f }'; }
told() { grep -qx "xpcached: $1" /tmp/watch.log; }
# tells NAME LINE - a line of its own, once.
tells()
{
	settled told "$2"
	equal "$1" 1 "$(grep -cx "xpcached: $2" /tmp/watch.log)"
}

create --idle-ms 0 --dirty-low 60
/host/bin/setpriv --bounding-set=-all,+sys_admin --inh-caps=-all --no-new-privs \
	xpcached watch --dirty-limit 10 --interval 0.2 2>/tmp/watch.log &
pid=$!
settled grep -q "can be asked at $URL/" /tmp/watch.log || die listens "$(cat /tmp/watch.log)"

must dd if=$CACHE of=/dev/null bs=64k count=64 iflag=direct status=none
must dd if=$CACHE of=/dev/null bs=4k count=500 iflag=direct status=none
must dd if=/dev/zero of=$CACHE bs=4k count=50 oflag=direct conv=fsync status=none
sleep 1
for class in read-hit read-miss write flush fast-write; do
	family=request
	[ $class != fast-write ] || family=device
	equal count-of-$class "$(of $class 2)" \
		"$(metric "${family}_duration_seconds_count{cache=\"xpcache0\",class=\"$class\"}")"
done
[ "$(of read-hit 2)" -ge 500 ] && pass hits-were-counted || fail hits-were-counted "$(of read-hit 2)"
equal hits "$(counter read_hits)" "$(metric 'read_hits_total{cache="xpcache0"}')"
equal dirty-bytes $(($(counter dirty) * 4096)) "$(metric 'dirty_bytes{cache="xpcache0"}')"
equal written $((50 * 4096)) "$(metric 'written_bytes_total{cache="xpcache0"}')"
equal running 1 "$(metric 'state{cache="xpcache0",state="running"}')"
equal drive-was-asked 0 "$(metric 'fast_critical_warning{cache="xpcache0"}')"
note "the drive: $(curl -s $URL/metrics | grep '^xpcache_fast_[wsl].*}' | tr '\n' ' ')"

# All of what can be dirty before writeback begins, then none.
must dd if=/dev/urandom of=$CACHE bs=64k count=128 oflag=direct status=none
tells dirty 'xpcache0: [0-9.]* % dirty, the limit is 10 %'
must xpcache flush xpcache0
tells dirty-over 'xpcache0: [0-9.]* % dirty again'
stop
tells gone 'xpcache0: runs no more'
equal no-cache 0 "$(metric caches)"
start
tells back 'xpcache0: runs now'
equal counts-anew "$(counter read_hits)" "$(metric 'read_hits_total{cache="xpcache0"}')"

note "$(awk '{ printf "%.2f s of processor, %d KiB\n", ($14 + $15) / 100, $24 * 4 }' /proc/$pid/stat)"
kill -TERM $pid
wait $pid
equal ends-well 0 $?
sed 's/^/watch: /' /tmp/watch.log
remove
