# SPDX-License-Identifier: GPL-2.0-only
"""exposition - Prometheus' text format 0.0.4, read strictly: what is not as its documentation has it,
or not as its naming rules ask, is an error."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)$")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("", "_sum", "_count")}


def labels_of(text):
    """In braces: name="value",..."""
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match[1] not in found and not match[1].startswith("__"), text
        value = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        found[match[1]] = value
        at = match.end()
        if at < len(text):
            assert text[at] == "," and at + 1 < len(text), text
            at += 1
    return found


def number(text):
    assert text in ("+Inf", "-Inf", "NaN") or re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text), text
    return float(text)


class Family:
    def __init__(self, name):
        self.name, self.type, self.help, self.samples = name, None, None, {}


def check_name(family):
    assert family.help and family.help.endswith("."), family.name
    assert family.type in ("counter", "gauge", "histogram"), family.name
    assert family.name.endswith("_total") == (family.type == "counter"), family.name
    assert not re.search(r"_(ms|us|ns|kb|mb|milliseconds|percent|counter|gauge|histogram)\b", family.name), family.name
    assert re.fullmatch(r"[a-z][a-z0-9_]*", family.name), family.name


def check_histogram(family):
    series = {}
    for (name, labels), value in family.samples.items():
        rest = tuple(item for item in labels if item[0] != "le")
        part = series.setdefault(rest, {"le": []})
        if name.endswith("_bucket"):
            part["le"].append((number(dict(labels)["le"]), value))
        else:
            part[name.rsplit("_", 1)[1]] = value
    for rest, part in series.items():
        edges, counts = zip(*part["le"])
        assert list(edges) == sorted(set(edges)) and edges[-1] == math.inf, rest
        assert list(counts) == sorted(counts) and counts[-1] == part["count"], rest
        assert part["sum"] >= 0 and (part["sum"] == 0 or part["count"] > 0), rest


def parse(text):
    """Families by name."""
    assert text.endswith("\n") and "\r" not in text and "\t" not in text
    families, family = {}, None
    for line in text.splitlines():
        words = line.split(" ", 3)
        if line.startswith("# "):
            assert words[1] in ("HELP", "TYPE") and len(words) == 4 and re.fullmatch(NAME, words[2]), line
            if family is None or family.name != words[2]:
                assert words[2] not in families, f"{words[2]} is not in one piece"
                family = families[words[2]] = Family(words[2])
            assert not family.samples and getattr(family, words[1].lower()) is None, line
            setattr(family, words[1].lower(), words[3])
            continue
        match = SAMPLE.match(line)
        assert match and family, line
        name, labels = match[1], tuple(sorted(labels_of(match[2] or "").items()))
        assert name in [family.name + s for s in SUFFIXES.get(family.type, ("",))], line
        assert (name, labels) not in family.samples, line
        family.samples[name, labels] = number(match[3])
    for family in families.values():
        check_name(family)
        if family.type == "histogram":
            check_histogram(family)
    return families


def parse_open(text):
    """The same of OpenMetrics 1.0: a family of counters is without the _total of its samples."""
    *lines, end = text.splitlines(True)
    assert end == "# EOF\n" and "_total counter" not in text
    counters = {line.split()[2] for line in lines if line.startswith("# TYPE") and line.endswith(" counter\n")}
    assert counters
    return parse("".join(re.sub(r"^(# \w+ )(\S+)", lambda m: m[0] + "_total" * (m[2] in counters), line) for line in lines))


def value(families, name, **labels):
    family = families[re.sub(r"_(bucket|sum|count)$", "", name) if name not in families else name]
    return family.samples[name, tuple(sorted(labels.items()))]
