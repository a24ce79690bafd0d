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
from harness import BIN, check


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
    check(
        "two runs differ",
        text == generate("--nodes", "7", "--pods", "100", "--templates", "45", "--preload", "3", "--seed", "5"),
    )
    check(
        "the seed does nothing",
        text != generate("--nodes", "7", "--pods", "100", "--templates", "45", "--preload", "3", "--seed", "6"),
    )
    check(
        "zones",
        [n["metadata"]["labels"]["failure-domain.beta.kubernetes.io/zone"] for n in kinds["Node"]]
        == list(map("zone-".__add__, "abcabca")),
    )
    pending = [p for p in kinds["Pod"] if "nodeName" not in p["spec"]]
    check("numbers of nodes and pods", len(kinds["Node"]) == 7 and len(pending) == 100 and len(kinds["Pod"]) == 121)
    sets = {s["metadata"]["name"]: s for s in kinds["ReplicaSet"]}
    services = {s["spec"]["selector"]["app"] for s in kinds["Service"]}
    for i, p in enumerate(pending):
        k = i % 45
        app, owner = p["metadata"]["labels"]["app"], p["metadata"]["ownerReferences"][0]
        check("pod %d: template %s" % (i, app), app == "app-%04d" % k and app in services)
        check("pod %d: owner" % i, owner["uid"] == sets[app]["metadata"]["uid"] and owner["controller"])
        check(
            "pod %d: cpu" % i,
            p["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "%dm" % (50 + 10 * (k % 40)),
        )
    uids = [o["metadata"]["uid"] for items in kinds.values() for o in items]
    check("uids repeat", len(set(uids)) == len(uids))
    zone_of = {
        n["metadata"]["name"]: n["metadata"]["labels"]["failure-domain.beta.kubernetes.io/zone"] for n in kinds["Node"]
    }
    check(
        "pre-00 outside zone-b",
        {zone_of[p["spec"]["nodeName"]] for p in kinds["Pod"] if p["metadata"]["labels"]["app"] == "pre-00"}
        <= {"zone-b"},
    )


def test_likenesses():
    with tempfile.TemporaryDirectory() as d:
        for like in ("w1", "w2", "w3", "w4", "w5", "claims", "local"):
            path = os.path.join(d, like + ".json.gz")
            generate("--nodes", "30", "--pods", "60", "--preload", "4", "--like", like, "-o", path)
            first = open(path, "rb").read()
            generate("--nodes", "30", "--pods", "60", "--preload", "4", "--like", like, "-o", path)
            check(like + ": two runs differ", first == open(path, "rb").read())
            pods = [
                p for p in by_kind(json.loads(gzip.decompress(first))["items"])["Pod"] if "nodeName" not in p["spec"]
            ]
            placed = subprocess.run(
                [BIN + "/schedsim", "run", path, "-o", "placements"], check=True, stdout=subprocess.PIPE, text=True
            )
            hosts = [line.split()[1] for line in placed.stdout.splitlines()]
            check(like + ": not all are placed: %s" % hosts, len(hosts) == 60 and "-" not in hosts)
            if like == "local":
                check(
                    "local: claims",
                    {p["spec"]["volumes"][0]["persistentVolumeClaim"]["claimName"] for p in pods}
                    == {"data-%07d" % i for i in range(60)},
                )
            if like == "claims":  # each on the node of its volume
                check("claims: zones %s" % hosts, all(int(h[5:]) % 3 == i % 3 for i, h in enumerate(hosts)))
            if like == "w2":
                check("w2: zones", {int(h[5:]) % 3 for h in hosts} == {0, 1})
            if like == "w5":
                alike = collections.Counter(json.dumps([p["metadata"]["labels"], p["spec"]]) for p in pods)
                check("w5: only %d kinds among 60 pods" % len(alike), len(alike) > 40)
                tolerant = {p["metadata"]["name"] for p in pods if "tolerations" in p["spec"]}
                check(
                    "w5: taints",
                    all(p["metadata"]["name"] in tolerant or int(h[5:]) % 10 != 8 for p, h in zip(pods, hosts)),
                )
            if like == "w3":
                groups = collections.defaultdict(list)
                for p, h in zip(pods, hosts):
                    groups[p["metadata"]["labels"]["app"]].append(h)
                check("w3: groups", len(groups) == 3 and all(len(set(g)) == len(g) for g in groups.values()))


def test_full_nodes():
    full = generate("--nodes", "5", "--pods", "2", "--full")
    done = subprocess.run([BIN + "/schedsim", "run", "-", "-o", "json"], input=full, check=True, stdout=subprocess.PIPE)
    preemptions = [d["preemption"] for d in json.loads(done.stdout)["decisions"]]
    check(
        "full: %s" % preemptions,
        len(preemptions) == 2 and all(p["node"] and len(p["victims"]) == 2 for p in preemptions),
    )


def test_bad_arguments():
    for args in (
        ["--nodes", "0", "--pods", "1"],
        ["--nodes", "x", "--pods", "1"],
        ["--pods", "1"],
        ["--nodes", "1", "--pods", "1", "--like", "w9"],
    ):
        check(
            "bad arguments %s" % args,
            subprocess.run(
                ["hack/gen-workload", *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            ).returncode
            == 2,
        )


def test_memory():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with open(os.devnull, "wb") as null:
        subprocess.run(["hack/gen-workload", "--nodes", "60000", "--pods", "1"], check=True, stdout=null)
    check(
        "60,000 nodes take more than 64 MiB",
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 64 << 10),
    )


harness.main(globals())
