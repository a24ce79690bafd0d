#!/usr/bin/env python3
"""Replays the recorded conversations of the real kube-scheduler 1.10 with ours: the user does the same, the same
responses are injected, and the requests must be the same in kind, content and order, except for DIFFERENCES.

conversation.py says how they are compared, testdata/wire-scheduler/README.md where the recordings come from."""
import json
import os
import re
import sys
import time

import harness
from conversation import *
from conversation_play import Play, differences_are_told, in_order
from harness import Api, Scheduler, wait_until

sys.path.append(os.path.join(harness.ROOT, "test", "wire"))
from rec import node, pod  # the objects of the recordings

PODS, NODES = "/api/v1/namespaces/wire/pods", "/api/v1/nodes"
LOCKS = "/api/v1/namespaces/kube-system/endpoints"
LOCK = f"{LOCKS}/kube-scheduler"
POLICY = "/api/v1/namespaces/kube-system/configmaps/scheduler-policy"
ANNOTATION = "control-plane.alpha.kubernetes.io/leader"
CLASSES = "/apis/storage.k8s.io/v1beta1/storageclasses"
HEADERS = "(as {}; accept: application/json, */*{})"
AS_SCHEDULER = HEADERS.format("scheduler", "")


# Release 1.10 has no CSINodes; cmd/kube-scheduler/README.md says that they are followed nevertheless.
CSI_NODES = "^watch .*/csinodes$"


def begin(number, by_chance=None):
    # The recorded server had no admission plugin but Priority.
    return Play(
        number,
        DIFFERENCES,
        left_out=CSI_NODES,
        by_chance=by_chance,
        api_flags=["--disable-admission-plugins=DefaultTolerationSeconds"],
    )


def begin_as_1_13(number, by_chance=None):
    """The same with 1.13 as the release: what it does otherwise than 1.10 is among DIFFERENCES, under "NUMBER as
    1.13"."""
    return Play(
        number,
        DIFFERENCES_OF_1_13,
        release="1.13",
        emulated="1.13",
        left_out=CSI_NODES,
        by_chance=by_chance,
        api_flags=["--disable-admission-plugins=DefaultTolerationSeconds"],
    )


def event(name, number, reason, message, kind="Warning"):
    """Returns the line of an event that the recording does not have."""
    return (
        f"POST /api/v1/namespaces/wire/events {HEADERS.format('events', '; content-type: application/json')} "
        + json.dumps(
            {
                "kind": "Event",
                "apiVersion": "v1",
                "metadata": {"name": f"{name}.<event {number}>", "namespace": "wire", "creationTimestamp": None},
                "involvedObject": {
                    "kind": "Pod",
                    "namespace": "wire",
                    "name": name,
                    "uid": f"<uid of {name}>",
                    "apiVersion": "v1",
                    "resourceVersion": "<version>",
                },
                "reason": reason,
                "message": message,
                "source": {"component": "default-scheduler"},
                "firstTimestamp": "<time>",
                "lastTimestamp": "<time>",
                "count": 1,
                "type": kind,
                "eventTime": None,
                "reportingComponent": "",
                "reportingInstance": "",
            },
            sort_keys=True,
        )
        + " -> 201"
    )


def recorded_lane(number, phase, lane):
    return next(lines for (p, l), lines in Reading(load(number)[1]).lanes.items() if p.startswith(phase) and l == lane)


released = rewritten(
    r'\\"<host>_<uuid>\\",\\"leaseDurationSeconds\\":15,(.*)<later>', r'\"\",\"leaseDurationSeconds\":1,\1<the same>'
)


def given_up(lines):
    """Adds that the lock is given up at the end."""
    return lines + released(lines[-1:])


def as_recorded(*where):
    """Returns a change to the lines of another lane of the recordings."""

    def change(_):
        return recorded_lane(*where)

    return change


def as_another_pod(phase):
    """Returns the first line about a pod of recording 26, as one about wire/n-big."""
    return rewritten("fst", "n-big")(recorded_lane("26", phase, "pod wire/fst")[:1])


