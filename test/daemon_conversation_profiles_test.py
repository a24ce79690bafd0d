#!/usr/bin/env python3
"""Replays the recorded conversations of the real kube-scheduler 1.29 with ours: the user does the same, the same
answers are injected, and the requests must be the same in kind, content and order, except for DIFFERENCES.

conversation.py says how they are compared, testdata/wire-scheduler/README.md where the recordings come from.
"""
import http.client
import json
import os
import re
import signal
import ssl
import time

import harness
from conversation import *
from conversation_play import Play, differences_are_told
from harness import Api, Scheduler, free_port, scratch, wait_until, write_file

PODS, NODES = "/api/v1/namespaces/wire/pods", "/api/v1/nodes"
CLASSES, LEASE = (
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler",
)
VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/wire/persistentvolumeclaims"
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
START = r"^watch |^/apis/events.k8s.io/v1$"  # recording 40 has the start; the others omit it
EXPIRED = {
    "status": 200,
    "headers": {"Content-Type": "application/json", "Transfer-Encoding": "chunked"},
    "body": json.dumps(
        {
            "type": "ERROR",
            "object": {
                "kind": "Status",
                "apiVersion": "v1",
                "metadata": {},
                "status": "Failure",
                "code": 410,
                "reason": "Expired",
                "message": "too old resource version: 840 (842)",
            },
        }
    )
    + "\n",
}

LIVE = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
# Texts of pkg/scheduler/DIFFERENCES.md that describe differences.
TERMINATING = "is not deleted again"
BOUND_ALREADY = "the condition of a bound pod"
ASKS = "asks the API server before it binds again"


def nothing(lines):
    return []


def unhurried(*texts):
    """Marks lines that follow an action of the user, which the test performs sooner than the recorder did."""

    def change(lines):
        return [l._replace(ms=None) if any(t in l.text for t in texts) else l for l in lines]

    return change


def stopped_leading(lines):
    """Adds a second event, which says that it no longer leads."""
    stopped = rewritten("became leader", "stopped leading")(lines)
    return lines + rewritten("<event 1>", "<event 2>")(stopped)


def scheduled(number, recorded, name):
    """Returns the event of a bind, made from the recorded one of another pod."""

    def change(_):
        (lines,) = [
            ls for (_, lane), ls in Reading(load(number)[1]).lanes.items() if lane == f"events about wire/{recorded}"
        ]
        return rewritten(recorded, name)(
            rewritten("; accept-encoding: gzip", "")(rewritten("as scheduler", "as events")(lines))
        )

    return change


