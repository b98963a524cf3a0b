# SPDX-License-Identifier: GPL-2.0-only
# vm: fast=64M slow=512M slow-iops=2000 memory=1G usr=host driver=powercut timeout=600
# shellcheck shell=bash disable=SC2154 # variables from tests/vm/powercut
#
# One life of a database on ext4 on a cache that ends when the host kills the
# machine. KIND is sqlite-wal, sqlite-delete (its rollback journal) or postgres;
# STEP as in powercut.sh. Each writer commits rows numbered from 1 and reports each
# one when the database says that it is committed ("a WRITER NUMBER"), before it
# begins the next: so what is there afterwards ends at that row, or the one after.

. ./lib.sh

MOUNT=/mnt
IFS=, read -ra acked <<<"$ACKED"

# judge NAME - on stdin what the database says of each writer: "WRITER ROWS LAST BAD".
judge()
{
	local writer rows last bad total=0 wrong="it did not answer"
	while read -r writer rows last bad; do
		[ "$wrong" = "it did not answer" ] && wrong=
		[ "$rows" -eq "$last" ] && [ "$bad" -eq 0 ] &&
			[ "$last" -ge "${acked[writer]}" ] &&
			[ "$last" -le $((acked[writer] + 1)) ] ||
			wrong="writer $writer: $rows rows, the last is $last, $bad spoiled; acknowledged were ${acked[writer]}"
		last_row[writer]=$last
		total=$((total + rows))
	done
	if [ -n "$wrong" ]; then
		fail "$1" "$wrong"
	else
		pass "$1"
		note "$total rows"
	fi
}
last_row=(0 0 0 0)

# -------------------------------------------------------------- sqlite ----

# Payloads that follow from the number: one to five pages.
PAYLOAD="substr(hex(zeroblob(10000)), 1, 300 + n % 19 * 1000) || n"
# EXTRA: a rollback journal is over when it is deleted, and with FULL nothing syncs
# that: a cut takes the last transaction back, on any disk.
sqlite() { sqlite3 -batch -bail "$MOUNT/db" "PRAGMA synchronous=EXTRA" "$@"; }

sqlite_make()
{
	must sqlite "PRAGMA journal_mode=${KIND#sqlite-}" \
		"CREATE TABLE rows (n INTEGER PRIMARY KEY, data TEXT)" \
		"CREATE INDEX data ON rows (data)"
}