def does_not_fit(_):
    """The status of wire/n-big is written, because the pods of other schedulers leave no room for it."""
    return rewritten("409$", "200")(rewritten('"100"', '"1500m"')(as_another_pod("unschedulable pod")))


def does_not_fit_event(_):
    return [Line(event("n-big", 1, "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu."), None)]


def fits_at_last(_):
    """And it is bound when such a pod is deleted, as recorded for when it was bound at once."""
    lines = as_another_pod("event POST answers 403") + recorded_lane("28", "2 pods", "pod wire/n-big")
    return [l._replace(ms=None) for l in lines]


def fits_at_last_event(_):
    return rewritten("event 1", "event 2")(recorded_lane("28", "2 pods", "events about wire/n-big"))


def is_deleted_event(lines):
    """The second event says that the pod is being deleted."""
    said = event("f404", 2, "FailedScheduling", "skip schedule deleting pod: wire/f404")
    return [lines[0], Line(said, None)]


def asks_how_far_it_is(lines):
    """A list of one object is asked for as well, which tells how far the server is."""
    return lines + [Line(re.sub(r"resourceVersion=.*&watch=true", "limit=1", lines[0].text), None)]


# How the documents describe each difference, where it occurs, and what it changes.
OWN_WRITE = "is no reason to try it again"
BIND = "asks the API server before it binds again"
DIFFERENCES = [
    # Recording 28 is of 1.9, which differs from 1.10 in the following.
    Difference("", r"^28 .*(lock|kube-scheduler)$", rewritten(r'"vm(\\"| )', r'"<host>_<uuid>\1')),
    Difference("", r"^28 .*lock$", rewritten(', "subsets": null', "")),
    Difference(
        "",
        r"^28 .*start of",
        as_recorded("20", "kube-scheduler starts", "watch /apis/storage.k8s.io/v1/storageclasses"),
        lane="watch /apis/storage.k8s.io/v1/storageclasses",
    ),
    # It also shows the consequences of not seeing other schedulers' pods.
    Difference("all pods are watched", r"^28 .*2 pods: .*pod wire/n-big", does_not_fit),
    Difference("all pods are watched", r"^28 .*2 pods: .*events about wire/n-big", does_not_fit_event),
    Difference("all pods are watched", r"^28 .*user deletes pod other-sched", fits_at_last, lane="pod wire/n-big"),
    Difference(
        "all pods are watched",
        r"^28 .*user deletes pod other-sched",
        fits_at_last_event,
        lane="events about wire/n-big",
    ),
    Difference(
        "all pods are watched", r"watch /api/v1/pods$", rewritten("spec.schedulerName%3Ddefault-scheduler%2C", "")
    ),
    # Only lists may be compressed.
    Difference(
        "`Accept-Encoding: gzip`",
        r"",
        rewritten(r"^(?!GET \S+[?&](?:limit|resourceVersion)=(?![^(]*watch=true))(.*); accept-encoding: gzip", r"\1"),
    ),
    Difference("user agent", r"events about", rewritten("as leader-election", "as events")),
    Difference(
        "with its uid as precondition",
        r"^21 .*pod wire/low-(.)$",
        rewritten(r'pods/(low-\d)( .*"DeleteOptions")', r'pods/\1\2, "preconditions": {"uid": "<uid of \1>"}'),
    ),
    Difference(
        "is the server's own JSON with the change applied", r"^26 .*pod wire/f", rewritten('"nodeName": "node-a", ', "")
    ),
    Difference(OWN_WRITE, r"^20 .*pod (big|doomed) .*pod wire/(big|doomed)$", only(1, moved(0))),
    Difference(OWN_WRITE, r"^20 .*pod (big|doomed) .*events about wire/(big|doomed)$", only(0)),
    Difference(OWN_WRITE, r"^21 .*creates high-1 .*pod wire/high-1$", only(1, 2, 3)),
    Difference(OWN_WRITE, r"^21 .*creates high-1 .*events about wire/high-1$", only(0)),
    Difference(OWN_WRITE, r"^21 .*creates high-2 .*pod wire/high-2$", only(0, 1, 3)),
    Difference(OWN_WRITE, r"^21 .*creates high-2 .*events about wire/high-2$", only(0, moved(3))),
    Difference(OWN_WRITE, r"^26 .*answers 409 Conflict .*pod wire/f409$", only(0, 1, 3, moved(2))),
    Difference(OWN_WRITE, r"^26 .*answers 404 .*pod wire/f404$", only(0, 1)),
    Difference(OWN_WRITE, r"^26 .*answers 404 .*events about wire/f404$", is_deleted_event),
    Difference(OWN_WRITE, r"^26 .*unschedulable pod.*events about wire/fst$", only(0, 1, 2, 3)),
    Difference(OWN_WRITE, r"^26 .*answers 403 once.*events about wire/fst$", rewritten('"count": 5', '"count": 4')),
    Difference(BIND, r"^26 .*answers 500 once.*pod wire/f500$", only(0, moved(3), 1, 3, moved(2))),
    Difference(BIND, r"^26 .*connection closed .*pod wire/fcut$", only(0, moved(3), moved(2))),
    Difference(BIND, r"^26 .*connection closed .*events about wire/fcut$", without_the_first),
    Difference("how far it is", r"^25 .*all connections are cut.*watch", asks_how_far_it_is),
    Difference("another version of its group", r"^26 .*start; .*watch /apis/storage.k8s.io/v1/", only(0)),
    Difference(
        "another version of its group",
        r"^26 .*start; ",
        also(
            f"GET {CLASSES}?limit=500&resourceVersion=0 {AS_SCHEDULER[:-1]}; accept-encoding: gzip) -> 200",
            f"GET {CLASSES}?resourceVersion=<last seen>&timeoutSeconds=<300..600>&watch=true {AS_SCHEDULER} -> 200",
        ),
        lane=f"watch {CLASSES}",
    ),
    Difference("release the lock", r"^2[08] .*lock$", given_up),
]


