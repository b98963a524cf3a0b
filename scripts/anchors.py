# SPDX-License-Identifier: GPL-2.0-only
"""Anchors of headings, as GitHub makes them: for the site (scripts/docs) and the test of links (tests/docs/links)."""

import re


def anchors(headings):
    """Those of a document's headings, in their order; each once."""
    seen, found = {}, []
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        n = seen.get(anchor, 0)
        seen[anchor] = n + 1
        found.append(f"{anchor}-{n}" if n else anchor)
    return found
