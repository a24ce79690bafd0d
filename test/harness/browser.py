"""A headless Chromium, driven over its DevTools protocol through a pipe; needs nothing but Python's standard library.

    with Browser() as browser:
        page = browser.open("http://127.0.0.1:8080/")
        page.wait("document.title !== ''")
        page.screenshot("page.png")
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from harness.running import DEADLINE

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    def __init__(self):
        program = next((p for p in map(shutil.which, PROGRAMS) if p), None)
        assert program, f"none of {', '.join(PROGRAMS)} is installed; see hack/install-deps.sh test"
        self.profile = tempfile.TemporaryDirectory(prefix="berth-browser-", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.come, come_write = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        command = [
            "bash",
            "-c",
            f'exec "$@" 3<&{to_read} 4>&{come_write}',
            "bash",
            program,
            "--headless=new",
            "--no-sandbox",
            "--remote-debugging-pipe",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-extensions",
            "--disable-background-networking",
            "--disable-component-update",
            "--force-color-profile=srgb",
            f"--user-data-dir={self.profile.name}",
            "about:blank",
        ]
        self.log = open(os.path.join(self.profile.name, "log"), "w+")
        self.process = subprocess.Popen(
            command,
            pass_fds=(to_read, come_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
        )
        os.close(to_read)
        os.close(come_write)
        self.buffer = b""
        self.last_id = 0
        self.pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.come)
        self.log.close()
        self.profile.cleanup()

    def receive(self, deadline):
        """Returns the next message, or None when there is none until the deadline."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.come], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                return None
            chunk = os.read(self.come, 1 << 20)
            if not chunk:
                self.log.seek(0)
                raise AssertionError(f"the browser has ended: {self.log.read()[-2000:]}")
            self.buffer += chunk
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def take(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page is not None and "method" in message:
            page.events.append(message)

    def call(self, method, session=None, **params):
        self.last_id += 1
        request = {"id": self.last_id, "method": method, "params": params}
        if session:
            request["sessionId"] = session
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data) :]
        deadline = time.monotonic() + DEADLINE
        while True:
            message = self.receive(deadline)
            assert message is not None, f"no answer to {method} within {DEADLINE} s"
            if message.get("id") == self.last_id:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self.take(message)

    def open(self, url, width=1280, height=900):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        # Only one page is in front; the others should not notice that.
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)
        page.resize(width, height)
        page.go(url)
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session, self.events = browser, session, []

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def go(self, url):
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, f"{url}: {answer['errorText']}"

    def trust_any_certificate(self):
        self.call("Security.setIgnoreCertificateErrors", ignore=True)

    def send_headers(self, **headers):
        """Sends these headers with every request from now on."""
        self.call("Network.setExtraHTTPHeaders", headers=headers)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def prefer(self, **features):
        """prefer(prefers_color_scheme="dark")"""
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": k.replace("_", "-"), "value": v} for k, v in features.items()],
        )

    def js(self, expression):
        """Returns the value of a JavaScript expression; a promise is waited for."""
        r = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in r, f"{expression}: {json.dumps(r['exceptionDetails'])[:2000]}"
        return r["result"].get("value")

    def wait(self, expression, deadline=DEADLINE):
        """Polls until the expression is true, and returns its value; fails with what the page shows."""
        end = time.monotonic() + deadline
        while True:
            value = self.js(
                f"(() => {{ try {{ const v = {expression}; return v instanceof Node || v }} catch {{ return "
                f"false }} }})()"
            )
            if value:
                return value
            if time.monotonic() > end:
                shown = self.js("document.body ? document.body.innerText : ''")
                raise AssertionError(
                    f"not within {deadline} s: {expression}\nthe page shows: {shown[:3000]}\n{self.problems()}"
                )
            time.sleep(0.02)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode={
                    "Enter": 13,
                    "Tab": 9,
                    "ArrowRight": 39,
                    "ArrowLeft": 37,
                    "ArrowDown": 40,
                    "ArrowUp": 38,
                    "Home": 36,
                    "End": 35,
                }[key],
                text="\r" if key == "Enter" else "",
            )

    def type(self, text):
        self.call("Input.insertText", text=text)

    def problems(self):
        """Returns the problems that the page reported: exceptions, errors on the console, blocked requests."""
        self.call("Runtime.evaluate", expression="0")  # processes everything that has happened so far
        out = []
        for e in self.events:
            p = e["params"]
            if e["method"] == "Runtime.exceptionThrown":
                out.append(
                    p["exceptionDetails"].get("exception", {}).get("description") or p["exceptionDetails"]["text"]
                )
            elif e["method"] == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                out.append(" ".join(str(a.get("value", a.get("description"))) for a in p["args"]))
            elif e["method"] == "Log.entryAdded" and p["entry"]["level"] == "error":
                out.append(f"{p['entry']['text']} {p['entry'].get('url', '')}")
        return out

    def requested(self):
        """Returns the addresses that the page requested."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path):
        height = self.js("document.documentElement.scrollHeight")
        width = self.js("innerWidth")
        data = self.call(
            "Page.captureScreenshot",
            format="png",
            captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": width, "height": min(height, 6000), "scale": 1},
        )["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))
