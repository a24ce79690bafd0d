#!/usr/bin/env python3
"""What --emulated-version=1.36 serves beside the rest: the kinds of dynamic resource allocation, streaming lists, pods
with a generation, and all that the real kube-scheduler 1.36 asks for (testdata/wire-scheduler/50-*)."""
import http.client
import json
import os

import harness
from harness import DEADLINE, ROOT, Api, node, pod

RESOURCE = "/apis/resource.k8s.io/v1/"
PODS = "/api/v1/namespaces/default/pods"
END = "k8s.io/initial-events-end"
STREAM = "?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true"
CLAIM = {
    "metadata": {"name": "gpu"},
    "spec": {"devices": {"requests": [{"name": "g", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
}


def api(release="1.36"):
    return Api.start(flags=["--emulated-version=" + release])


def stream(s, path, headers=None):
    """Begins a watch; -> (status, a function that returns its next event, the connection)."""
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
    c.request("GET", path, headers=headers or {"Accept": "application/json"})
    r = c.getresponse()

    def next_event():
        return json.loads(r.readline())

    return r.status, next_event, c


def until_the_end(event):
    """Returns the events of a streaming list before its last one, and that one."""
    events = []
    while True:
        e = event()
        if e["type"] == "BOOKMARK":
            return events, e
        events.append(e)


def test_kinds():
    with api() as s:
        for path, body in [
            (RESOURCE + "namespaces/default/resourceclaims", CLAIM),
            (
                RESOURCE + "namespaces/default/resourceclaimtemplates",
                {"metadata": {"name": "t"}, "spec": {"spec": CLAIM["spec"]}},
            ),
            (
                RESOURCE + "resourceslices",
                {
                    "metadata": {"name": "s"},
                    "spec": {
                        "nodeName": "n",
                        "driver": "gpu.example.com",
                        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
                        "devices": [{"name": "gpu0"}],
                    },
                },
            ),
            (
                RESOURCE + "deviceclasses",
                {
                    "metadata": {"name": "gpu.example.com"},
                    "spec": {
                        "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}],
                        "extendedResourceName": "example.com/gpu",
                    },
                },
            ),
        ]:
            status, made = s.call("POST", path, body)
            assert (status, made["kind"]) == (201, body.get("kind", made["kind"])), "create " + path
            name = body["metadata"]["name"]
            assert [o["metadata"]["name"] for o in s.call("GET", path)[1]["items"]] == [name], "list " + path
            for key, value in body["spec"].items():
                if key not in ("devices", "spec"):
                    assert made["spec"][key] == value, "kept: " + key
        claim = s.call("GET", RESOURCE + "namespaces/default/resourceclaims/gpu")[1]
        assert claim["spec"]["devices"]["requests"] == [
            {"name": "g", "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1}}
        ], "defaults of a claim"

        def cells(path):
            return s.call("GET", path, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})[1]["rows"][
                0
            ]["cells"][:-1]

        assert cells(RESOURCE + "resourceclaims") == ["gpu", "pending"], "as kubectl shows a claim"
        assert cells(RESOURCE + "resourceslices") == ["s", "n", "gpu.example.com", "n"], "as kubectl shows a slice"
        claim["status"] = {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}
        assert (
            s.call("PUT", RESOURCE + "namespaces/default/resourceclaims/gpu/status", claim)[1]["status"]
            == claim["status"]
        ), "status"
        assert "resource.k8s.io" in [g["name"] for g in s.call("GET", "/apis")[1]["groups"]], "in discovery"
    with api("1.29") as s:
        assert s.call("GET", RESOURCE + "deviceclasses")[0] == 404, "1.29 has none"


def test_fields_of_pods():
    with api() as s:
        spec = {
            "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}},
            "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
            "hostnameOverride": "foo",
        }
        body = pod("p", cpu=None, **spec)
        body["spec"]["containers"] = [
            {
                "name": "c",
                "image": "i",
                "resources": {"claims": [{"name": "g", "request": "one"}]},
                "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}],
            }
        ]
        made = s.call("POST", PODS, body)[1]
        for key, value in spec.items():
            assert made["spec"].get(key) == value, "kept: " + key
        for key in ("resources", "restartPolicyRules"):
            assert made["spec"]["containers"][0].get(key) == body["spec"]["containers"][0][key], (
                "kept in the container: " + key
            )
        assert made["metadata"]["generation"] == 1, "its generation"
        status = {
            "status": {
                "nominatedNodeName": "n",
                "conditions": [{"type": "PodScheduled", "status": "False", "observedGeneration": 1}],
            }
        }
        patched = s.call("PATCH", PODS + "/p/status", status, "application/strategic-merge-patch+json")[1]
        assert patched["status"]["conditions"][0]["observedGeneration"] == 1, "the condition's generation"
        assert (
            s.call("POST", PODS + "/p/binding", {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}})[0]
        ) == 201, "bound"
        assert s.call("GET", PODS + "/p")[1]["status"].get("nominatedNodeName") is None, "a binding ends the nomination"
        made = s.call("POST", "/api/v1/nodes", {**node("n"), "status": {"declaredFeatures": ["A"]}})[1]
        assert made["status"].get("declaredFeatures") == ["A"], "features of a node"
    with api("1.29") as s:
        made = s.call("POST", PODS, pod("p", cpu=None, resources={"requests": {"cpu": "2"}}))[1]
        assert ("resources" in made["spec"], "generation" in made["metadata"]) == (False, False), "1.29 drops them"


def test_streaming_list():
    with api() as s:
        for name in ("a", "b"):
            s.call("POST", PODS, pod(name, cpu=None))
        status, event, c = stream(s, "/api/v1/pods" + STREAM)
        events, end = until_the_end(event)
        assert (status, [(e["type"], e["object"]["metadata"]["name"]) for e in events]) == (
            200,
            [("ADDED", "a"), ("ADDED", "b")],
        ), "what exists"
        meta = end["object"]["metadata"]
        assert (end["object"]["kind"], end["object"]["apiVersion"], meta["annotations"]) == (
            "Pod",
            "v1",
            {END: "true"},
        ), "its end"
        assert meta["resourceVersion"] == s.call("GET", "/api/v1/pods")[1]["metadata"]["resourceVersion"], "its version"
        s.call("POST", PODS, pod("later", cpu=None))
        e = event()
        assert (e["type"], e["object"]["metadata"]["name"]) == ("ADDED", "later"), "then it is a watch"
        c.close()
        rv = e["object"]["metadata"]["resourceVersion"]
        status, event, c = stream(s, "/api/v1/pods" + STREAM + "&resourceVersion=" + rv)
        assert len(until_the_end(event)[0]) == 3, "from a version: all that exists"
        c.close()
        status, event, c = stream(s, "/api/v1/pods" + STREAM.replace("Events=true", "Events=false"))
        s.call("POST", PODS, pod("last", cpu=None))
        assert event()["object"]["metadata"]["name"] == "last", "without what exists"
        c.close()
        assert (
            s.call("GET", "/api/v1/pods" + STREAM + "&resourceVersion=999999")[0] == 504
        ), "a version that does not exist yet"

        def causes(query):
            return [
                (e["field"], e["message"])
                for e in s.call("GET", "/api/v1/pods?watch=true" + query)[1]["details"]["causes"]
            ]

        assert causes("&sendInitialEvents=true") == [
            (
                "resourceVersionMatch",
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            )
        ], "without a match"
        assert causes("&sendInitialEvents=true&resourceVersionMatch=Exact") == [
            (
                "resourceVersionMatch",
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ),
            ("resourceVersionMatch", 'Unsupported value: "Exact": supported values: "NotOlderThan"'),
        ], "another match"


def recorded():
    with open(
        os.path.join(ROOT, "test", "testdata", "wire-scheduler", "50-scheduler136-conversation.jsonl"), encoding="utf8"
    ) as f:
        return [json.loads(line) for line in f]


def prepare(s):
    """Makes the cluster of the recording; -> the uids of its pods."""
    for name in ("a", "b"):
        s.call("POST", "/api/v1/nodes", node(name))
    for name in ("low-a", "low-a2", "pre", "big", "fits", "noclaim", "vol"):
        s.call("POST", PODS, pod(name, cpu="50m", **({"nodeName": "a"} if name.startswith("low") else {})))
    s.call(
        "POST",
        "/api/v1/persistentvolumes",
        {
            "metadata": {"name": "pv"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local",
                "local": {"path": "/x"},
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b"]}]}
                        ]
                    }
                },
            },
        },
    )


