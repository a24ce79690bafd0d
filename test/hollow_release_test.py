#!/usr/bin/env python3
"""What --emulated-version=1.29 serves, and what both releases do since: dry runs that write nothing, strict field
validation, evictions within budgets, node ports, refusals of protobuf that name the flag to set."""
import functools
import http.client
import json

import harness
from harness import DEADLINE, Api, Kubectl

PODS = "/api/v1/namespaces/default/pods"
CONTAINERS = [{"name": "c", "image": "i"}]


DEPLOYMENT = {
    "metadata": {"name": "d"},
    "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": CONTAINERS}},
    },
}
pod = functools.partial(harness.pod, cpu=None)


def on(*releases):
    """Runs the test with a server of each of these releases."""

    def decorate(test):
        def run():
            for release in releases:
                with Api.start(flags=["--emulated-version=" + release]) as s:
                    test(s)
                    assert s.stop()[0] == 0, "%s: exit on SIGTERM" % release

        return run

    return decorate


def whole(s, method, path, body=None, headers=None):
    """Returns status, headers as a list of pairs, and text."""
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
    c.request(
        method,
        path,
        json.dumps(body) if body is not None else None,
        {"Content-Type": "application/json", **(headers or {})},
    )
    r = c.getresponse()
    text = r.read().decode()
    c.close()
    return r.status, r.getheaders(), text


def causes(answer):
    return [(c["field"], c["message"]) for c in answer.get("details", {}).get("causes", [])]


