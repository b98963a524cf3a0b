# SPDX-License-Identifier: GPL-2.0-only
"""server - xpcached watch before made-up caches, and one that gives its page made-up figures."""

import http.server
import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import harness
import plant

CLASSES = plant.CLASSES


class Watch:
    """The daemon on a free port; its caches are @caches."""

    def __init__(self, build, *arguments, names=("xpcache0",), env=None, setup=None):
        self.directory = tempfile.mkdtemp(prefix="xpcached-")
        self.caches = plant.plant(self.directory, names)
        if setup:
            setup(self.caches)
        self.log = os.path.join(self.directory, "log")
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.path.join(build, "xpcached"), "watch", "--listen", "127.0.0.1:0", *arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "LD_PRELOAD": os.path.abspath(os.path.join(build, "tests/running.so")),
                     "RUNNING": self.directory, **(env or {})})
        self.said(r"http://\S+/")
        self.url = re.search(r"http://\S+?(?=/)", self.text()).group(0)
        self.port = int(self.url.rsplit(":", 1)[1])

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def said(self, pattern, seconds=10):
        """Waits until it has."""
        harness.until(lambda: re.search(pattern, self.text(), re.M) or self.process.poll() is not None, seconds,
                      lambda: f"does not say {pattern!r}, but {self.text()!r}")
        assert re.search(pattern, self.text(), re.M), f"has ended without {pattern!r}, but {self.text()!r}"

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.read().decode()

    def end(self):
        """Its exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        code = self.process.wait(10)
        shutil.rmtree(self.directory)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if os.path.exists(self.directory):
            self.end()


# -------------------------------------------------------- made-up figures ----

def timing(n, ns):
    few = {"p50": None if n < 20 else ns, "p99": None if n < 1000 else 1.3 * ns, "p99.9": None if n < 10000 else 2.1 * ns}
    return {"count": n, "mean_ns": 1.02 * ns if n else None, **few, "max_ns": 3 * ns if n else None}


NS = {"read-hit": 11000.0, "read-miss": 8.1e6, "write": 23000.0, "write-stalled": 1.9e7, "flush": 61000.0,
      "fast-read": 9900.0, "fast-write": 19000.0, "slow-read": 8.0e6, "slow-write": 7.7e6}
RATE = {"read-hit": 48650, "read-miss": 1350, "write": 10000, "write-stalled": 7, "flush": 250, "fast-read": 48650,
        "fast-write": 10300, "slow-read": 1350, "slow-write": 900}


QUOTIENTS = {"ghost_hit_ratio": 0.031, "fills_per_hit": 0.12, "fast_bytes_per_user_byte": 1.04}


def cache(name, number, **more):
    latency = {c: timing(RATE.get(c, 0), NS.get(c, 0)) for c in CLASSES + ["write-through"]}
    now = {"name": name, "state": "running", "seconds": 1.0, "reads_per_second": 50000.0, "writes_per_second": 10007.0,
           "read_bytes_per_second": 204.8e6, "write_bytes_per_second": 41e6, "writeback_bytes_per_second": 34.8e6,
           "destage_bytes_per_second": 34.8e6,
           "hit_ratio": 0.973, "hit_ratio_by_bytes": 0.951, "hit_ratio_by_time": 0.041, **QUOTIENTS,
           "counts": dict.fromkeys(plant.COUNTS, 0), "dirty_bytes": 126 << 20,
           "dirty_ratio": 0.123, "journal_ratio": 0.488, "pressure_ratio": 0.0, "recording": True, "latency": latency}
    return {"name": name, "uuid": f"{number:032x}", "state": "running", "bytes": 1 << 30, "fast_errors": 0,
            "slow_errors": 0, "fast_bytes_written": 5 << 40, "alarms": [], **QUOTIENTS,
            "counts": {**dict.fromkeys(plant.COUNTS, 1000), "streams_seen": 17, "stream_bypass_blocks": 1 << 20,
                       "stream_bypass_written": 1 << 19},
            "wear": {"used_percent": 12, "spare_percent": 100, "critical_warning": 0, "written_bytes": 7.3e13,
                     "years_left": 5.21}, "now": now, **more}


def heat(ns, n):
    at = math.log10(ns) * 10
    return [[int(at) + k, round(n * math.exp(-k * k / 6), 2)] for k in range(-4, 5)]


def column(end, i):
    """The i-th of an hour: it warms up, and in the middle of it the disk was slow."""
    part = 0.6 + 0.39 * min(1, i / 150)
    slow = 6 if 200 <= i < 230 else 1
    miss, hit = 8.1e6 * slow * (1 + 0.1 * math.sin(i / 5)), 11000 * (1 + 0.05 * math.sin(i / 9))
    hits, misses = int(480000 * part), int(480000 * (1 - part))
    one = lambda n, ns: {"count": n, "mean": 1.02 * ns, "p50": ns, "p99": 1.4 * ns if n > 1000 else None}
    return {"time": end - (359 - i) * 10, "seconds": 10.0, "reads": hits + misses, "hit_ratio": part,
            "hit_ratio_by_bytes": part, "hit_ratio_by_time": hits * hit / (hits * hit + misses * miss),
            "dirty_ratio": 0.1 + 0.3 * (i / 360) ** 2,
            "classes": {"read-hit": one(hits, hit), "read-miss": one(misses, miss),
                        "write": one(100000, 23000 * (1 + 0.2 * math.sin(i / 20))), "flush": one(2500, 61000.0)},
            "read_heat": heat(hit, hits) + heat(miss, misses), "write_heat": heat(23000, 100000)}


class MadeUp:
    """Gives @page (as the daemon does) what @caches is, and an hour of columns."""

    def __init__(self, page, caches, holes=()):
        self.page, self.caches, self.holes, self.asked, self.well = page, caches, holes, [], True
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                body, kind = (outer.page.encode(), "text/html") if self.path == "/" else \
                    (outer.live(self.path).encode(), "application/json")
                self.send_response(200 if outer.well else 503)
                self.send_header("Content-Type", kind + "; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def live(self, path):
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
        now = int(time.time())
        columns = [column(now, i) for i in range(360) if i not in self.holes]
        history = {"uuid": asked["cache"][0], "columns":
                   [c for c in columns if c["time"] > float(asked["since"][0])]} if "cache" in asked else None
        return json.dumps({"xpcache_watch": 1, "version": "0.1.0", "time": float(now), "interval_seconds": 1.0,
                           "column_seconds": 10, "caches": self.caches, "history": history})

    def close(self):
        self.server.shutdown()
        self.server.server_close()
