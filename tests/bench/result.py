#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""result.py FILE EXPRESSION - exits 0 if the expression is true of the result j."""

import json
import sys

TOP = {"xpcache_bench", "version", "date", "command", "words", "quick", "seed", "host", "target", "warnings",
       "runs", "headline", "warmup", "working_set", "writes", "fill"}
HOST = {"kernel", "cpu", "cpus", "governor", "clocksource", "memory_bytes"}
DEVICE = {"role", "path", "bytes", "model", "scheduler", "rotational", "volatile_cache"}
RUN = {"id", "test", "leg", "device", "label", "op", "pattern", "repeats", "size", "align", "depth", "threads",
       "range", "places", "engine", "direct", "rate", "load", "load_bytes_per_second", "at", "rounds", "ended_by", "seconds", "dropped_seconds", "requests", "read_percent",
       "iops", "bytes_per_second", "never_begun", "errors", "read", "write", "intended", "classes", "per_second"}
TIMING = {"count", "sum_ns", "min_ns", "max_ns", "mean_ns", "percentiles", "bins"}
SECOND = {"n", "mean_ns", "lo_ns", "hi_ns", "stddev_ns", "bytes", "heat"}


def keys(what, found, wanted):
    if set(found) != wanted:
        sys.exit(f"{what}: {sorted(set(found) ^ wanted)}")


def schema(j):
    """The keys that docs/MEASURING.md documents, no more and no fewer."""
    keys("top", j, TOP)
    keys("host", j["host"], HOST)
    keys("target", j["target"], {"kind", "name", "devices", "cache"})
    for device in j["target"]["devices"]:
        keys("device", device, DEVICE)
    for run in j["runs"]:
        keys(run["id"], run, RUN)
        for op in "read", "write", "intended":
            if run[op]:
                keys(op, run[op], TIMING)
        for second in run["per_second"]:
            keys("second", second, SECOND)
    return True


with open(sys.argv[1], encoding="utf-8") as file:
    j = json.load(file)
sys.exit(not eval(sys.argv[2]))  # pylint: disable=eval-used