@on("1.29")
def test_gates(s):
    made = s.call("POST", PODS, pod("gated", schedulingGates=[{"name": "example.com/a"}, {"name": "example.com/b"}]))[1]
    assert made["status"]["conditions"] == [
        {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": None,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
    ], "the condition of a gated pod"
    status, answer = s.call(
        "POST", PODS + "/gated/binding", {"metadata": {"name": "gated"}, "target": {"kind": "Node", "name": "n1"}}
    )
    assert (status, answer["message"]) == (
        409,
        'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
    ), "a gated pod cannot be bound"

    def patch(body):
        return s.call("PATCH", PODS + "/gated", body, "application/merge-patch+json")

    assert causes(patch({"spec": {"schedulingGates": [{"name": "example.com/new"}]}})[1]) == [
        ("spec.schedulingGates", "Forbidden: only deletion is allowed, but found new scheduling gate 'example.com/new'")
    ], "a gate may not be added"
    assert patch({"spec": {"nodeSelector": {"zone": "a"}}})[0] == 200, "gated: selector may grow"
    assert patch({"spec": {"nodeSelector": {"zone": "b"}}})[0] == 422, "gated: selector may not change"
    assert patch({"spec": {"schedulingGates": [{"name": "example.com/b"}]}})[0] == 200, "a gate may go"
    assert patch({"spec": {"schedulingGates": []}})[0] == 200, "all gates may go"
    assert patch({"spec": {"nodeSelector": {"zone": "a", "b": "c"}}})[0] == 422, "not gated any more: selector is fixed"
    uid = s.call("GET", PODS + "/gated")[1]["metadata"]["uid"]

    def bind(uid):
        return s.call(
            "POST", PODS + "/gated/binding", {"metadata": {"name": "gated", "uid": uid}, "target": {"name": "n1"}}
        )

    status, answer = bind("00000000-0000-4000-8000-000000000000")
    assert status == 409 and "UID in precondition" in answer["message"], "the uid is checked"
    assert bind(uid)[0] == 201, "bound"


@on("1.29")
def test_fields(s):
    """Every scheduling field is kept, defaulted and validated."""
    spec = {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "minDomains": 2,
                "topologyKey": "zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "nodeAffinityPolicy": "Ignore",
                "nodeTaintsPolicy": "Honor",
                "matchLabelKeys": ["v"],
                "labelSelector": {"matchLabels": {"a": "b"}},
            }
        ],
        "overhead": {"cpu": "1"},
        "runtimeClassName": "kata",
        "preemptionPolicy": "Never",
        "os": {"name": "linux"},
        "initContainers": [
            {"name": "side", "image": "i", "restartPolicy": "Always", "startupProbe": {"tcpSocket": {"port": 1}}}
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                    ]
                }
            },
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": {"matchLabels": {"t": "x"}}}
                ]
            },
        },
        "volumes": [
            {
                "name": "e",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
                    }
                },
            }
        ],
        "readinessGates": [{"conditionType": "x/y"}],
        "resourceClaims": [{"name": "r", "source": {"resourceClaimName": "c"}}],
    }
    # Admission takes overhead and preemptionPolicy from classes; a pod may repeat them.
    s.call(
        "POST",
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"metadata": {"name": "kata"}, "handler": "h", "overhead": {"podFixed": {"cpu": "1"}}},
    )
    s.call(
        "POST",
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {"metadata": {"name": "polite"}, "value": 5, "preemptionPolicy": "Never"},
    )
    spec["priorityClassName"] = "polite"
    status, made = s.call("POST", PODS, pod("all", **spec))
    assert status == 201, "created"
    for key, value in spec.items():
        if key not in ("initContainers", "volumes"):
            assert made["spec"].get(key) == value, "kept: " + key
    assert (
        made["spec"]["initContainers"][0]["restartPolicy"],
        made["spec"]["initContainers"][0]["startupProbe"]["periodSeconds"],
    ) == ("Always", 10), "sidecar"
    assert (
        made["spec"]["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"]["volumeMode"] == "Filesystem"
    ), "claim template"
    assert (
        s.call("POST", PODS, pod("plain"))[1]["spec"].get("enableServiceLinks"),
        s.call("GET", PODS + "/plain")[1]["spec"]["preemptionPolicy"],
    ) == (True, "PreemptLowerPriority"), "links and policy by default"
    assert "selfLink" not in made["metadata"] and "selfLink" not in s.call("GET", PODS)[1]["metadata"], (
        "no selfLink",
        made["metadata"],
    )

    def spread(**c):
        return {
            "topologySpreadConstraints": [
                {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **c}
            ]
        }

    for spec, field, message in [
        (spread(maxSkew=0), "maxSkew", "Invalid value: 0: must be greater than zero"),
        (spread(topologyKey=""), "topologyKey", "Required value: can not be empty"),
        (
            spread(whenUnsatisfiable="Never"),
            "whenUnsatisfiable",
            'Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
        ),
        (spread(minDomains=0), "minDomains", "Invalid value: 0: must be greater than zero"),
        (
            spread(nodeTaintsPolicy="x"),
            "nodeTaintsPolicy",
            'Unsupported value: "x": supported values: "Ignore", "Honor"',
        ),
        (
            spread(matchLabelKeys=["a"]),
            "matchLabelKeys",
            "Forbidden: must not be specified when labelSelector is not set",
        ),
    ]:
        assert causes(s.call("POST", PODS, pod("bad", **spec))[1]) == [
            ("spec.topologySpreadConstraints[0]." + field, message)
        ], field
    for spec, want in [
        (
            {"schedulingGates": [{"name": "a"}], "nodeName": "n"},
            [("spec.nodeName", "Forbidden: cannot be set until all schedulingGates have been cleared")],
        ),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, [("spec.schedulingGates[1]", 'Duplicate value: "a"')]),
        (
            {"initContainers": [{"name": "s", "image": "i", "restartPolicy": "Never"}]},
            [("spec.initContainers[0].restartPolicy", 'Unsupported value: "Never": supported values: "Always"')],
        ),
    ]:
        assert causes(s.call("POST", PODS, pod("bad", **spec))[1]) == want, str(spec)
    # Admission comes before validation, and refuses what only classes may say.
    for spec, want in [
        (
            {"preemptionPolicy": "x"},
            "the string value of PreemptionPolicy (x) must not be provided in pod spec; priority admission controller "
            "computed PreemptLowerPriority from the given PriorityClass name",
        ),
        (
            {"overhead": {"cpu": "-1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
    ]:
        status, refused = s.call("POST", PODS, pod("bad", **spec))
        assert (status, refused["message"]) == (403, 'pods "bad" is forbidden: ' + want), str(spec)


@on("1.29")
def test_kinds(s):
    """Every kind that the scheduler lists and watches can be created, listed and watched."""
    storage = "/apis/storage.k8s.io/v1/"
    for path, body in [
        (
            storage + "csinodes",
            {
                "metadata": {"name": "n1"},
                "spec": {"drivers": [{"name": "d", "nodeID": "n1", "topologyKeys": None, "allocatable": {"count": 1}}]},
            },
        ),
        (storage + "csidrivers", {"metadata": {"name": "d"}, "spec": {}}),
        (
            storage + "volumeattachments",
            {
                "metadata": {"name": "a"},
                "spec": {"attacher": "d", "nodeName": "n1", "source": {"persistentVolumeName": "v"}},
            },
        ),
        (
            storage + "namespaces/default/csistoragecapacities",
            {"metadata": {"name": "c"}, "storageClassName": "s", "capacity": "1Gi"},
        ),
        (
            storage + "storageclasses",
            {"metadata": {"name": "s"}, "provisioner": "d", "volumeBindingMode": "WaitForFirstConsumer"},
        ),
        (
            "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}},
        ),
        ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "p"}, "value": 5}),
        (
            "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases",
            {"metadata": {"name": "l"}, "spec": {"holderIdentity": "x"}},
        ),
        (
            "/apis/apps/v1/namespaces/default/daemonsets",
            {
                "metadata": {"name": "d"},
                "spec": {
                    "selector": {"matchLabels": {"a": "b"}},
                    "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": CONTAINERS}},
                },
            },
        ),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            {
                "metadata": {"name": "j"},
                "spec": {"template": {"spec": {"containers": CONTAINERS, "restartPolicy": "Never"}}},
            },
        ),
        ("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}),
        ("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "s"}}),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles",
            {"metadata": {"name": "r"}, "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]},
        ),
    ]:
        status, made = s.call("POST", path, body)
        assert status == 201, "create " + path
        name = body["metadata"]["name"]
        assert name in [o["metadata"]["name"] for o in s.call("GET", path)[1]["items"]], "list " + path
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
        c.request("GET", path + "?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3D" + name)
        assert json.loads(c.getresponse().readline())["type"] == "ADDED", "watch " + path
        c.close()
    assert s.call("GET", "/api/v1/namespaces/default/secrets/s")[1]["data"] == {"a": "Yg=="}, "secret"
    assert s.call("GET", storage + "csidrivers/d")[1]["spec"]["attachRequired"] is True, "driver's defaults"
    assert (
        s.call("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/p")[1]["preemptionPolicy"] == "PreemptLowerPriority"
    ), "class's default"
    assert (
        s.call("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")[0] == 200
    ), "configmap"
    assert s.call("GET", "/api/v1/namespaces/default")[1]["metadata"]["labels"] == {
        "kubernetes.io/metadata.name": "default"
    }, "a namespace has its name as a label"
    assert (
        s.call("POST", "/api/v1/namespaces/nowhere/pods", pod("x", namespace="nowhere"))[1]["message"]
        == 'namespaces "nowhere" not found'
    ), "no namespace, no pod"
    for gone in (
        "/apis/extensions/v1beta1",
        "/apis/policy/v1beta1/poddisruptionbudgets",
        "/apis/storage.k8s.io/v1beta1/storageclasses",
    ):
        assert s.call("GET", gone)[0] == 404, "1.10's " + gone
    assert s.call("GET", "/version")[1]["minor"] == "29", "version"


@on("1.29")
def test_events(s):
    path = "/apis/events.k8s.io/v1/namespaces/default/events"
    event = {
        "metadata": {"name": "p.1", "namespace": "default"},
        "eventTime": "2026-01-01T00:00:00.123456Z",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-h",
        "action": "Binding",
        "reason": "Scheduled",
        "note": "it is bound",
        "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
    }
    assert s.call("POST", path, event)[1]["note"] == "it is bound", "create"
    core = s.call("GET", "/api/v1/namespaces/default/events/p.1")[1]
    assert [core[k] for k in ("message", "reportingComponent", "eventTime")] + [core["involvedObject"]["name"]] == [
        "it is bound",
        "default-scheduler",
        "2026-01-01T00:00:00.123456Z",
        "p",
    ], "as v1"
    patched = s.call(
        "PATCH",
        path + "/p.1",
        {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}},
        "application/strategic-merge-patch+json",
    )
    assert (patched[0], patched[1]["series"], patched[1]["kind"], patched[1]["apiVersion"]) == (
        200,
        {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"},
        "Event",
        "events.k8s.io/v1",
    ), "patch"
    assert s.call("PUT", path + "/p.1", {**patched[1], "note": "again"})[1]["note"] == "again", "replace"
    assert [e["note"] for e in s.call("GET", path)[1]["items"]] == ["again"], "list"
    assert s.call("DELETE", path + "/p.1")[0] == 200, "delete"


@on("1.29")
def test_lists(s):
    for query, field, message in [
        (
            "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
            "sendInitialEvents",
            "Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
        ),
        ("sendInitialEvents=true", "sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list"),
        (
            "watch=true&resourceVersionMatch=NotOlderThan",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            "resourceVersionMatch=Exact",
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            "resourceVersionMatch=Exact&resourceVersion=0",
            "resourceVersionMatch",
            'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            "resourceVersionMatch=Best&resourceVersion=1",
            "resourceVersionMatch",
            'Unsupported value: "Best": supported values: "Exact", "NotOlderThan", ""',
        ),
    ]:
        status, answer = s.call("GET", PODS + "?" + query)
        assert (status, causes(answer)) == (422, [(field, message)]), query
    rv = s.call("POST", PODS, pod("first"))[1]["metadata"]["resourceVersion"]
    s.call("POST", PODS, pod("second"))

    def names(query):
        return [
            o["metadata"]["name"]
            for o in s.call("GET", PODS + query)[1]["items"]
            if o["metadata"]["name"] in ("first", "second")
        ]

    assert names("?resourceVersionMatch=Exact&resourceVersion=" + rv) == ["first"], "exact"
    assert names("?resourceVersionMatch=NotOlderThan&resourceVersion=" + rv) == ["first", "second"], "not older"
    status, _, text = whole(s, "GET", PODS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    assert (status, json.loads(text)["apiVersion"]) == (200, "meta.k8s.io/v1"), "a table of v1"


@on("1.10", "1.29")
def test_dry(s):
    """dryRun=All has the usual responses and writes nothing, whatever the method."""

    def version():
        return s.call("GET", PODS)[1]["metadata"]["resourceVersion"]

    def everything():
        return json.dumps(
            [
                s.call("GET", p)[1]["items"]
                for p in (PODS, "/api/v1/nodes", "/api/v1/namespaces", "/apis/apps/v1/namespaces/default/deployments")
            ]
        )

    s.call("POST", "/api/v1/nodes", {"metadata": {"name": "dry"}})
    s.call("POST", "/api/v1/namespaces", {"metadata": {"name": "passing"}})
    s.call("POST", PODS, pod("kept", nodeName="dry"))
    s.call("POST", PODS, pod("pending"))
    s.call("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)
    before, rv = everything(), version()
    merge = "application/merge-patch+json"
    for method, path, body, kind, want in [
        ("POST", PODS, pod("new"), None, 201),
        ("PATCH", PODS + "/kept", {"metadata": {"labels": {"a": "b"}}}, merge, 200),
        ("PUT", PODS + "/kept/status", {"metadata": {"name": "kept"}, "status": {"phase": "Failed"}}, None, 200),
        ("DELETE", PODS + "/kept", None, None, 200),
        ("DELETE", PODS + "/pending", None, None, 200),
        ("DELETE", PODS, None, None, 200),
        ("POST", PODS + "/pending/binding", {"metadata": {"name": "pending"}, "target": {"name": "dry"}}, None, 201),
        (
            "POST",
            PODS + "/kept/eviction",
            {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "kept"}},
            None,
            201,
        ),
        ("DELETE", "/api/v1/namespaces/passing", None, None, 200),
        ("DELETE", "/api/v1/nodes/dry", None, None, 200),
        ("PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", {"spec": {"replicas": 9}}, merge, 200),
    ]:
        status, answer = s.call(method, path + "?dryRun=All", body, kind or "application/json")
        assert status == want, "dry %s %s" % (method, path)
        if (method, path) == ("PATCH", PODS + "/kept"):
            assert answer["metadata"]["labels"] == {"a": "b"}, "the answer is of what would be"
        if (method, path) == ("POST", PODS):
            assert answer["metadata"].get("resourceVersion") is None, "without a version"
    assert (
        s.call("DELETE", PODS + "/pending", {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]})[0] == 200
    ), "by the body"
    assert (
        s.call(
            "POST",
            PODS + "/kept/eviction",
            {
                "kind": "Eviction",
                "apiVersion": "policy/v1",
                "metadata": {"name": "kept"},
                "deleteOptions": {"dryRun": ["All"]},
            },
        )[0]
    ) == 201, "by the eviction's options"
    assert s.call("POST", PODS + "?dryRun=All", pod("kept"))[0] == 409, "a refusal is one in a dry run too"
    assert (everything(), version()) == (before, rv), "nothing was written"
    assert causes(s.call("POST", PODS + "?dryRun=Some", pod("new"))[1]) == [
        ("dryRun", 'Unsupported value: "Some": supported values: "All"')
    ], "another value"
    assert s.call("DELETE", PODS + "/pending")[0] == 200, "after it, writes are writes"
    assert s.call("GET", PODS + "/pending")[0] == 404, "gone"


@on("1.10", "1.29")
def test_strict(s):
    default = 2 if s.call("GET", "/version")[1]["minor"] == "29" else 0
    body = pod("strict", nosuch=1)
    body["spec"]["containers"] = [{"name": "c", "image": "i", "wrong": True}]
    status, answer = s.call("POST", PODS + "?fieldValidation=Strict", body)
    assert (status, answer["message"]) == (
        400,
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
        'unknown field "spec.containers[0].wrong", unknown field "spec.nosuch"',
    ), "Strict"
    for query, want in (("?fieldValidation=Warn", 2), ("?fieldValidation=Ignore", 0), ("", default)):
        status, headers, _ = whole(s, "POST", PODS + query, {**body, "metadata": {"name": "f" + query[17:].lower()}})
        warnings = [v for k, v in headers if k == "Warning"]
        assert (status, len(warnings)) == (201, want), "warnings" + query
        if want:
            assert warnings[1] == '299 - "unknown field \\"spec.nosuch\\""', "its form"
    assert (
        s.call("PATCH", PODS + "/f?fieldValidation=Strict", {"spec": {"nosuch": 1}}, "application/merge-patch+json")[0]
        == 400
    ), "in a patch"
    assert (
        s.call(
            "POST",
            PODS + "?fieldValidation=Strict",
            '{"metadata":{"name":"t","name":"t"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
        )[1]["message"]
    ) == 'Pod in version "v1" cannot be handled as a Pod: strict decoding error: duplicate field "metadata.name"', (
        "twice"
    )


@on("1.10", "1.29")
def test_budgets(s):
    def evict(name):
        return s.call(
            "POST",
            PODS + "/%s/eviction" % name,
            {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": name}},
        )

    for i in range(3):
        s.call("POST", PODS, pod("g%d" % i, nodeName="n1", labels={"app": "guard"}))
    s.call("POST", PODS, pod("waiting", labels={"app": "guard"}))
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    assert (
        s.call(
            "POST",
            path,
            {"metadata": {"name": "guard"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "guard"}}}},
        )[0]
    ) == 201, "budget"
    assert evict("waiting") == (
        201,
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201},
    ), "a pending pod disturbs nobody"
    assert s.call("GET", PODS + "/waiting")[0] == 404, "it is gone"
    assert evict("g0")[0] == 201, "one may go"
    assert "deletionTimestamp" in s.call("GET", PODS + "/g0")[1]["metadata"], "it ends in its own time"
    status, answer = evict("g1")
    assert (status, answer["reason"], answer["message"], answer["details"]["causes"]) == (
        429,
        "TooManyRequests",
        "Cannot evict pod as it would violate the pod's disruption budget.",
        [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget guard needs 2 healthy pods and has 2 currently",
            }
        ],
    ), "the next may not"
    # A controller maintains this status, so it is applied and counted down.
    b = s.call("GET", path + "/guard")[1]
    b["status"].update(
        {
            "observedGeneration": b["metadata"]["generation"],
            "disruptionsAllowed": 1,
            "desiredHealthy": 2,
            "currentHealthy": 3,
            "expectedPods": 3,
        }
    )
    assert s.call("PUT", path + "/guard/status", b)[0] == 200, "status"
    assert (evict("g1")[0], evict("g2")[0]) == (201, 429), "as the status says"
    assert s.call("GET", path + "/guard")[1]["status"]["disruptionsAllowed"] == 0, "counted down"
    s.call(
        "POST",
        path,
        {
            "metadata": {"name": "second"},
            "spec": {"maxUnavailable": "50%", "selector": {"matchLabels": {"app": "guard"}}},
        },
    )
    assert evict("g2")[0] == 500, "two budgets"
    assert evict("nobody")[0] == 404, "nobody"
    assert (
        s.call(
            "POST", PODS + "/g2/eviction", {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "g1"}}
        )[0]
    ) == 400, "another name"