def test_conversation_of_the_real_scheduler():
    """Every list and watch of kube-scheduler 1.36 begins and ends its list, and every write succeeds. The recording was
    made with a server whose objects have no versions and other uids."""
    with api() as s:
        prepare(s)
        streams = 0
        for e in recorded():
            what = "%s %s" % (e["method"], e["path"][:90])
            path = e["path"].partition("?")[0]
            if "watch=true" in e["path"]:
                status, event, c = stream(s, e["path"])
                assert status == 200, what
                assert until_the_end(event)[1]["object"]["metadata"]["annotations"] == {END: "true"}, what + ": its end"
                streams += 1
                c.close()
                continue
            body = json.loads(e["body"]) if e["body"] else None
            if e["method"] in ("PUT", "POST") and body["metadata"].get("uid") or e["method"] == "PUT":
                live = s.call("GET", path.replace("/binding", ""))[1]["metadata"]
                body["metadata"]["uid"] = live["uid"]
                if e["method"] == "PUT":
                    body["metadata"]["resourceVersion"] = live["resourceVersion"]
            status, answer = s.call(e["method"], e["path"], body, e["contentType"] or "application/json")
            leased = path.endswith("/leases/kube-scheduler") and e["method"] == "GET"
            assert status in ((200, 404) if leased else (200, 201)), (what, "%s %s" % (status, answer))
            if path.endswith("/status"):
                assert answer["status"].get("conditions", [])[-1:] == (body["status"].get("conditions") or [])[-1:], (
                    what + ": conditions"
                )
        assert streams == 18, "resources that it follows"


harness.main(globals())
