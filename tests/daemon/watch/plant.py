# SPDX-License-Identifier: GPL-2.0-only
"""plant - what caches answer, for tests/cli/running.c: statuses and histograms of which is known
what they are."""

import os

CLASSES = ("read-hit read-miss read-bypass write write-bypass write-stalled flush discard "
           "fast-read fast-write slow-read slow-write slow-flush").split()
COUNTS = [f"requests_{c.replace('-', '_')}" for c in CLASSES[:8]] + \
    ("requests_failed read_blocks_fast read_blocks_slow write_blocks write_bypass_blocks discard_blocks "
     "streams_seen stream_bypass_blocks stream_bypass_written ghost_hits ghost_hits_quarter").split()
BINS = 2045


def bin_of(ns):
    e = max(0, ns.bit_length() - 7)
    return (e << 6) + (ns >> e)


def bin_low(i):
    e = 0 if i < 128 else i // 64 - 1
    return (i - e * 64) << e


class Histogram:
    def __init__(self):
        self.times = {}

    def add(self, ns, n=1):
        self.times[ns] = self.times.get(ns, 0) + n

    def line(self, name):
        count = sum(self.times.values())
        if not count:
            return f"{name} 0 0 0 0\n"
        bins = {}
        for ns, n in self.times.items():
            bins[bin_of(ns)] = bins.get(bin_of(ns), 0) + n
        total = sum(ns * n for ns, n in self.times.items())
        text = " ".join(f"{i}:{n}" for i, n in sorted(bins.items()))
        return f"{name} {count} {total} {min(self.times)} {max(self.times)} {text}\n"


class Cache:
    """One that is at work: its state is kept, and written to @directory by write()."""

    def __init__(self, directory, name):
        self.directory, self.name, self.state, self.ns = directory, name, "running", 10 ** 12
        self.classes = {c: Histogram() for c in CLASSES}
        self.status = dict(slots=1000000, free=100000, dirty=250000, clean=650000, journal_blocks=4096, journal_used=1024,
                           pressure=0, read_hits=0, read_misses=0, writes=0, write_bypass=0, flushes=0, discards=0,
                           fills=0, written_back=0, evicted=0, journal_writes=0, fast_bytes_written=0, fast_errors=0,
                           slow_errors=0, memory=24000000, **dict.fromkeys(COUNTS, 0))

    def fill(self):
        """Something in every bin of every class."""
        for c in CLASSES:
            for i in range(BINS):
                self.classes[c].add(bin_low(i), 123456 + i)

    def reads(self, hits, misses, hit_ns=10000, miss_ns=8000000):
        for c, ns, n in (("read-hit", hit_ns, hits), ("fast-read", hit_ns - 1000, hits),
                         ("read-miss", miss_ns, misses), ("slow-read", miss_ns - 1000, misses)):
            if n:
                self.classes[c].add(ns, n)
        for name, n in (("read_hits", hits), ("requests_read_hit", hits), ("read_blocks_fast", hits),
                        ("read_misses", misses), ("requests_read_miss", misses), ("read_blocks_slow", misses)):
            self.status[name] += n

    def replace(self, kind, text):
        path = os.path.join(self.directory, f"{self.name}.{kind}")
        with open(path + ".new", "w", encoding="ascii") as f:
            f.write(text)
        os.rename(path + ".new", path)

    def write(self):
        self.ns += 10 ** 9
        self.replace("histogram", f"histogram on tsc {self.ns}\n" +
                     "".join(self.classes[c].line(c) for c in CLASSES))
        self.replace("status", self.state + "".join(f" {k} {v}" for k, v in self.status.items()) + "\n")


def plant(directory, names):
    """The caches of these names, which run from now on; others do not."""
    caches = [Cache(directory, name) for name in names]
    for cache in caches:
        cache.write()
    listed(directory, names)
    return caches


def listed(directory, names):
    path = os.path.join(directory, "list")
    with open(path + ".new", "w", encoding="ascii") as f:
        f.write("".join(name + "\n" for name in names))
    os.rename(path + ".new", path)
