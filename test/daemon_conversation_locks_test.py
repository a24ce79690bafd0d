#!/usr/bin/env python3
"""Replays the recorded conversations of the real kube-scheduler 1.19 with ours, as daemon_conversation_test.py does for 1.10."""
import json
import os
import subprocess
import time

import harness
from conversation import *
from conversation_play import Play, differences_are_told
from harness import node, pod, write_file

PODS = "/api/v1/namespaces/default/pods"
DIFFERENCES = [
    # Only lists may be compressed.
    Difference("`Accept-Encoding: gzip`", r"", rewritten(r"^(?!GET \S+[?&](?:limit|resourceVersion)=(?![^(]*watch=true))(.*); accept-encoding: gzip", r"\1")),
    Difference("user agent", r"events about", rewritten("as scheduler", "as events")),
    Difference("is not asked for first", r"^60|^61 .*/apis/events.k8s.io/v1$", lambda lines: lines),
    Difference("with its uid as precondition", r"pod default/(a|low)$",
               rewritten(r'pods/(a|low)( .*"DeleteOptions")', r'pods/\1\2, "preconditions": {"uid": "<uid of \1>"}')),
]


def begin(number):
    p = Play(number, DIFFERENCES, release="1.19", api_flags=["--disable-admission-plugins=DefaultTolerationSeconds"])
    for name, value in (("lower", -5), ("middle", 10), ("high", 100)):
        p.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses",
               {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value})
    for name in ("n1", "n2"):
        p.call("POST", "/api/v1/nodes", node(name, "1", "4Gi"))
    return p


def create(p, name, cpu="100m", finalizers=None, **spec):
    o = pod(name, cpu)
    o["spec"].update(spec)
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


def test_leases_without_events_v1():
    play("62").over()


def test_told():
    differences_are_told(DIFFERENCES)


harness.main(globals())
