#!/usr/bin/env python3
"""Tests kube-scheduler of release 1.10 in a cluster whose pods have fields of later releases: a field that the release
does not know causes no eviction, no overcommitted node and no loop of failing binds."""
import json

import harness
from harness import Api, Proxy, Scheduler, node, pod, status_body, wait_until, write_objects


def pending(name, **spec):
    """A pod as a later API server stores it."""
    p = pod(name, uid="uid-" + name, meta={"resourceVersion": "1"}, **spec)
    p["status"] = {"phase": "Pending"}
    return p


def keeping_proxy(api):
    """The hollow API server is of the emulated release, so a write of a status would remove the later fields from the
    object. The proxy answers such writes itself, as a later server would."""

    def fault(method, path):
        if method in ("PUT", "PATCH") and path.endswith("/status"):
            return 200, {"Content-Type": "application/json"}, json.dumps(api.pods()[path.split("/")[-2]])
        return None

    return Proxy(api.port, fault)


def condition(proxy, name):
    """Returns the PodScheduled condition that was written last."""
    written = [
        json.loads(body)
        for method, path, body in proxy.bodies
        if method == "PUT" and path.endswith(f"/pods/{name}/status")
    ]
    return [c for p in written[-1:] for c in p["status"]["conditions"] if c["type"] == "PodScheduled"]


def test_nothing_is_evicted():
    low = pending("low", cpu="4")
    low["spec"].update(nodeName="n0", priority=0)
    api = Api.start(
        write_objects(
            "cluster.json",
            [
                node("n0"),
                low,
                pending("gated", cpu="4", priority=1000, schedulingGates=[{"name": "example.com/hold"}]),
                pending("polite", cpu="4", priority=1000, preemptionPolicy="Never"),
            ],
        )
    )
    proxy = keeping_proxy(api)
    s = Scheduler(proxy.url, "--feature-gates=PodPriority=true")
    wait_until("the polite pod refused", condition, proxy, "polite")
    s.wait_metric('scheduler_pods_by_state{state="gated"}', 1)
    assert not condition(proxy, "gated")
    assert not [path for method, path in proxy.seen if method == "DELETE" or "gated" in path]
    assert api.placements() == {"low": "n0", "gated": None, "polite": None}


def test_what_is_demanded_is_waited_for():
    selector = {"matchLabels": {"app": "x"}}
    api = Api.start(
        write_objects(
            "cluster.json",
            [
                node("n0", cpu="8"),
                node("n1", cpu="8"),
                pending(
                    "spread",
                    topologySpreadConstraints=[
                        {
                            "maxSkew": 1,
                            "topologyKey": "zone",
                            "whenUnsatisfiable": "DoNotSchedule",
                            "labelSelector": selector,
                        }
                    ],
                ),
                pending(
                    "soft",
                    topologySpreadConstraints=[
                        {
                            "maxSkew": 1,
                            "topologyKey": "zone",
                            "whenUnsatisfiable": "ScheduleAnyway",
                            "labelSelector": selector,
                        }
                    ],
                ),
                pending(
                    "away",
                    affinity={
                        "podAntiAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "topologyKey": "kubernetes.io/hostname",
                                    "namespaceSelector": {},
                                    "labelSelector": selector,
                                }
                            ]
                        }
                    },
                ),
                pending("scratch", volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]),
                pending(
                    "daemon",
                    affinity={
                        "nodeAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
                                ]
                            }
                        }
                    },
                ),
            ],
        )
    )
    proxy = keeping_proxy(api)
    s = Scheduler(proxy.url)
    api.wait_placed("daemon", "soft")
    assert api.placements()["daemon"] == "n1"
    # The message names the first release that understands the field.
    for name, field, release in (
        ("spread", "spec.topologySpreadConstraints[]", "1.19"),
        ("away", "namespaceSelector", "1.29"),
        ("scratch", "spec.volumes[].ephemeral", "1.29"),
    ):
        (c,) = wait_until("the condition of " + name, condition, proxy, name)
        assert c["status"] == "False" and c["reason"] == "Unschedulable", (name, c)
        assert field in c["message"] and f"--emulated-version={release} supports" in c["message"], c
        assert not api.placements()[name]
    s.wait_metric('scheduler_pods_by_state{state="unsupported"}', 3)
    m = s.metrics()
    field = "spec.topologySpreadConstraints[] with whenUnsatisfiable ScheduleAnyway"
    assert m[f'scheduler_ignored_fields_total{{field="{field}"}}'] == 1
    assert s.log().count("it is ignored: " + field) == 1, s.log()
    assert s.stop() == 0
    # With the flag the fields are ignored.
    s = Scheduler(proxy.url, "--ignore-unknown-fields")
    api.wait_placed("spread", "away", "scratch")


def test_overhead_and_sidecars_take_room():
    sidecar = [{"name": "s", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "3"}}}]
    pods = [
        pending(f"p{i}", cpu="1", **({"overhead": {"cpu": "3"}} if i % 2 else {"initContainers": sidecar}))
        for i in range(6)
    ]
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="8"), *pods]))
    proxy = keeping_proxy(api)
    Scheduler(proxy.url)

    def number_refused():
        last = [condition(proxy, p["metadata"]["name"]) for p in pods]
        return sum(bool(c and c[0]["status"] == "False") for c in last)

    wait_until("pods refused", number_refused, equals=4)
    api.wait_placed(count=2)