@on("1.10", "1.29")
def test_services(s):
    path = "/api/v1/namespaces/default/services"

    def service(name, **spec):
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}

    assert causes(s.call("POST", path, service("x", type="Foo"))[1]) == [
        (
            "spec.type",
            'Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
        )
    ], "type"
    assert causes(s.call("POST", path, service("x", ports=[]))[1]) == [("spec.ports", "Required value")], "no ports"
    made = s.call(
        "POST", path, service("np", type="NodePort", ports=[{"name": "a", "port": 1}, {"name": "b", "port": 2}])
    )[1]
    ports = [p["nodePort"] for p in made["spec"]["ports"]]
    assert all(30000 <= p <= 32767 for p in ports) and len(set(ports)) == 2, "two ports in the range"
    assert causes(
        s.call("POST", path, service("y", type="NodePort", ports=[{"port": 1, "nodePort": ports[0]}]))[1]
    ) == [("spec.ports[0].nodePort", "Invalid value: %d: provided port is already allocated" % ports[0])], "taken"
    assert (
        s.call("POST", path, service("y", type="NodePort", ports=[{"port": 1, "nodePort": 80}]))[0] == 422
    ), "out of range"
    assert [
        p["nodePort"] for p in s.call("PUT", path + "/np", made)[1]["spec"]["ports"]
    ] == ports, "an update keeps them"


