#!/usr/bin/env python3
"""Pods that are resized in place: until a shrink is made, the pod counts for what it was; then pods that wait are
woken."""
import harness
from harness import Api, Scheduler, node, pod, wait_until, write_objects


def resized(name, wanted, given):
    """Returns a running pod that asks for one amount of CPU while the kubelet still gives it another."""
    p = pod(name, cpu=wanted, on="n0")
    p["status"] = {"phase": "Running", "containerStatuses": [status_of(p, given)]}
    return p


def status_of(p, given):
    return {
        "name": p["spec"]["containers"][0]["name"],
        "image": "i",
        "imageID": "i",
        "ready": True,
        "restartCount": 0,
        "resources": {"requests": {"cpu": given}},
        "allocatedResources": {"cpu": given},
    }


def test_a_shrink_that_is_made_wakes_what_waits():
    for release in ("1.10", "1.13", "1.19", "1.29", "1.36"):
        big = resized("big", "1", "5")
        api = Api.start(
            write_objects("cluster.json", [node("n0", cpu="6"), big]),
            flags=["--emulated-version=" + ("1.36" if release == "1.36" else "1.29")],
        )
        s = Scheduler(api.url, "--emulated-version=" + release)
        api.add_pod("waits", cpu="3")
        api.wait_condition("waits", "Insufficient cpu")
        assert not api.placements()["waits"], release
        status, answer = api.call(
            "PATCH",
            "/api/v1/namespaces/default/pods/big/status",
            {"status": {"containerStatuses": [status_of(big, "1")]}},
            "application/strategic-merge-patch+json",
        )
        assert status == 200, answer
        api.wait_placed("waits", on="n0")
        assert s.stop() == 0


harness.main(globals())
