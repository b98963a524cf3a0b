# SPDX-License-Identifier: GPL-2.0-only
# What libnbd asks an NBD server, at $URI, with structured or simple $REPLIES; for nbdsh.
# Prints PASS or FAIL for each thing tried.

import errno
import os
import socket
import struct
import urllib.parse

uri = os.environ["URI"]
structured = os.environ["REPLIES"] == "structured"
MIB = 1 << 20


def connect(strict=False, context=None):
    h = nbd.NBD()
    h.set_request_structured_replies(structured)
    if not strict:
        h.set_strict_mode(0)
    if context:
        h.add_meta_context(context)
    h.connect_uri(uri)
    return h


def pattern(n, seed):
    return bytes((i * 31 + (i >> 8) * 7 + seed) & 255 for i in range(n))


def fails(error, call):
    try:
        call()
    except nbd.Error as e:
        assert e.errnum == error, f"{e.errno}, not {errno.errorcode[error]}"
        return
    raise AssertionError(f"no error, not {errno.errorcode[error]}")


# ------------------------------------------------------------- requests ----

def what_was_written_is_read():
    h = connect(strict=True)
    data = pattern(3 * MIB // 2, 1)
    h.pwrite(data, 4096)
    assert h.pread(len(data), 4096) == data
    assert h.pread(512, 4096 + 1024) == data[1024:1536]
    h.shutdown()


def what_was_written_with_fua_is_read():
    h = connect(strict=True)
    h.pwrite(pattern(8192, 2), 8 * MIB, nbd.CMD_FLAG_FUA)
    h.flush()
    assert h.pread(8192, 8 * MIB) == pattern(8192, 2)


def zeros_are_written():
    h = connect(strict=True)
    for flags in (0, nbd.CMD_FLAG_NO_HOLE, nbd.CMD_FLAG_FUA):
        h.pwrite(pattern(MIB, 3), 9 * MIB)
        h.zero(MIB // 2, 9 * MIB + 4096, flags)
        back = h.pread(MIB, 9 * MIB)
        assert back[:4096] == pattern(MIB, 3)[:4096]
        assert back[4096:4096 + MIB // 2] == bytes(MIB // 2)
        assert back[4096 + MIB // 2:] == pattern(MIB, 3)[4096 + MIB // 2:]


def more_zeros_than_a_payload():
    h = connect(strict=True)
    h.zero(48 * MIB, 0)
    assert h.pread(4096, 47 * MIB) == bytes(4096)


def what_is_offered_is_done():
    h = connect(strict=True)
    if h.can_trim():
        h.trim(MIB, 10 * MIB)
        h.trim(MIB, 10 * MIB, nbd.CMD_FLAG_FUA)
    if h.can_cache():
        h.cache(MIB, 10 * MIB)


def a_read_in_one_piece():
    h = connect(strict=True)
    assert h.can_df() == structured
    if structured:
        h.pwrite(pattern(MIB, 4), 11 * MIB)
        h.zero(MIB // 4, 11 * MIB + MIB // 4)
        chunks = []
        h.pread_structured(MIB, 11 * MIB, lambda b, o, s, e: chunks.append(s), nbd.CMD_FLAG_DF)
        assert chunks == [nbd.READ_DATA], chunks


def wait(h, cookies):
    for cookie in cookies:
        while not h.aio_command_completed(cookie):
            h.poll(-1)


def many_at_once():
    h = connect(strict=True)
    data = [nbd.Buffer.from_bytearray(bytearray(pattern(4096, i))) for i in range(256)]
    back = [nbd.Buffer(4096) for _ in range(256)]
    wait(h, [h.aio_pwrite(b, 12 * MIB + 4096 * i) for i, b in enumerate(data)])
    wait(h, [h.aio_pread(b, 12 * MIB + 4096 * i) for i, b in enumerate(back)])
    for i, b in enumerate(back):
        assert b.to_bytearray() == pattern(4096, i), i


def one_connection_sees_what_another_wrote():
    a, b = connect(), connect()
    if not a.can_multi_conn():
        return
    a.pwrite(pattern(4096, 5), 14 * MIB)
    a.flush()
    assert b.pread(4096, 14 * MIB) == pattern(4096, 5)


# ------------------------------------------------------------- refusals ----

def refusals():
    h = connect()
    size, block = h.get_size(), h.get_block_size(nbd.SIZE_MINIMUM)
    most = h.get_block_size(nbd.SIZE_MAXIMUM)
    h.pwrite(pattern(4096, 6), 0)
    if block > 1:
        fails(errno.EINVAL, lambda: h.pread(block // 2, 0))
        fails(errno.EINVAL, lambda: h.pwrite(bytes(block), block // 2))
        fails(errno.EINVAL, lambda: h.zero(1, 0))
    fails(errno.EINVAL, lambda: h.pread(block, size))
    fails(errno.ENOSPC, lambda: h.pwrite(bytes(block), size))
    fails(errno.ENOSPC, lambda: h.pwrite(bytes(2 * block), size - block))
    fails(errno.ENOSPC, lambda: h.zero(2 * block, size - block))
    fails(errno.EINVAL, lambda: h.pread(block, 0xffffffffffff0000))
    if most < 64 * MIB:     # libnbd sends no more
        fails(errno.EINVAL, lambda: h.pwrite(bytes(most + block), 0))
        fails(errno.EOVERFLOW if structured else errno.EINVAL, lambda: h.pread(most + block, 0))
    fails(errno.EINVAL, lambda: h.pread(block, 0, nbd.CMD_FLAG_NO_HOLE))
    fails(errno.EINVAL, lambda: h.pwrite(bytes(block), 0, nbd.CMD_FLAG_DF))
    assert h.pread(4096, 0) == pattern(4096, 6)
    h.pwrite(pattern(4096, 7), 0)
    assert h.pread(4096, 0) == pattern(4096, 7)


def the_largest_payload():
    h = connect(strict=True)
    n = min(h.get_block_size(nbd.SIZE_MAXIMUM), h.get_size(), 32 * MIB)
    data = bytes(range(256)) * (n // 256)
    h.pwrite(data, 0)
    assert h.pread(n, 0) == data


# ------------------------------------------------------------ handshake ----

def extents_cover_what_was_asked():
    if not structured:
        return
    h = connect(strict=True, context="base:allocation")
    seen = []
    assert h.can_meta_context("base:allocation")
    h.block_status(16 * MIB, 4096, lambda c, o, e, err: seen.append((c, o, e)))
    assert len(seen) == 1 and seen[0][:2] == ("base:allocation", 4096), seen
    assert all(n > 0 for n in seen[0][2][::2])
    seen.clear()
    h.block_status(8192, 4096, lambda c, o, e, err: seen.append(e), nbd.CMD_FLAG_REQ_ONE)
    assert len(seen) == 1 and len(seen[0]) == 2 and 0 < seen[0][0] <= 8192, seen


def extents_of_nothing_selected():
    h = connect()
    fails(errno.EINVAL, lambda: h.block_status(4096, 0, lambda c, o, e, err: None))


def options_one_by_one():
    h = nbd.NBD()
    h.set_request_structured_replies(structured)
    h.set_opt_mode(True)
    h.connect_uri(uri)
    exports, contexts = [], []
    h.opt_list(lambda name, about: exports.append(name))
    assert exports
    h.opt_info()
    size = h.get_size()
    if structured:
        h.opt_list_meta_context(contexts.append)
        assert contexts == ["base:allocation"], contexts
    h.set_export_name("there is none of this name")
    fails(errno.ENOENT, h.opt_info)
    fails(errno.ENOENT, h.opt_go)
    h.set_export_name(exports[0])
    h.opt_go()
    assert h.get_size() == size
    h.pread(4096, 0)


def a_client_may_leave_at_once():
    h = nbd.NBD()
    h.set_opt_mode(True)
    h.connect_uri(uri)
    h.opt_abort()


def open_socket():
    u = urllib.parse.urlparse(uri)
    if u.scheme == "nbd+unix":
        s = socket.socket(socket.AF_UNIX)
        s.connect(urllib.parse.parse_qs(u.query)["socket"][0])
        return s
    return socket.create_connection((u.hostname, u.port or 10809))


def old_clients_say_export_name():
    """No client of these says it any more where GO is known."""
    name = urllib.parse.urlparse(uri).path.lstrip("/").encode()
    for zeroes in (True, False):
        with open_socket() as s, s.makefile("rwb") as f:
            assert f.read(18) == b"NBDMAGICIHAVEOPT\0\3"
            f.write(struct.pack(">I8sII", 1 if zeroes else 3, b"IHAVEOPT", 1, len(name)) + name)
            f.flush()
            size, flags = struct.unpack(">QH", f.read(10))
            assert size == connect().get_size() and flags & 1 and not flags & 128
            assert not zeroes or f.read(124) == bytes(124)
            f.write(struct.pack(">IHH8sQI", 0x25609513, 0, 0, b"a cookie", 4096, 4096))
            f.flush()
            assert f.read(16) == struct.pack(">II8s", 0x67446698, 0, b"a cookie")
            assert f.read(4096) == connect().pread(4096, 4096)
            f.write(struct.pack(">IHH8sQI", 0x25609513, 0, 2, b"a cookie", 0, 0))
            f.flush()
            assert f.read() == b""


for test in (what_was_written_is_read, what_was_written_with_fua_is_read, zeros_are_written,
             more_zeros_than_a_payload, what_is_offered_is_done, a_read_in_one_piece, many_at_once,
             one_connection_sees_what_another_wrote, refusals, the_largest_payload,
             extents_cover_what_was_asked, extents_of_nothing_selected, options_one_by_one,
             a_client_may_leave_at_once, old_clients_say_export_name):
    name = f"nbdsh, {os.environ['REPLIES']} replies: {test.__name__}"
    try:
        test()
        print(f"PASS peers {name}", flush=True)
    except (AssertionError, OSError, nbd.Error, struct.error) as e:
        print(f"FAIL peers {name}: line {e.__traceback__.tb_next.tb_lineno}: {e}", flush=True)
