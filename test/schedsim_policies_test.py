#!/usr/bin/env python3
"""Each Policy in policies/ is good, has its section in the README, and does what that says on small clusters."""
import csv, glob, io, json, os, subprocess, sys, tempfile

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
    check("there are policies", len(files) >= 5, files)
    reports = {}
    for f in files:
        reports[f] = report(f)
    for f in files:
        check("%s has a section" % f, "\n## %s\n" % f in readme)
        check("%s has no warnings" % f, not reports[f]["warnings"], reports[f]["warnings"])
        check("%s adds no mandatory predicate" % f, not reports[f]["mandatoryAdded"])
        check("%s has the default predicates" % f, reports[f]["predicates"] == reports["default-provider.json"]["predicates"])

    nodes = [node("n%d" % i, {"failure-domain.beta.kubernetes.io/zone": "z%d" % (i % 3)}) for i in range(6)]
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"},
               "spec": {"selector": {"app": "web"}}}
    web = [pod("web-%d" % i, labels={"app": "web"}) for i in range(9)]
    mixed = web + [pod("one-%d" % i, cpu="%dm" % (100 + 150 * i)) for i in range(8)]

    # The spelled out one decides as the provider does.
    check("default-provider.json equals DefaultProvider",
          hosts("default-provider.json", nodes, mixed, [service]) == hosts("DefaultProvider", nodes, mixed, [service]))

    # Pods that need no GPU stay away from the GPU node until nothing else is left.
    gpus = [node("gpu-1", {"gpu-model": "v100"}, cpu="16"), node("plain-1"), node("plain-2")]
    where = hosts("gpu-allocation.json", gpus, [pod("p%d" % i) for i in range(18)])
    check("GPU nodes are filled last", where[:16].count("gpu-1") == 0 and where[16:] == ["gpu-1", "gpu-1"], where)
    for f in ("most-pods.json", "least-fragmentation.json"):
        where = hosts(f, gpus, [pod("p%d" % i) for i in range(4)])
        check("%s keeps GPU nodes free" % f, "gpu-1" not in where, where)

    # The figures in the README are what compare says of the trace, and each policy is better than the default somewhere.
    trace = os.path.join(ROOT, "test/testdata/traces/openb.json.gz")
    run = schedsim("compare", trace, *[w for f in files for w in ("--policy", os.path.join(POLICIES, f))],
                   "--algorithm-provider", "ClusterAutoscalerProvider", "-o", "csv")
    rows = {r["policy"]: r for r in csv.DictReader(io.StringIO(run.stdout))}
    table = {line.split("|")[1].split("=")[-1].strip(" `").replace(".json", ""): [c.strip(" *").replace(",", "") for c in line.split("|")[2:-1]]
             for line in readme.splitlines() if line.startswith("|") and "`" in line}
    check("a line for each policy", set(table) == set(rows), (set(table), set(rows)))
    better = {"placed": 1, "alloc_example_com_gpu_milli": 1, "frag_example_com_gpu_milli": -1, "imbalance": -1, "nodes_in_use": -1}
    for name, r in rows.items():
        said = [r["placed"]] + ["%.1f %%" % (100 * float(r[k])) for k in list(better)[1:4]] + [r["nodes_in_use"]]
        check("the figures of %s" % name, table.get(name) == said, (table.get(name), said))
        if name != "default-provider":
            check("%s is better at something" % name, any(sign * (float(r[k]) - float(rows["default-provider"][k])) > 0 for k, sign in better.items()), r)

    # So are those in the project's own README.
    with open(os.path.join(ROOT, "README.md")) as f:
        section = f.read().split("### Decide with it")[1].split("\n## ")[0]
    lines = [[c.strip() for c in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `policies/") or "Provider |" in line]
    check("the README has figures", len(lines) >= 5, lines)
    for cells in lines:
        name = {"DefaultProvider": "default-provider"}.get(cells[0], cells[0].split("`")[1][9:-5] if "`" in cells[0] else cells[0])
        r = rows[name]
        said = [r["placed"], r["pending"]] + ["%.1f %%" % (100 * float(r[k])) for k in list(better)[1:4]] + [r["nodes_in_use"]]
        check("the README's figures of %s" % name, [c.replace(",", "") for c in cells[1:]] == said, (cells, said))

    extended = json.loads(schedsim("check", os.path.join(ROOT, "plugin/examples/with-extender.json"), "-o", "json").stdout)["extenders"]
    check("with-extender.json has one extender", len(extended) == 1 and len(extended[0]["verbs"]) == 2, extended)
    # It is asked only about pods with its resource: others go their way though nothing listens there.
    check("pods without the resource are not the extender's", hosts("../plugin/examples/with-extender.json", nodes, [pod("p")]) != ["-"])
    return 1 if failed else 0


sys.exit(main())
