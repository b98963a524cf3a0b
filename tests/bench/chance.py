#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""chance.py XPCACHE - what `bench diff` says of results that differ by chance alone, and of others.

The results are made up: log-normal times, whose level wanders from second to second. Prints how
many of the pairs it found changed: "alike N of N, slower N of N".
"""

import json
import math
import random
import subprocess
import sys
import tempfile

PAIRS, RUNS, EACH = 150, 4, 200


def bin_low(i):
    """xp_bin_low() of core/histogram.h."""
    e = 0 if i < 128 else i // 64 - 1
    return (i - e * 64) << e


def bin_of(ns):
    e = max(0, ns.bit_length() - 7)
    return (e << 6) + (ns >> e)


def counted(values, key):
    found = {}
    for v in values:
        found[key(v)] = found.get(key(v), 0) + 1
    return sorted(found.items())


def second(times):
    return {"n": len(times), "mean_ns": sum(times) / len(times),
            "heat": [list(pair) for pair in counted(times, lambda ns: int(math.log10(ns) * 10))]}


def run(rng, number, seconds, level):
    levels = [level * math.exp(rng.gauss(0, 0.1)) for _ in range(seconds)]
    times = [[int(1e5 * of * math.exp(rng.gauss(0, 0.3))) for _ in range(EACH)] for of in levels]
    all_of_them = sum(times, [])
    bins = [[bin_low(i), bin_low(i + 1), n] for i, n in counted(all_of_them, bin_of)]
    return {"id": f"planted/{number}", "op": "read", "range": [0, 4096], "per_second": [second(t) for t in times],
            "read": {"count": len(all_of_them), "sum_ns": sum(all_of_them), "min_ns": min(all_of_them),
                     "max_ns": max(all_of_them), "bins": bins}}


def changed(folder, rng, seconds, level):
    """Does it say of any line that it changed?"""
    for name, of in (("a", 1), ("b", level)):
        with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
            json.dump({"xpcache_bench": 1, "runs": [run(rng, i, seconds, of) for i in range(RUNS)]}, f)
    done = subprocess.run([sys.argv[1], "bench", "diff", f"{folder}/a", f"{folder}/b", "--json"],
                          capture_output=True, text=True, check=False)
    said = json.loads(done.stdout)
    return any(line["slower"] or line["faster"] for r in said["runs"] for line in r["changes"])


def main():
    rng = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        alike = sum(changed(folder, rng, 3, 1) for _ in range(PAIRS))
        slower = sum(changed(folder, rng, 30, 1.25) for _ in range(10))
    print(f"alike {alike} of {PAIRS}, slower {slower} of 10")
    # 5 of 100 are owed to chance, and to it that here it may be twice as many; all that changed are to be found.
    return alike > PAIRS // 10 or slower < 10


if __name__ == "__main__":
    sys.exit(main())