@on("1.10", "1.29")
def test_others(s):
    deployments = "/apis/apps/v1/namespaces/default/deployments/d"
    s.call("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)
    s.call("POST", PODS, pod("kept", nodeName="n1"))
    generation = s.call("GET", deployments)[1]["metadata"]["generation"]
    merge = "application/merge-patch+json"
    assert (
        s.call("PATCH", deployments, {"metadata": {"annotations": {"a": "b"}}}, merge)[1]["metadata"]["generation"]
        == generation + 1
    ), "an annotation of a Deployment counts"
    assert (
        s.call("PATCH", deployments, {"metadata": {"labels": {"a": "b"}}}, merge)[1]["metadata"]["generation"]
        == generation + 1
    ), "a label does not"
    review = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}},
    }
    status, answer = s.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    assert (status, answer["status"]) == (201, {"allowed": True}), "everybody may everything here"
    assert (
        s.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {}})[0] == 422
    ), "an empty review"
    # DeleteOptions {gracePeriodSeconds: 0} as kubectl writes them.
    s.call("POST", PODS, pod("proto", nodeName="n1"))
    raw = b"k8s\0" + b"\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions" + b"\x12\x02\x08\x00"
    assert (
        s.call("DELETE", PODS + "/proto", raw, "application/vnd.kubernetes.protobuf")[0] == 200
    ), "DeleteOptions in protobuf"
    assert s.call("GET", PODS + "/proto")[0] == 404, "and it was read"
    for method, path, body, headers, want in [
        ("POST", "/api/v1/nodes", b"k8s\0", {"Content-Type": "application/vnd.kubernetes.protobuf"}, 415),
        ("GET", PODS, None, {"Accept": "application/vnd.kubernetes.protobuf"}, 406),
        ("GET", PODS + "?watch=true", None, {"Accept": "application/vnd.kubernetes.protobuf, */*"}, 406),
    ]:
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
        c.request(method, path, body, headers)
        r = c.getresponse()
        message = json.loads(r.read())["message"]
        assert r.status == want, "%s %s" % (method, path)
        assert (
            "--kube-api-content-type=application/json" in message and "clientConnection.contentType" in message
        ), "the flag is named"
        c.close()
    status, answer = s.call("PATCH", PODS + "/kept", "{}", "application/apply-patch+yaml")
    if "--emulated-version=1.29" in s.flags:
        assert (status, answer["details"]["causes"][0]["field"]) == (422, "fieldManager"), "an apply names who applies"
    else:
        assert status == 415, "server-side apply is refused"
        assert "without --server-side" in answer["message"], "and the message says what to do"


