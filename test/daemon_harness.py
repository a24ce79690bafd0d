"""What the daemon_*_test.py scripts share: processes, API calls, waiting, and a proxy that misbehaves on purpose."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

BIN = os.path.join(os.environ.get("OUT", "_output"), "bin")
DEADLINE = 60  # seconds: for anything that should happen soon
# For programs built with SAN=tsan.
os.environ["TSAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("TSAN_OPTIONS"), "report_thread_leaks=0", "suppressions=" +
    os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "daemon.tsan.supp")]))
_processes = []
_scratch = tempfile.TemporaryDirectory(prefix="berth-daemon-test-")


def scratch(name):
    return os.path.join(_scratch.name, name)


def wait_until(what, condition, deadline=DEADLINE):
    """Polls until condition() gives something true, and gives that; fails loudly after the deadline."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what}")
        time.sleep(0.02)


def stop_all():
    for p in _processes:
        if p.poll() is None:
            p.kill()
        p.wait()


def sanitizers_are_silent():
    """Programs of SAN=asan and SAN=tsan say what they find among their log lines."""
    for name in os.listdir(_scratch.name):
        if name.endswith(".log"):
            with open(scratch(name), errors="replace") as f:
                text = f.read()
            found = re.search(r"^(==\d+==ERROR: |=+\nWARNING: ThreadSanitizer|SUMMARY: )", text, re.M)
            assert not found, f"{name}:\n{text[found.start():found.start() + 5000]}"


class Api:
    """hollow-apiserver, or whatever listens at host:port."""

    def __init__(self, port):
        self.port = port
        self.process = None

    @classmethod
    def start(cls, *files, port=0, flags=()):
        p = subprocess.Popen([f"{BIN}/hollow-apiserver", f"--insecure-port={port}", *flags, *[f"--load={f}" for f in files]],
                             stdout=subprocess.PIPE, stderr=open(scratch("hollow.log"), "a"), text=True)
        _processes.append(p)
        line = p.stdout.readline()
        assert line.startswith("Serving insecurely on "), f"hollow-apiserver said: {line!r}"
        api = cls(int(line.rsplit(":", 1)[1]))
        api.process = p
        return api

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def call(self, method, path, body=None, content_type="application/json"):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        c.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": content_type})
        r = c.getresponse()
        text = r.read()
        c.close()
        return r.status, json.loads(text) if text else None

    def get(self, path):
        status, body = self.call("GET", path)
        assert status == 200, f"GET {path}: {status} {body}"
        return body

    def post(self, path, body):
        status, answer = self.call("POST", path, body)
        assert status in (200, 201), f"POST {path}: {status} {answer}"
        return answer

    def pods(self, ns="default"):
        return {p["metadata"]["name"]: p for p in self.get(f"/api/v1/namespaces/{ns}/pods")["items"]}

    def placements(self, ns="default"):
        return {name: p["spec"].get("nodeName") for name, p in self.pods(ns).items()}

    def events(self, ns="default", reason=None):
        items = self.get(f"/api/v1/namespaces/{ns}/events")["items"]
        return [e for e in items if reason in (None, e["reason"])]

    def add_pod(self, *args, **kw):
        p = pod(*args, **kw)
        return self.post(f"/api/v1/namespaces/{p['metadata']['namespace']}/pods", p)

    def add_node(self, *args, **kw):
        return self.post("/api/v1/nodes", node(*args, **kw))

    def add_priority_class(self, name, value):
        return self.post("/apis/scheduling.k8s.io/v1alpha1/priorityclasses", {
            "apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "PriorityClass", "metadata": {"name": name},
            "value": value})

    def restart(self):
        """Kills it, and starts another at the same port with the nodes and pods that there were."""
        kept = write_objects("kept.json", [dict(o, apiVersion="v1", kind=kind) for kind, path in (("Node", "nodes"), ("Pod", "pods"))
                                           for o in self.get(f"/api/v1/{path}")["items"]])
        self.process.kill()
        self.process.wait()
        self.process = Api.start(kept, port=self.port).process

    def check_not_overcommitted(self):
        room = {n["metadata"]["name"]: cpu(n["status"]["allocatable"]["cpu"]) for n in self.get("/api/v1/nodes")["items"]}
        used = dict.fromkeys(room, 0)
        for p in self.get("/api/v1/pods")["items"]:
            if p["spec"].get("nodeName"):
                used[p["spec"]["nodeName"]] += sum(
                    cpu(c.get("resources", {}).get("requests", {}).get("cpu", "0")) for c in p["spec"]["containers"])
        bad = {n: (used[n], room[n]) for n in room if used[n] > room[n]}
        assert not bad, f"overcommitted nodes (used, allocatable): {bad}"


