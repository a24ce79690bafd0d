"""The programs under test: schedsim, hollow-apiserver and kube-scheduler. And kubectl, which talks to the second."""
import http.client
import itertools
import json
import math
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from harness.objects import cpu, items, node, pod, write_objects
from harness.running import BIN, DEADLINE, ROOT, TLS, free_port, scratch, start, wait_until


_started = itertools.count(1)


def schedsim(*words, feed=None, env=None):
    """Runs schedsim; returns its exit status, standard output and standard error. `feed` is its standard input: bytes,
    a text, or an object to be written as JSON."""
    if isinstance(feed, (dict, list)):
        feed = json.dumps(feed)
    if isinstance(feed, str):
        feed = feed.encode()
    done = subprocess.run(
        [os.path.join(BIN, "schedsim"), *words],
        input=feed,
        stdin=subprocess.DEVNULL if feed is None else None,
        capture_output=True,
        env=dict(os.environ, **(env or {})),
    )
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


class Api:
    """hollow-apiserver, or whatever listens at this port of 127.0.0.1."""

    def __init__(self, port):
        self.port = port
        self.process = None
        self.flags = ()

    @classmethod
    def start(cls, *files, port=0, flags=()):
        """Starts hollow-apiserver with the objects of these files. It ends with the test, or with the block:
        with Api.start() as api: ..."""
        log = scratch("hollow-%d.log" % next(_started))
        with open(log, "w") as f:
            p = start(
                f"{BIN}/hollow-apiserver",
                f"--insecure-port={port or free_port()}",
                *flags,
                *[f"--load={f}" for f in files],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=f,
                text=True,
            )
        ready, _, _ = select.select([p.stdout], [], [], DEADLINE)
        line = p.stdout.readline() if ready else ""
        api = cls(int(line.rsplit(":", 1)[1]) if line.startswith("Serving insecurely on ") else 0)
        api.process, api.log_path, api.flags = p, log, flags
        assert api.port, f"hollow-apiserver did not start: {line!r} {api.log()}"
        return api

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def stop(self):
        """Ends it by SIGTERM; returns its exit status, the rest of its standard output, and its log."""
        if self.process.poll() is None:
            self.process.terminate()
        out, _ = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, out, self.log()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def secure_port(self):
        """Returns the port with TLS, which a server with secure_flags() has."""

        def serving():
            return re.search(r"Serving securely on 127\.0\.0\.1:(\d+)\n", self.log())

        return int(wait_until("a secure port", serving)[1])

    def call(self, method, path, body=None, content_type="application/json", headers=None):
        """Sends a request whose body is a text, bytes, or an object to be written as JSON; returns the status, and the
        body: JSON parsed, what is no JSON as text."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=DEADLINE)
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        c.request(
            method, path, data, {**({"Content-Type": content_type} if data is not None else {}), **(headers or {})}
        )
        r = c.getresponse()
        text = r.read()
        c.close()
        try:
            return r.status, json.loads(text)
        except ValueError:
            return r.status, text.decode("utf8", "replace")

    def get(self, path):
        status, body = self.call("GET", path)
        assert status == 200, f"GET {path}: {status} {body}"
        return body

    def post(self, path, body):
        status, answer = self.call("POST", path, body)
        assert status in (200, 201), f"POST {path}: {status} {answer}"
        return answer

    def pods(self, namespace="default"):
        return {p["metadata"]["name"]: p for p in self.get(f"/api/v1/namespaces/{namespace}/pods")["items"]}

    def placements(self, namespace="default"):
        return {name: p["spec"].get("nodeName") for name, p in self.pods(namespace).items()}

    def node_of(self, name):
        """Returns the node of a pod of the namespace default, or None."""
        return self.placements()[name]

    def number_placed(self):
        """Returns how many pods of the namespace default have a node."""
        return sum(map(bool, self.placements().values()))

    def wait_placed(self, *names, on=None, count=None, namespace="default", within=DEADLINE):
        """Waits until these pods of a namespace have a node, or the node `on`, or until `count` of all pods of the
        namespace default have one."""

        def elsewhere():
            nodes = self.placements(namespace)
            return {n: nodes.get(n) for n in names if not nodes.get(n) or on not in (None, nodes[n])}

        if count is not None:
            wait_until("pods placed", self.number_placed, equals=count, deadline=within)
        else:
            wait_until(f"pods not on {on or 'a node'}", elsewhere, equals={}, deadline=within)

    def conditions(self, name):
        """Returns the conditions of a pod, none if it has no status."""
        return self.pods()[name].get("status", {}).get("conditions", [])

    def wait_condition(self, name, says):
        """Waits until the message of a condition of the pod contains the text."""

        def messages():
            return "\n".join(c.get("message", "") for c in self.conditions(name))

        wait_until(f"a condition of {name}", messages, containing=says)

    def condition(self, name, **members):
        """Returns the condition of a pod that has these members, or None."""
        found = (c for c in self.conditions(name) if all(c.get(k) == v for k, v in members.items()))
        return next(found, None)

    def events(self, namespace="default", reason=None):
        items = self.get(f"/api/v1/namespaces/{namespace}/events")["items"]
        return [e for e in items if reason in (None, e["reason"])]

    def add_pod(self, *args, **kw):
        p = pod(*args, **kw)
        return self.post(f"/api/v1/namespaces/{p['metadata']['namespace']}/pods", p)

    def add_node(self, *args, **kw):
        return self.post("/api/v1/nodes", node(*args, **kw))

    def add_priority_class(self, name, value):
        return self.post(
            "/apis/scheduling.k8s.io/v1alpha1/priorityclasses",
            {
                "apiVersion": "scheduling.k8s.io/v1alpha1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
            },
        )

    def restart(self, more=()):
        """Kills the server and starts another one on the same port, with the same flags, nodes and pods. `more` names
        other objects that are kept: tuples of a kind, its apiVersion and the path of its list."""
        kinds = [("Node", "v1", "/api/v1/nodes"), ("Pod", "v1", "/api/v1/pods"), *more]
        kept = write_objects(
            "kept.json",
            [dict(o, apiVersion=version, kind=kind) for kind, version, path in kinds for o in self.get(path)["items"]],
        )
        self.process.kill()
        self.process.wait()
        self.__dict__.update(Api.start(kept, port=self.port, flags=self.flags).__dict__)

    def check_not_overcommitted(self):
        allocatable = {
            n["metadata"]["name"]: cpu(n["status"]["allocatable"]["cpu"]) for n in self.get("/api/v1/nodes")["items"]
        }
        used = dict.fromkeys(allocatable, 0)
        for p in self.get("/api/v1/pods")["items"]:
            if p["spec"].get("nodeName"):
                used[p["spec"]["nodeName"]] += sum(
                    cpu(c.get("resources", {}).get("requests", {}).get("cpu", "0")) for c in p["spec"]["containers"]
                )
        bad = {n: (used[n], allocatable[n]) for n in allocatable if used[n] > allocatable[n]}
        assert not bad, f"overcommitted nodes (used, allocatable): {bad}"


class ExtenderServer:
    """test/testdata/extender_server.py, which says what the paths below its address do."""

    def __init__(self):
        self.process = start(
            sys.executable,
            os.path.join(ROOT, "test", "testdata", "extender_server.py"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = "http://127.0.0.1:%d" % int(self.process.stdout.readline())


def check_bound_once(names, *proxies):
    """Checks that exactly one of the bindings that the server carried out was for each pod. A proxy sees an answer
    after the server has given it, so that a pod may have its node before its binding is seen here."""

    def done():
        return sorted(
            path.split("/")[6]
            for p in proxies
            for method, path, status in p.answers
            if method == "POST" and path.endswith("/binding") and status == 201
        )

    def number_done():
        return len(done())

    wait_until("an answer for each binding", number_done, at_least=len(names))
    assert done() == sorted(names), (done(), sorted(names))


def secure_flags(*more):
    """Returns the flags for a hollow-apiserver that serves TLS as well, with the certificates of the tests."""
    return [
        "--bind-address=127.0.0.1",
        "--secure-port=0",
        f"--tls-cert-file={TLS}/server.crt",
        f"--tls-private-key-file={TLS}/server.key",
        *more,
    ]


class Kubectl:
    """kubectl, talking to a server as somebody who has no configuration file."""

    def __init__(self, api):
        assert shutil.which("kubectl"), "kubectl is not installed; hack/install-deps.sh brings it"
        self.api = api
        self.env = {**os.environ, "HOME": scratch("."), "KUBECONFIG": scratch("no-kubeconfig")}

    def __call__(self, *args, stdin=None, status=0, out=(), err=()):
        """Runs kubectl and returns its standard output. Checks the exit status, and the texts that standard output and
        standard error must contain: one, or a list."""
        done = subprocess.run(
            ["kubectl", "--server=" + self.api.url, *args],
            input=stdin,
            env=self.env,
            text=True,
            capture_output=True,
            timeout=DEADLINE,
        )
        name = "kubectl " + " ".join(args)
        assert done.returncode == status, (name, "exit %d: %s%s" % (done.returncode, done.stdout, done.stderr))
        for wanted, text in ((out, done.stdout), (err, done.stderr)):
            for want in [wanted] if isinstance(wanted, str) else wanted:
                assert want in text, (name, "%r is not in %r" % (want, text))
        return done.stdout

    def create(self, *objects):
        return self("create", "-f", "-", stdin=json.dumps(items(*objects)))


class Scheduler:
    """kube-scheduler, fast; with bare=True it has no other flags than those given. `env` is added to the
    environment."""

    def __init__(self, master, *flags, name="scheduler", leader_elect=False, bare=False, env=None):
        self.log_path = scratch(f"{name}.log")
        # In 1.13 and 1.19 --port=0 serves nothing.
        named = any(flag.startswith("--emulated-version") for flag in flags)
        command = [f"{BIN}/kube-scheduler", "--address=127.0.0.1", f"--port={free_port() if named else 0}", "-v=2"]
        if master:
            command.append(f"--master={master}")
        if not bare:
            command += [
                f"--leader-elect={'true' if leader_elect else 'false'}",
                "--kube-api-qps=1000",
                "--kube-api-burst=1000",
            ]
        with open(self.log_path, "w") as log:
            self.process = start(
                *command,
                *flags,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, **(env or {})},
            )

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def wait_for_log(self, text, deadline=DEADLINE):
        def written():
            running = self.process.poll() is None
            if text in self.log():
                return True
            assert running, f"exited {self.process.returncode}:\n{self.log()}"
            return False

        wait_until(f"{text!r} in the log:\n{self.log()[-3000:]}", written, deadline=deadline)

    def port(self):
        def find():
            m = re.search(r"(?:starting healthz server|Serving healthz insecurely) on 127\.0\.0\.1:(\d+)", self.log())
            return m and int(m.group(1))

        return wait_until("a healthz server", find)

    def page(self, path, method="GET"):
        c = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=DEADLINE)
        c.request(method, path)
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, dict(r.getheaders()), body

    def status(self, path):
        """Returns the HTTP status of a page."""
        return self.page(path)[0]

    def metrics(self, whole=True):
        """Returns the metrics by name and labels; unless whole=False, including those of the watches, which exist once
        the algorithm is known."""

        def read():
            _, _, text = self.page("/metrics")
            found = {
                line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in text.splitlines()
                if not line.startswith("#")
            }
            return found if not whole or any(k.startswith("scheduler_watch_open") for k in found) else None

        return wait_until("metrics of the watches", read)

    def metric(self, name):
        """Returns the metric's value, or less than any number if there is none of the name."""
        return self.metrics().get(name, -math.inf)

    def total(self, family, *labels):
        """Returns the sum of the metrics whose names begin like this and that have all of these labels, each written as
        on the page."""
        return sum(v for k, v in self.metrics().items() if k.startswith(family) and all(l in k for l in labels))

    def wait_metric(self, name, value=None, at_least=None, within=DEADLINE):
        """Waits until the metric has the value, or one that is not smaller than `at_least`."""
        wait_until(name, self.metric, name, equals=value, at_least=at_least, deadline=within)

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(timeout=DEADLINE)
