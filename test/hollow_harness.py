"""Starts hollow-apiserver on a free port and talks to it. For the hollow_*_test.py scripts."""
import http.client, json, os, select, subprocess, sys, time

BIN = os.path.abspath(os.path.join(os.environ.get("OUT") or "_output", "bin", "hollow-apiserver"))
HERE = os.path.dirname(os.path.abspath(__file__))
DEADLINE_SECONDS = 30


class Server:
    """with Server("--load=FILE") as s: s.request("GET", "/api/v1/nodes")"""

    def __init__(self, *flags):
        self.process = subprocess.Popen([BIN, "--insecure-port=0", *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_SECONDS)
        line = self.process.stdout.readline() if ready else ""
        prefix = "Serving insecurely on 127.0.0.1:"
        if not line.startswith(prefix):
            self.process.kill()
            raise RuntimeError("hollow-apiserver did not start: %r %s" % (line, self.process.communicate()[1]))
        self.port = int(line[len(prefix):])
        self.url = "http://127.0.0.1:%d" % self.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """SIGTERM; returns exit status, the rest of stdout, and stderr."""
        if self.process.poll() is None:
            self.process.terminate()
        out, err = self.process.communicate(timeout=DEADLINE_SECONDS)
        return self.process.returncode, out, err

    def request(self, method, path, body=None, content_type="application/json", headers=None):
        """-> status, parsed JSON (text when it is none)"""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE_SECONDS)
        data = json.dumps(body) if isinstance(body, (dict, list)) else body
        h = {"Content-Type": content_type} if data is not None else {}
        c.request(method, path, data, {**h, **(headers or {})})
        r = c.getresponse()
        text = r.read()
        c.close()
        try:
            return r.status, json.loads(text)
        except ValueError:
            return r.status, text.decode("utf8", "replace")


failures = []


def check(what, got, want):
    if got != want:
        failures.append(what)
        print("%s: got %r, want %r" % (what, got, want))


def check_true(what, condition, detail=""):
    if not condition:
        failures.append(what)
        print("%s: %s" % (what, detail))


def finish():
    print("%d checks failed" % len(failures) if failures else "all agrees")
    sys.exit(1 if failures else 0)


def wait_for(what, condition):
    """Polls until the condition is true; fails at the deadline."""
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.02)
    check_true(what, False, "not within %d s" % DEADLINE_SECONDS)
    return None