DIFFERENCES = [
    # Only lists may be compressed.
    Difference(
        "`Accept-Encoding: gzip`",
        r"",
        rewritten(r"^(?!GET \S+[?&](?:limit|resourceVersion)=(?![^(]*watch=true))(.*); accept-encoding: gzip", r"\1"),
    ),
    Difference("user agent", r"events about", rewritten("as scheduler", "as events")),
    Difference(
        "extension-apiserver-authentication", r"extension-apiserver-authentication$|kube-system/configmaps$", nothing
    ),
    Difference("is not asked for first", r"/apis/events.k8s.io/v1$", nothing),
    # These are not differences of ours: the recordings omit the lists from which these watches began, or the user
    # waited.
    Difference("", r"^4[16] .*(no leader election|start; ).*watch /api/v1/(pods|nodes)$", nothing),
    Difference("", r"^4[23] \|  \| watch ", nothing),
    Difference("", r"^49 .*(watch|/api/v1/pods$)", rewritten("<another>", "<last seen>")),
    Difference("", r"^41 .*events about wire/held$", unhurried("skip schedule deleting pod")),
    # A back-off ends at the next full second.
    Difference("", r"^4[36] .*(pod wire/f[45c]|events about wire/(f[45c]|eph))", unhurried("")),
    Difference("", r"^46 .*watch /apis/policy", unhurried("")),
    Difference(
        "",
        r"^43 .*/(pv-local|fresh|eph-scratch)$",
        rewritten(
            # set by admission plugins
            r'"finalizers": \["kubernetes.io/pvc?-protection"\], |"lastPhaseTransitionTime": "<time>", ',
            "",
        ),
    ),
    Difference("that is gone", r"^43 .*selected node of eph-scratch.*(pod|events about) wire/eph$", nothing),
    Difference("", r"^49 .*events about wire/ev3$", nothing),  # occurs in 46, where the test waits for it
    Difference(TERMINATING, r"^42 .*victims \['low-1'\].*wire/low-1$", nothing),
    Difference(TERMINATING, r"^42 .*creates high-2.*wire/low-2$", nothing),
    Difference("", r"^49 .*ready again.*watch /api", nothing),  # 15 watches with different back-offs
    Difference("", r"^49 .*410.*watch /apis/apps", nothing),
    Difference(
        "how far it is",
        r"^49 .*(connections cut|410 ERROR).*watch /api/v1/nodes$",
        also(f"GET {NODES}?limit=1 (as scheduler; accept: application/json, */*) -> 200"),
    ),
    Difference("stopped leading", r"^44C .*events about", stopped_leading),
    Difference(ASKS, r"^46 .*pod wire/fcut$", only(0, 2)),
    Difference(ASKS, r"^46 .*events about wire/fcut$", without_the_first),
    Difference(ASKS, r"^46 .*pod wire/flost$", only(0)),
    Difference(BOUND_ALREADY, r"^46 .*events about wire/flost$", scheduled("46", "f503", "flost")),
    Difference(BOUND_ALREADY, r"^41 .*binding conflict.*pod wire/race$", only(0)),
    Difference(BOUND_ALREADY, r"^41 .*binding conflict.*events about wire/race$", scheduled("41", "gated", "race")),
    Difference("JSON is spoken", r"^47", rewritten("application/vnd.kubernetes.protobuf", "application/json")),
    # the versions are in responses that were not recorded
    Difference("", r"^47 .*watch ", rewritten("<another>", "<last seen>")),
    Difference(
        "with its uid as precondition",
        r"^42 .*pod wire/low-\d$",
        rewritten(r'pods/(low-\d)( .*"DeleteOptions")', r'pods/\1\2, "preconditions": {"uid": "<uid of \1>"}'),
    ),
]


# A pod without finalizers is gone immediately after it was marked for deletion, so the mark may or may not be seen. A
# pod is not read if a watch has already shown what happened to it.
BY_CHANCE = r"skip schedule deleting pod: wire/(?!held)|^GET /api/v1/namespaces/wire/pods/\w+ "


def begin(number, by_chance=BY_CHANCE, bodies=True):
    p = Play(
        number,
        DIFFERENCES,
        release="1.29",
        left_out=None if number in ("40", "47") else START,
        by_chance=by_chance,
        bodies=bodies,
    )
    p.call("POST", "/api/v1/namespaces", {"metadata": {"name": "wire"}})
    return p


def node(p, name, cpu="2", tainted=False):
    spec = {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]} if tainted else {}
    p.call("POST", NODES, harness.node(name, cpu, "4Gi", labels={"kubernetes.io/os": "linux"}, **spec))


def pod(p, name, cpu, labels=None, mounts=None, finalizers=None, **spec):
    made = harness.pod(
        name, cpu, namespace="wire", labels=labels, meta={"finalizers": finalizers} if finalizers else None, **spec
    )
    if mounts:
        made["spec"]["containers"][0]["volumeMounts"] = mounts
    return p.call("POST", PODS, made)


def kill(p, name):
    p.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")


