#!/usr/bin/env python3
"""What --emulated-version=1.29 serves, and what both releases do since: dry runs that write nothing, strict field
validation, evictions within budgets, node ports, refusals of protobuf that name the flag to set."""
import functools
import http.client
import json

import harness
from harness import DEADLINE, Api, Kubectl, check, check_equal

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
                    check_equal("%s: exit on SIGTERM" % release, s.stop()[0], 0)

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
    check_equal(
        "the condition of a gated pod",
        made["status"]["conditions"],
        [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": None,
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ],
    )
    status, answer = s.call(
        "POST", PODS + "/gated/binding", {"metadata": {"name": "gated"}, "target": {"kind": "Node", "name": "n1"}}
    )
    check_equal(
        "a gated pod cannot be bound",
        (status, answer["message"]),
        (409, 'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates'),
    )

    def patch(body):
        return s.call("PATCH", PODS + "/gated", body, "application/merge-patch+json")

    check_equal(
        "a gate may not be added",
        causes(patch({"spec": {"schedulingGates": [{"name": "example.com/new"}]}})[1]),
        [
            (
                "spec.schedulingGates",
                "Forbidden: only deletion is allowed, but found new scheduling gate 'example.com/new'",
            )
        ],
    )
    check_equal("gated: selector may grow", patch({"spec": {"nodeSelector": {"zone": "a"}}})[0], 200)
    check_equal("gated: selector may not change", patch({"spec": {"nodeSelector": {"zone": "b"}}})[0], 422)
    check_equal("a gate may go", patch({"spec": {"schedulingGates": [{"name": "example.com/b"}]}})[0], 200)
    check_equal("all gates may go", patch({"spec": {"schedulingGates": []}})[0], 200)
    check_equal(
        "not gated any more: selector is fixed", patch({"spec": {"nodeSelector": {"zone": "a", "b": "c"}}})[0], 422
    )
    uid = s.call("GET", PODS + "/gated")[1]["metadata"]["uid"]

    def bind(uid):
        return s.call(
            "POST", PODS + "/gated/binding", {"metadata": {"name": "gated", "uid": uid}, "target": {"name": "n1"}}
        )

    status, answer = bind("00000000-0000-4000-8000-000000000000")
    check("the uid is checked", status == 409 and "UID in precondition" in answer["message"], answer)
    check_equal("bound", bind(uid)[0], 201)


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
    check_equal("created", status, 201)
    for key, value in spec.items():
        if key not in ("initContainers", "volumes"):
            check_equal("kept: " + key, made["spec"].get(key), value)
    check_equal(
        "sidecar",
        (
            made["spec"]["initContainers"][0]["restartPolicy"],
            made["spec"]["initContainers"][0]["startupProbe"]["periodSeconds"],
        ),
        ("Always", 10),
    )
    check_equal(
        "claim template",
        made["spec"]["volumes"][0]["ephemeral"]["volumeClaimTemplate"]["spec"]["volumeMode"],
        "Filesystem",
    )
    check_equal(
        "links and policy by default",
        (
            s.call("POST", PODS, pod("plain"))[1]["spec"].get("enableServiceLinks"),
            s.call("GET", PODS + "/plain")[1]["spec"]["preemptionPolicy"],
        ),
        (True, "PreemptLowerPriority"),
    )
    check(
        "no selfLink",
        "selfLink" not in made["metadata"] and "selfLink" not in s.call("GET", PODS)[1]["metadata"],
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
        check_equal(
            field,
            causes(s.call("POST", PODS, pod("bad", **spec))[1]),
            [("spec.topologySpreadConstraints[0]." + field, message)],
        )
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
        check_equal(str(spec), causes(s.call("POST", PODS, pod("bad", **spec))[1]), want)
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
        check_equal(str(spec), (status, refused["message"]), (403, 'pods "bad" is forbidden: ' + want))


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
        check_equal("create " + path, status, 201)
        name = body["metadata"]["name"]
        check_equal("list " + path, name in [o["metadata"]["name"] for o in s.call("GET", path)[1]["items"]], True)
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
        c.request("GET", path + "?watch=true&allowWatchBookmarks=true&fieldSelector=metadata.name%3D" + name)
        check_equal("watch " + path, json.loads(c.getresponse().readline())["type"], "ADDED")
        c.close()
    check_equal("secret", s.call("GET", "/api/v1/namespaces/default/secrets/s")[1]["data"], {"a": "Yg=="})
    check_equal("driver's defaults", s.call("GET", storage + "csidrivers/d")[1]["spec"]["attachRequired"], True)
    check_equal(
        "class's default",
        s.call("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/p")[1]["preemptionPolicy"],
        "PreemptLowerPriority",
    )
    check_equal(
        "configmap",
        s.call("GET", "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication")[0],
        200,
    )
    check_equal(
        "a namespace has its name as a label",
        s.call("GET", "/api/v1/namespaces/default")[1]["metadata"]["labels"],
        {"kubernetes.io/metadata.name": "default"},
    )
    check_equal(
        "no namespace, no pod",
        s.call("POST", "/api/v1/namespaces/nowhere/pods", pod("x", namespace="nowhere"))[1]["message"],
        'namespaces "nowhere" not found',
    )
    for gone in (
        "/apis/extensions/v1beta1",
        "/apis/policy/v1beta1/poddisruptionbudgets",
        "/apis/storage.k8s.io/v1beta1/storageclasses",
    ):
        check_equal("1.10's " + gone, s.call("GET", gone)[0], 404)
    check_equal("version", s.call("GET", "/version")[1]["minor"], "29")


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
    check_equal("create", s.call("POST", path, event)[1]["note"], "it is bound")
    core = s.call("GET", "/api/v1/namespaces/default/events/p.1")[1]
    check_equal(
        "as v1",
        [core[k] for k in ("message", "reportingComponent", "eventTime")] + [core["involvedObject"]["name"]],
        ["it is bound", "default-scheduler", "2026-01-01T00:00:00.123456Z", "p"],
    )
    patched = s.call(
        "PATCH",
        path + "/p.1",
        {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}},
        "application/strategic-merge-patch+json",
    )
    check_equal(
        "patch",
        (patched[0], patched[1]["series"], patched[1]["kind"], patched[1]["apiVersion"]),
        (200, {"count": 2, "lastObservedTime": "2026-01-01T00:00:01.000000Z"}, "Event", "events.k8s.io/v1"),
    )
    check_equal("replace", s.call("PUT", path + "/p.1", {**patched[1], "note": "again"})[1]["note"], "again")
    check_equal("list", [e["note"] for e in s.call("GET", path)[1]["items"]], ["again"])
    check_equal("delete", s.call("DELETE", path + "/p.1")[0], 200)


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
        check_equal(query, (status, causes(answer)), (422, [(field, message)]))
    rv = s.call("POST", PODS, pod("first"))[1]["metadata"]["resourceVersion"]
    s.call("POST", PODS, pod("second"))

    def names(query):
        return [
            o["metadata"]["name"]
            for o in s.call("GET", PODS + query)[1]["items"]
            if o["metadata"]["name"] in ("first", "second")
        ]

    check_equal("exact", names("?resourceVersionMatch=Exact&resourceVersion=" + rv), ["first"])
    check_equal("not older", names("?resourceVersionMatch=NotOlderThan&resourceVersion=" + rv), ["first", "second"])
    status, _, text = whole(s, "GET", PODS, headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"})
    check_equal("a table of v1", (status, json.loads(text)["apiVersion"]), (200, "meta.k8s.io/v1"))


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
        ("DELETE", "/api/v1/namespaces/kube-public", None, None, 200),
        ("DELETE", "/api/v1/nodes/dry", None, None, 200),
        ("PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", {"spec": {"replicas": 9}}, merge, 200),
    ]:
        status, answer = s.call(method, path + "?dryRun=All", body, kind or "application/json")
        check_equal("dry %s %s" % (method, path), status, want)
        if (method, path) == ("PATCH", PODS + "/kept"):
            check_equal("the answer is of what would be", answer["metadata"]["labels"], {"a": "b"})
        if (method, path) == ("POST", PODS):
            check_equal("without a version", answer["metadata"].get("resourceVersion"), None)
    check_equal(
        "by the body",
        s.call("DELETE", PODS + "/pending", {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["All"]})[0],
        200,
    )
    check_equal(
        "by the eviction's options",
        s.call(
            "POST",
            PODS + "/kept/eviction",
            {
                "kind": "Eviction",
                "apiVersion": "policy/v1",
                "metadata": {"name": "kept"},
                "deleteOptions": {"dryRun": ["All"]},
            },
        )[0],
        201,
    )
    check_equal("a refusal is one in a dry run too", s.call("POST", PODS + "?dryRun=All", pod("kept"))[0], 409)
    check_equal("nothing was written", (everything(), version()), (before, rv))
    check_equal(
        "another value",
        causes(s.call("POST", PODS + "?dryRun=Some", pod("new"))[1]),
        [("dryRun", 'Unsupported value: "Some": supported values: "All"')],
    )
    check_equal("after it, writes are writes", s.call("DELETE", PODS + "/pending")[0], 200)
    check_equal("gone", s.call("GET", PODS + "/pending")[0], 404)


