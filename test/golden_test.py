#!/usr/bin/env python3
"""Holds schedsim's decisions against recorded ones of Kubernetes 1.10 and 1.29.

golden/ (1.10) and golden-1.29/ have scenarios with what the real scheduler decided (failures, scores, totals, preemption), traces/ has longer
runs with the placements of each pod, in order. Traces: a production cluster (openb), and synthetic clusters of 1,000
nodes: w3 required anti-affinity by host, w4 preferred affinity by zone, w5 mixed services and taints.

usage: golden_test.py [-v] [FILE...]     -v: also the first difference of each scenario
"""
import glob, gzip, json, os, subprocess, sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata")
SCHEDSIM = os.path.join(os.environ.get("OUT") or "_output", "bin", "schedsim")


def preemption(p):
    return None if p is None else {"node": p.get("node", ""), "victims": sorted(p.get("victims") or []),
                                   "nominatedToClear": sorted(p.get("nominatedToClear") or [])}


def difference(want, got):
    """What differs, what it should be, what it is; None when all that was recorded agrees."""
    if want["pod"] != got.get("pod"):
        return "pod", want["pod"], got.get("pod")
    if want.get("host", "") != got.get("host", ""):
        return "host", want.get("host", ""), (got.get("host"), got.get("error"))
    if "errorParts" in want:
        if not all(part in got.get("error", "") for part in want["errorParts"]):
            return "error", want["errorParts"], got.get("error", "")
    elif want.get("error", "") != got.get("error", ""):
        return "error", want.get("error", ""), got.get("error", "")
    if want.get("notAttempted", "") != got.get("notAttempted", ""):
        return "notAttempted", want.get("notAttempted", ""), got.get("notAttempted", "")
    if want.get("preemptionError", "") != got.get("preemptionError", ""):
        return "preemptionError", want.get("preemptionError", ""), got.get("preemptionError", "")
    if "ties" in want and sorted(want["ties"]) != sorted(got.get("ties") or []):
        return "ties", want["ties"], got.get("ties")
    for key in ("failures", "rejections", "scores", "totals"):
        if want.get(key) is None:
            continue
        w, g = want[key], got.get(key) or {}
        if key == "failures":
            w = {node: sorted(reasons) for node, reasons in w.items()}
        if key == "scores":  # a plugin that is missing scores 0
            w, g = ({node: {p: n for p, n in of.items() if n} for node, of in nodes.items()} for nodes in (w, g))
        for node in sorted(set(w) | set(g)):
            if w.get(node) != g.get(node):
                return key + " of " + node, w.get(node), g.get(node)
    allowed = want.get("preemptionOneOf", [want["preemption"]] if want.get("preemption") is not None else None)
    if allowed is not None and preemption(got.get("preemption")) not in [preemption(p) for p in allowed]:
        return "preemption", allowed, got.get("preemption")
    return None


def run(feed, *args):
    done = subprocess.run([SCHEDSIM, "run", "-", *args], input=feed, capture_output=True)
    if done.returncode != 0:
        print("schedsim run %s: exit %d: %s" % (" ".join(args), done.returncode, done.stderr.decode()[-500:]))
    return done.stdout.decode()


def check_scenarios(path, verbose):
    with gzip.open(path, "rt") as f:
        lines = [json.loads(line) for line in f if line.strip()]
    feed = "".join(json.dumps(dict(line["scenario"], name=line["name"])) + "\n" for line in lines)
    results = [json.loads(line) for line in run(feed.encode(), "-o", "json").splitlines() if line.strip()]
    bad = 0
    for i, line in enumerate(lines):
        want = line["want"]["decisions"]
        got = results[i].get("decisions", []) if i < len(results) else []
        found = None if len(want) == len(got) else ("number of decisions", len(want), len(got))
        for w, g in zip(want, got):
            found = found or difference(w, g)
        if found:
            bad += 1
            if verbose or bad <= 3:
                print("%s: %s: want %s, got %s" % (line["name"], found[0], json.dumps(found[1])[:400], json.dumps(found[2])[:400]))
    print("%s: %d of %d scenarios agree" % (os.path.relpath(path, DATA), len(lines) - bad, len(lines)))
    return bad == 0 and len(lines) > 0


def check_trace(path):
    with gzip.open(path.replace(".json.gz", ".placements.gz"), "rt") as f:
        want = f.read().splitlines()
    with open(path, "rb") as f:
        got = run(f.read(), "-o", "placements").splitlines()
    same = sum(w == g for w, g in zip(want, got))
    print("%s: %d of %d placements agree" % (os.path.relpath(path, DATA), same, len(want)))
    if want != got:
        for i, w in enumerate(want):
            if i >= len(got) or got[i] != w:
                print("  pod %d: want %s, got %s" % (i, w, got[i] if i < len(got) else "nothing"))
                break
    return want == got and len(want) > 0


def main(argv):
    verbose = "-v" in argv
    files = [a for a in argv if a != "-v"] or sorted(
        glob.glob(os.path.join(DATA, "golden*", "*.jsonl.gz")) + glob.glob(os.path.join(DATA, "traces", "*.json.gz")))
    if not os.path.exists(SCHEDSIM):
        print("%s is missing: build it with `make WHAT=cmd/schedsim`" % SCHEDSIM)
        return 1
    agree = [check_trace(f) if f.endswith(".json.gz") else check_scenarios(f, verbose) for f in files]
    return 0 if agree and all(agree) else 1


sys.exit(main(sys.argv[1:]))