def test_start_40():
    p = begin("40")
    node(p, "node-a")
    p.call(
        "POST",
        "/api/v1/namespaces/wire/services",
        {"metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
    )
    p.user("kube-scheduler 1.29 starts")
    p.start()
    p.heard()
    p.renewed()
    p.user("user labels node-a")
    p.call("PATCH", f"{NODES}/node-a", {"metadata": {"labels": {"zone": "z1"}}}, MERGE)
    p.user("SIGTERM")
    p.over()


def test_lifecycle_41():
    p = begin("41")
    node(p, "node-a")
    p.user("no leader election")
    p.start()
    p.heard()
    p.user("user creates web-1")
    pod(p, "web-1", "500m", {"app": "web"})
    p.heard()
    p.user("user creates tiny-1..3")
    for i in (1, 2, 3):
        pod(p, f"tiny-{i}", "1m")
    p.heard()
    p.user("user creates big")
    pod(p, "big", "1800m")
    p.heard()
    p.user("user labels pod big")
    p.call("PATCH", f"{PODS}/big", {"metadata": {"labels": {"x": "y"}}}, MERGE)
    p.heard()
    p.user("user PATCHes node-a status")
    p.call(
        "PATCH",
        f"{NODES}/node-a/status",
        {"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:05:00Z"}]}},
        STRATEGIC,
    )
    p.call("PATCH", f"{NODES}/node-a", {"metadata": {"labels": {"zone": "z1"}}}, MERGE)
    p.user("user raises allocatable cpu of node-a by 100m")
    p.call(
        "PATCH",
        f"{NODES}/node-a/status",
        {"status": {"allocatable": {"cpu": "2100m"}, "capacity": {"cpu": "2100m"}}},
        STRATEGIC,
    )
    for i in (1, 2, 3):
        p.user(f"user deletes tiny-{i}")
        kill(p, f"tiny-{i}")
        p.heard()
    p.user("user creates gated")
    pod(p, "gated", "100m", schedulingGates=[{"name": "wire/gate"}])
    p.user("user removes the gate")
    p.call("PATCH", f"{PODS}/gated", {"spec": {"schedulingGates": None}}, MERGE)
    p.heard()
    p.user("user creates doomed")
    pod(p, "doomed", "50")
    p.asked("PATCH .*/doomed/status")
    p.call("DELETE", f"{PODS}/doomed")
    p.heard()
    p.user("user creates held")
    pod(p, "held", "50", finalizers=["wire/f"])
    p.asked("PATCH .*/held/status")
    p.call("DELETE", f"{PODS}/held")
    p.heard()
    p.call("PATCH", f"{PODS}/held", {"metadata": {"finalizers": None}}, MERGE)
    p.user("user adds node-b")
    node(p, "node-b", tainted=True)
    p.user("user removes the taint")
    p.call("PATCH", f"{NODES}/node-b", {"spec": {"taints": None}}, MERGE)
    p.heard()
    p.user("binding conflict")

    def bound_by_the_user(method, path, _):
        if (method, path) == ("POST", f"{PODS}/race/binding"):
            p.before = None
            p.call(
                "POST",
                f"{PODS}/race/binding",
                {
                    "apiVersion": "v1",
                    "kind": "Binding",
                    "metadata": {"name": "race"},
                    "target": {"kind": "Node", "name": "node-a"},
                },
            )

    p.before = bound_by_the_user
    pod(p, "race", "10m")
    p.heard()
    p.user("pod of another scheduler")
    pod(p, "other", "10m", schedulerName="other")
    pod(p, "direct", "10m", nodeName="node-a")
    p.user("user deletes bound pod web-1")
    p.call("DELETE", f"{PODS}/web-1")
    kill(p, "web-1")
    p.user("SIGTERM")
    p.over()