@on("1.10", "1.29")
def test_strict(s):
    default = 2 if s.call("GET", "/version")[1]["minor"] == "29" else 0
    body = pod("strict", nosuch=1)
    body["spec"]["containers"] = [{"name": "c", "image": "i", "wrong": True}]
    status, answer = s.call("POST", PODS + "?fieldValidation=Strict", body)
    check_equal(
        "Strict",
        (status, answer["message"]),
        (
            400,
            'Pod in version "v1" cannot be handled as a Pod: strict decoding error: '
            'unknown field "spec.containers[0].wrong", unknown field "spec.nosuch"',
        ),
    )
    for query, want in (("?fieldValidation=Warn", 2), ("?fieldValidation=Ignore", 0), ("", default)):
        status, headers, _ = whole(s, "POST", PODS + query, {**body, "metadata": {"name": "f" + query[17:].lower()}})
        warnings = [v for k, v in headers if k == "Warning"]
        check_equal("warnings" + query, (status, len(warnings)), (201, want))
        if want:
            check_equal("its form", warnings[1], '299 - "unknown field \\"spec.nosuch\\""')
    check_equal(
        "in a patch",
        s.call("PATCH", PODS + "/f?fieldValidation=Strict", {"spec": {"nosuch": 1}}, "application/merge-patch+json")[0],
        400,
    )
    check_equal(
        "twice",
        s.call(
            "POST",
            PODS + "?fieldValidation=Strict",
            '{"metadata":{"name":"t","name":"t"},"spec":{"containers":[{"name":"c","image":"i"}]}}',
        )[1]["message"],
        'Pod in version "v1" cannot be handled as a Pod: strict decoding error: duplicate field "metadata.name"',
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
    check_equal(
        "budget",
        s.call(
            "POST",
            path,
            {"metadata": {"name": "guard"}, "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "guard"}}}},
        )[0],
        201,
    )
    check_equal(
        "a pending pod disturbs nobody",
        evict("waiting"),
        (201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}),
    )
    check_equal("it is gone", s.call("GET", PODS + "/waiting")[0], 404)
    check_equal("one may go", evict("g0")[0], 201)
    check("it ends in its own time", "deletionTimestamp" in s.call("GET", PODS + "/g0")[1]["metadata"])
    status, answer = evict("g1")
    check_equal(
        "the next may not",
        (status, answer["reason"], answer["message"], answer["details"]["causes"]),
        (
            429,
            "TooManyRequests",
            "Cannot evict pod as it would violate the pod's disruption budget.",
            [
                {
                    "reason": "DisruptionBudget",
                    "message": "The disruption budget guard needs 2 healthy pods and has 2 currently",
                }
            ],
        ),
    )
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
    check_equal("status", s.call("PUT", path + "/guard/status", b)[0], 200)
    check_equal("as the status says", (evict("g1")[0], evict("g2")[0]), (201, 429))
    check_equal("counted down", s.call("GET", path + "/guard")[1]["status"]["disruptionsAllowed"], 0)
    s.call(
        "POST",
        path,
        {
            "metadata": {"name": "second"},
            "spec": {"maxUnavailable": "50%", "selector": {"matchLabels": {"app": "guard"}}},
        },
    )
    check_equal("two budgets", evict("g2")[0], 500)
    check_equal("nobody", evict("nobody")[0], 404)
    check_equal(
        "another name",
        s.call(
            "POST", PODS + "/g2/eviction", {"kind": "Eviction", "apiVersion": "policy/v1", "metadata": {"name": "g1"}}
        )[0],
        400,
    )


@on("1.10", "1.29")
def test_services(s):
    path = "/api/v1/namespaces/default/services"

    def service(name, **spec):
        return {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **spec}}

    check_equal(
        "type",
        causes(s.call("POST", path, service("x", type="Foo"))[1]),
        [
            (
                "spec.type",
                'Unsupported value: "Foo": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
            )
        ],
    )
    check_equal("no ports", causes(s.call("POST", path, service("x", ports=[]))[1]), [("spec.ports", "Required value")])
    made = s.call(
        "POST", path, service("np", type="NodePort", ports=[{"name": "a", "port": 1}, {"name": "b", "port": 2}])
    )[1]
    ports = [p["nodePort"] for p in made["spec"]["ports"]]
    check("two ports in the range", all(30000 <= p <= 32767 for p in ports) and len(set(ports)) == 2, ports)
    check_equal(
        "taken",
        causes(s.call("POST", path, service("y", type="NodePort", ports=[{"port": 1, "nodePort": ports[0]}]))[1]),
        [("spec.ports[0].nodePort", "Invalid value: %d: provided port is already allocated" % ports[0])],
    )
    check_equal(
        "out of range", s.call("POST", path, service("y", type="NodePort", ports=[{"port": 1, "nodePort": 80}]))[0], 422
    )
    check_equal(
        "an update keeps them", [p["nodePort"] for p in s.call("PUT", path + "/np", made)[1]["spec"]["ports"]], ports
    )


