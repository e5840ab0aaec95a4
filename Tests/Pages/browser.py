"""A headless Chromium, driven over the DevTools protocol through two pipes: nothing but Python's standard library.

The protocol's own pages describe the methods. With --remote-debugging-pipe, messages are JSON ended by a zero byte; the
browser reads them from descriptor 3 and writes them to descriptor 4.
"""

import base64
import json
import os
import select
import signal
import subprocess
import tempfile
import time


class BrowserError(Exception):
    pass


class Browser:
    """One browser process; pages are opened in tabs of it. To be used in a with statement."""

    def __init__(self, executable, patience=60):
        self.patience = patience
        self.profile = tempfile.TemporaryDirectory(prefix="pages-", ignore_cleanup_errors=True)
        to_browser, self.outgoing = os.pipe()
        self.incoming, from_browser = os.pipe()
        arguments = [
            executable, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
            "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--font-render-hinting=none",
            "--force-color-profile=srgb",
        ]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # its sandbox refuses root

        def install():
            # The numbers are the browser's; what is in the way moves out of it first.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            arguments, preexec_fn=install, close_fds=False, start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.count = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # the session that was started above
        except ProcessLookupError:
            pass
        self.process.wait()
        self.profile.cleanup()

    def call(self, method, session=None, **parameters):
        """Calls a method and waits for its result. What is reported meanwhile is kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.outgoing, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + self.patience
        while True:
            answer = self._read(deadline, method)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def wait_for(self, method, session):
        """Waits for a report."""
        deadline = time.monotonic() + self.patience
        while True:
            if any(event["method"] == method and event.get("sessionId") == session for event in self.events):
                return
            answer = self._read(deadline, method)
            if "method" in answer:
                self.events.append(answer)

    def _read(self, deadline, what):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.incoming], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise BrowserError(f"no answer to {what} in {self.patience} s")
            piece = os.read(self.incoming, 1 << 20)
            if not piece:
                raise BrowserError(f"the browser ended while {what} was awaited")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)


class Tab:
    """A page on a screen of a size, in a colour scheme."""

    def __init__(self, browser, url, width, height, scheme="light", media="screen", scripts=True):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log", "Network"]:
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        if not scripts:
            self.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.events.clear()
        self.url = url
        self.call("Page.navigate", url=url)
        browser.wait_for("Page.loadEventFired", self.session)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def evaluate(self, expression):
        """The value of an expression in the page, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def press(self, key):
        for kind in ["keyDown", "keyUp"]:
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35}[key])

    def screenshot(self, path):
        """The whole page, not only what is on the screen."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        image = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        with open(path, "wb") as file:
            file.write(base64.b64decode(image["data"]))

    def reports(self):
        """What the page did that a page should not: messages, requests, dialogs."""
        lines = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, details = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                lines.append("exception: " + details["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                lines.append("console." + details["type"])
            elif method == "Log.entryAdded":
                lines.append("log: " + details["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                lines.append("dialog: " + details["message"])
            elif method == "Network.requestWillBeSent":
                url = details["request"]["url"]
                if url != self.url and not url.startswith("data:"):
                    lines.append("request: " + url)
        return lines

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