def test_preemption_42():
    # After high-2 has taken its place, mid-1 may be tried once more before high-2 is deleted.
    in_vain = r"1 Insufficient cpu\. preemption: 0/1 nodes are available: 1 Insufficient cpu\."
    in_vain = rf"mid-1.*{in_vain}|{in_vain}.*mid-1"
    p = begin("42", by_chance=f"{BY_CHANCE}|not eligible due to a terminating pod on the nominated node|{in_vain}")
    for name, value in (("low", 10), ("mid", 50), ("high", 1000)):
        p.call("POST", CLASSES, {"metadata": {"name": name}, "value": value})
    p.call("POST", CLASSES, {"metadata": {"name": "polite"}, "value": 2000, "preemptionPolicy": "Never"})
    node(p, "node-a")
    p.start()
    p.asked("/api/v1/pods.*watch=true")
    p.user("user creates low-1, low-2")
    p.call(
        "POST",
        "/apis/policy/v1/namespaces/wire/poddisruptionbudgets",
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "pdb"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guard"}}},
        },
    )
    pod(p, "low-1", "1", priorityClassName="low", terminationGracePeriodSeconds=20)
    p.asked("POST .*/low-1/binding")
    pod(p, "low-2", "1", {"app": "guard"}, priorityClassName="low")
    p.heard()
    p.user("user creates polite-1")
    pod(p, "polite-1", "1", priorityClassName="polite")
    p.asked("PATCH .*/polite-1/status")
    p.call("DELETE", f"{PODS}/polite-1")
    p.heard()
    p.user("user creates high-1")
    pod(p, "high-1", "1", priorityClassName="high")
    p.heard()
    p.user("victims ['low-1'] terminate (grace)")
    pod(p, "mid-1", "1", priorityClassName="mid")
    p.heard()
    p.user("the kubelet confirms the victim")
    kill(p, "low-1")
    p.heard()
    p.user("user creates high-2")
    pod(p, "high-2", "1", priorityClassName="high")
    p.heard()
    p.user("victims ['low-2'] terminate; user deletes high-2")
    p.call("DELETE", f"{PODS}/high-2")
    kill(p, "low-2")
    p.heard()
    p.user("SIGTERM")
    p.over()