def nothing(lines):
    return []


def newer(old, new):
    """Returns how the lane of a watch becomes that of another version, in the first phase."""

    def change(_):
        return [
            Line(l.text.replace(old, new), l.ms) for l in recorded_lane("20", "kube-scheduler starts", "watch " + old)
        ]

    return change


REPLICA_SETS, STATEFUL_SETS = "/apis/extensions/v1beta1/replicasets", "/apis/apps/v1beta1/statefulsets"
# What 1.13 does otherwise than 1.10, and ours otherwise than both.
DIFFERENCES_OF_1_13 = [
    # Pods of other schedulers are watched, too.
    Difference("", r"watch /api/v1/pods$", rewritten("spec.schedulerName%3Ddefault-scheduler%2C", "")),
    Difference("", f"watch ({REPLICA_SETS}|{STATEFUL_SETS})$", nothing),
    Difference(
        "",
        r"^2\d as 1.13 \| (kube-scheduler starts|start )",
        newer(REPLICA_SETS, "/apis/apps/v1/replicasets"),
        lane="watch /apis/apps/v1/replicasets",
    ),
    Difference(
        "",
        r"^2\d as 1.13 \| (kube-scheduler starts|start )",
        newer(STATEFUL_SETS, "/apis/apps/v1/statefulsets"),
        lane="watch /apis/apps/v1/statefulsets",
    ),
    Difference("", r"events about wire/", rewritten("Successfully assigned ", "Successfully assigned wire/")),
    Difference("", r"pod wire/", rewritten('"lastProbeTime": null', '"lastProbeTime": "<time>"')),
    Difference(
        "",
        r"pod wire/",
        rewritten('"dnsPolicy": "ClusterFirst", ', '"dnsPolicy": "ClusterFirst", "enableServiceLinks": true, '),
    ),
    Difference(OWN_WRITE, r"^20 .*pod (big|doomed) .*pod wire/(big|doomed)$", only(1, moved(0))),
    Difference(OWN_WRITE, r"^20 .*pod (big|doomed) .*events about wire/(big|doomed)$", only(0)),
    Difference(OWN_WRITE, r"^21 .*creates high-2 .*events about wire/high-2$", only(0, moved(1))),
    Difference("release the lock", r"^20 .*lock$", given_up),
    Difference(
        "`Accept-Encoding: gzip`",
        r"",
        rewritten(r"^(?!GET \S+[?&](?:limit|resourceVersion)=(?![^(]*watch=true))(.*); accept-encoding: gzip", r"\1"),
    ),
    Difference("user agent", r"events about", rewritten("as leader-election", "as events")),
    Difference(
        "with its uid as precondition",
        r"^21 .*pod wire/low-(.)$",
        rewritten(r'pods/(low-\d)( .*"DeleteOptions")', r'pods/\1\2, "preconditions": {"uid": "<uid of \1>"}'),
    ),
]


