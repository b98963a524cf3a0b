# SPDX-License-Identifier: GPL-2.0-only
"""What make builds the simulator with, for those that build another. Without the same a mutant may be no bug at all."""

import pathlib
import re

TEXT = (pathlib.Path(__file__).resolve().parent / "sim.mk").read_text().replace("\\\n", " ")


def defines(name):
    return re.search(rf"^{name} := (.*)", TEXT, re.M)[1].split()


VARIANTS = {"sim": [], "sim-narrow": defines("SIM_NARROW")}
