# SPDX-License-Identifier: GPL-2.0-only
"""sample - results as `xpcache bench --json` writes them, of devices made up.

A device is a mixture of log-normal times; how many requests fall into each bin follows from
it, with the noise of counting. The same seed gives the same result, to the byte.
"""

import math
import random

BINS = 2048
QUANTILES = {"50": 0.5, "90": 0.9, "99": 0.99, "99.9": 0.999, "99.99": 0.9999, "99.999": 0.99999}
US, MS = 1e3, 1e6
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


# --------------------------------------------------------- histograms ----

def bin_low(i):
    """xp_bin_low() of core/histogram.h."""
    e = 0 if i < 128 else i // 64 - 1
    return (i - e * 64) << e


def below(parts, ns):
    """The share of requests under @ns; @parts: (weight, median in ns, sigma of the logarithm)."""
    if ns <= 0:
        return 0
    return sum(w * 0.5 * (1 + math.erf(math.log(ns / m) / s / math.sqrt(2))) for w, m, s in parts)


def mean_of(parts):
    return sum(w * m * math.exp(s * s / 2) for w, m, s in parts)


def counted(rng, expected):
    """A Poisson number, near enough."""
    if expected < 30:
        limit, n, p = math.exp(-expected), 0, rng.random()
        while p > limit:
            n, p = n + 1, p * rng.random()
        return n
    return max(0, round(rng.gauss(expected, math.sqrt(expected))))


def quantile(bins, count, q, least, most):
    left = q * count
    for low, high, n in bins:
        if left <= n:
            low, high = max(low, least), min(high, most)
            return low + (high - low) * left / n
        left -= n
    return most


def timing(rng, parts, n):
    bins, before = [], 0.0
    for i in range(BINS - 1):
        after = below(parts, bin_low(i + 1))
        if n * (after - before) > 1e-4:
            count = counted(rng, n * (after - before))
            if count:
                bins.append([bin_low(i), bin_low(i + 1), count])
        before = after
    count = sum(b[2] for b in bins)
    if not count:
        return None
    total = round(sum((low + high) / 2 * k for low, high, k in bins))
    least, most = bins[0][0], bins[-1][1] - 1
    known = {name: quantile(bins, count, q, least, most) if count * (1 - q) >= 10 - 1e-9 else None
             for name, q in QUANTILES.items()}
    return {"count": count, "sum_ns": total, "min_ns": least, "max_ns": most,
            "mean_ns": total / count, "percentiles": known, "bins": bins}


def second(rng, parts, n, size):
    heat = []
    for i in range(120):
        k = counted(rng, n * (below(parts, 10 ** ((i + 1) / 10)) - below(parts, 10 ** (i / 10))))
        if k:
            heat.append([i, k])
    n = sum(k for _, k in heat)
    mean = sum(k * 10 ** ((i + .5) / 10) for i, k in heat) / n if n else 0
    return {"n": n, "mean_ns": mean, "lo_ns": 10 ** (heat[0][0] / 10) if heat else 0,
            "hi_ns": 10 ** ((heat[-1][0] + 1) / 10) if heat else 0, "stddev_ns": mean * 0.6,
            "bytes": n * size, "heat": heat}


# ------------------------------------------------------------ devices ----

class Device:
    """@parts: times of a read of 4 KiB; @rate: bytes a second; @many: how many at a time help."""

    def __init__(self, parts, rate, many, write=1.0, stride=None):
        self.parts, self.rate, self.many, self.write, self.stride = parts, rate, many, write, stride

    def at(self, op="read", pattern="random", size=4096, align=4096, depth=1):
        base = self.stride if pattern == "sequential" and self.stride else self.parts
        factor = (self.write if op == "write" else 1) * (1.35 if align % 4096 else 1)
        queue = max(1.0, depth / min(depth, self.many)) * (1 + 0.03 * math.log2(depth))
        more = max(0, size - 4096) * 1e9 / self.rate * (1 if depth == 1 else depth * 0.8)
        return [(w, m * factor * queue + more, s / (1 + more / m / 4)) for w, m, s in base]


