#!/usr/bin/env python3
"""How watches begin too late, end and are refused, as wire/06-watch-end-and-errors.json has recorded it behind its
twelfth exchange: what comes there needs a server that has forgotten its past, so this one is given a short memory."""
import http.client
import json
import os
import re

import harness
from harness import DEADLINE, ROOT, Api

with open(os.path.join(ROOT, "test", "wire", "06-watch-end-and-errors.json")) as file:
    recorded = json.load(file)["exchanges"]
# Responses are JSON here; see pkg/apiserver/README.md.
OTHERWISE = {29: (406, "application/json"), 30: (406, "application/json")}


class Stream:
    def __init__(self, server, path, headers=()):
        self.c = http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)
        self.c.request("GET", path, headers=dict(headers))
        self.r = self.c.getresponse()

    def line(self):
        """Returns the next event's line; "" at the end of the stream."""
        return self.r.readline().decode()

    def close(self):
        self.c.close()


def too_old(what, server, path):
    s = Stream(server, path)
    assert s.r.status == 200, what + ": status"
    event = json.loads(s.line())
    want = recorded[13]["response"]["watchEvents"][0]["event"]
    message = event["object"].pop("message")
    assert event == {**want, "object": {k: v for k, v in want["object"].items() if k != "message"}}, what + ": event"
    assert re.fullmatch(r"too old resource version: \d+ \(\d+\)", message), what + ": message"
    assert s.line() == "", what + ": the end"
    s.close()


def test_watches_that_begin_too_late():
    pods = "/api/v1/namespaces/wire/pods"
    with Api.start(flags=["--watch-cache-sizes=pods#20,nodes#20", "--default-watch-cache-size=5"]) as server:
        ask = server.call
        assert ask("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})[0] == 201, "namespace"
        status, first = ask(
            "POST", pods, {"metadata": {"name": "te1"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        )
        assert status == 201, "pod"
        ask("POST", "/api/v1/nodes", {"metadata": {"name": "n"}})
        versions = [first["metadata"]["resourceVersion"]]
        for i in range(30):
            for path in (pods + "/te1", "/api/v1/nodes/n"):
                status, o = ask("PATCH", path, {"metadata": {"labels": {"n": str(i)}}}, "application/merge-patch+json")
                assert status == 200, "patch"
                if path.startswith(pods):
                    versions.append(o["metadata"]["resourceVersion"])
        for i in range(8):
            ask(
                "POST",
                "/api/v1/namespaces/wire/events",
                {"metadata": {"name": "e%d" % i}, "involvedObject": {"namespace": "wire"}},
            )

        too_old("[13]", server, pods + "?watch=true&resourceVersion=1")
        too_old("[14]", server, pods + "?watch=true&resourceVersion=" + versions[0])
        too_old("[15]", server, pods + "?watch=true&timeoutSeconds=2&resourceVersion=" + versions[0])
        too_old("[22]", server, "/api/v1/nodes?watch=true&resourceVersion=1")
        s = Stream(server, "/api/v1/namespaces/wire/events?watch=true&resourceVersion=1")
        assert (s.r.status, s.line()) == (200, ""), "[16] events: the stream ends without a word"
        s.close()
        s = Stream(server, pods + "?watch=true&resourceVersion=" + versions[-6])
        assert [json.loads(s.line())["object"]["metadata"]["resourceVersion"] for _ in range(5)] == versions[
            -5:
        ], "[23] what was missed"
        s.close()
        status, body = ask("GET", pods + "?resourceVersion=1")
        assert (status, [o["metadata"]["name"] for o in body["items"]]) == (
            200,
            ["te1"],
        ), "[24] a list is never too old"

        for i in range(26, 36):
            e = recorded[i]
            wanted = OTHERWISE.get(i, (e["response"]["status"], e["response"]["headers"]["Content-Type"]))
            path = re.sub(r"resourceVersion=\d+", "resourceVersion=" + versions[-2], e["request"]["path"])
            s = Stream(server, path, e["request"]["headers"].items())
            assert (s.r.status, s.r.headers["Content-Type"]) == wanted, "[%d] %s" % (i, e["request"]["headers"])
            assert s.r.headers["Content-Encoding"] is None, "[%d] encoding" % i
            if wanted[0] == 200:
                line = s.line()
                assert json.loads(line)["type"] == "MODIFIED", "[%d] event" % i
            elif i not in OTHERWISE:
                want, got = e["response"]["body"], s.r.read().decode()
                if isinstance(want, str):  # YAML, which quotes and breaks long lines in its own way
                    want, got = (re.sub(r"['\"\s]+", " ", x) for x in (want, got))
                else:
                    got = json.loads(got)
                assert got == want, "[%d] body" % i
            s.close()
        assert server.stop()[0] == 0, "exit on SIGTERM"


harness.main(globals())
