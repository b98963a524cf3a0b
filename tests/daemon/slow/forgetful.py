# SPDX-License-Identifier: GPL-2.0-only
"""forgetful - an NBD server with a volatile cache: what nobody has flushed is lost when it crashes, or when
a flush fails. It keeps a list of the commands in the order in which they came, and can be told to fail
them, to keep their replies, to die and to come back."""

import errno
import os
import socket
import struct
import threading

READ, WRITE, DISC, FLUSH, TRIM, ZEROES = 0, 1, 2, 3, 4, 6
NAME = {READ: "read", WRITE: "write", FLUSH: "flush", TRIM: "trim", ZEROES: "zeroes"}
FUA = 1
HAS, HAS_FLUSH, HAS_FUA, HAS_TRIM, HAS_ZEROES, MULTI = 1, 4, 8, 32, 64, 256


class Server:
    """At the unix socket @path, or at a port of its own; its memory outlives its crashes as far as it was flushed."""

    def __init__(self, path, size, trim=False):
        self.path, self.size, self.port = path, size, None
        self.flags = HAS | HAS_FLUSH | HAS_ZEROES | MULTI | HAS_FUA | (HAS_TRIM if trim else 0)
        self.durable, self.now = bytearray(size), bytearray(size)
        self.lock = threading.Condition()
        self.log = []               # what came: (name, offset, length, fua); what was answered: ("done", name, offset)
        self.fail = {}              # name: how many of the next fail
        self.held = set()           # names: they are done, and get no reply; "failed": those that failed; "goodbye": it is not heard
        self.late, self.slow = set(), []    # names: what comes by these connections is done when it is released, if they are gone by then, too
        self.connections, self.listener, self.lives, self.accepted = [], None, 0, 0
        self.start()

    # ------------------------------------------------------------ its life ----

    def start(self):
        with self.lock:
            self.lives += 1
            if self.path:
                self.listener = socket.socket(socket.AF_UNIX)
                self.listener.bind(self.path)
                self.listener.listen(16)
            else:
                self.listener = socket.create_server(("127.0.0.1", 0))
                self.port = self.listener.getsockname()[1]
            threading.Thread(target=self.accept, args=(self.listener, self.lives), daemon=True).start()

    def crash(self, lose=True):
        """As if killed, and its machine with it: no connection, and of its memory what was flushed."""
        with self.lock:
            self.lives += 1
            if self.path:
                os.unlink(self.path)
            for s in [self.listener, *self.connections]:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()
            self.connections = []
            if lose:
                self.now[:] = self.durable
            self.lock.notify_all()

    def be_late(self, *names):
        with self.lock:
            self.late, self.slow = set(names), list(self.connections)

    def cut(self):
        """Its connections break, and it does not: what it has received it does."""
        with self.lock:
            for s in self.connections:
                s.shutdown(socket.SHUT_RDWR)

    def nudge(self):
        """Its clients' polls end, and there is nothing to read: a byte that is urgent lies beside the stream. At a port only."""
        with self.lock:
            for s in self.connections:
                s.send(b"!", socket.MSG_OOB)

    def crash_of_one(self, number):
        """Its memory is lost, and one connection: of the others it says nothing."""
        with self.lock:
            self.now[:] = self.durable
            self.connections[number].shutdown(socket.SHUT_RDWR)

    def accept(self, listener, life):
        while True:
            try:
                s, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                if self.lives != life:
                    s.close()
                    return
                self.connections.append(s)
                self.accepted += 1
            threading.Thread(target=self.serve, args=(s, life), daemon=True).start()

    @property
    def uri(self):
        return f"nbd+unix:///?socket={self.path}" if self.path else f"nbd://127.0.0.1:{self.port}/"

    def release(self, *names):
        with self.lock:
            self.held -= set(names)
            self.late -= set(names)
            self.lock.notify_all()

    def hold(self, *names):
        with self.lock:
            self.held |= set(names)

    def wait(self, condition, seconds=20, what="the server waits in vain"):
        with self.lock:
            assert self.lock.wait_for(lambda: condition(self.log), seconds), (what, self.log[-20:])

    def count(self, name):
        with self.lock:
            return sum(1 for entry in self.log if entry[0] == name)

    def arrived(self, name, n=1):
        """Waits until @n of them have come, all told."""
        self.wait(lambda log: sum(1 for e in log if e[0] == name) >= n, what=f"no {name}, or not {n}")

    # ----------------------------------------------------------- the protocol ----

    def serve(self, s, life):
        try:
            if self.handshake(s):
                self.transmit(s, life)
        except ConnectionResetError:
            with self.lock:
                self.log.append(("reset",))
                self.lock.notify_all()
        except (OSError, EOFError):
            pass
        with self.lock:
            if s in self.connections:
                self.connections.remove(s)
        s.close()

    @staticmethod
    def take(s, n):
        data = b""
        while len(data) < n:
            part = s.recv(n - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def handshake(self, s):
        s.sendall(b"NBDMAGICIHAVEOPT" + struct.pack(">H", 3))
        self.take(s, 4)
        while True:
            _, option, length = struct.unpack(">8sII", self.take(s, 16))
            self.take(s, length)
            answer = lambda kind, data=b"": s.sendall(struct.pack(">QIII", 0x3e889045565a9, option, kind, len(data)) + data)
            if option in (6, 7):    # INFO, GO
                answer(3, struct.pack(">HQH", 0, self.size, self.flags))
                answer(1)
                if option == 7:
                    return True
            elif option == 2:       # ABORT
                answer(1)
                return False
            else:
                answer(0x80000001)

    def transmit(self, s, life):
        sending = threading.Lock()
        while True:
            _, flags, kind, cookie, offset, length = struct.unpack(">IHHQQI", self.take(s, 28))
            data = self.take(s, length) if kind == WRITE else b""
            if kind == DISC:
                with self.lock:
                    self.log.append(("goodbye",))
                    self.lock.wait_for(lambda: "goodbye" not in self.held or self.lives != life)
                return
            with self.lock:
                if self.lives != life:
                    return
                self.log.append((NAME[kind], offset, length, bool(flags & FUA)))
                if NAME[kind] in self.late and s in self.slow:
                    self.lock.notify_all()
                    self.lock.wait_for(lambda: NAME[kind] not in self.late)
                err, data = self.perform(kind, flags, offset, length, data)
                self.lock.notify_all()
            threading.Thread(target=self.reply, args=(s, life, sending, kind, cookie, offset, err, data), daemon=True).start()

    def perform(self, kind, flags, offset, length, data):
        name = NAME[kind]
        if self.fail.get(name, 0):
            self.fail[name] -= 1
            if kind == FLUSH:       # as a file does it: told once, and the pages are thrown away
                self.now[:] = self.durable
            return errno.EIO, b""
        end = offset + length
        if kind == READ:
            return 0, bytes(self.now[offset:end])
        if kind == WRITE:
            self.now[offset:end] = data
        elif kind in (TRIM, ZEROES):
            self.now[offset:end] = bytes(length)
        elif kind == FLUSH:
            self.durable[:] = self.now
        if flags & FUA:
            self.durable[offset:end] = self.now[offset:end]
        return 0, b""

    def reply(self, s, life, sending, kind, cookie, offset, err, data):
        with self.lock:
            self.lock.wait_for(lambda: not self.held & {NAME[kind], "failed" if err else None} or self.lives != life)
            if self.lives != life:
                return
            self.log.append(("done", NAME[kind], offset))
            self.lock.notify_all()
        with sending:
            try:
                s.sendall(struct.pack(">IIQ", 0x67446698, err, cookie) + data)
            except OSError:
                pass
