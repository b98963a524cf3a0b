# SPDX-License-Identifier: GPL-2.0-only
"""counts - a known mix of requests, and what status, its JSON, top, the page, the metrics and the histograms make of
it: docs/MEASURING.md, "What a cache counts". One script for both engines: its caller brings a device with the methods
read(at, n), write(at, n), flush(), discard(at, n) and zero(at, n), and @largest bytes of one request.

The cache is of 64 MiB before 256 MiB, with stream_kib as below.

    run(device, Outputs(...), judge)
"""

import json
import random
import re
import subprocess
import time
import urllib.request

BLOCK, KIB, MIB = 4096, 1 << 10, 1 << 20
CLASSES = "read_hit read_miss read_bypass write write_bypass write_stalled flush discard".split()
BLOCKS = "read_blocks_fast read_blocks_slow write_blocks write_bypass_blocks discard_blocks".split()
GHOSTS = "ghost_hits ghost_hits_quarter".split()
STREAMS = "streams_seen stream_bypass_blocks stream_bypass_written".split()
COUNTED = [f"requests_{c}" for c in CLASSES] + ["requests_failed"] + BLOCKS + STREAMS + GHOSTS
SUMS = {"read_hits": ["read_hit"], "read_misses": ["read_miss", "read_bypass"],
        "writes": ["write", "write_bypass", "write_stalled"], "write_bypass": ["write_bypass"], "flushes": ["flush"],
        "discards": ["discard"]}
RATIOS = ("hit_ratio", "hit_ratio_by_bytes", "hit_ratio_by_time")
QUOTIENTS = ("ghost_hit_ratio", "fills_per_hit", "fast_bytes_per_user_byte")
METRICS = {"read_fast_bytes_total": "read_blocks_fast", "read_slow_bytes_total": "read_blocks_slow",
           "write_fast_bytes_total": "write_blocks", "write_slow_bytes_total": "write_bypass_blocks",
           "discarded_bytes_total": "discard_blocks", "stream_bypass_bytes_total": "stream_bypass_blocks",
           "stream_bypass_written_bytes_total": "stream_bypass_written",
           "ghost_hit_bytes_total": "ghost_hits", "ghost_hit_quarter_bytes_total": "ghost_hits_quarter"}
STREAM_KIB = 2048   # of the caller's cache
INTERVAL = "0.2"    # of top, and of the watcher


# ------------------------------------------------------------------ the mix ----

def every_second_block(device):
    """Of the first 1 MiB, from the last to the first: no two are neighbours on the fast device."""
    for at in reversed(range(0, MIB, 2 * BLOCK)):
        device.write(at, BLOCK)


def in_order(device):
    for at in range(64 * MIB, 68 * MIB, device.largest):
        device.write(at, device.largest)


def reread(device):
    for i in range(200):
        device.read(64 * MIB + i % 32 * 128 * KIB, 128 * KIB)


