#!/usr/bin/env python3
"""Tests what kube-scheduler asks a server of the release that it emulates, in every release: the kinds that it follows
and how, its lock, how it writes what became of a pod, and that it preempts."""
import json
import re

import harness
from harness import Api, Proxy, Scheduler, node, pod, wait_until, write_file, write_objects

CORE = {
    "/api/v1/" + kind
    for kind in ("nodes", "pods", "services", "replicationcontrollers", "persistentvolumes", "persistentvolumeclaims")
}
APPS = {"/apis/apps/v1/replicasets", "/apis/apps/v1/statefulsets"}
STORAGE = "/apis/storage.k8s.io/v1/"
BUDGETS = {"/apis/policy/v1/poddisruptionbudgets"}
OLD_BUDGETS = {"/apis/policy/v1beta1/poddisruptionbudgets"}
LATER = {
    STORAGE + kind for kind in ("storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments")
} | {"/api/v1/namespaces"}
DEVICES = {"/apis/resource.k8s.io/v1/" + kind for kind in ("resourceclaims", "resourceslices", "deviceclasses")}
KINDS = {
    "1.8": CORE | {"/apis/extensions/v1beta1/replicasets", "/apis/apps/v1beta1/statefulsets"},
    "1.9": CORE | OLD_BUDGETS | {"/apis/extensions/v1beta1/replicasets", "/apis/apps/v1beta1/statefulsets"},
    "1.10": CORE
    | OLD_BUDGETS
    | {"/apis/extensions/v1beta1/replicasets", "/apis/apps/v1beta1/statefulsets", STORAGE + "storageclasses"},
    "1.13": CORE | APPS | OLD_BUDGETS | {STORAGE + "storageclasses"},
    "1.19": CORE | APPS | OLD_BUDGETS | {STORAGE + "storageclasses", STORAGE + "csinodes"},
    "1.29": CORE | APPS | BUDGETS | LATER,
    "1.36": CORE | APPS | BUDGETS | LATER | DEVICES,
}
LOCKS = {
    "1.8": {"endpoints"},
    "1.9": {"endpoints"},
    "1.10": {"endpoints"},
    "1.13": {"endpoints"},
    "1.19": {"endpoints", "leases"},
    "1.29": {"leases"},
    "1.36": {"leases"},
}
SAYS = {"1.8": "No nodes are available that match all of the predicates: Insufficient cpu (1)."}
SERIES = ("1.19", "1.29", "1.36")  # events in events.k8s.io/v1, and conditions as patches
STREAMS = ("1.36",)


def path_of(target):
    return target.partition("?")[0]


def test_what_each_release_asks_for():
    for release, kinds in KINDS.items():
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="4")]), flags=["--emulated-version=" + release])
        proxy = Proxy(api.port)
        s = Scheduler(proxy.url, "--emulated-version=" + release, leader_elect=True)
        api.add_pod("p", cpu="1")
        api.wait_placed("p")
        api.add_pod("big", cpu="99")

        def written():
            return [m for m, p in proxy.seen if path_of(p) == "/api/v1/namespaces/default/pods/big/status"]

        events = (
            "/apis/events.k8s.io/v1/namespaces/default/events"
            if release in SERIES
            else "/api/v1/namespaces/default/events"
        )
        wait_until("its condition", written)
        proxy.wait_asked("POST", events)
        assert set(written()) == {"PATCH" if release in SERIES else "PUT"}, (release, written())
        [condition] = wait_until("the condition stored", api.conditions, "big")
        assert (
            condition["reason"] == "Unschedulable" and SAYS.get(release, "1 Insufficient cpu") in condition["message"]
        ), (release, condition)
        assert ("observedGeneration" in condition) == (release in STREAMS), (release, condition)

        def watched():
            return {path_of(p) for m, p in proxy.seen if m == "GET" and "watch=true" in p}

        wait_until("all kinds are watched", watched, at_least=kinds)
        # Where a kind is not in the release, another version of its group may be tried.
        assert watched() - kinds <= {STORAGE + "csinodes", "/apis/storage.k8s.io/v1beta1/csinodes"}, (
            release,
            watched() ^ kinds,
        )
        streamed = {path_of(p) for m, p in proxy.seen if "sendInitialEvents=true" in p}
        assert streamed == (kinds if release in STREAMS else set()), (release, streamed)
        locks = {
            m[1]
            for verb, p in proxy.seen
            if verb in ("POST", "PUT")
            and (m := re.search("/kube-system/(endpoints|leases)(?:/kube-scheduler)?$", path_of(p)))
        }
        assert locks == LOCKS[release], (release, locks)
        assert s.stop() == 0


