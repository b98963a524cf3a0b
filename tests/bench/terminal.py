#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""terminal.py ANSWER... -- COMMAND - runs it on a terminal, and answers what it asks."""

import os
import pty
import sys

cut = sys.argv.index("--")
answers, command = sys.argv[1:cut], sys.argv[cut + 1:]
pid, terminal = pty.fork()
if not pid:
    os.execvp(command[0], command)
said, asked = b"", 0
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:     # it has ended
        break
    if not more:
        break
    said += more
    sys.stdout.buffer.write(more)
    if said.count(b" of 3: ") > asked and said.rstrip(b" ").endswith(b":"):
        os.write(terminal, answers[asked].encode() + b"\n" if asked < len(answers) else b"\n")
        asked += 1
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