def test_every_release():
    """kubectl finds its version, and a node and a pod of each release are stored with that release's fields."""
    for release in ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36"):
        with Api.start(flags=["--emulated-version=" + release]) as s:
            kubectl, minor = Kubectl(s), int(release.split(".")[1])
            kubectl("version", out="Server Version: v%s.0" % release)
            assert s.get("/version")["minor"] == str(minor), release + ": the minor version"
            kubectl("create", "-f", "-", stdin=json.dumps(harness.node("n0")), out="node/n0 created")
            s.post(
                PODS,
                harness.pod(
                    "p",
                    schedulingGates=[{"name": "a"}],
                    topologySpreadConstraints=[
                        {
                            "maxSkew": 1,
                            "topologyKey": "zone",
                            "whenUnsatisfiable": "ScheduleAnyway",
                            "labelSelector": {},
                        }
                    ],
                ),
            )
            kubectl("get", "pods", out="p ")
            spec = s.get(PODS + "/p")["spec"]
            for field, since in (
                ("schedulingGates", 26),
                ("topologySpreadConstraints", 16),
                ("preemptionPolicy", 19),
                ("enableServiceLinks", 13),
            ):
                assert (field in spec) == (minor >= since), "%s: %s" % (release, field)
            groups = {v["groupVersion"] for g in s.get("/apis")["groups"] for v in g["versions"]}
            for version, there in (
                ("events.k8s.io/v1", minor >= 19),
                ("resource.k8s.io/v1", minor >= 34),
                ("extensions/v1beta1", minor <= 13),
            ):
                assert (version in groups) == there, "%s: %s" % (release, version)
            assert s.call("GET", "/apis/storage.k8s.io/v1/csinodes")[0] == (200 if minor >= 17 else 404), (
                "%s: csinodes" % release
            )


@on("1.10")
def test_release_1_10(s):
    assert not (
        "schedulingGates" in s.call("POST", PODS, pod("old", schedulingGates=[{"name": "a"}]))[1]["spec"]
    ), "1.10 drops what it does not know"
    assert s.call("GET", "/apis/storage.k8s.io/v1/csinodes")[0] == 404, "1.10 has no CSI kinds"
    classes = "/apis/scheduling.k8s.io/%s/priorityclasses"
    assert (
        s.call("POST", classes % "v1", {"metadata": {"name": "p"}, "value": 5})[1]["preemptionPolicy"]
        == "PreemptLowerPriority"
    ), "a class of v1 has a policy"
    assert not (
        "preemptionPolicy" in s.call("POST", classes % "v1beta1", {"metadata": {"name": "q"}, "value": 5})[1]
    ), "one of v1beta1 has none"


harness.main(globals())
