#!/usr/bin/env python3
"""Sends to hollow-apiserver --emulated-version=1.29 what the real kubectl 1.32 sent to a real server 1.29 in 46
commands (testdata/wire-kubectl): each request has the recorded status, reason, message and warning, but for
DIFFERENCES."""
import base64
import http.client
import json
import os
import re

import harness
from harness import DEADLINE, ROOT, Api, node

PODS = "/api/v1/namespaces/wire/pods"
# What the server responds instead of the recorded response, by "METHOD PATH" and Content-Type.
DIFFERENCES = {
    # There is no OpenAPI. kubectl then leaves validation to the server, and `kubectl explain` says that it is not
    # available.
    r"GET /openapi/v3": 404,
    # kubectl takes fields that it applied on its side over into those that it applies here. Only applies are noted.
    r"PATCH .*/app\?fieldManager=kubectl&fieldValidation=Strict application/json-patch": None,  # depends on it
    # Discovery has no ETags for caching.
    r"GET /apis?\?timeout=32s": 200,
}
used = set()


def pod(name, **spec):
    return harness.pod(
        name, cpu=None, namespace="wire", labels={"app": "rs"} if name.startswith("rs-") else None, **spec
    )


class Player:
    def __init__(self, server):
        self.s = server
        for name in ("node-a", "node-b"):
            self.user("POST", "/api/v1/nodes", node(name))
        self.user("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})
        self.user("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})

    def user(self, method, path, body=None):
        status, answer = self.s.call(method, path, body)
        assert status in (200, 201), ("the user's %s %s" % (method, path), "%d %s" % (status, answer))

    def bind(self, name, node):
        self.user(
            "POST",
            "%s/%s/binding" % (PODS, name),
            {"metadata": {"name": name}, "target": {"kind": "Node", "name": node}},
        )

    def mark(self, text):
        """Does what the scheduler and the user of the recording did before a command."""
        if text == "kubectl create -f TMP/bad.json":
            self.user("DELETE", PODS + "/app", {"gracePeriodSeconds": 0})
        elif text == "kubectl diff -f TMP/pod2.json":
            self.bind("app", "node-a")
        elif text == "kubectl drain node-a --timeout=7s --ignore-daemonsets":
            self.user("POST", PODS, pod("rs-1", nodeName="node-a"))
            self.user("POST", PODS, pod("bare", nodeName="node-a", terminationGracePeriodSeconds=0))
            self.ready("rs-1")
            self.user(
                "POST",
                "/apis/policy/v1/namespaces/wire/poddisruptionbudgets",
                {
                    "metadata": {"name": "guard"},
                    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "rs"}}},
                },
            )
        elif text == "user deletes the PDB":
            self.user("DELETE", "/apis/policy/v1/namespaces/wire/poddisruptionbudgets/guard")
        elif text.startswith("kubectl wait --for=condition=PodScheduled"):
            self.bind("r1", "node-a")

    def ready(self, name):
        status, answer = self.s.call(
            "PATCH",
            "%s/%s/status" % (PODS, name),
            {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}},
            "application/merge-patch+json",
        )
        assert status == 200, ("rs-1 is ready", answer)

    def live(self, path, text):
        """Returns the path or body with this server's versions in place of the recorded ones."""
        if re.search(r'resourceVersion=\d{3}', text):
            status, listed = self.s.call("GET", path.partition("?")[0])
            return re.sub(r"resourceVersion=\d+", "resourceVersion=" + listed["metadata"]["resourceVersion"], text)
        if '"resourceVersion"' in text:
            status, now = self.s.call("GET", path.partition("?")[0])
            return re.sub(
                r'"resourceVersion": "\d+"', '"resourceVersion": "%s"' % now["metadata"]["resourceVersion"], text
            )
        return text

    def ask(self, e):
        body = e.get("body")
        if "bodyBase64" in e:
            body = base64.b64decode(e["bodyBase64"])
        elif body is not None:
            body = self.live(e["path"], body if isinstance(body, str) else json.dumps(body))
        path = self.live(e["path"], e["path"]) if "resourceVersion=" in e["path"] else e["path"]
        c = http.client.HTTPConnection("127.0.0.1", self.s.port, timeout=DEADLINE)
        c.request(e["method"], path, body, e["headers"])
        r = c.getresponse()
        if "watch=true" in path and r.status == 200:
            c.sock.close()  # the test is only whether it begins
            return r.status, {}, None
        text = r.read().decode("utf8", "replace")
        c.close()
        return r.status, json.loads(text) if text.startswith("{") else {}, r.getheader("Warning")

    def play(self, e):
        what = "%s %s %s" % (e["method"], e["path"], e["headers"].get("Content-Type", ""))
        want = e["status"]
        for pattern, status in DIFFERENCES.items():
            if re.match(pattern, what):
                used.add(pattern)
                want = status
                break
        if want is None:
            return
        status, answer, warning = self.ask(e)
        assert (status, answer.get("message", "") if status != want else "") == (want, ""), what
        if want == e["status"] and "reason" in e:
            assert (answer.get("reason"), answer.get("message")) == (e["reason"], e["message"]), (
                what + ": reason and message"
            )
        assert (warning and warning[-len(e.get("warning", "")) :]) == e.get("warning"), what + ": warning"


def test_commands():
    with Api.start(flags=["--emulated-version=1.29"]) as s, open(
        os.path.join(ROOT, "test", "testdata", "wire-kubectl", "48-kubectl-1.32-api129.jsonl"), encoding="utf8"
    ) as f:
        player = Player(s)
        for line in f:
            e = json.loads(line)
            player.mark(e["mark"]) if "mark" in e else player.play(e)
        assert sorted(set(DIFFERENCES) - used) == [], "differences that are none any more"


harness.main(globals())
