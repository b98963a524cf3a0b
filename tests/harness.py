# SPDX-License-Identifier: GPL-2.0-only
"""harness - what tests in Python share: result lines, their sum, waiting, a daemon before its devices.
tests/harness.sh has the same for shell.

    suite = harness.Suite("rot")
    @suite.test
    def it_holds(): ...
    sys.exit(suite.run())
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import traceback


def line(good, name, text=""):
    """A result line."""
    return f"{'PASS' if good else 'FAIL'} {name}" + (f": {text}" if text else "")


def tally(results):
    """Prints how many of these lines passed and failed; the exit code."""
    passed = sum(result.startswith("PASS") for result in results)
    failed = sum(result.startswith("FAIL") for result in results)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


class Suite:
    """Tests with one word in front of their names. With @spaced, a name is a sentence."""

    def __init__(self, label, spaced=False):
        self.label, self.spaced, self.tests, self.failed, self.judged = label, spaced, [], 0, 0

    def test(self, function):
        self.tests.append(function)
        return function

    def judge(self, good, name, why="", text=""):
        """Says that what has this name is so, with @text; or is not, and @why."""
        self.failed += not good
        self.judged += 1
        print(line(good, f"{self.label} {name}", text if good else why), flush=True)
        return good

    def code(self):
        """Nothing that was judged is no success."""
        return int(self.failed > 0 or not self.judged)

    def run(self, *arguments, names=(), kind=""):
        """All tests, or those of these names. One that breaks has failed; the others go on."""
        for function in self.tests:
            if names and function.__name__ not in names:
                continue
            name = kind + (function.__name__.replace("_", " ") if self.spaced else function.__name__)
            try:
                function(*arguments)
            except Exception as e:
                traceback.print_exc()
                at = traceback.extract_tb(e.__traceback__)[-1].lineno
                self.judge(False, name, f"{type(e).__name__}: {str(e)[:2000]!r}, line {at}")
            else:
                self.judge(True, name)
        return self.code()


def until(condition, seconds=20, why=lambda: "it does not happen"):
    """Waits for it; @why tells what is there instead."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, why()
        time.sleep(0.01)


def kill(process):
    """Of what is killed nothing is left when this returns."""
    if process and process.poll() is None:
        process.kill()
        process.wait()


def answers(path):
    """Whether somebody listens at this socket."""
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def ask(path, request):
    """The answer of a control socket."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(request.encode() + b"\n")
        answer = b""
        while part := s.recv(65536):
            answer += part
    return answer.decode()


class Daemon:
    """`xpcached serve` before a fast and a slow device, in a folder of its own; a subclass makes the devices."""

    def __init__(self, program, options=(), env=None, preexec=None, where=None):
        self.program, self.options, self.preexec = program, list(options), preexec
        self.env, self.process = {**os.environ, **(env or {})}, None
        self.dir = tempfile.mkdtemp(prefix="xpcached-", dir=where)
        self.fast, self.slow = os.path.join(self.dir, "fast"), os.path.join(self.dir, "slow")
        self.socket, self.control = os.path.join(self.dir, "socket"), os.path.join(self.dir, "control")
        self.log = os.path.join(self.dir, "log")

    def start(self, *options):
        """The control socket is the last to be there."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.program, "serve", "--fast", self.fast, "--slow", self.slow, "--socket", self.socket,
                 "--control", self.control, *(options or self.options)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env, preexec_fn=self.preexec)
        until(lambda: answers(self.control) or self.process.poll() is not None, 60, self.text)
        assert self.process.poll() is None, self.text()

    def text(self):
        with open(self.log, encoding="utf-8") as f:
            return f.read()

    def said(self, pattern, seconds=20):
        until(lambda: re.search(pattern, self.text()), seconds, lambda: f"does not say {pattern!r}, but {self.text()!r}")

    def ask(self, request):
        return ask(self.control, request)

    def tell(self, request):
        answer = self.ask(request)
        assert answer.startswith("ok\n"), answer
        return answer

    def status(self, word):
        return int(re.search(rf" {word} (\d+)", self.tell("status"))[1])

    def kill(self):
        kill(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        shutil.rmtree(self.dir)