def all_placed(api, names):
    where = api.placements()
    return all(where.get(n) for n in names)


def check_bound_once(names, *proxies):
    """Of all bindings that the server carried out, one was for each pod."""
    done = [path.split("/")[6] for p in proxies for method, path, status in p.answers
            if method == "POST" and path.endswith("/binding") and status == 201]
    assert sorted(done) == sorted(names), (sorted(done), sorted(names))


def cpu(text):
    return int(text[:-1]) if text.endswith("m") else int(text) * 1000


def node(name, cpu="4", **labels):
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
            "status": {"capacity": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
                       "allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, cpu="500m", ns="default", scheduler=None, node=None, priority_class=None, uid=None, memory=None):
    p = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": ns},
         "spec": {"containers": [{"name": "c", "image": "busybox", "resources": {"requests": {"cpu": cpu}}}]}}
    if uid:
        p["metadata"]["uid"] = uid
    if scheduler:
        p["spec"]["schedulerName"] = scheduler
    if node:
        p["spec"]["nodeName"] = node
    if priority_class:
        p["spec"]["priorityClassName"] = priority_class
    if memory:
        p["spec"]["containers"][0]["resources"]["requests"]["memory"] = memory
    return p


def write_objects(name, objects):
    """As kubectl get -o json prints them, so that they are taken as they are."""
    path = scratch(name)
    with open(path, "w") as f:
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, f)
    return path


class Scheduler:
    """kube-scheduler, fast; with bare=True it has no other flags than those given. `env` is added to the environment."""

    def __init__(self, master, *flags, name="scheduler", leader_elect=False, bare=False, env=None):
        self.log_path = scratch(f"{name}.log")
        open(self.log_path, "w").close()
        command = [f"{BIN}/kube-scheduler", "--address=127.0.0.1", "--port=0", "-v=2"]
        if master:
            command.append(f"--master={master}")
        if not bare:
            command += [f"--leader-elect={'true' if leader_elect else 'false'}", "--kube-api-qps=1000",
                        "--kube-api-burst=1000"]
        self.process = subprocess.Popen(command + list(flags), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=open(self.log_path, "w"), env={**os.environ, **(env or {})})
        _processes.append(self.process)

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def wait_for_log(self, text, deadline=DEADLINE):
        wait_until(f"{text!r} in the log:\n{self.log()[-3000:]}", lambda: text in self.log() or self._died(text), deadline)

    def _died(self, text):
        assert self.process.poll() is None or text in self.log(), f"exited {self.process.returncode}:\n{self.log()}"
        return False

    def port(self):
        def find():
            m = re.search(r"starting healthz server on 127\.0\.0\.1:(\d+)", self.log())
            return m and int(m.group(1))
        return wait_until("a healthz server", find)

    def page(self, path, method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=10)
        c.request(method, path)
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, dict(r.getheaders()), body

    def metrics(self, whole=True):
        """By name and labels; with those of the watches, which come when the algorithm is known, unless whole=False."""
        def read():
            _, _, text = self.page("/metrics")
            found = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                     if not line.startswith("#")}
            return found if not whole or any(k.startswith("scheduler_watch_open") for k in found) else None
        return wait_until("metrics of the watches", read)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=30)


