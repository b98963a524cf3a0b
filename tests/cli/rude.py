# SPDX-License-Identifier: GPL-2.0-only
"""rude PATH - an NBD server at the unix socket PATH that refuses each client, in words that are none of its business."""

import socket
import struct
import sys

NOT_ALLOWED = 0x80000002
WORDS = "\x1b]0;owned\x07\x1b[2J\nforged: all is well\r\u009b31m\u202e".encode() + b"\xff\xc0\x8a"


def exactly(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


def refuse(s):
    s.sendall(b"NBDMAGIC" + b"IHAVEOPT" + struct.pack(">H", 1))
    exactly(s, 4)
    while True:
        _, option, length = struct.unpack(">QII", exactly(s, 16))
        exactly(s, length)
        s.sendall(struct.pack(">QIII", 0x3e889045565a9, option, NOT_ALLOWED, len(WORDS)) + WORDS)


def main():
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(4)
    print("listens", flush=True)
    while True:
        s, _ = listener.accept()
        try:
            refuse(s)
        except OSError:
            s.close()


main()
