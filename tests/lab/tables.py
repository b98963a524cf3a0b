# SPDX-License-Identifier: GPL-2.0-only
"""tables - the lab's results as text: on the terminal, and in docs/LATENCY.md.

results: {"6.12 flash": {target: {case: {"p50": ns, ...} or {"value": number}}}, ...}
scale: {"6.12": {"2": {"linear": [...], "xpcache0": [...], "quotients": [...]}}}
"""

import re
import statistics

import vm

TARGETS = ["raw", "linear", "xpcache", "writecache", "dmcache", "bcache", "slow"]
TITLES = {"raw": "raw fast device", "linear": "dm-linear", "xpcache": "xpcache", "writecache": "dm-writecache",
          "dmcache": "dm-cache smq", "bcache": "bcache", "slow": "raw slow device"}
CASES = ["read-hit", "read-miss", "write-new", "write-again", "sync-new", "sync-again", "dsync-new",
         "dsync-again", "mixed", "512b-again", "512b-sync", "512b-new", "off-again", "off-sync", "off-new",
         "grid-again", "grid-sync", "grid-new",
         *[f"{op}-{size}k" for size in (16, 64, 128, 1024) for op in ("read", "write")],
         *[f"{op}-qd{depth}" for depth in (4, 32) for op in ("read", "write")],
         *[f"busy-{op}" for op in ("read", "write", "sync", "dsync")], "overflow",
         *[f"volatile-{op}" for op in ("write", "sync", "dsync")],
         *[f"through-{disk}-{op}" for disk in ("flash", "disk") for op in ("read", "write", "sync", "dsync", "write-64k")],
         *[f"histogram-{op}-{state}" for op in ("read", "new", "write", "sync") for state in ("off", "on")],
         *[f"verify-{op}-{state}" for op in ("read", "part", "miss", "new", "write", "sync", "merge", "big-read", "big-write")
           for state in ("off", "on")]]
TAIL_LEAST = 10000      # requests for a p99.9: ten beyond it


def us(ns):
    return f"{ns / 1000:,.1f}" if ns < 1_000_000 else f"{ns / 1000:,.0f}"


def median(figures):
    return us(figures["p50"])


def tail(figures):
    """p99.9, if there were enough requests for one, and the longest."""
    return (us(figures["p99.9"]) if figures["n"] >= TAIL_LEAST else "-") + " / " + us(figures["max"])


def over_linear(rows):
    """The cost over dm-linear in instructions, medians."""
    linear = rows.get("linear", {})
    return {target: {case: {"over": figures["p50"] - linear[case]["p50"]}
                     for case, figures in row.items() if "p50" in figures and case in linear}
            for target, row in rows.items() if target not in ("raw", "linear", "slow")}


def grid(rows, cell, cases=CASES):
    """Lines of a table: cases down, targets across, n/a where a target cannot do it."""
    targets = [target for target in TARGETS if any(case in rows.get(target, {}) for case in cases)]
    lines = [["", *[TITLES[target] for target in targets]]]
    for case in cases:
        if any(case in rows[target] for target in targets):
            lines.append([case, *[cell(rows[target][case]) if case in rows[target] else "n/a"
                                  for target in targets]])
    return lines


def plain(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(word.ljust(width) if i == 0 else word.rjust(width)
                               for i, (word, width) in enumerate(zip(line, widths))) for line in lines)


def markdown(lines):
    rule = ["---", *["---:"] * (len(lines[0]) - 1)]
    return "\n".join("| " + " | ".join(line) + " |" for line in (lines[0], rule, *lines[1:]))


def show(name, rows):
    """On the terminal."""
    values = [f"{TITLES[target]}: {case} {figures['value']:,}" for target, row in rows.items()
              for case, figures in row.items() if "value" in figures]
    times = {target: {case: figures for case, figures in row.items() if "p50" in figures}
             for target, row in rows.items()}
    parts = []
    if any(times.values()):
        parts += ["median, us", plain(grid(times, median)), "\np99.9 / longest, us", plain(grid(times, tail))]
    over = over_linear(rows)
    if any(over.values()):
        parts += ["\nmedian over dm-linear, instructions", plain(grid(over, lambda f: f"{f['over']:+,}"))]
    return "\n".join([f"\n{name}", *parts, *values])


# ---------------------------------------------------------------- docs ----

KERNELS = ["6.12", vm.named("newest")]    # what Debian 13 has, and the newest that the module runs on


def each_model(results, make):
    """A table of each kernel with each slow device, of the fast disk."""
    return "\n\n".join(f"Linux {series}, {model}:\n\n{markdown(make(results[f'{series} {model}']))}"
                       for series in KERNELS for model in ("flash", "disk"))


def each_kernel(results, part, make):
    return "\n\n".join(f"Linux {series}:\n\n{markdown(make(results[f'{series} {part}']))}" for series in KERNELS)


def number(value):
    return f"{value:,.2f}".removesuffix(".00")


def values(results, part, cases):
    """A value a line, kernels across."""
    return markdown([["", *[f"Linux {series}" for series in KERNELS]],
                     *[[title, *[number(results[f"{series} {part}"]["xpcache"][case]["value"]) for series in KERNELS]]
                       for case, title in cases.items()]])