def test_what_pods_of_newer_clusters_use_takes_room():
    """Pod-level requests and a shrink that the kubelet has not made count on the node, in every release."""
    shrinking = pending("shrinking", cpu="1")
    shrinking["status"]["containerStatuses"] = [
        {
            "name": shrinking["spec"]["containers"][0]["name"],
            "resources": {"requests": {"cpu": "3"}},
            "allocatedResources": {"cpu": "3"},
        }
    ]
    whole = pending("whole", cpu="1", resources={"requests": {"cpu": "3"}})
    for p in (shrinking, whole):
        p["spec"]["nodeName"] = "n0"
        p["status"]["phase"] = "Running"
    waiting = {
        "waits": {"resources": {"requests": {"cpu": "1"}}},
        "claims": {"resourceClaims": [{"name": "gpu", "resourceClaimName": "none"}]},
    }
    for release in ("1.10", "1.29"):
        api = Api.start(
            write_objects(
                "cluster.json",
                [
                    node("n0", cpu="8"),
                    shrinking,
                    whole,
                    pending("big", cpu="3"),
                    pending("small", cpu="2", fromTheFuture={"a": 1}),
                    *[pending(name, cpu="1", **spec) for name, spec in waiting.items()],
                ],
            ),
            flags=["--emulated-version=" + release],
        )
        s = Scheduler(keeping_proxy(api).url, "--emulated-version=" + release)
        api.wait_placed("small", on="n0")
        s.wait_metric('scheduler_pods_by_state{state="unsupported"}', 2)
        assert not api.placements()["big"] and not any(api.placements()[name] for name in waiting)
        assert s.metrics()['scheduler_unknown_pod_fields_total{field="spec.fromTheFuture"}'] == 1
        assert s.log().count("spec.fromTheFuture") == 1, s.log()
        assert s.stop() == 0


def claim_of(driver, name):
    """Returns a volume of a CSI driver and the claim that is bound to it."""
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": driver, "volumeHandle": name},
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "namespace": "default",
                    "name": name,
                    "uid": "uid-" + name,
                },
            },
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": "uid-" + name,
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "volumeName": name,
            },
            "status": {"phase": "Bound"},
        },
    ]


def test_limits_of_csi_volumes_are_waited_for():
    """Tests an API server of 1.29, whose CSINodes limit the volumes of a node."""
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "n0"},
        "spec": {
            "drivers": [{"name": "disk.example.com", "nodeID": "n0", "topologyKeys": None, "allocatable": {"count": 1}}]
        },
    }
    api = Api.start(
        write_objects(
            "cluster.json",
            [
                node("n0"),
                csi_node,
                *claim_of("disk.example.com", "a"),
                *claim_of("disk.example.com", "b"),
                *claim_of("free.example.com", "c"),
            ],
        ),
        flags=["--emulated-version=1.29"],
    )

    def uses(claim):
        return pod("uses-" + claim, cpu="100m", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": claim}}])

    proxy = Proxy(api.port)
    s = Scheduler(proxy.url)
    s.wait_for_log("Caches are synced")
    for claim in "abc":
        api.post("/api/v1/namespaces/default/pods", uses(claim))
    api.wait_placed("uses-c")
    for name in ("uses-a", "uses-b"):
        (c,) = wait_until("the condition of " + name, condition, proxy, name)
        assert c["status"] == "False" and c["reason"] == "Unschedulable", c
        assert (
            "spec.drivers[].allocatable.count" in c["message"] and "--emulated-version=1.19 supports" in c["message"]
        ), c
    s.wait_metric('scheduler_pods_by_state{state="unsupported"}', 2)
    # A change that keeps the limit causes no write. Without a limit the pods are placed.
    path = "/apis/storage.k8s.io/v1/csinodes/n0"
    status, answer = api.call("PATCH", path, {"metadata": {"labels": {"a": "b"}}}, "application/merge-patch+json")
    assert status == 200, answer
    writes = [path for method, path, _ in proxy.bodies if path.endswith("/status")]
    assert len(writes) == 2, writes
    status, answer = api.call("DELETE", path)
    assert status == 200, answer
    api.wait_placed("uses-a", "uses-b")
    assert s.stop() == 0
    s = Scheduler(api.url, "--ignore-unknown-fields")
    api.post("/apis/storage.k8s.io/v1/csinodes", csi_node)
    api.post("/api/v1/namespaces/default/pods", {**uses("a"), "metadata": {"name": "again"}})
    api.wait_placed("again")


def test_a_server_without_csinodes_is_none_to_wait_for():
    for answer in (
        None,
        (403, {"Content-Type": "application/json"}, status_body(403, "Forbidden", "csinodes is forbidden")),
    ):
        api = Api.start(write_objects("cluster.json", [node("n0"), pod("p")]))
        proxy = Proxy(api.port, {"/csinodes": answer})
        s = Scheduler(proxy.url)
        api.wait_placed("p")
        assert s.log().count("assuming that there are no csinodes.storage.k8s.io") == 1, s.log()
        # A watch that cannot exist must not raise alarms.
        assert not [k for k in s.metrics() if k.startswith("scheduler_watch") and "csinodes" in k]
        assert s.stop() == 0


harness.main(globals())