def test_lifecycle_20():
    lifecycle(begin("20"))


def test_lifecycle_20_as_1_13():
    lifecycle(begin_as_1_13("20"))


def lifecycle(p):
    p.call("POST", NODES, node("node-a", {"kubernetes.io/hostname": "node-a"}, cpu="2", mem="4Gi"))
    p.user("kube-scheduler starts")
    p.start()
    p.heard()
    p.renewed()
    p.user("idle; now 3 pods")
    for i in (1, 2, 3):
        p.call("POST", PODS, pod(f"web-{i}", labels={"app": "web"}, cpu="500m", mem="128Mi"))
    p.heard()
    p.user("user creates pod big")
    p.call("POST", PODS, pod("big", cpu="1", mem="128Mi"))
    p.heard()
    p.user("user creates pod doomed")
    p.call("POST", PODS, pod("doomed", cpu="50"))
    p.heard()
    p.user("user deletes the pending pod doomed")
    p.call("DELETE", f"{PODS}/doomed")
    p.heard()
    p.user("user adds node-b")
    p.call("POST", NODES, node("node-b", {"kubernetes.io/hostname": "node-b"}, cpu="2", mem="4Gi"))
    p.heard()
    p.user("user patches node-b status heartbeat")
    p.call(
        "PATCH",
        f"{NODES}/node-b/status",
        {"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:05:00Z"}]}},
        "application/strategic-merge-patch+json",
    )
    p.user("user deletes bound pod web-1")
    p.call("DELETE", f"{PODS}/web-1")
    p.call("DELETE", f"{PODS}/web-1?gracePeriodSeconds=0")
    p.renewed()
    p.user("the scheduler's own HTTP endpoints are not proxied; SIGTERM")
    p.over()
    in_order(
        p,
        r"GET .*limit=500",
        r"GET .*/endpoints/kube-scheduler .* 404",
        r"POST .*/endpoints ",
        r"became leader",
        r"POST .*/web-1/binding",
        r"Successfully assigned (wire/)?web-1",
    )
    in_order(
        p,
        r"Successfully assigned (wire/)?web-3",
        r"PUT .*/big/status",
        r"POST .*/big/binding",
        r"Successfully assigned (wire/)?big",
    )


def test_preemption_21():
    preemption(begin("21"))


def test_preemption_21_as_1_13():
    # On a slow machine the second passes for which high-1 or high-2 backs off, and it is tried once more in vain before
    # its victim has ended.
    preemption(
        begin_as_1_13("21", by_chance=r"^(user creates high-|victim).* \| (GET .*/pods|PATCH .*/events)/high-[12]\b")
    )