sqlite_check()
{
	equal "integrity$1" ok "$(sqlite "PRAGMA integrity_check" 2>&1)"
	judge "rows$1" < <(sqlite "SELECT 0 || ' ' || count(*) || ' ' || coalesce(max(n), 0) ||
		' ' || coalesce(sum(data <> $PAYLOAD), 0) FROM rows" 2>&1)
}

# The answer after a COMMIT comes when it is done. Every eighth transaction also
# takes back and repeats an older row, so that pages are written again.
sqlite_write()
{
	local n answer
	coproc SQL { exec sqlite3 -batch -bail "$MOUNT/db" 2>&1; }
	echo "PRAGMA synchronous=EXTRA; PRAGMA wal_autocheckpoint=100;" >&"${SQL[1]}"
	read -r _ <&"${SQL[0]}"
	go
	for ((n = last_row[0] + 1; ; n++)); do
		{
			echo "BEGIN; INSERT INTO rows SELECT n, $PAYLOAD FROM (SELECT $n AS n);"
			[ $((n % 8)) -ne 0 ] || echo "DELETE FROM rows WHERE n = $((n / 2));
				INSERT INTO rows SELECT n, $PAYLOAD FROM (SELECT $((n / 2)) AS n);"
			echo "COMMIT; SELECT 'committed $n';"
		} >&"${SQL[1]}"
		read -r answer <&"${SQL[0]}"
		[ "$answer" = "committed $n" ] || die sqlite "$answer"
		echo "a 0 $n" >"$REPORT"
	done
}

# ------------------------------------------------------------ postgres ----

PG=$(echo /usr/lib/postgresql/*/bin)
DATA=$MOUNT/data

as_user() { chroot --userspec=1000:1000 --groups=1000 / "$@"; }
sql() { as_user $PG/psql -h /tmp -d postgres -qtA -F ' ' -v ON_ERROR_STOP=1 -c "$1"; }

postgres_up()
{
	must as_user $PG/pg_ctl -D $DATA -l /tmp/postgres.log -w -t 300 start
}
postgres_down() { must as_user $PG/pg_ctl -D $DATA -w -t 300 -m fast stop; }

postgres_make()
{
	mkdir $DATA
	chown user $DATA
	must as_user $PG/initdb -D $DATA -U user -k -N --locale=C -E UTF8
	cat >>$DATA/postgresql.conf <<-CONF
		listen_addresses = ''
		unix_socket_directories = '/tmp'
		dynamic_shared_memory_type = mmap
		shared_buffers = 16MB
		max_wal_size = 32MB
		min_wal_size = 32MB
		checkpoint_timeout = 30s
	CONF
	postgres_up
	must sql "CREATE TABLE rows (writer int, n int, data text, PRIMARY KEY (writer, n))"
	must sql "CREATE INDEX data ON rows (data)"
	must sql "CREATE EXTENSION amcheck"
	postgres_down
}

# Recovery runs as the server starts; checksums need it stopped.
postgres_check()
{
	postgres_up
	judge "rows$1" < <(sql "SELECT w, count(n), coalesce(max(n), 0),
		count(*) FILTER (WHERE data <> repeat(md5(n::text), 1 + n % 40))
		FROM generate_series(0, 3) w LEFT JOIN rows ON writer = w GROUP BY w ORDER BY w" 2>&1)
	try "amcheck$1" sql "SELECT bt_index_check(c.oid, true) FROM pg_class c JOIN pg_index i
		ON i.indexrelid = c.oid JOIN pg_am a ON a.oid = c.relam AND amname = 'btree'
		WHERE relpersistence = 'p'"
	equal "heap$1" "" "$(sql "SELECT * FROM verify_heapam('rows')" 2>&1)"
	postgres_down
	try "checksums$1" as_user $PG/pg_checksums --check -D $DATA
}

# pgbench reports each row by a command of the shell, and then touches older ones.
postgres_write()
{
	local writer
	local pids=()
	postgres_up
	go
	exec 3>"$REPORT"
	cat >/tmp/reporter <<-'REPORTER'
		#!/bin/sh
		echo "a $1 $2" >&3
	REPORTER
	chmod 755 /tmp/reporter
	cat >/tmp/rows.sql <<-'SQL'
		\set n :n + 1
		INSERT INTO rows VALUES (:writer, :n, repeat(md5((:n)::text), 1 + :n % 40));
		\shell /tmp/reporter :writer :n
		UPDATE rows SET data = data WHERE writer = :writer AND n > :n - 10;
	SQL
	for writer in 0 1 2 3; do
		as_user $PG/pgbench -h /tmp -n -f /tmp/rows.sql -T 3600 -D writer=$writer \
			-D n="${last_row[writer]}" postgres >/tmp/pgbench$writer.log 2>&1 &
		pids+=($!)
	done
	wait -n "${pids[@]}"
	cat /tmp/pgbench*.log
	echo "FAIL pgbench: one has ended: $(cat /tmp/pgbench*.log | tail -n 1)" >&3
}

# ------------------------------------------------------------ the life ----

# From here on the power may go. What has been seen is there to stay, also what
# nobody had been told of.
go()
{
	local writer
	for writer in 0 1 2 3; do
		report "a $writer ${last_row[writer]}"
	done
	report GO
	while [ "$FLUSHING" = 1 ]; do
		dmsetup message xpcache0 0 flush
		sleep 0.3
	done &
}

database() { "${KIND%%-*}_$1" "${@:2}"; }

# Mounting replays ext4's own log; after that fsck finds nothing.
sound()
{
	must mount "$1" $MOUNT
	database check "$2"
	must umount $MOUNT
	try "fsck$2" e2fsck -fn "$1"
}

chmod 1777 /tmp
if [ "$STEP" = first ]; then
	create --idle-ms 1000
	must mkfs.ext4 -q -F $CACHE
	must mount $CACHE $MOUNT
	database make
	must umount $MOUNT
else
	report STARTING
	start
	sound $CACHE ""
fi

if [ "$STEP" = last ]; then
	remove
	sound $SLOW -after-remove
	exit
fi

must mount $CACHE $MOUNT
database write