def test_volumes_43():
    p = begin("43")
    for name in ("node-a", "node-b"):
        node(p, name)
        p.call(
            "POST",
            "/apis/storage.k8s.io/v1/csinodes",
            {
                "metadata": {"name": name},
                "spec": {
                    "drivers": [{"name": "csi.wire", "nodeID": name, "topologyKeys": None, "allocatable": {"count": 1}}]
                },
            },
        )
    storage_class(p, "local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer")
    storage_class(p, "dyn", "csi.wire", "WaitForFirstConsumer")
    p.start()
    p.asked("/api/v1/pods.*watch=true")
    p.user("no volume controller runs")
    pod(p, "noclaim", "10m", **claim_volume("missing"))
    p.asked("PATCH .*/noclaim/status")
    kill(p, "noclaim")
    p.heard()
    p.user("local: class local")
    volume(p, "pv-local", "local", {"local": {"path": "/mnt"}}, "node-b")
    claim(p, "data", "local")
    pod(p, "loc", "10m", **claim_volume("data"))
    p.heard()
    p.user("the volume controller binds PVC data")
    bind_claim(p, "data", "pv-local")
    p.heard()
    p.user("dynamic: class dyn")
    claim(p, "fresh", "dyn")
    pod(p, "dyn", "10m", **claim_volume("fresh"))
    p.heard()
    chosen = p.api.get(f"{CLAIMS}/fresh")["metadata"]["annotations"]["volume.kubernetes.io/selected-node"]
    p.user("the provisioner creates PV pv-dyn")
    volume(p, "pv-dyn", "dyn", {"csi": {"driver": "csi.wire", "volumeHandle": "h1"}}, chosen)
    bind_claim(p, "fresh", "pv-dyn")
    p.heard()
    p.user("CSINode limit 1")
    volume(p, "pv-2", "dyn", {"csi": {"driver": "csi.wire", "volumeHandle": "h2"}}, chosen)
    claim(p, "second", "dyn")
    bind_claim(p, "second", "pv-2")
    pod(p, "lim", "10m", **claim_volume("second"))
    p.heard()
    p.user("pod dyn goes away")
    kill(p, "dyn")
    p.heard()
    p.user("ephemeral volume")
    eph = pod(
        p,
        "eph",
        "10m",
        mounts=[{"name": "scratch", "mountPath": "/s"}],
        volumes=[
            {
                "name": "scratch",
                "ephemeral": {
                    "volumeClaimTemplate": {
                        "spec": {
                            "accessModes": ["ReadWriteOnce"],
                            "storageClassName": "dyn",
                            "resources": {"requests": {"storage": "1Gi"}},
                        }
                    }
                },
            }
        ],
    )
    p.heard()
    p.user("the ephemeral controller creates claim eph-scratch")
    claim(p, "eph-scratch", "dyn")
    p.asked("PATCH .*was not created for pod")
    p.call("PATCH", f"{CLAIMS}/eph-scratch", {"metadata": {"annotations": {"a": "b"}}}, MERGE)
    p.asked("POST .*was not created for pod", times=2)
    p.call("DELETE", f"{CLAIMS}/eph-scratch")
    claim(
        p,
        "eph-scratch",
        "dyn",
        ownerReferences=[
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": "eph",
                "uid": eph["metadata"]["uid"],
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    )
    p.heard()
    p.user("selected node of eph-scratch")
    kill(p, "eph")
    p.heard()
    p.user("pod badpv")
    volume(p, "pv-bad", "dyn", {"csi": {"driver": "csi.other", "volumeHandle": "h3"}}, "nowhere")
    claim(p, "third", "dyn")
    bind_claim(p, "third", "pv-bad")
    pod(p, "badpv", "10m", **claim_volume("third"))
    p.heard()
    p.user("pod immediate")
    storage_class(p, "imm", "csi.wire", "Immediate")
    claim(p, "imm", "imm")
    pod(p, "immediate", "10m", **claim_volume("imm"))
    p.heard()
    p.user("SIGTERM")
    p.over()


def storage_class(p, name, provisioner, mode):
    p.call(
        "POST",
        "/apis/storage.k8s.io/v1/storageclasses",
        {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode},
    )
    p.settled()


def volume(p, name, storage_class, source, node_name):
    p.call(
        "POST",
        VOLUMES,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "persistentVolumeReclaimPolicy": "Retain",
                **source,
                "nodeAffinity": {
                    "required": {
                        "nodeSelectorTerms": [
                            {
                                "matchExpressions": [
                                    {"key": "kubernetes.io/hostname", "operator": "In", "values": [node_name]}
                                ]
                            }
                        ]
                    }
                },
            },
        },
    )
    p.call("PATCH", f"{VOLUMES}/{name}/status", {"status": {"phase": "Available"}}, MERGE)
    p.settled()


def claim(p, name, storage_class, **meta):
    p.call(
        "POST",
        CLAIMS,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, **meta},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    p.settled()