def preemption(p):
    for name, value in (("high", 1000), ("low", 1)):
        p.api.add_priority_class(name, value)
    p.call("POST", NODES, node("node-a", {"kubernetes.io/hostname": "node-a"}, cpu="2", mem="4Gi"))
    p.user("start without leader election")
    p.start()
    p.heard()
    p.user("user creates low-1, low-2")
    for i in (1, 2):
        p.call("POST", PODS, pod(f"low-{i}", cpu="1", priorityClassName="low"))
    p.heard()
    p.user("user creates high-1")
    p.call("POST", PODS, pod("high-1", cpu="1", priorityClassName="high"))
    p.heard()
    p.user("victim ['low-2'] is terminating")
    p.call("DELETE", f"{PODS}/low-2?gracePeriodSeconds=0")
    p.heard()
    p.user("user creates high-2")

    # The user deletes high-2 as soon as it has preempted, so that it is rarely tried again.
    def deleted_by_the_user(_, path, body):
        if path.endswith("/events") and body["reason"] == "Preempted":
            p.before = None
            p.call("DELETE", f"{PODS}/high-2")

    p.before = deleted_by_the_user
    p.call("POST", PODS, pod("high-2", cpu="1", priorityClassName="high"))
    p.asked('"reason": "Preempted"')
    p.heard()
    p.over()
    in_order(
        p,
        r"PUT .*/high-1/status .*Unschedulable",
        r"PUT .*/high-1/status .*nominatedNodeName",
        r"DELETE .*/low-2 ",
        r"Preempted",
        r"POST .*/high-1/binding",
        r"Successfully assigned (wire/)?high-1",
        r"DELETE .*/low-1 ",
    )


def test_leader_election_22():
    p = begin("22")
    record = {
        "holderIdentity": "someone-else",
        "leaseDurationSeconds": 4,
        "acquireTime": now(),
        "renewTime": now(),
        "leaderTransitions": 0,
    }
    p.call("POST", LOCKS, lock(record))
    p.call("POST", NODES, node("node-a", cpu="2", mem="4Gi"))
    p.user("a lock object held by someone-else")
    p.start()
    p.heard()
    p.renewed()
    asked = [e for e in p.proxy.snapshot() if e.get("request", {}).get("path") == LOCK]
    taken = next(e for e in asked if e["request"]["method"] == "PUT")
    looks = [e["tMs"] for e in asked if e["tMs"] < taken["tMs"]]
    assert 4000 <= taken["tMs"] - looks[0] <= 4000 + 2200 + 2000, "taken after one lease, at the next look"
    assert all(990 <= b - a <= 2200 + 2000 for a, b in zip(looks, looks[1:-1])), looks
    p.renewed_again()
    p.user("it is leader now and renews; next the lock is stolen")
    stolen = p.api.get(LOCK)
    stolen["metadata"]["annotations"][ANNOTATION] = compact(
        {**record, "holderIdentity": "thief", "renewTime": now(), "leaderTransitions": 5}
    )
    del stolen["metadata"]["resourceVersion"]
    p.call("PUT", LOCK, stolen)
    p.ended(1)
    p.heard()
    assert "error: lost lease" in p.scheduler.log()
    p.user("restart; after it is leader")
    p.call("DELETE", LOCK)
    p.start()
    p.heard()
    p.renewed()
    p.renewed_again()
    p.user("API server unreachable")
    p.proxy.refuse = True
    p.proxy.cut_all()
    p.ended(1)
    p.over()


def test_policy_configmap_23():
    p = begin("23")
    p.call("POST", NODES, node("node-a", cpu="2", mem="4Gi"))
    p.user("policy ConfigMap does not exist")
    p.start()
    p.ended(1)
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [{"name": n} for n in ("PodFitsResources", "PodFitsHostPorts", "HostName")],
        "priorities": [{"name": "LeastRequestedPriority", "weight": 1}],
    }
    p.user("policy ConfigMap created")
    p.call(
        "POST",
        POLICY.rpartition("/")[0],
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "scheduler-policy"},
            "data": {"policy.cfg": json.dumps(policy)},
        },
    )
    p.start()
    p.call("POST", PODS, pod("pol-1", cpu="100m"))
    p.heard()
    p.user("policy ConfigMap modified")
    p.call("PATCH", POLICY, {"data": {"policy.cfg": "{}"}}, "application/merge-patch+json")
    assert p.scheduler.stop() == 0
    p.user("ConfigMap with a broken policy")
    p.call(
        "PATCH",
        POLICY,
        {"data": {"policy.cfg": '{"kind": "Policy", "predicates": [{"name": "NoSuch"}]}'}},
        "application/merge-patch+json",
    )
    p.start()
    p.ended(1)
    assert "NoSuch" in p.scheduler.log()
    p.user("ConfigMap without the key")
    p.call("PATCH", POLICY, {"data": {"policy.cfg": None, "other": "x"}}, "application/merge-patch+json")
    p.start()
    p.ended(1)
    assert "policy.cfg" in p.scheduler.log()
    p.over()