DISK = Device([(0.93, 7.9 * MS, 0.30), (0.07, 11.5 * MS, 0.25)], 210e6, 1.9,
              stride=[(0.985, 74 * US, 0.12), (0.015, 6 * MS, 0.4)], write=1.05)
OPTANE = Device([(0.985, 9.1 * US, 0.045), (0.0148, 10.9 * US, 0.12), (0.0002, 31 * US, 0.25)], 2.4e9, 14, write=1.12)
FLASH = Device([(0.90, 81 * US, 0.06), (0.095, 128 * US, 0.2), (0.005, 560 * US, 0.4)], 3.1e9, 110, write=0.35)
SATA = Device([(0.94, 106 * US, 0.08), (0.055, 190 * US, 0.22), (0.005, 1.9 * MS, 0.5)], 0.53e9, 22, write=0.6)


class Cached(Device):
    """@hits of the reads by the fast device and 0.6 us of our own; writes all."""

    def __init__(self, hits):
        super().__init__([], 0, 0)
        self.hits = hits

    def at(self, op="read", pattern="random", size=4096, align=4096, depth=1):
        fast = [(w, m + 600, s) for w, m, s in OPTANE.at(op, pattern, size, align, depth)]
        if op == "write":
            return fast
        hits = self.hits if pattern == "random" else 0.9 * self.hits
        slow = DISK.at(op, pattern, size, align, max(1, round(depth * (1 - hits))))
        return [(w * hits, m, s) for w, m, s in fast] + [(w * (1 - hits), m * 1.012, s) for w, m, s in slow]


# --------------------------------------------------------------- runs ----

LABEL = {"U": "Without cache", "C": "With xpcache", "R": "Fast drive"}
LEGS_OF = ("U", "C", "R")
PATH = {"U": "/dev/sda", "C": "/dev/mapper/xpcache0", "R": "/dev/nvme0n1"}