def over_two_blocks(device):
    for i in range(5):
        device.read(64 * MIB + i * MIB // 2 + 2 * KIB, BLOCK)


def writes_beside_zeroes(device):
    for i in range(10):
        device.write(100 * MIB + i * BLOCK, BLOCK)
        device.zero(110 * MIB + i * MIB, MIB)


def in_a_row(device):
    for at in range(224 * MIB, 232 * MIB, 128 * KIB):
        device.read(at, 128 * KIB)


def more_than_the_cache(device):
    """As many blocks as it has slots, and more, in an order that is no stream: the same at each call."""
    for i in random.Random(1).sample(range(1024), 1024):
        device.read(192 * MIB + i * 64 * KIB, 64 * KIB)


def steps(device):
    """(what, how it is sent, what it adds). One of several names, with "|" between, may have the requests."""
    return [
        ("128 writes of 4 KiB", every_second_block, {"requests_write": 128, "write_blocks": 128}),
        ("a read of 1 MiB, every second block cached", lambda d: d.read(0, MIB),
         {"requests_read_miss|requests_read_bypass": 1, "read_blocks_fast": 128, "read_blocks_slow": 128}),
        ("writes of 4 MiB", in_order, {"requests_write|requests_write_stalled": 4 * MIB // device.largest, "write_blocks": 1024}),
        ("200 reads of 128 KiB", reread, {"requests_read_hit": 200, "read_blocks_fast": 6400}),
        ("5 reads of 4 KiB over two blocks each", over_two_blocks, {"requests_read_hit": 5, "read_blocks_fast": 10}),
        ("a flush", lambda d: d.flush(), {"requests_flush": 1}),
        ("10 writes beside 10 zeroes", writes_beside_zeroes,
         {"requests_write": 10, "write_blocks": 10, "requests_discard": 10, "discard_blocks": 2560}),
        ("a discard of 64 MiB", lambda d: d.discard(128 * MIB, 64 * MIB), {"requests_discard": 1, "discard_blocks": 16384}),
        ("a discard over dirty blocks", lambda d: d.discard(64 * MIB + 512 * KIB, 8 * MIB),
         {"requests_discard": 1, "discard_blocks": 2048}),
        ("a read of zeros that the cache knows of", lambda d: d.read(65 * MIB, 64 * KIB),
         {"requests_read_hit": 1, "read_blocks_fast": 16}),
        ("a stream of 8 MiB, of which 2 MiB are filled", in_a_row,
         {"requests_read_miss": 16, "requests_read_bypass": 48, "read_blocks_slow": 2048, "streams_seen": 1,
          "stream_bypass_blocks": 1536}),
    ]


def ghost_hits(device, outputs, judge):
    """Blocks are read that were evicted not long ago. A fast disk misses more than the journal takes: again, until they are."""
    before, rounds = outputs.status(), 0
    while True:
        more_than_the_cache(device)
        after, rounds = outputs.status(), rounds + 1
        all_of, quarter, missed = (after[name] - before[name] for name in GHOSTS + ["read_blocks_slow"])
        if quarter or rounds == 50:
            break
    judge(0 < quarter <= all_of <= missed, "ghost hits", f"{quarter}, {all_of} of {missed}")


# -------------------------------------------------------------- the outputs ----

class Outputs:
    """Of the cache @name, and of the watcher at @url. @status and @histogram ask the engine itself, as text."""

    def __init__(self, xpcache, name, url, status, histogram, env=None):
        self.xpcache, self.name, self.url, self.env = xpcache, name, url, env
        self.status_line, self.histogram_lines = status, histogram

    def tool(self, *arguments):
        done = subprocess.run([self.xpcache, *arguments], env=self.env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return answer.read().decode()

    def status(self):
        words = self.status_line().split()
        return {name: int(value) for name, value in zip(words, words[1:]) if value.isdigit()}

    def json(self):
        return json.loads(self.tool("status", self.name, "--json"))["caches"][0]

    def page(self):
        return next(c for c in json.loads(self.get("/live.json"))["caches"] if c["name"] == self.name)

    def metrics(self):
        """{(metric, class or None): value}."""
        found = {}
        for line in self.get("/metrics").splitlines():
            match = re.match(r'xpcache_(\w+)\{cache="([^"]*)"(?:,class="([^"]*)")?\} (\S+)$', line)
            if match and match[2] == self.name:
                found[match[1], match[3]] = float(match[4])
        return found

    def histogram(self):
        classes = json.loads(self.tool("histogram", self.name, "--json"))["classes"]
        return {name: of["count"] for name, of in classes.items()}

    def histogram_of_the_engine(self):
        return {line.split()[0]: int(line.split()[1]) for line in self.histogram_lines().splitlines()[1:]}


class Top:
    """Sums of what its lines say, from the first look on."""

    def __init__(self, outputs):
        self.name = outputs.name
        self.process = subprocess.Popen([outputs.xpcache, "top", "--json", "--interval", INTERVAL], env=outputs.env,
                                        stdout=subprocess.PIPE, text=True)
        self.sums = dict.fromkeys(COUNTED, 0)
        self.line()     # it has looked

    def line(self):
        for cache in json.loads(self.process.stdout.readline())["caches"]:
            for name in self.sums if cache["name"] == self.name else ():
                self.sums[name] += cache["counts"][name]

    def until(self, wanted):
        end = time.monotonic() + 20
        while self.sums != wanted and time.monotonic() < end:
            self.line()
        self.process.kill()
        self.process.wait()
        return self.sums


# ------------------------------------------------------------- comparisons ----

def difference(got, wanted):
    return "; ".join(f"{name}: {got.get(name)}, not {n}" for name, n in wanted.items() if got.get(name) != n)


def same(judge, name, got, wanted):
    judge(not difference(got, wanted), name, difference(got, wanted))


def near(judge, name, got, wanted):
    judge(got is not None and abs(got - wanted) < 1e-6, name, f"{got}, not {wanted}")


def added(before, after, adds):
    """What a step has added, with several names as one where it may be either; and what it should have. None: any number."""
    got, wanted = {}, dict.fromkeys(COUNTED, 0)
    for names, n in adds.items():
        for name in names.split("|"):
            del wanted[name]
        if n is not None:
            wanted[names] = n
    for names in wanted:
        got[names] = sum(after[name] - before[name] for name in names.split("|"))
    return got, wanted


def settled(outputs):
    """The status, when the cache has written what it had to."""
    while True:
        before = outputs.status()
        time.sleep(1.5)     # a tick is a second
        after = outputs.status()
        if after["fast_bytes_written"] == before["fast_bytes_written"]:
            return after


def quotients(status):
    user = sum(status[name] for name in BLOCKS if name != "discard_blocks") * BLOCK
    return {"ghost_hit_ratio": status["ghost_hits_quarter"] / status["read_blocks_slow"],
            "fills_per_hit": status["fills"] / status["read_blocks_fast"],
            "fast_bytes_per_user_byte": status["fast_bytes_written"] / user}


def compare_quotients(outputs, status, judge):
    """Of what is kept: in every output."""
    cache, page, metrics, text = outputs.json(), outputs.page(), outputs.metrics(), outputs.tool("status", outputs.name)
    wanted = quotients(status)

    for name in QUOTIENTS:
        near(judge, f"JSON: {name}", cache[name], wanted[name])
        near(judge, f"page: {name}", page[name], wanted[name])
        near(judge, f"metrics: {name}", metrics[name, None], wanted[name])
    for part in (f"{wanted['fills_per_hit']:.2f} fills a hit",
                 f"{wanted['fast_bytes_per_user_byte']:.2f} bytes to the fast device",
                 f"about {100 * wanted['ghost_hit_ratio']:.1f} % of"):
        judge(part in text, f"status: {part}", text)


def compare(outputs, judge):
    """What has been counted since the start."""
    status, cache = settled(outputs), outputs.json()
    counts = {name: status[name] for name in COUNTED}
    classes = {c.replace("_", "-"): counts[f"requests_{c}"] for c in CLASSES}
    reads = sum(classes[c] for c in ("read-hit", "read-miss", "read-bypass"))
    by_request = classes["read-hit"] / reads
    by_bytes = counts["read_blocks_fast"] / (counts["read_blocks_fast"] + counts["read_blocks_slow"])

    same(judge, "status: sums", status, {name: sum(counts[f"requests_{c}"] for c in of) for name, of in SUMS.items()})
    judge(status["requests_split"] == 0, "status: no request was split", status["requests_split"])
    text = outputs.tool("status", outputs.name)
    for part in (f"{100 * by_request:.1f} % hits", f"{100 * by_bytes:.1f} % of their bytes from the fast device"):
        judge(part in text, f"status: {part}", text)
    same(judge, "JSON: counters", cache["counters"], counts)
    near(judge, "JSON: hit_ratio", cache["hit_ratio"], by_request)
    near(judge, "JSON: hit_ratio_by_bytes", cache["hit_ratio_by_bytes"], by_bytes)
    same(judge, "JSON: latencies", {c: v["count"] for c, v in cache["latency"].items()}, classes)
    same(judge, "histogram", outputs.histogram(), classes)
    same(judge, "histogram of the engine", outputs.histogram_of_the_engine(), classes)
    metrics = outputs.metrics()
    same(judge, "metrics: requests", {c: metrics["requests_total", c] for c in classes}, classes)
    same(judge, "metrics: latencies", {c: metrics["request_duration_seconds_count", c] for c in classes}, classes)
    same(judge, "metrics: bytes", {m: metrics[m, None] for m in METRICS}, {m: counts[n] * BLOCK for m, n in METRICS.items()})
    for name in RATIOS:
        near(judge, f"metrics: {name}", metrics[name, None], cache[name])
    judge(metrics["streams_total", None] == counts["streams_seen"], "metrics: streams", metrics["streams_total", None])
    same(judge, "page", outputs.page()["counts"], counts)
    compare_quotients(outputs, status, judge)


def run(device, outputs, judge):
    """Sends the mix, looks after each step, and compares all outputs at the end."""
    top, start = Top(outputs), outputs.status()
    for name, send, adds in steps(device):
        before = outputs.status()
        send(device)
        same(judge, name, *added(before, outputs.status(), adds))
    ghost_hits(device, outputs, judge)
    end = outputs.status()
    wanted = {name: end[name] - start[name] for name in COUNTED}
    same(judge, "top", top.until(wanted), wanted)
    compare(outputs, judge)
