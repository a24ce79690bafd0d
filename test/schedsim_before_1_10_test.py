#!/usr/bin/env python3
"""Releases 1.8 and 1.9: limits of the numbers of volumes. What else they decide otherwise than 1.10 is in
text/decisions_before_1_10.test."""
import json

import harness
from harness import node, pod, schedsim


def stored(o):
    """Gives an object what it has when it is stored, as Scenarios take objects as they are."""
    o["metadata"].setdefault("uid", o["metadata"]["name"])
    if o["kind"] not in ("Node", "PersistentVolume", "StorageClass"):
        o["metadata"].setdefault("namespace", "default")
    return o


def decide(release, cluster, pods, status=0, **how):
    """Returns the decisions about the pods."""
    scenario = {
        "apiVersion": "schedsim/v1",
        "kind": "Scenario",
        "emulatedVersion": release,
        "cluster": {"kind": "List", "apiVersion": "v1", "items": [stored(o) for o in cluster]},
        "pods": [stored(p) for p in pods],
        **how,
    }
    got, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    assert (got, err if got != status else "") == (status, ""), "status of release " + release
    return json.loads(out)["decisions"] if got == 0 else err + out


def policy(predicates=(), priorities=(), **more):
    return dict(
        kind="Policy",
        apiVersion="v1",
        predicates=[{"name": p} for p in predicates],
        priorities=[{"name": p, "weight": 1} for p in priorities],
        **more
    )


def claim(name, volume=None):
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            **({"volumeName": volume} if volume else {}),
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }


def uses(*claims):
    return [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]


def test_volume_limits():
    # 1.8: an unbound claim is an error, and after a missing volume the pod's later volumes are not looked at.
    rules = policy(["MaxEBSVolumeCount"])
    assert (
        decide("1.8", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["error"]
        == 'PersistentVolumeClaim is not bound: "c"'
    ), "1.8"
    assert decide("1.9", [node(), claim("c")], [pod(volumes=uses("c"))], policy=rules)[0]["host"] == "n1", "1.9"
    disks = [{"name": "d%d" % i, "awsElasticBlockStore": {"volumeID": "d%d" % i}} for i in range(40)]
    missing = [claim("gone", "gone"), node()]
    p = pod(volumes=uses("gone") + disks)
    assert decide("1.8", missing, [p], policy=rules)[0]["host"] == "n1", "1.8"
    for release, volumes in (("1.8", disks), ("1.9", disks), ("1.9", uses("gone") + disks)):
        got = decide(release, missing, [pod(volumes=volumes)], policy=rules)[0]
        assert got["failures"] == {"n1": ["MaxVolumeCount"]}, release


def test_missing_claims_count_once_towards_the_limits():
    disks = [{"name": "d%d" % i, "gcePersistentDisk": {"pdName": "d%d" % i}} for i in range(16)]
    rules = policy(["MaxGCEPDVolumeCount"])
    for release, order, host in (
        ("1.8", uses("gone") + disks, "n1"),
        ("1.8", disks + uses("gone"), ""),
        ("1.8", disks[1:] + uses("gone"), "n1"),
        ("1.9", uses("gone") + disks, ""),
        ("1.9", uses("gone") + disks[1:], "n1"),
    ):
        assert decide(release, [node()], [pod(volumes=order)], policy=rules)[0]["host"] == host, "%s, %d volumes" % (
            release,
            len(order),
        )


harness.main(globals())