def test_reconnect_25():
    # A watch that was opened just before the server became unreachable may still have sent its question how far the
    # server is.
    p = begin("25", by_chance=r"^(server unreachable|reachable again).* \| GET \S+[?&]limit=1 ")
    p.call("POST", NODES, node("node-a", cpu="2", mem="4Gi"))
    p.start()
    p.heard()

    def old_enough():  # a watch that breaks off within its first second counts as failed
        return p.proxy.open_watches()[1] > 3000

    def refused():
        return p.proxy.refused

    wait_until("all watches open for a second", old_enough)
    p.user("all connections are cut")
    p.proxy.cut_all()
    p.heard()
    wait_until("all watches open for a second", old_enough)
    p.user("server unreachable")
    p.proxy.refuse = True
    p.proxy.cut_all()
    wait_until("ten watches and then ten lists refused", refused, at_least=20)
    p.call("POST", PODS, pod("rc-1", cpu="100m"))
    p.user("reachable again")
    p.proxy.refuse = False
    p.heard()
    p.over()


def test_faults_26():
    p = begin("26")
    p.call("POST", NODES, node("node-a", cpu="4", mem="4Gi"))
    p.user("start; injected:")
    p.start()
    p.heard()
    for what, name, cpu in (
        ("binding POST answers 500", "f500", "100m"),
        ("binding POST answers 409", "f409", "100m"),
        ("binding POST: connection closed", "fcut", "100m"),
        ("binding POST answers 404", "f404", "100m"),
        ("binding POST answers 429", "f429", "100m"),
        ("unschedulable pod", "fst", "100"),
        ("event POST answers 403", "fev", "100m"),
    ):
        p.user(what)
        p.call("POST", PODS, pod(name, cpu=cpu))
        if name == "f404":
            p.asked("Binding rejected")
            p.asked("PUT .*/f404/status")
            p.call("DELETE", f"{PODS}/f404")
        p.heard()
    p.over()
    assert not any(p.injected.values()), p.injected
    assert {x["metadata"]["name"] for x in p.api.get(PODS)["items"] if not x["spec"].get("nodeName")} == {"fst"}


def test_scheduler_19_28():
    # On a slow machine a second passes before the user deletes the other pod, and n-big is tried once more in vain. The
    # event of that attempt may come before the deletion or after it.
    p = begin("28", by_chance=r"^2 pods.* \| GET .*/pods/n-big |PATCH .*/events/n-big\.")
    p.call("POST", NODES, node("node-a", {"kubernetes.io/hostname": "node-a"}, cpu="2", mem="4Gi"))
    p.call("POST", PODS, pod("other-sched", node="node-a", cpu="500m", schedulerName="other"))
    p.user("start of kube-scheduler19")
    p.start()
    p.heard()
    p.renewed()
    p.user("2 pods")
    p.call("POST", PODS, pod("n-1", cpu="500m"))
    p.asked("POST .*/n-1/binding")
    p.call("POST", PODS, pod("n-big", cpu="1500m"))
    p.heard()
    p.user("user deletes pod other-sched")
    p.call("DELETE", f"{PODS}/other-sched?gracePeriodSeconds=0")
    p.heard()
    p.over()