def bind_claim(p, name, volume_name):
    """Does what the controller of persistent volumes does."""
    uid = p.api.get(f"{CLAIMS}/{name}")["metadata"]["uid"]
    p.call(
        "PATCH",
        f"{VOLUMES}/{volume_name}",
        {
            "spec": {
                "claimRef": {
                    "kind": "PersistentVolumeClaim",
                    "apiVersion": "v1",
                    "namespace": "wire",
                    "name": name,
                    "uid": uid,
                }
            }
        },
        MERGE,
    )
    p.call("PATCH", f"{VOLUMES}/{volume_name}/status", {"status": {"phase": "Bound"}}, MERGE)
    p.call(
        "PATCH",
        f"{CLAIMS}/{name}",
        {
            "metadata": {
                "annotations": {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
            },
            "spec": {"volumeName": volume_name},
        },
        MERGE,
    )
    p.call(
        "PATCH",
        f"{CLAIMS}/{name}/status",
        {"status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}},
        MERGE,
    )
    p.settled()


def claim_volume(name):
    return {
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": name}}],
        "mounts": [{"name": "v", "mountPath": "/v"}],
    }


def test_leader_election_44():
    """Gives each scheduler its own recorder, so that their requests can be distinguished as in the recording."""
    p = begin("44")
    node(p, "node-a")
    recorders = {}

    def start(name):
        recorders[name] = Recorder(p.api.port)
        return p.start(recorders[name], name)

    def lock(name):
        entries = recorders[name].snapshot()
        return [e for e in entries if "/leases" in e["request"]["path"]]

    def looks(name):
        return len(lock(name))

    def renewals(name):
        return len([e for e in lock(name) if e["request"]["method"] == "PUT" and e.get("status")])

    def leads(name):
        wait_until(f"{name} renews the lease", renewals, name, at_least=2)

    def renews(name):
        """Waits for the end of a renewal. What happens then does not come between the two requests of the next one."""
        before = renewals(name)
        wait_until(f"{name} renews the lease again", renewals, name, at_least=before + 1)

    p.user("two schedulers through one proxy")
    a = start("A")
    leads("A")
    p.user("B starts: standby")
    b = start("B")
    wait_until("B looks at the lease twice", looks, "B", at_least=2)
    renews("A")
    p.user("A is killed with SIGKILL")
    a.stop(signal.SIGKILL)
    leads("B")
    p.user("B took over")
    p.user("A' starts again (standby)")
    c = start("C")
    wait_until("A' has seen the lease", lock, "C")
    renews("B")
    assert b.stop() == 0
    left = p.api.get(LEASE)["spec"]
    p.user("B ended, rc=0")
    assert left["holderIdentity"] == "" and left["leaseDurationSeconds"] == 1, left
    leads("C")
    p.user("A' took over")
    renews("C")
    p.user("the lease is stolen")
    stolen = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    p.call("PATCH", LEASE, {"spec": {"holderIdentity": "thief", "renewTime": stolen, "acquireTime": stolen}}, MERGE)
    assert c.process.wait(60) == 1
    assert p.api.get(LEASE)["spec"]["holderIdentity"] == "thief", "the lease of another is left alone"
    p.user("A' ended by itself")
    p.call("DELETE", LEASE)
    p.user("C starts; then the API server becomes unreachable")
    d = start("D")
    leads("D")
    renews("D")
    recorders["D"].refuse = True
    recorders["D"].cut_all()
    assert d.process.wait(60) == 1
    p.user("C ended by itself")
    differ = []
    for name in "ABCD":
        theirs = [e for e in p.recorded if e.get("by") == name]
        ours = [
            e
            for e in recorders[name].snapshot()
            if "/leases" in e["request"]["path"] or e["request"]["path"].endswith("/kube-system/events")
        ]
        want = expected(f"44{name}", theirs, DIFFERENCES)
        differ += problems(f"44{name}", want, Reading(ours).lanes)
    assert not differ, "\n" + "\n".join(differ)


def test_faults_46():
    # An event whose response was lost is sent again up to 10 s later, in this phase or in the next.
    p = begin("46", by_chance=f'{BY_CHANCE}|POST .*/events .*"ev3"')

    def events_of_ev3():
        return [
            e
            for e in p.proxy.snapshot()
            if e.get("request", {}).get("path", "").endswith("/events")
            and '"ev3"' in json.dumps(e["request"].get("body"))
        ]

    def answers_to_ev3():
        return [e.get("status") for e in events_of_ev3()]

    node(p, "node-a", cpu="4")
    p.user("start; injected:")
    p.start()
    p.heard()
    for what, name, cpu in (
        ("binding POST answers 500", "f500", "100m"),
        ("binding POST answers 503", "f503", "100m"),
        ("binding POST answers 429", "f429", "100m"),
        ("binding POST: connection closed", "fcut", "100m"),
        ("binding POST: the server binds", "flost", "100m"),
        ("binding POST answers 403", "f403", "100m"),
        ("binding POST answers 404", "f404", "100m"),
        ("unschedulable pod st1", "st1", "50"),
    ):
        p.user(what)
        pod(p, name, cpu)
        p.heard()
    p.call("PATCH", f"{NODES}/node-a/status", {"status": {"allocatable": {"cpu": "4100m"}}}, STRATEGIC)
    p.user("unschedulable pod st2")
    pod(p, "st2", "50")
    p.heard()
    p.user("pod ev1: event POST 429")
    for name in ("ev1", "ev2", "ev3"):
        pod(p, name, "10m")
        if name != "ev3":
            p.asked(f"events.*{name}")
    wait_until("46: the event of ev3", events_of_ev3)
    p.heard()
    p.user("status PATCH 429 Retry-After")
    pod(p, "st3", "50")
    p.asked("PATCH .*/st3/status", times=2)
    wait_until("46: answers to the event of ev3", answers_to_ev3, containing=409)
    p.heard()
    p.over()
    assert len(events_of_ev3()) == 2, events_of_ev3()
    assert not any(p.injected.values()), p.injected


def test_reconnect_49():
    # A watch that has been quiet for 0.2 s makes the reflector ask which version of pods the server has reached; a
    # request that is refused may come sooner.
    p = begin("49", by_chance=rf"{BY_CHANCE}|^GET /api/v1/pods\?\S*&limit=1 ")
    node(p, "node-a", cpu="4")
    p.start()

    def old_enough():  # a watch that is cut within its first second, on the clock of the scheduler, counts as failed
        watches, age_ms = p.proxy.open_watches()
        return watches >= 15 and age_ms > 3000

    def refusals():
        return p.scheduler.log().count("onnection refused")

    wait_until("all watches open for a second", old_enough)
    p.user("all connections cut")
    p.proxy.cut_all()
    p.heard()
    wait_until("all watches open for a second", old_enough)
    p.user("pods watch: re-watch answered by a 410")
    p.proxy.cut_all()
    p.heard()
    wait_until("all watches open for a second", old_enough)
    p.user("the API server is killed")
    p.proxy.close_port()
    wait_until("watches refused", refusals, at_least=15)
    pod(p, "after", "10m")
    p.user("the API server is ready again")
    # the response of a restarted server to versions from before its start
    p.injected[p.phase, ("GET", "/api/v1/pods", True)] = [dict(EXPIRED)]
    p.proxy.open_port()
    p.heard()
    p.user("SIGTERM")
    p.over()


TOKENS = {"anonymous": None}
# What DIFFERENCES.md says does not exist.
NOT_SERVED = {("/debug/pprof/", 200), ("/debug/flags/v", 406)}
# These belong to libraries that are not part of this program, or to caches and queues that it does not have.
UNCOUNTED = re.compile(
    r"(aggregator|apiserver|authenticat|authoriz|workqueue|cardinality_enforcement)|"
    r"(disabled|hidden|registered)_metrics_total|kubernetes_feature_enabled|rest_client_(exec_plugin|transport)_"
)
# In the real scheduler another library writes these: the page of one check, and the 404 for an unknown check.
UNLIKE = {("/healthz/leaderElection", "X-Content-Type-Options")}
GROUPS = {
    "token of a user without rights": ("plainuser", []),
    "token of group system:masters": ("admin", ["system:masters"]),
}


def review(e):
    """Answers the scheduler's TokenReviews and SubjectAccessReviews as the real server did."""
    path, body = e["request"]["path"], e["request"].get("body", {})
    if path.endswith("/tokenreviews"):
        name, groups = GROUPS.get(body["spec"]["token"], (None, []))
        status = (
            {"user": {}, "error": "invalid bearer token"}
            if name is None
            else {"authenticated": True, "user": {"username": name, "groups": groups + ["system:authenticated"]}}
        )
    elif path.endswith("/subjectaccessreviews"):
        public = body["spec"]["nonResourceAttributes"]["path"] == "/version"  # system:public-info-viewer
        status = {"allowed": public or "system:masters" in body["spec"].get("groups", [])}
    else:
        return None
    return {"status": 201, "headers": {"Content-Type": "application/json"}, "body": {**body, "status": status}}


def families(text):
    """Returns for each metric its type and the names of its labels."""
    found = {name: [kind] for name, kind in re.findall(r"^# TYPE (\S+) (\S+)", text, re.M)}
    for name, labels in re.findall(r"^(\w+)(?:\{(.*)\})? \S+$", text, re.M):
        family = name if name in found else re.sub("_(bucket|sum|count)$", "", name)
        names = set(re.findall(r'(\w+)="', labels)) - ({"le"} if found[family][0] == "histogram" else set())
        found[family][1:] = sorted(set(found[family][1:]) | names)
    return found


def test_own_http_45():
    head, answers = load("45")
    api = Api.start(flags=["--emulated-version=1.29"])
    api.post("/api/v1/namespaces", {"metadata": {"name": "wire"}})
    proxy = Recorder(api.port, review)
    path, certificates = write_file("conversation-45.json", head["configuration"]), scratch("conversation-45")
    os.mkdir(certificates)
    port = free_port()
    s = Scheduler(
        proxy.url,
        f"--config={path}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={certificates}",
        name="conversation-45",
        bare=True,
    )
    s.wait_for_log(f"Serving securely on 127.0.0.1:{port}")
    api.add_node("node-a")
    api.add_pod("m1", namespace="wire")
    api.add_pod("m2", namespace="wire", cpu="50")
    s.wait_metric("scheduler_pod_scheduling_attempts_count", 1)  # m1 is bound
    s.wait_metric('scheduler_pending_pods{queue="unschedulable"}', 1)  # and m2 is not
    trust = ssl.create_default_context(cafile=os.path.join(certificates, "kube-scheduler.crt"))
    for a in answers:
        c = http.client.HTTPSConnection("127.0.0.1", port, timeout=30, context=trust)
        token = TOKENS.get(a["credentials"], a["credentials"])
        c.request(a["method"], a["path"], headers={"Authorization": f"Bearer {token}"} if token else {})
        r = c.getresponse()
        text = r.read().decode()
        c.close()
        what = (a["method"], a["path"], a["credentials"], r.status, text[:300])
        if (a["path"], a["status"]) in NOT_SERVED:
            assert r.status == 404, what
            continue
        if a["path"] == "/" and r.status == 200:  # pkg/scheduler/DIFFERENCES.md: lists the pages
            assert "/metrics" in text, what
            continue
        assert r.status == a["status"], what
        for name in ("Content-Type", "X-Content-Type-Options", "Cache-Control"):
            if (a["path"], name) not in UNLIKE:
                assert r.getheader(name) == a["headers"].get(name), (name, a["headers"], what)
        if "body" in a:
            theirs = a["body"] if isinstance(a["body"], str) else json.dumps(a["body"])
            assert (text if isinstance(a["body"], str) else json.dumps(json.loads(text))) == theirs, (what, theirs)
        theirs, ours = a.get("families", {}), families(text)
        unlike = {
            name: (theirs[name], ours.get(name))
            for name in theirs
            if theirs[name] != ours.get(name) and not UNCOUNTED.match(name)
        }
        assert not unlike, f"{a['path']}: theirs and ours: {unlike}"
        # What is omitted must really be absent, so that the documents stay right about it.
        assert not [name for name in ours if UNCOUNTED.match(name)], ours
    assert s.stop() == 0


def test_protobuf_start_47():
    p = begin("47", bodies=False)
    node(p, "node-a")
    p.user("default content type (protobuf)")
    p.start()
    p.scheduler.wait_for_log("successfully acquired lease")
    pod(p, "pb-1", "100m")
    pod(p, "pb-big", "50")
    p.heard()

    def requests_for_the_lock():
        return len(p.lane("lock", WHOLE))

    wait_until("47: a renewal", requests_for_the_lock, at_least=4)
    p.over()


def documents_have_the_differences():
    differences_are_told(DIFFERENCES)


harness.main(globals(), at_once=True, afterwards=documents_have_the_differences)