@on("1.10", "1.29")
def test_others(s):
    deployments = "/apis/apps/v1/namespaces/default/deployments/d"
    s.call("POST", "/apis/apps/v1/namespaces/default/deployments", DEPLOYMENT)
    s.call("POST", PODS, pod("kept", nodeName="n1"))
    generation = s.call("GET", deployments)[1]["metadata"]["generation"]
    merge = "application/merge-patch+json"
    check_equal(
        "an annotation of a Deployment counts",
        s.call("PATCH", deployments, {"metadata": {"annotations": {"a": "b"}}}, merge)[1]["metadata"]["generation"],
        generation + 1,
    )
    check_equal(
        "a label does not",
        s.call("PATCH", deployments, {"metadata": {"labels": {"a": "b"}}}, merge)[1]["metadata"]["generation"],
        generation + 1,
    )
    review = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "pods"}},
    }
    status, answer = s.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
    check_equal("everybody may everything here", (status, answer["status"]), (201, {"allowed": True}))
    check_equal(
        "an empty review",
        s.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {}})[0],
        422,
    )
    # DeleteOptions {gracePeriodSeconds: 0} as kubectl writes them.
    s.call("POST", PODS, pod("proto", nodeName="n1"))
    raw = b"k8s\0" + b"\x0a\x13\x0a\x02v1\x12\x0dDeleteOptions" + b"\x12\x02\x08\x00"
    check_equal(
        "DeleteOptions in protobuf",
        s.call("DELETE", PODS + "/proto", raw, "application/vnd.kubernetes.protobuf")[0],
        200,
    )
    check_equal("and it was read", s.call("GET", PODS + "/proto")[0], 404)
    for method, path, body, headers, want in [
        ("POST", PODS, b"k8s\0", {"Content-Type": "application/vnd.kubernetes.protobuf"}, 415),
        ("GET", PODS, None, {"Accept": "application/vnd.kubernetes.protobuf"}, 406),
        ("GET", PODS + "?watch=true", None, {"Accept": "application/vnd.kubernetes.protobuf, */*"}, 406),
    ]:
        c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
        c.request(method, path, body, headers)
        r = c.getresponse()
        message = json.loads(r.read())["message"]
        check_equal("%s %s" % (method, path), r.status, want)
        check(
            "the flag is named",
            "--kube-api-content-type=application/json" in message and "clientConnection.contentType" in message,
            message,
        )
        c.close()
    status, answer = s.call("PATCH", PODS + "/kept", "{}", "application/apply-patch+yaml")
    check_equal("server-side apply is refused", status, 415)
    check("and the message says what to do", "without --server-side" in answer["message"], answer)


