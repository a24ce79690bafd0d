#!/usr/bin/env python3
"""Sends to hollow-apiserver what the real kube-schedulers 1.9, 1.10 and 1.29 sent to the real servers of their time
(testdata/wire-server): every list and watch that they begin with is served, every write has the recorded status and
leaves the recorded conditions. What they sent in protobuf is refused with the name of the flag that helps."""
import base64
import glob
import http.client
import json
import os
from urllib.parse import parse_qsl, urlencode, urlsplit

import harness
from harness import DEADLINE, ROOT, Api

HINT = "clientConnection.contentType: application/json"
PODS = "/api/v1/namespaces/wire/pods"
POD = {"spec": {"containers": [{"name": "c", "image": "busybox"}]}}


def ask(s, method, path, body=None, headers=None):
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
    c.request(method, path, body, headers or {})
    r = c.getresponse()
    if "watch=true" in path and r.status == 200:
        c.sock.close()  # the test is only whether it begins
        return r.status, None
    text = r.read().decode("utf8", "replace")
    c.close()
    return r.status, json.loads(text) if text.startswith("{") else text


class Conversation:
    def __init__(self, server, name):
        self.s, self.name = server, name
        self.bound = set()

    def user(self, method, path, body=None, want=(200, 201)):
        status, answer = self.s.call(method, path, body)
        assert status in want, ("%s: the user's %s %s" % (self.name, method, path), "%d %s" % (status, answer))
        return answer

    def pod(self, name, **spec):
        """Returns the pod, creating it if it does not exist."""
        status, pod = self.s.call("GET", PODS + "/" + name)
        if status == 404:
            pod = self.user("POST", PODS, {"metadata": {"name": name}, "spec": {**POD["spec"], **spec}})
        return pod

    def prepare(self, e, path, body):
        """Makes the world as it was before the write; -> the body with this server's uids and versions."""
        parts = path.split("/")
        if "/pods/" in path:
            name = parts[parts.index("pods") + 1]
            if e["status"] == 404:
                self.user("DELETE", PODS + "/" + name, {"gracePeriodSeconds": 0}, want=(200, 404))
                return body
            if e["method"] == "DELETE":
                self.pod(name, nodeName="node-a")
                return body
            pod = self.pod(name)
            if e["status"] == 409 and path.endswith("/binding"):
                self.user("POST", path, {"target": {"kind": "Node", "name": "node-b"}, "metadata": {"name": name}})
            if isinstance(body, dict) and "uid" in body.get("metadata", {}):
                body["metadata"]["uid"] = pod["metadata"]["uid"]
            if isinstance(body, dict) and e["method"] == "PUT":
                body["metadata"]["resourceVersion"] = pod["metadata"]["resourceVersion"]
        elif e["method"] == "PUT":
            status, live = self.s.call("GET", path)
            if status == 404:
                first = json.loads(json.dumps(body))
                for key in ("uid", "resourceVersion", "managedFields"):
                    first["metadata"].pop(key, None)
                first.get("spec", {}).pop("claimRef", None)
                live = self.user("POST", path.rsplit("/", 1)[0], first)
            for key in ("uid", "resourceVersion"):
                body["metadata"][key] = live["metadata"][key]
        elif e["method"] == "PATCH":
            status, _ = self.s.call("GET", path)
            if status == 404 and e["status"] == 200 and "/events/" in path:
                core = "/api/v1/namespaces/wire/events"
                self.user(
                    "POST",
                    core,
                    {
                        "metadata": {"name": parts[-1], "namespace": "wire"},
                        "reason": "FailedScheduling",
                        "count": 1,
                        "involvedObject": {"kind": "Pod", "namespace": "wire", "name": parts[-1].split(".")[0]},
                    },
                )
        elif e["method"] == "POST" and e["status"] == 409:
            self.s.call("POST", path, body)
        elif e["method"] == "POST" and parts[-1] in ("endpoints", "leases"):
            self.user("DELETE", path + "/" + body["metadata"]["name"], want=(200, 404))  # the lock was deleted
        return body

    def exchange(self, i, e):
        what = "%s [%d] %s %s" % (self.name, i, e["method"], e["path"][:80])
        url = urlsplit(e["path"])
        query = [(k, "0" if k == "resourceVersion" else v) for k, v in parse_qsl(url.query, keep_blank_values=True)]
        path = url.path + ("?" + urlencode(query) if query else "")
        headers = dict(e["headers"])
        if e["method"] == "GET":
            status, body = ask(self.s, "GET", path, headers=headers)
            protobuf = headers.get("Accept", "").startswith("application/vnd.kubernetes.protobuf")
            if protobuf and "watch=true" in path:
                assert status == 406, what
                assert HINT in body["message"], what
            elif "/leases/" in path or "/endpoints/" in path or "/pods/" in path:
                assert status in (200, 404), what
            else:
                assert status == e["status"], what
                if body is not None and e.get("kind"):
                    assert body["kind"] == e["kind"], what + ": kind"
            return
        if url.path.endswith("reviews"):  # the scheduler asks who may see its pages, which this server cannot answer
            assert ask(self.s, e["method"], path, base64.b64decode(e.get("bodyBase64", "")), headers)[0] == 404, what
            return
        if "bodyBase64" in e:
            status, body = ask(self.s, e["method"], path, base64.b64decode(e["bodyBase64"]), headers)
            assert status == 415, what + ": protobuf"
            assert HINT in body["message"], what
            return
        body = self.prepare(e, url.path, e.get("body"))
        status, answer = ask(
            self.s, e["method"], path, json.dumps(body) if isinstance(body, (dict, list)) else body, headers
        )
        assert status == e["status"], what
        if status >= 300:
            if e.get("message") and status == 404:
                assert answer["message"] == e["message"], what + ": message"
            return
        if "conditions" in e:
            got = [
                [c.get(k, "") for k in ("type", "status", "reason", "message")]
                for c in answer["status"].get("conditions", [])
            ]
            sent = [c["type"] for c in (body.get("status") or {}).get("conditions", [])]
            assert [c for c in got if c[0] in sent] == [c for c in e["conditions"] if c[0] in sent], (
                what + ": conditions"
            )
            assert answer["status"].get("nominatedNodeName") == e.get("nominated"), what + ": nominated"
        if e["method"] == "POST" and url.path.endswith("/events"):
            for key in (
                "note",
                "message",
                "reason",
                "action",
                "regarding",
                "involvedObject",
                "reportingController",
                "eventTime",
                "related",
            ):
                if body.get(key):
                    assert answer.get(key) == body[key], what + ": " + key
            status, core = self.s.call(
                "GET", url.path.replace("/apis/events.k8s.io/v1", "/api/v1") + "/" + body["metadata"]["name"]
            )
            assert (status, core.get("message")) == (200, body.get("note", body.get("message"))), what + ": as v1"


def test_conversations():
    replayed = 0
    files = sorted(glob.glob(os.path.join(ROOT, "test", "testdata", "wire-server", "*.jsonl")))
    for file in files:
        name = os.path.basename(file)[: -len(".jsonl")]
        release = "1.29" if name.startswith("4") else "1.10"
        with Api.start(flags=["--emulated-version=" + release]) as s, open(file) as lines:
            assert s.call("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})[0] == 201, "namespace"
            for node in ("node-a", "node-b"):
                assert s.call("POST", "/api/v1/nodes", {"metadata": {"name": node}})[0] == 201, "node"
            conversation = Conversation(s, name)
            for i, line in enumerate(lines):
                conversation.exchange(i, json.loads(line))
                replayed += 1
            code, _, err = s.stop()
            assert code == 0, name + ": exit on SIGTERM"
    assert replayed == 600, "requests sent"
    assert len(files) == 17, "conversations"


harness.main(globals())