def test_own_http_27():
    head, answers = load("27")
    api = Api.start()
    api.post(NODES, node("node-a"))
    s = Scheduler(api.url, *head["flags"], name="conversation-27", bare=True)
    api.post(PODS, pod("m1"))
    s.wait_metric("scheduler_binding_latency_microseconds_count", 1)  # m1 is bound
    for a in answers:
        method, path = a["request"]["method"], a["request"]["path"]
        status, headers, body = s.page(path, method)
        if path == "/":  # pkg/scheduler/DIFFERENCES.md: lists the pages
            assert (a["status"], status) == (404, 200) and "/metrics" in body, (status, body)
            continue
        assert status == a["status"], (method, path, status)
        for name in ("Content-Type", "X-Content-Type-Options"):
            assert headers.get(name) == a["headers"].get(name), (method, path, headers)
        if path == "/configz":
            body, a["body"] = (re.sub(r"127\.0\.0\.1:\d+", "<address>", x) for x in (body, a["body"]))
        if path == "/metrics":
            lacking = set(shape(a["body"])) - set(shape(body)) if method == "GET" else not shape(body)
            assert not lacking, f"{method} /metrics has no {lacking}"
        else:
            assert body == a["body"], (method, path, body)
    assert s.stop() == 0


def shape(metrics):
    """Returns comments, and samples without values except the counts of observations."""
    return [
        line if line.startswith("#") or re.match(r"\w+_count ", line) else line.rpartition(" ")[0]
        for line in metrics.splitlines()
    ]


def test_lock_of_a_go_scheduler():
    """Takes part in an election with the lock that the real scheduler wrote, byte for byte, and renewed repeatedly."""
    head, recorded = load("22")
    theirs = [
        e["request"]["body"]["metadata"]["annotations"][ANNOTATION]
        for e in recorded
        if e.get("request", {}).get("method") in ("POST", "PUT") and e["request"]["body"]["kind"] == "Endpoints"
    ]
    api = Api.start()
    api.post(NODES, node("node-a"))
    held = api.post(LOCKS, lock(theirs[0]))
    proxy = Recorder(api.port)
    s = Scheduler(proxy.url, *head["flags"], name="conversation-go", bare=True)

    def looks():
        return [e for e in proxy.snapshot() if e["request"]["path"] == LOCK and "status" in e]

    def number_of_looks():
        return len(looks())

    def writes():
        return [e for e in looks() if e["request"]["method"] == "PUT"]

    # Each renewal is read before the next. Every change of the record keeps the candidate from the lock for one lease.
    for text in theirs[1:4]:
        seen = number_of_looks()
        wait_until("another look at the lock", number_of_looks, at_least=seen + 1)
        held["metadata"]["annotations"][ANNOTATION] = text
        held["metadata"].pop("resourceVersion", None)
        status, held = api.call("PUT", LOCK, held)
        assert status == 200 and held["metadata"]["annotations"][ANNOTATION] == text, "nobody else wrote"
    changed = number_of_looks()
    taken = wait_until("it takes the lock", writes)[0]
    first_seen = looks()[changed]
    assert taken["tMs"] - first_seen["tMs"] >= 4000, "a whole lease after it saw the last renewal"
    mine = taken["request"]["body"]["metadata"]["annotations"][ANNOTATION]
    assert json.loads(mine)["leaderTransitions"] == json.loads(theirs[3])["leaderTransitions"] + 1
    # The real scheduler can read our record: it has the same members in the same order, and times in whole seconds.
    masks = ((IDENTITY, "<identity>"), (TIME, "<time>"), (r'Transitions":\d+', 'Transitions":<n>'))
    for pattern, mask in masks:
        mine, theirs[0] = re.sub(pattern, mask, mine), re.sub(pattern, mask, theirs[0])
    assert mine == theirs[0], (mine, theirs[0])
    assert s.stop() == 0
    left = json.loads(api.get(LOCK)["metadata"]["annotations"][ANNOTATION])
    assert left["holderIdentity"] == "" and left["leaseDurationSeconds"] == 1, left


def lock(record):
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": "kube-scheduler",
            "annotations": {ANNOTATION: record if isinstance(record, str) else compact(record)},
        },
    }


def compact(record):
    return json.dumps(record, separators=(",", ":"))


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def documents_have_the_differences():
    differences_are_told(DIFFERENCES + DIFFERENCES_OF_1_13)


harness.main(globals(), at_once=True, afterwards=documents_have_the_differences)
