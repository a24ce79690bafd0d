#!/usr/bin/env python3
"""Tests hack/gen-workload: it writes what it says, the same for the same arguments, with little memory; schedsim places
it."""
import collections
import gzip
import json
import os
import resource
import subprocess
import tempfile

import harness
from harness import BIN


def generate(*args):
    return subprocess.run(["hack/gen-workload", *args], check=True, stdout=subprocess.PIPE).stdout


def by_kind(items):
    kinds = collections.defaultdict(list)
    for i in items:
        kinds[i["kind"]].append(i)
    return kinds


def test_objects():
    text = generate("--nodes", "7", "--pods", "100", "--templates", "45", "--preload", "3", "--seed", "5")
    kinds = by_kind(json.loads(text)["items"])
    assert text == generate(
        "--nodes", "7", "--pods", "100", "--templates", "45", "--preload", "3", "--seed", "5"
    ), "two runs differ"
    assert text != generate(
        "--nodes", "7", "--pods", "100", "--templates", "45", "--preload", "3", "--seed", "6"
    ), "the seed does nothing"
    assert [n["metadata"]["labels"]["failure-domain.beta.kubernetes.io/zone"] for n in kinds["Node"]] == list(
        map("zone-".__add__, "abcabca")
    ), "zones"
    pending = [p for p in kinds["Pod"] if "nodeName" not in p["spec"]]
    assert len(kinds["Node"]) == 7 and len(pending) == 100 and len(kinds["Pod"]) == 121, "numbers of nodes and pods"
    sets = {s["metadata"]["name"]: s for s in kinds["ReplicaSet"]}
    services = {s["spec"]["selector"]["app"] for s in kinds["Service"]}
    for i, p in enumerate(pending):
        k = i % 45
        app, owner = p["metadata"]["labels"]["app"], p["metadata"]["ownerReferences"][0]
        assert app == "app-%04d" % k and app in services, "pod %d: template %s" % (i, app)
        assert owner["uid"] == sets[app]["metadata"]["uid"] and owner["controller"], "pod %d: owner" % i
        assert p["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "%dm" % (50 + 10 * (k % 40)), (
            "pod %d: cpu" % i
        )
    uids = [o["metadata"]["uid"] for items in kinds.values() for o in items]
    assert len(set(uids)) == len(uids), "uids repeat"
    zone_of = {
        n["metadata"]["name"]: n["metadata"]["labels"]["failure-domain.beta.kubernetes.io/zone"] for n in kinds["Node"]
    }
    assert {zone_of[p["spec"]["nodeName"]] for p in kinds["Pod"] if p["metadata"]["labels"]["app"] == "pre-00"} <= {
        "zone-b"
    }, "pre-00 outside zone-b"


def test_likenesses():
    with tempfile.TemporaryDirectory() as d:
        for like in ("w1", "w2", "w3", "w4", "w5", "claims", "local"):
            path = os.path.join(d, like + ".json.gz")
            generate("--nodes", "30", "--pods", "60", "--preload", "4", "--like", like, "-o", path)
            first = open(path, "rb").read()
            generate("--nodes", "30", "--pods", "60", "--preload", "4", "--like", like, "-o", path)
            assert first == open(path, "rb").read(), like + ": two runs differ"
            pods = [
                p for p in by_kind(json.loads(gzip.decompress(first))["items"])["Pod"] if "nodeName" not in p["spec"]
            ]
            placed = subprocess.run(
                [BIN + "/schedsim", "run", path, "-o", "placements"], check=True, stdout=subprocess.PIPE, text=True
            )
            hosts = [line.split()[1] for line in placed.stdout.splitlines()]
            assert len(hosts) == 60 and "-" not in hosts, like + ": not all are placed: %s" % hosts
            if like == "local":
                assert {p["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] for p in pods} == {
                    "data-%07d" % i for i in range(60)
                }, "local: claims"
            if like == "claims":  # each on the node of its volume
                assert all(int(h[5:]) % 3 == i % 3 for i, h in enumerate(hosts)), "claims: zones %s" % hosts
            if like == "w2":
                assert {int(h[5:]) % 3 for h in hosts} == {0, 1}, "w2: zones"
            if like == "w5":
                alike = collections.Counter(json.dumps([p["metadata"]["labels"], p["spec"]]) for p in pods)
                assert len(alike) > 40, "w5: only %d kinds among 60 pods" % len(alike)
                tolerant = {p["metadata"]["name"] for p in pods if "tolerations" in p["spec"]}
                assert all(
                    p["metadata"]["name"] in tolerant or int(h[5:]) % 10 != 8 for p, h in zip(pods, hosts)
                ), "w5: taints"
            if like == "w3":
                groups = collections.defaultdict(list)
                for p, h in zip(pods, hosts):
                    groups[p["metadata"]["labels"]["app"]].append(h)
                assert len(groups) == 3 and all(len(set(g)) == len(g) for g in groups.values()), "w3: groups"


def test_full_nodes():
    full = generate("--nodes", "5", "--pods", "2", "--full")
    done = subprocess.run([BIN + "/schedsim", "run", "-", "-o", "json"], input=full, check=True, stdout=subprocess.PIPE)
    preemptions = [d["preemption"] for d in json.loads(done.stdout)["decisions"]]
    assert len(preemptions) == 2 and all(p["node"] and len(p["victims"]) == 2 for p in preemptions), (
        "full: %s" % preemptions
    )


def test_bad_arguments():
    for args in (
        ["--nodes", "0", "--pods", "1"],
        ["--nodes", "x", "--pods", "1"],
        ["--pods", "1"],
        ["--nodes", "1", "--pods", "1", "--like", "w9"],
    ):
        assert (
            subprocess.run(
                ["hack/gen-workload", *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
            == 2
        ), ("bad arguments %s" % args)


def test_memory():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(os.devnull, "wb") as null:
        subprocess.run(["hack/gen-workload", "--nodes", "60000", "--pods", "1"], check=True, stdout=null)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(
        before, 64 << 10
    ), "60,000 nodes take more than 64 MiB"


harness.main(globals())
