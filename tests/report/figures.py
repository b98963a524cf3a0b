# SPDX-License-Identifier: GPL-2.0-only
"""figures - reads the page's figures as a person would, and colours as an eye would."""

import math
import re

UNITS = {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
         "MB/s": 1e6, "IOPS": 1, "GB": 1, "%": 0.01, "\u00d7": 1, "": 1}
# What has other units at its place than the JSON has: a bare number of MB/s, seconds.
BARE = {"bytes_per_second": 1e6}
SECONDS = {"hidden90_seconds": {"s": 1, "min": 60}}


def at(result, path):
    for key in path:
        result = result[key]
    return result


def reading(text, key):
    """What a text says, and by how much its last digit may be off."""
    text = text.replace("\u00a0", " ").replace("\u2212", "-").replace(",", "").strip()
    match = re.fullmatch(r"([+-]?[0-9.]+) ?(.*)", text)
    if not match:
        return None
    number, unit = match.groups()
    factor = SECONDS[key][unit] if key in SECONDS else UNITS[unit] * (BARE.get(key, 1) if not unit else 1)
    decimals = len(number.split(".")[1]) if "." in number else 0
    # Binary units lose their ".0"; a percentage near 100 is cut, not rounded.
    slack = 10 ** -decimals * (1 if unit == "%" else 0.5)
    return float(number) * factor, slack * factor * 1.0001


def says(text, value, key):
    """Is @text what a person should read for @value?"""
    if isinstance(value, str):
        return text == value
    read = reading(text, key)
    return read is not None and abs(read[0] - value) <= max(read[1], abs(value) * 1e-12)


def needed(timing, q):
    return math.ceil(10 / ((1 - q) * timing["count"]) - 1e-6)


def share_by_time(timing, share):
    """The latency up to which requests take @share of the time; to a bin."""
    cut = [(max(a, timing["min_ns"]), min(b, timing["max_ns"]), n) for a, b, n in timing["bins"]]
    total = sum((a + b) / 2 * n for a, b, n in cut)
    below = 0
    for low, high, n in cut:
        below += (low + high) / 2 * n
        if below >= share * total:
            return low, high
    return cut[-1][:2]


# ------------------------------------------------------------ colours ----

def linear(text):
    parts = [int(text[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def luminance(text):
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear(text)))


def contrast(a, b):
    """Of WCAG 2: 1 to 21."""
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


# Machado, Oliveira and Fernandes 2009, severity 1.
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(rgb):
    x, y, z = (sum(w * c for w, c in zip(row, rgb)) for row in (
        (0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)))
    f = [max(v, 0) ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x / 0.9505, y, z / 1.089)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def distance(a, b, eye):
    """CIE 1976 of two colours to an eye; 2.3 is just noticed."""
    seen = [[sum(w * c for w, c in zip(row, linear(text))) for row in EYES[eye]] for text in (a, b)]
    return math.dist(*(lab([min(1, max(0, c)) for c in rgb]) for rgb in seen))