def busy(rows):
    """Median, p99.9 and longest."""
    return grid(rows, lambda figures: f"{median(figures)} / {tail(figures)}", [c for c in CASES if "busy" in c])


def overflow(rows):
    return [["", "writes a second", "median, us", "longest, ms"],
            *[[TITLES[target], f"{1e9 / row['overflow']['mean']:,.0f}", median(row["overflow"]),
               f"{row['overflow']['max'] / 1e6:,.1f}"] for target, row in rows.items()]]


def volatile(rows):
    lines = grid(rows, median, [c for c in CASES if "volatile" in c])
    for op in ("sync", "dsync"):
        lines.append([f"FLUSHes a {op}", *[f"{rows[target][f'volatile-{op}-flushes']['value']:.2f}"
                                           for target in TARGETS if target in rows]])
    return lines


def priced(part, off, on, titles):
    """What an option costs, in instructions, medians."""
    def make(rows):
        lines = [["", f"{off}, us", f"{on}, us", "instructions more"]]
        for op, title in titles.items():
            less, more = (rows["xpcache"][f"{part}-{op}-{state}"] for state in ("off", "on"))
            lines.append([title, median(less), median(more), f"{more['p50'] - less['p50']:+,}"])
        return lines
    return make


HISTOGRAM = priced("histogram", "not recorded", "recorded",
                   {"read": "read-hit", "new": "write-new", "write": "write-again", "sync": "sync-again"})
VERIFY = priced("verify", "not verified", "verified",
                {"read": "read-hit", "part": "read-hit of 512 bytes", "big-read": "read-hit of 1 MiB", "miss": "read-miss",
                 "new": "write-new", "write": "write-again", "sync": "sync-again", "merge": "512b-again",
                 "big-write": "write of 1 MiB"})


def scale(found):
    lines = [["", "processors", "dm-linear, reads a second", "xpcache", "quotient", "from", "to"]]
    for series in KERNELS:
        for cpus, one in sorted(found[series].items()):
            quotients = one["quotients"]
            lines.append([f"Linux {series}", cpus, f"{statistics.median(one['linear']):,.0f}",
                          f"{statistics.median(one['xpcache0']):,.0f}", f"{statistics.median(quotients):.3f}",
                          f"{min(quotients):.3f}", f"{max(quotients):.3f}"])
    return markdown(lines)


def over(rows):
    return grid(over_linear(rows), lambda figures: f"{figures['over']:+,}")


def pmem(rows):
    """Medians, and what xpcache costs over dm-linear."""
    lines = grid(rows, median)
    more = over_linear(rows)["xpcache"]
    return [[*line, "xpcache over dm-linear, instructions" if not line[0] else
             f"{more[line[0]]['over']:+,}" if line[0] in more else "n/a"] for line in lines]


# Each table's name, the parts of the lab that it is of, and how it is made.
SECTIONS = {
    "median": (["flash", "disk"], lambda results, _: each_model(results, lambda rows: grid(rows, median))),
    "tail": (["flash", "disk"], lambda results, _: each_model(results, lambda rows: grid(rows, tail))),
    "over": (["flash", "disk"], lambda results, _: each_model(results, over)),
    "pmem": (["pmem"], lambda results, _: each_kernel(results, "pmem", pmem)),
    "pmem-tail": (["pmem"], lambda results, _: each_kernel(results, "pmem", lambda rows: grid(rows, tail))),
    "busy": (["busy"], lambda results, _: each_kernel(results, "busy", busy)),
    "overflow": (["busy"], lambda results, _: each_kernel(results, "busy", overflow)),
    "volatile": (["volatile"], lambda results, _: each_kernel(results, "volatile", volatile)),
    "through": (["through"], lambda results, _: each_kernel(
        results, "through", lambda rows: grid(rows, median, [c for c in CASES if "through" in c]))),
    "histogram": (["histogram"], lambda results, _: each_kernel(results, "histogram", HISTOGRAM)),
    "verify": (["verify"], lambda results, _: each_kernel(results, "verify", VERIFY)),
    "wear": (["wear"], lambda results, _: values(results, "wear", {
        "wear-plain": "write", "wear-sync": "write + fdatasync",
        "wear-dsync": "O_DSYNC write", "wear-filled": "read that missed"})),
    "start": (["start"], lambda results, _: values(results, "start", {
        "slots": "slots", "slot-allocated": "bytes a slot, by /proc/meminfo",
        "slot-says": "bytes a slot, by `xpcache status`", "start-seconds": "seconds to start"})),
    "scale": (["scale"], lambda _, found: scale(found)),
}


def write_docs(path, results, found, parts=None):
    """The tables between their marks, or those of these parts; all else is left as it is."""
    text = path.read_text()
    for name, (of, make) in SECTIONS.items():
        if parts and not set(of) & set(parts):
            continue
        table = make(results, found)
        mark = re.compile(f"(<!-- table {name} -->\n).*?(<!-- end -->\n)", re.S)
        if len(mark.findall(text)) != 1:
            raise ValueError(f"{path}: not one pair of marks for the table {name}")
        text = mark.sub(lambda match, table=table: f"{match[1]}\n{table}\n\n{match[2]}", text)
    path.write_text(text)
