#!/usr/bin/env python3
"""Each Policy in policies/ is good, has its section in the README, and does what that says on small clusters."""
import glob, json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEDSIM = os.path.join(os.environ.get("OUT") or os.path.join(ROOT, "_output"), "bin", "schedsim")
POLICIES = os.path.join(ROOT, "policies")
failed = []


def check(what, ok, seen=""):
    if not ok:
        failed.append(what)
        print("FAILED: %s %s" % (what, seen))


def schedsim(*words, feed=None):
    return subprocess.run([SCHEDSIM, *words], input=feed, capture_output=True, text=True)


def node(name, labels=None, cpu="4", **spec):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels or {}}, "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110", "example.com/gpu": "0"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, cpu="500m", labels=None, **spec):
    spec.setdefault("containers", [{"name": "c", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}])
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "uid": name, "labels": labels or {}}, "spec": spec}


def hosts(policy, nodes, pods, others=()):
    """Where each pod goes, in order."""
    items = {"apiVersion": "v1", "kind": "List", "items": list(nodes) + list(others) + list(pods)}
    flags = ["--algorithm-provider=" + policy] if not policy.endswith(".json") else \
        ["--policy-config-file=" + os.path.join(POLICIES, policy)]
    run = schedsim("run", "-", "-o", "placements", *flags, feed=json.dumps(items))
    check("%s runs" % policy, run.returncode == 0, run.stderr)
    return [line.split()[1] for line in run.stdout.splitlines()]


def report(policy):
    run = schedsim("check-policy", os.path.join(POLICIES, policy), "-o", "json")
    check("%s is good" % policy, run.returncode == 0, run.stdout + run.stderr)
    return json.loads(run.stdout)


def main():
    files = sorted(os.path.basename(f) for f in glob.glob(os.path.join(POLICIES, "*.json")))
    with open(os.path.join(POLICIES, "README.md")) as f:
        readme = f.read()
    check("there are policies", len(files) >= 6, files)
    reports = {}
    for f in files:
        reports[f] = report(f)
        check("%s has a section" % f, "\n## %s\n" % f in readme)
        check("%s has no warnings" % f, not reports[f]["warnings"], reports[f]["warnings"])
        check("%s adds no mandatory predicate" % f, not reports[f]["mandatoryAdded"])
        check("%s has the default predicates" % f, reports[f]["predicates"] == reports["bin-packing.json"]["predicates"])

    nodes = [node("n%d" % i, {"failure-domain.beta.kubernetes.io/zone": "z%d" % (i % 3)}) for i in range(6)]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
               "spec": {"selector": {"app": "web"}}}
    web = [pod("web-%d" % i, labels={"app": "web"}) for i in range(9)]
    mixed = web + [pod("one-%d" % i, cpu="%dm" % (100 + 150 * i)) for i in range(8)]

    # The spelled out ones decide as the providers do.
    for f, provider in (("default-provider.json", "DefaultProvider"),
                        ("cluster-autoscaler.json", "ClusterAutoscalerProvider")):
        check("%s equals %s" % (f, provider), hosts(f, nodes, mixed, [service]) == hosts(provider, nodes, mixed, [service]))

    # Eight pods of half a cpu fill one node of four before another is begun; the default uses all six.
    singles = [pod("p%d" % i) for i in range(8)]
    packed = hosts("bin-packing.json", nodes, singles)
    check("bin packing fills a node", len(set(packed)) == 1, packed)
    check("the default spreads", len(set(hosts("DefaultProvider", nodes, singles))) == 6)

    # Three zones get three pods each, though one zone has four times the nodes.
    lopsided = [node("a%d" % i, {"failure-domain.beta.kubernetes.io/zone": "a"}) for i in range(8)] + \
               [node("b1", {"failure-domain.beta.kubernetes.io/zone": "b"}), node("c1", {"failure-domain.beta.kubernetes.io/zone": "c"})]
    spread = [h[0] for h in hosts("spread-by-zone.json", lopsided, web, [service])]
    check("zones share evenly", sorted(spread.count(z) for z in "abc") == [3, 3, 3], spread)

    # Pods that need no GPU stay away from the GPU node until nothing else is left.
    gpus = [node("gpu-1", {"gpu": "v100"}, cpu="16"), node("plain-1"), node("plain-2")]
    where = hosts("gpu.json", gpus, [pod("p%d" % i) for i in range(18)])
    check("GPU nodes are filled last", where[:16].count("gpu-1") == 0 and where[16:] == ["gpu-1", "gpu-1"], where)

    extenders = reports["with-extender.json"]["extenders"]
    check("with-extender.json has one extender", len(extenders) == 1 and len(extenders[0]["verbs"]) == 2, extenders)
    # It is asked only about pods with its resource: others go their way though nothing listens there.
    check("pods without the resource are not the extender's", hosts("with-extender.json", nodes, [pod("p")]) != ["-"])
    return 1 if failed else 0


sys.exit(main())