class Maker:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.runs = []

    def run(self, name, test, device, leg=None, path=None, label=None, op="read", pattern="random", size=4096,
            align=None, depth=1, threads=1, seconds=60, rate=None, per_second=False, percent=None,
            load=None):
        align = align or size
        parts = device.at("read" if op == "mixed" else op, "random" if pattern == "zipf" else pattern,
                          size, align, depth * threads)
        iops = rate or depth * threads * 1e9 / mean_of(parts)
        reads = percent / 100 if percent is not None else float(op == "read")
        read = timing(self.rng, parts, iops * seconds * reads) if reads else None
        write = timing(self.rng, device.at("write", "random", size, align, depth * threads),
                       iops * seconds * (1 - reads)) if reads < 1 else None
        done = sum(t["count"] for t in (read, write) if t)
        run = {"id": f"{name}/{leg or path}", "test": test, "leg": leg, "device": path or PATH[leg],
               "label": label or LABEL[leg], "op": op, "pattern": pattern, "size": size, "align": align,
               "depth": depth, "threads": threads, "range": [0, 512 * GIB], "direct": True, "rate": rate,
               "engine": "psync" if depth == 1 else "io_uring", "seconds": seconds, "dropped_seconds": 1.0,
               "read_percent": round(reads * 100), "iops": done / seconds, "bytes_per_second": done * size / seconds,
               "errors": 0, "load": load, "ended_by": "time", "read": read, "write": write, "intended": None, "classes": None,
               "per_second": []}
        if rate:
            late = [(w * 0.94, m, s) for w, m, s in parts] + [(0.06, 9 * MS, 0.5)]
            run["intended"] = timing(self.rng, late, done)
        if per_second:
            run["per_second"] = [second(self.rng, parts, iops, size) for _ in range(int(seconds))]
        self.runs.append(run)
        return run

    def classes(self, device, n):
        """The target's own: without the way there and back, 0.4 us."""
        hit = [(w / 1.0, m + 200, s) for w, m, s in OPTANE.parts]
        miss = [(w, m * 1.01, s) for w, m, s in DISK.parts]
        return {"read-hit": timing(self.rng, hit, n * device.hits),
                "read-miss": timing(self.rng, miss, n * (1 - device.hits)),
                "fast-read": timing(self.rng, OPTANE.parts, n * device.hits)}

    def legs(self, name, test, hits, **how):
        for leg, device in (("U", DISK), ("C", Cached(hits)), ("R", OPTANE)):
            self.run(name, test, device, leg=leg, **how)

    def sweep(self, each, seconds):
        """Sizes and depths; @each(name, test, **how) runs one point for every leg or device."""
        for op in ("read", "write"):
            for shift in range(12, 21):
                each(f"random/{op}/{shift}", "random", op=op, size=1 << shift, seconds=seconds)
                each(f"sequential/{op}/{shift}", "sequential", op=op, size=1 << shift, pattern="sequential",
                     seconds=seconds)
            for depth in (2, 4, 8, 16):
                each(f"random/{op}/q{depth}", "random", op=op, depth=depth // min(depth, 4),
                     threads=min(depth, 4), seconds=seconds)
            for depth in (1, 2, 4, 8, 16, 32, 64):
                each(f"sequential/{op}/q{depth}", "sequential", op=op, size=128 * KIB, pattern="sequential",
                     depth=depth // min(depth, 4), threads=min(depth, 4), seconds=seconds)

    def transfer(self, each, seconds):
        for shift in range(9, 21):
            for op in ("read", "write"):
                how = {"op": op, "size": 1 << shift, "seconds": seconds}
                each(f"transfer/{op}/{shift}", "transfer-size", align=1 << shift, **how)
                each(f"transfer/{op}/{shift}u", "transfer-size", align=512, **how)
                each(f"transfer/seq/{op}/{shift}", "transfer-size", pattern="sequential", **how)

    def crystal(self, each, seconds):
        for op in ("read", "write"):
            how = {"op": op, "seconds": seconds}
            each(f"crystal/{op}/1", "crystal", size=MIB, depth=8, pattern="sequential", **how)
            each(f"crystal/{op}/2", "crystal", size=MIB, pattern="sequential", **how)
            each(f"crystal/{op}/3", "crystal", depth=32, **how)
            each(f"crystal/{op}/4", "crystal", **how)


# ----------------------------------------------------------- headline ----

VERDICTS = [(0.995, "As fast as the fast drive"), (0.8, "Mostly hidden"), (0.2, "Partly hidden"),
            (-0.02, "Not helping"), (-9e9, "Slower than no cache")]


def hidden(u, c, r):
    return (u - c) / (u - r) if None not in (u, c, r) and u > 1.1 * r else None


def headline(u, c, r, hits):
    """What the engine says of three runs; the modes are told apart at 1 ms."""
    bins = c["read"]["bins"]
    fast = [b for b in bins if b[1] <= MS]
    cover = sum(b[2] for b in fast) / c["read"]["count"]
    means = [x["read"]["mean_ns"] for x in (u, c, r)]
    part = hidden(*means)
    of = {name: hidden(*(x["read"]["percentiles"][name] for x in (u, c, r))) for name in ("50", "99", "99.9")}
    low = quantile(fast, sum(b[2] for b in fast), 0.5, 0, MS)
    in_hits = sum((b[0] + b[1]) / 2 * b[2] for b in fast)
    return {"u": u["id"], "c": c["id"], "r": r["id"], "hidden": {"mean": part, **of},
            "tax_ns": low - r["read"]["percentiles"]["50"], "cover": cover, "hit_ratio": hits,
            "time_waiting": 1 - in_hits / c["read"]["sum_ns"], "faster": means[0] / means[1],
            "limit": means[0] / means[2], "verdict": next(word for least, word in VERDICTS if (part or 0) >= least),
            "sentence": f"Your cache hides {part * 100:.0f}% of the disk's wait." if (part or 0) >= 0.01 else
            "Your cache does not help yet."}


def warmup(maker, hits=0.973, seconds=150, tau=17):
    run = {**maker.runs[1], "id": "warmup/C", "test": "warmup", "seconds": seconds, "classes": None}
    points, per_second = [], []
    for t in range(seconds):
        ratio = hits * (1 - math.exp(-t / tau)) * (1 + maker.rng.gauss(0, 0.002))
        parts = Cached(min(ratio, 1)).at()
        s = second(maker.rng, parts, 1e9 / mean_of(parts), 4096)
        per_second.append(s)
        points.append({"seconds": t + 1, "hit_ratio": ratio, "mean_ns": s["mean_ns"]})
    points[70].update(hit_ratio=None, mean_ns=None)     # nothing ended in it
    run["per_second"] = per_second
    maker.runs.append(run)
    return {"run": run["id"], "held_before": 1021, "slots": 7340032, "points": points,
            "hidden90_seconds": next((p["seconds"] for p in points if (p["mean_ns"] or 1e12) < 0.82 * MS + 9 * US), None)}


def working_set(maker):
    rows = []
    for ratio in (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4):
        for kind in ("uniform", "zipf"):
            hits = min(0.999, 0.995 / max(1, ratio)) if kind == "uniform" else min(0.999, 0.997 / max(1, ratio) ** 0.22)
            run = maker.run(f"ws/{kind}/{ratio}", "working-set", Cached(hits), leg="C", seconds=20,
                            pattern="zipf" if kind == "zipf" else "random")
            rows.append({"ratio": ratio, "distribution": kind, "hit_ratio": hits,
                         "mean_ns": run["read"]["mean_ns"], "warmed": 1.0, "run": run["id"]})
    rows[-1].update(hit_ratio=None, mean_ns=None, warmed=0.3)
    return rows


def writes(maker, cache_gb=28):
    run = maker.run("writes", "writes", Cached(1), leg="C", op="write", seconds=30)
    points = []
    for i in range(96):
        gb = (i + 1) / 2
        over = max(0.0, min(1.0, (gb - 0.9 * cache_gb) / 2))
        mean = 11.2 * US * (1 + 0.02 * maker.rng.random()) + over * 5.6 * MS * (0.85 + 0.3 * maker.rng.random())
        points.append({"gb": gb, "mean_ns": mean, "p99_ns": mean * (1.6 + over) * (0.9 + 0.2 * maker.rng.random())})
    for p in points[-1:]:       # nothing ended in it
        p["mean_ns"] = p["p99_ns"] = None
    return [{"run": run["id"], "points": points}]


def fill(maker):
    rows = []
    for parts, path in ((FLASH.parts, "/dev/nvme1n1"), (SATA.parts, "/dev/sdb")):
        for i, full in enumerate((0, 0.25, 0.5, 0.75, 0.9, 1)):
            worn = [(w, m * (1 + 0.5 * full ** 3), s) for w, m, s in parts]
            run = maker.run(f"fill/{i}", "fill", Device(worn, 3e9, 100), seconds=20, path=path, label=DISKS[path][2])
            rows.append({"full": full, "run": run["id"]})
    return rows


# ------------------------------------------------------------ results ----

HOST = {"kernel": "6.12.1-amd64", "cpu": "AMD Ryzen 7 5800X 8-Core Processor", "cpus": 16, "governor": "performance",
        "clocksource": "tsc", "memory_bytes": 32 * GIB}
DISKS = {
    "/dev/mapper/xpcache0": ("cached", 4000787030016, None, None, True, False),
    "/dev/sda": ("slow", 4000787030016, "ST4000DM004-2CV104", "mq-deadline", True, True),
    "/dev/nvme0n1": ("fast", 30 * GIB, "INTEL MEMPEK1J032GA", "none", False, False),
    "/dev/nvme1n1": ("device", 1000204886016, "Samsung SSD 970 EVO Plus 1TB", "none", False, True),
    "/dev/sdb": ("device", 500107862016, "CT500MX500SSD1", "mq-deadline", False, True),
}


def disk(path, role=None):
    own, size, model, scheduler, rotational, volatile = DISKS[path]
    return {"role": role or own, "path": path, "bytes": size, "model": model, "scheduler": scheduler,
            "rotational": rotational, "volatile_cache": volatile}


def counters(dirty, hits):
    slots = 7340032
    return {"slots": slots, "dirty": dirty, "clean": slots - dirty - 81920, "free": 81920,
            "read_hits": int(1e6 + hits), "read_misses": 40210, "writes": 812345, "flushes": 512}


def result(maker, command, quick=False, kind="cache", devices=(), warnings=(), hits=0.973, host=None):
    cache = {"before": counters(91750, 0), "after": counters(88012, 252000 * hits)}
    return {"xpcache_bench": 1, "version": "0.1.0", "date": "2026-11-22T11:00:00Z", "command": command, "quick": quick,
            "seed": 1, "host": {**HOST, **(host or {})},
            "target": {"kind": kind, "name": "xpcache0" if kind == "cache" else None, "devices": list(devices),
                       "cache": cache if kind == "cache" else None},
            "warnings": [{"code": code, "text": text} for code, text in warnings], "runs": maker.runs,
            "headline": None, "warmup": None, "working_set": None, "writes": None, "fill": None}


LEGS = [disk("/dev/mapper/xpcache0"), disk("/dev/sda"), disk("/dev/nvme0n1")]


def three(maker, hits, seconds):
    maker.legs("headline", "headline", hits, seconds=seconds, per_second=True)
    maker.runs[1]["classes"] = maker.classes(Cached(hits), maker.runs[1]["read"]["count"])
    return headline(*maker.runs[:3], hits)


def warm():
    """A warm cache over a hard disk, every section."""
    maker = Maker(1)
    top = three(maker, 0.973, 75)
    more = {"warmup": warmup(maker), "working_set": working_set(maker), "writes": writes(maker)}

    def each(name, test, **how):
        maker.legs(name, test, 0.973, **how)
    each("distribution", "distribution", depth=32, seconds=60)
    for percent in (100, 70, 50, 30, 0):
        op = {100: "read", 0: "write"}.get(percent, "mixed")
        each(f"mixed/{percent}", "mixed", op=op, percent=percent, depth=4, seconds=10)
    each("background", "background", seconds=10)
    each("background/load", "background", seconds=10, load="writes")
    maker.run("paced", "distribution", Cached(0.973), leg="C", rate=2000, seconds=60)
    maker.sweep(each, 10)
    maker.transfer(each, 5)
    maker.crystal(each, 5)
    return {**result(maker, "xpcache bench xpcache0 --test all --html xpcache0.html", devices=LEGS,
                     warnings=[("samples", "Without cache: 9,000 reads are too few for p99.9.")]),
            "headline": top, **more}


def cold():
    """A cache that has just been created."""
    maker = Maker(2)
    top = three(maker, 0.004, 60)
    maker.runs[0]["ended_by"] = "places"
    host = {"governor": "powersave"}
    return {**result(maker, "xpcache bench xpcache0", devices=LEGS, hits=0.004, host=host, warnings=[
        ("cold-cache", "The cache is cold: 0.4% of the reads were hits. Use it a while, or bench with --test warmup."),
        ("governor", "The CPU governor is powersave: latencies are longer than they need be.")]), "headline": top}


def quick():
    """A short look: too few requests for most."""
    maker = Maker(3)
    top = three(maker, 0.973, 3)
    return {**result(maker, "xpcache bench xpcache0 --quick", quick=True, devices=LEGS, warnings=[
        ("quick", "QUICK: the runs are short; not comparable with others.")]), "headline": top}


def devices():
    """Bare devices side by side."""
    maker = Maker(4)
    table = [(OPTANE, "/dev/nvme0n1"), (FLASH, "/dev/nvme1n1"), (SATA, "/dev/sdb"), (DISK, "/dev/sda")]

    def each(name, test, **how):
        for device, path in table:
            maker.run(name, test, device, path=path, label=DISKS[path][2], **how)
    each("distribution", "distribution", depth=32, seconds=60, per_second=True)
    each("percentile", "percentile", seconds=60)
    maker.sweep(each, 10)
    maker.crystal(each, 5)
    rows = fill(maker)
    return {**result(maker, "xpcache bench /dev/nvme0n1 /dev/nvme1n1 /dev/sdb /dev/sda --test all", kind="devices",
                     devices=[disk(path, "device") for _, path in table]), "fill": rows}


def bare():
    """As little as may be, and words that would break a page."""
    maker = Maker(5)
    maker.run("percentile", "percentile", FLASH, path="/tmp/</script><!--<script>", label="</script><b>&amp;\u2028",
              seconds=2)
    host = dict.fromkeys(HOST)
    host["kernel"] = "6.1.0"
    return {**result(maker, "xpcache bench /tmp/</script>", kind="devices", host=host), "target": {
        "kind": "devices", "name": None, "cache": None, "devices": [
            {"role": "device", "path": "/tmp/</script><!--<script>", "bytes": 1 << 30, "model": None, "scheduler": None,
             "rotational": None, "volatile_cache": None}]}}


def holes():
    """All that may be null is: a disk as fast as the fast one, an old target, a run that only failed."""
    maker = Maker(6)
    for leg in LEGS_OF:
        maker.run("headline", "headline", OPTANE, leg=leg, seconds=2)
    u, c, r = maker.runs
    failed = maker.run("mixed", "mixed", OPTANE, leg="U", op="mixed", percent=50, seconds=1)
    failed.update(read=None, write=None, iops=0, bytes_per_second=0, errors=12)
    top = {**headline(u, c, r, None), "hidden": dict.fromkeys(("mean", "50", "99", "99.9")), "tax_ns": None,
           "cover": 1.0, "time_waiting": 0.0, "verdict": "As fast as the fast drive",
           "sentence": "Your disk is as fast as the fast drive."}
    maker.run("ws/uniform/1", "working-set", OPTANE, leg="C", seconds=1)
    maker.run("crystal/read/4", "crystal", OPTANE, leg="C", seconds=1)
    maker.run("random/read/12", "random", OPTANE, leg="C", seconds=1)
    return {**result(maker, "xpcache bench xpcache0", devices=[disk(path) for path in PATH.values()],
                     host=dict.fromkeys(("governor", "clocksource"))), "headline": top,
            "warmup": {"run": c["id"], "hidden90_seconds": None, "points": [
                {"seconds": s, "hit_ratio": s * 0.0004, "mean_ns": 9e3} for s in (1, 2)]},
            "working_set": [{"ratio": 1, "distribution": "uniform", "hit_ratio": 1.0, "mean_ns": 9e3,
                             "run": "ws/uniform/1/C"}],
            "writes": [{"run": c["id"], "points": [{"gb": gb, "mean_ns": 1e4, "p99_ns": 2e4} for gb in (0.5, 1)]},
                       {"run": r["id"], "points": [{"gb": gb, "mean_ns": 1e4, "p99_ns": 2e4} for gb in (1, 2)]}],
            "fill": [{"full": 0.0, "run": "gone"}]}


ALL = {"warm": warm, "cold": cold, "quick": quick, "devices": devices, "bare": bare, "holes": holes}