def test_a_node_that_a_bind_does_not_find():
    """Until 1.29 the node is read, to drop it if it is gone."""
    missing = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": 'nodes "n0" not found',
        "reason": "NotFound",
        "details": {"name": "n0", "kind": "node"},
        "code": 404,
    }
    for release, reads in (("1.29", True), ("1.36", False)):
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="4")]), flags=["--emulated-version=" + release])
        binds = []

        def fault(method, path):
            if method != "POST" or not path_of(path).endswith("/pods/p/binding"):
                return None
            binds.append(path)
            return (404, {"Content-Type": "application/json"}, json.dumps(missing)) if len(binds) == 1 else None

        proxy = Proxy(api.port, fault)
        s = Scheduler(proxy.url, "--emulated-version=" + release, name="lost-node-" + release)
        api.add_pod("p", cpu="1")
        api.wait_placed("p")
        assert (("GET", "/api/v1/nodes/n0") in [(m, path_of(p)) for m, p in proxy.seen]) == reads, release
        assert s.stop() == 0


def test_how_a_lease_is_released():
    for release, reads in (("1.29", False), ("1.36", True)):
        api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=" + release])
        proxy = Proxy(api.port)
        s = Scheduler(proxy.url, "--emulated-version=" + release, leader_elect=True, name="release-" + release)
        s.wait_for_log("uccessfully acquired lease")
        named = '"Successfully acquired lease" lock="kube-system/kube-scheduler"' in s.log()
        assert named == reads and ('"Attempting to acquire leader lease..." lock=' in s.log()) == reads, s.log()
        before = len(proxy.seen)
        assert s.stop() == 0
        asked = [m for m, p in proxy.seen[before:] if path_of(p).endswith("/leases/kube-scheduler")]
        assert (asked[-2:] == ["GET", "PUT"]) == reads and asked[-1] == "PUT", (release, asked)
        assert (
            api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")["spec"][
                "holderIdentity"
            ]
            == ""
        ), release


def test_what_a_policy_lets_1_19_follow():
    """Owners of pods only if a rule reads them; a Policy without SelectorSpreadPriority does not."""
    owners = {"/api/v1/replicationcontrollers", *APPS}
    for name, priority in (("with", "SelectorSpreadPriority"), ("without", "LeastRequestedPriority")):
        policy = write_file(
            name + ".json",
            json.dumps({"kind": "Policy", "apiVersion": "v1", "priorities": [{"name": priority, "weight": 1}]}),
        )
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="4")]), flags=["--emulated-version=1.19"])
        proxy = Proxy(api.port)
        Scheduler(proxy.url, "--emulated-version=1.19", "--policy-config-file=" + policy, name="policy-" + name)
        api.add_pod("p", cpu="1")
        api.wait_placed("p")
        wanted = KINDS["1.19"] - (set() if name == "with" else owners)

        def watched(proxy=proxy):
            return {path_of(p) for m, p in proxy.seen if m == "GET" and "watch=true" in p}

        wait_until("the kinds are watched", watched, at_least=wanted)
        assert watched() == wanted, (name, watched() ^ wanted)


def test_what_a_profile_lets_1_29_follow():
    """Owners of pods only if a plugin may read them: one of plugin/ may."""
    owners = {"/api/v1/replicationcontrollers", *APPS}
    for name, enabled in (("none", "[]"), ("own", "[{name: MaxReplicasPerNode}]")):
        config = write_file(
            name + ".yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection:"
            " {leaderElect: false}\nprofiles:\n- plugins:\n    multiPoint: {disabled: [{name: PodTopologySpread}]}\n"
            "    filter: {enabled: %s}\n" % enabled,
        )
        api = Api.start(write_objects("cluster.json", [node("n0", cpu="4")]), flags=["--emulated-version=1.29"])
        proxy = Proxy(api.port)
        Scheduler(proxy.url, "--emulated-version=1.29", "--config=" + config, name="follows-" + name)
        api.add_pod("p", cpu="1")
        api.wait_placed("p")
        followed = {path_of(p) for m, p in proxy.seen if m == "GET" and "resourceVersion=" in p}
        assert followed & owners == (owners if name == "own" else set()), (name, followed)


