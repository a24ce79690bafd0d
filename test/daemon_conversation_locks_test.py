#!/usr/bin/env python3
"""Replays the recorded conversations of the real kube-scheduler 1.19 with ours, as daemon_conversation_test.py does for
1.10."""
import copy

import harness
from conversation import *
from conversation_play import Play, differences_are_told
from harness import node, pod

PODS = "/api/v1/namespaces/default/pods"


def released(lines):
    """Adds that the lock is given up at the end, in both of its objects."""
    last = lines[-3:]
    nobody = rewritten(
        r'(holderIdentity\\?": ?\\?")<host>_<uuid>(.*[sS]econds\\?": ?)15(.*)<later( micro time)?>',
        r"\1\g<2>1\3<the same\4>",
    )
    return lines + nobody(last)


DIFFERENCES = [
    # Only lists may be compressed.
    Difference(
        "`Accept-Encoding: gzip`",
        r"",
        rewritten(r"^(?!GET \S+[?&](?:limit|resourceVersion)=(?![^(]*watch=true))(.*); accept-encoding: gzip", r"\1"),
    ),
    Difference("user agent", r"events about", rewritten("as scheduler", "as events")),
    Difference("user agent", r"/apis/events.k8s.io/v1$", rewritten("as scheduler", "as events")),
    Difference("releases the lock", r"lock$", released),
    Difference(
        "with its uid as precondition",
        r"pod default/a$",
        rewritten(r'pods/a( .*"DeleteOptions")', r'pods/a\1, "preconditions": {"uid": "<uid of a>"}'),
    ),
    Difference(
        "with its uid as precondition",
        r"pod default/low$",  # no event has been about it
        rewritten(r'pods/low( .*"DeleteOptions")', r'pods/low\1, "preconditions": {"uid": "<unknown uid>"}'),
    ),
]


class PlayedToSmallServer(Play):
    """The server of the recordings fills in nothing when it stores an object, so that locks, and events about them,
    have no uid. What depends on the moment is not compared: the order of the two events about the lock's objects, and
    whether the first renewal is in the second of the acquisition."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.at_any_moment(self.want)

    def ours(self):
        reading = super().ours()
        self.at_any_moment(reading.lanes)
        return reading

    def at_any_moment(self, lanes):
        for (_, lane), lines in lanes.items():
            if lane == "events about kube-system/kube-scheduler":
                lines[:] = sorted(rewritten(r"<event \d>", "<event>")(lines), key=lambda line: line.text)
            if lane == "lock":
                later = rewritten(r'(^PUT .*15,.*"renewTime\\?":\\?")<the same>', r"\1<later>")
                lines[:] = without_repetitions(later(lines))

    def certain(self, entries):
        kept = copy.deepcopy(super().certain(entries))
        for e in kept:
            body = e.get("request", {}).get("body")
            if not isinstance(body, dict):
                continue
            if body.get("kind") in ("Endpoints", "ConfigMap", "Lease"):
                for filled_in in ("uid", "selfLink", "creationTimestamp"):
                    body["metadata"].pop(filled_in, None)
            if body.get("kind") == "Event":
                about = body.get("involvedObject", {})
                if about.get("name") == "kube-scheduler":
                    about.pop("uid", None)
        return kept


def begin(number):
    p = PlayedToSmallServer(
        number,
        DIFFERENCES,
        release="1.19",
        left_out="extension-apiserver-authentication",
        # Whether pod dying is shown before it is being deleted, and whether, on a slow machine, the back-off of the
        # pods that fit nowhere is over when binding it fails, which makes room.
        by_chance=r'/dying|"dying|pod dying.* \| .*\b(big|claimless)\b|^user labels pod big.* \| .*\bclaimless\b',
        api_flags=["--disable-admission-plugins=DefaultTolerationSeconds"],
    )
    for name, value in (("lower", -5), ("middle", 10), ("high", 100)):
        p.call(
            "POST",
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value},
        )
    # The recorded scheduler took n1 of two equal nodes, at random.
    for name, taints in (("n1", []), ("n2", [{"key": "second", "effect": "PreferNoSchedule"}])):
        p.call("POST", "/api/v1/nodes", node(name, "1", "4Gi", taints=taints))
    return p


def create(p, name, cpu="100m", finalizers=None, **spec):
    o = pod(name, cpu)
    o["spec"].update(spec, terminationGracePeriodSeconds=0)  # the recorded server deletes pods at once
    if finalizers:
        o["metadata"]["finalizers"] = finalizers
    p.call("POST", PODS, o)


def play(number):
    p = begin(number)
    p.user("kube-scheduler starts")
    p.start()
    p.heard()
    p.user("user creates pod a")
    create(p, "a", "500m")
    p.heard()
    p.user("pods low")
    create(p, "low", "400m", priorityClassName="lower", nodeName="n1")
    create(p, "b", "700m", priorityClassName="middle")
    p.heard()
    p.user("user creates pod c")
    create(p, "c", "700m", priorityClassName="high")
    p.heard()
    p.user("user creates pod big")
    create(p, "big", "3")
    p.heard()
    p.user("user creates pod claimless")
    create(p, "claimless", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "nope"}}])
    p.heard()
    p.user("user creates and deletes pod dying")
    create(p, "dying", finalizers=["wire/f"])
    p.api.call("DELETE", PODS + "/dying")
    p.heard()
    p.user("user labels pod big")
    p.call("PATCH", PODS + "/big", {"metadata": {"labels": {"seen": "again"}}}, "application/merge-patch+json")
    p.heard()
    p.renewed()
    return p


def test_default():
    play("60").over()


def test_configmapsleases():
    play("61").over()


def test_told():
    differences_are_told(DIFFERENCES)


harness.main(globals())