def test_every_release():
    """kubectl finds its version, and a node and a pod of each release are stored with that release's fields."""
    for release in ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36"):
        with Api.start(flags=["--emulated-version=" + release]) as s:
            kubectl, minor = Kubectl(s), int(release.split(".")[1])
            kubectl("version", out="Server Version: v%s.0" % release)
            check_equal(release + ": the minor version", s.get("/version")["minor"], str(minor))
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
                check_equal("%s: %s" % (release, field), field in spec, minor >= since)
            groups = {v["groupVersion"] for g in s.get("/apis")["groups"] for v in g["versions"]}
            for version, there in (
                ("events.k8s.io/v1", minor >= 19),
                ("resource.k8s.io/v1", minor >= 34),
                ("extensions/v1beta1", minor <= 13),
            ):
                check_equal("%s: %s" % (release, version), version in groups, there)
            check_equal(
                "%s: csinodes" % release,
                s.call("GET", "/apis/storage.k8s.io/v1/csinodes")[0],
                200 if minor >= 17 else 404,
            )


@on("1.10")
def test_release_1_10(s):
    check_equal(
        "1.10 drops what it does not know",
        "schedulingGates" in s.call("POST", PODS, pod("old", schedulingGates=[{"name": "a"}]))[1]["spec"],
        False,
    )
    check_equal("1.10 has no CSI kinds", s.call("GET", "/apis/storage.k8s.io/v1/csinodes")[0], 404)
    classes = "/apis/scheduling.k8s.io/%s/priorityclasses"
    check_equal(
        "a class of v1 has a policy",
        s.call("POST", classes % "v1", {"metadata": {"name": "p"}, "value": 5})[1]["preemptionPolicy"],
        "PreemptLowerPriority",
    )
    check_equal(
        "one of v1beta1 has none",
        "preemptionPolicy" in s.call("POST", classes % "v1beta1", {"metadata": {"name": "q"}, "value": 5})[1],
        False,
    )


harness.main(globals())