def relay(source, sink, saw=lambda data: None):
    """Passes on what comes from one socket to the other until either ends, then ends both."""
    try:
        while data := source.recv(65536):
            saw(data)
            sink.sendall(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Proxy:
    """Between a client and the API server. `fault(method, path)` says what goes wrong with a request:

    None                    nothing
    "refuse"                the connection is closed, the server never sees the request
    "lose-answer"           the server does it, the client never hears of it
    (status, headers, body) answered like this, the server never sees it
    ("cut", n)              the answer is cut off after n bytes of its body
    ("slow", seconds)       the server does it at once, the answer comes that much later
    ("dribble", seconds)    the answer comes byte by byte, with a pause behind each
    ("garbage",)            the answer is no HTTP
    """

    def __init__(self, upstream, fault=lambda method, path: None, port=0):
        self.upstream, self.fault = upstream, fault
        self.seen = []  # (method, path) of all requests
        self.bodies = []  # (method, path, body) of all requests but GETs
        self.answers = []  # (method, path, status) of what the server answered, whether the client got it or not
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.writing = 0  # requests but GETs that the server has not answered yet
        self.lock = threading.Lock()
        self.connections = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()
        self.cut_all()

    def cut_all(self):
        for s in list(self.connections):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            self.connections.add(s)
            threading.Thread(target=self._serve, args=(s,), daemon=True).start()

    def _serve(self, s):
        try:
            f = s.makefile("rb")
            while self._one(s, f):
                pass
        except OSError:
            pass
        finally:
            self.connections.discard(s)
            s.close()

    def _one(self, s, f):
        line = f.readline()
        if not line:
            return False
        method, path, _ = line.decode().split(" ", 2)
        head, length = [line], 0
        while True:
            line = f.readline()
            if line in (b"\r\n", b"\n", b""):
                break
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            head.append(line)
        body = f.read(length) if length else b""
        self.seen.append((method, path))
        if method != "GET":
            self.bodies.append((method, path, body))
        fault = self.fault(method, path)
        if fault == "refuse":
            return False
        if fault == ("garbage",):
            s.sendall(b"\x00\x01\x02 this is no HTTP\r\n\r\n")
            return False
        if isinstance(fault, tuple) and isinstance(fault[0], int):
            status, headers, text = fault
            text = text.encode()
            s.sendall(f"HTTP/1.1 {status} Injected\r\nContent-Length: {len(text)}\r\n".encode() +
                      b"".join(f"{k}: {v}\r\n".encode() for k, v in headers.items()) + b"\r\n" + text)
            return True
        up = socket.create_connection(("127.0.0.1", self.upstream))
        self.connections.add(up)
        write = int(method != "GET")
        self._count(write)
        try:
            up.sendall(b"".join(h for h in head if not h.lower().startswith(b"connection:")) +
                       b"Connection: close\r\n\r\n" + body)
            kind, value = fault if isinstance(fault, tuple) else (fault, None)
            limit = value if kind == "cut" else None
            answer = b""
            while b"\r\n\r\n" not in answer:
                more = up.recv(65536)
                if not more:
                    return False
                answer += more
            self.answers.append((method, path, int(answer.split(b" ", 2)[1])))
            self._count(-write)
            write = 0
            if fault == "lose-answer":
                while up.recv(65536):
                    pass
                return False
            if kind == "slow":
                time.sleep(value)
            if kind == "dribble":
                while answer:
                    for i in range(len(answer)):
                        s.sendall(answer[i:i + 1])
                        time.sleep(value)
                    answer = up.recv(65536)
                return False
            head_end = answer.index(b"\r\n\r\n") + 4
            sent = len(answer) - head_end
            if limit is not None and sent > limit:
                answer = answer[:head_end + limit]
            s.sendall(answer)
            while limit is None or sent < limit:
                more = up.recv(65536)
                if not more:
                    return False
                if limit is not None:
                    more = more[:limit - sent]
                s.sendall(more)
                sent += len(more)
            return False
        finally:
            self._count(-write)
            self.connections.discard(up)
            up.close()

    def _count(self, n):
        with self.lock:
            self.writing += n


def status_body(code, reason, message):
    return json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                       "reason": reason, "code": code})


def run(*tests):
    """Runs the test functions, or those that the command line names, one after another; exit status 0 when all passed."""
    named = sys.argv[1:]
    unknown = set(named) - {t.__name__ for t in tests}
    if unknown:
        sys.exit(f"{sys.argv[0]}: no test {', '.join(sorted(unknown))}; there are {', '.join(t.__name__ for t in tests)}")
    failed = 0
    if named:
        tests = [t for t in tests if t.__name__ in named]
    for t in tests:
        try:
            t()
            sanitizers_are_silent()
            print(f"ok      {t.__name__}", flush=True)
        except Exception as e:  # noqa: BLE001 - whatever it is, it is a failure of this test
            failed += 1
            import traceback
            traceback.print_exc()
            print(f"FAILED  {t.__name__}: {e}", flush=True)
        finally:
            stop_all()
            _processes.clear()
    sys.exit(1 if failed else 0)