def test_each_release_preempts():
    for release in KINDS:
        api = Api.start(
            write_objects("cluster.json", [node("n0", cpu="1"), pod("low", cpu="1", on="n0", priority=1)]),
            flags=["--emulated-version=" + release],
        )
        proxy = Proxy(api.port)
        s = Scheduler(
            proxy.url,
            "--emulated-version=" + release,
            *(["--feature-gates=PodPriority=true"] if release in ("1.8", "1.9", "1.10") else []),
        )
        high = pod("high", cpu="1")
        high["spec"]["priorityClassName"] = "system-cluster-critical"
        high["metadata"]["namespace"] = "kube-system"
        api.post("/api/v1/namespaces/kube-system/pods", high)
        wait_until("the victim is deleted", proxy.asked, "DELETE", "/pods/low")
        marks = [m for m, p in proxy.seen if m == "PATCH" and "/pods/low/status" in p]
        assert bool(marks) == (release in ("1.29", "1.36")), (release, marks)
        read = [p for m, p in proxy.seen if m == "GET" and path_of(p).endswith("/pods/high")]
        assert read or release in ("1.29", "1.36"), release
        assert s.stop() == 0


PRIORITY = "--feature-gates=PodPriority=true"


def nominations(proxy, name):
    """Returns the annotations of the merge patches of a pod's status."""
    bodies = [json.loads(b) for m, p, b in proxy.bodies if m == "PATCH" and path_of(p).endswith(f"/pods/{name}/status")]
    return [b["metadata"]["annotations"] for b in bodies if "metadata" in b]


def test_nominations_stand_in_an_annotation_up_to_1_9():
    lows = [pod(f"low-{i}", cpu="1", on="n0", priority=i) for i in range(2)]
    for release in ("1.8", "1.9", "1.10"):
        annotated = release != "1.10"
        api = Api.start(
            write_objects("cluster.json", [node("n0", cpu="2"), *lows]), flags=["--emulated-version=" + release]
        )
        proxy = Proxy(api.port)
        s = Scheduler(proxy.url, "--emulated-version=" + release, PRIORITY)
        api.add_priority_class("high", 1000)
        api.add_pod("high", cpu="1", priority_class="high", meta={"annotations": {"mine": "<kept>"}})
        wait_until("a victim", proxy.asked, "DELETE", "")
        high = api.pods()["high"]
        # The nomination comes first, then the eviction with its event.
        steps = [m for m, p in proxy.seen if m == "DELETE" or (m in ("PUT", "PATCH") and "/pods/high/status" in p)]
        assert steps[-2:] == ["PATCH" if annotated else "PUT", "DELETE"], (release, proxy.seen)
        [event] = wait_until("the event on the victim", api.events, reason="Preempted")
        assert event["message"] == "by default/high on node n0", (release, event)
        mark = {"NominatedNodeName": "n0"} if annotated else {}
        assert nominations(proxy, "high") == ([{"mine": "<kept>", **mark}] if annotated else []), proxy.bodies
        assert high["metadata"]["annotations"] == {"mine": "<kept>", **mark}, (release, high)
        assert high["status"].get("nominatedNodeName") == (None if annotated else "n0"), (release, high)
        assert s.stop() == 0
        # The next scheduler finds the nomination and leaves the other pod alone while the victim ends.
        again = Proxy(api.port)
        s = Scheduler(again.url, "--emulated-version=" + release, PRIORITY, name="again")
        s.wait_metric("scheduler_total_preemption_attempts", at_least=1)
        assert not [p for m, p in again.seen if m == "DELETE"] and not nominations(again, "high"), (release, again.seen)
        assert s.stop() == 0


def test_vain_nominations_are_taken_back_from_1_9_on():
    busy = pod("busy", cpu="1", on="n0", priority=2000)
    for release in ("1.8", "1.9"):
        api = Api.start(
            write_objects("cluster.json", [node("n0", cpu="1"), busy]), flags=["--emulated-version=" + release]
        )
        proxy = Proxy(api.port)
        api.add_priority_class("mid", 5)
        api.add_pod("mid", cpu="1", priority_class="mid", meta={"annotations": {"NominatedNodeName": "n0"}})
        s = Scheduler(proxy.url, "--emulated-version=" + release, PRIORITY)
        if release == "1.8":  # it is tried again after its back-off
            s.wait_metric("scheduler_total_preemption_attempts", at_least=2)
        else:
            wait_until("the end of the nomination", nominations, proxy, "mid")
        assert nominations(proxy, "mid") == ([] if release == "1.8" else [{"NominatedNodeName": ""}]), proxy.bodies
        assert s.stop() == 0


harness.main(globals())
