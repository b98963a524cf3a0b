# SPDX-License-Identifier: GPL-2.0-only
"""browser - Chromium without a screen, spoken to over a pipe by its DevTools protocol."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

QUIET = ["--headless", "--no-first-run", "--disable-gpu", "--disable-background-networking", "--disable-sync",
         "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--hide-scrollbars",
         "--no-default-browser-check", "--remote-debugging-pipe", "--font-render-hinting=none"]


class Browser:
    def __init__(self, log, program="chromium"):
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        self.profile = tempfile.mkdtemp(prefix="xpcache-report-")
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        with open(log, "wb") as err:
            self.process = subprocess.Popen(    # it reads 3 and writes 4
                ["sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", program, *QUIET, *sandbox,
                 f"--user-data-dir={self.profile}", "about:blank"],
                stdin=subprocess.DEVNULL, stdout=err, stderr=err, pass_fds=(to_browser, from_browser))
        os.close(to_browser)
        os.close(from_browser)
        self.write, self.read = from_us, to_us
        self.buffer, self.events, self.last, self.session = b"", [], 0, None
        page = self.call("Target.createTarget", url="about:blank")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        self.call("Browser.close")  # its children too: they write to the profile
        self.process.wait()
        os.close(self.write)
        os.close(self.read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.read, 1 << 20)
            if not more:
                raise EOFError("the browser is gone")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, timeout=60, **params):
        self.last += 1
        request = {"id": self.last, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        text, sent = json.dumps(request).encode() + b"\0", 0
        while sent < len(text):
            sent += os.write(self.write, text[sent:])
        deadline = time.monotonic() + timeout
        while True:
            answer = self.message(deadline)
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def wait(self, event, timeout=60):
        deadline = time.monotonic() + timeout
        while not any(e.get("method") == event for e in self.events):
            self.events.append(self.message(deadline))

    def open(self, path):
        """Opens a file, or an address of this machine; events of before are forgotten."""
        for url in ("about:blank", path if path.startswith("http://") else "file://" + os.path.abspath(path)):
            self.events = []
            self.call("Page.navigate", url=url)
            self.wait("Page.loadEventFired")
        self.settle()

    def settle(self):
        self.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def eval(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", answer["exceptionDetails"])))
        return answer["result"].get("value")

    def all(self, selector, expression):
        """What the expression makes of each @e that is selected."""
        return self.eval(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => {expression})")

    def screen(self, width, height=900, scale=1, dark=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.settle()

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(data["data"]))

    def paper(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True)["data"]))

    def requests(self):
        """What was asked for, but for the page itself."""
        urls = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith(("file://", "about:", "data:"))]

    def complaints(self):
        """Of the console: errors, warnings, exceptions, and what the page's policy refused."""
        said = []
        for e in self.events:
            if e.get("method") == "Runtime.exceptionThrown":
                d = e["params"]["exceptionDetails"]
                said.append(d.get("exception", {}).get("description", d["text"]))
            elif e.get("method") == "Runtime.consoleAPICalled" and e["params"]["type"] in ("error", "warning"):
                said.append(" ".join(str(a.get("value", a.get("description"))) for a in e["params"]["args"]))
            elif e.get("method") == "Log.entryAdded" and e["params"]["entry"]["level"] in ("error", "warning"):
                said.append(e["params"]["entry"]["text"])
        return said
