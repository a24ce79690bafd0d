#!/usr/bin/env python3
"""Clusters of many shapes (hack/gen-shape): what the incremental scheduler places is what the reference scheduler places."""
import json, os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEDSIM = os.path.join(os.environ.get("OUT") or os.path.join(ROOT, "_output"), "bin", "schedsim")
GENERATOR = os.path.join(ROOT, "hack/gen-shape")

# Keys that make a shape matter with few nodes: more domains than fit groups, and fewer kinds than there are pods, so that
# pods of one kind come again.
KEYS = {
    "aff-zone": ["zones=33"], "pref-zone": ["zones=20"], "w1": ["zones=20"], "rs-many": ["T=30"], "infeasible": ["T=20"],
    "infeasible-sel": ["T=20"], "image": ["T=20"], "avoid": ["T=20"], "anti-terms": ["T=40"], "nominated": ["K=30"],
    "preempt": ["pdbs=20"], "wffc-any": ["K=60"], "wffc-local": ["V=2"], "unlike": ["T=30"], "terms": ["T=50"],
}
MORE = [("preempt", ["anti=1"]), ("preempt", []), ("wffc-local", ["V=1"]), ("w1", []), ("pref10", ["zones=30"])]
failed = []


def shapes():
    listed = subprocess.run([GENERATOR], capture_output=True, text=True).stderr
    return listed.split("Shapes: ")[1].split()


def run(path, *words):
    done = subprocess.run([SCHEDSIM, "run", path, *words], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        failed.append("schedsim run %s: exit %d: %s" % (" ".join(words), done.returncode, done.stderr[-1000:]))
    return done.stdout


def compare(shape, keys, nodes=40, pods=120):
    name = " ".join([shape, str(nodes), str(pods), *keys])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.json")
        subprocess.run([GENERATOR, shape, str(nodes), str(pods), "o=" + path, *keys], check=True)
        incremental = [line.split() for line in run(path, "-o", "placements").splitlines() if not line.startswith("#")]
        decisions = json.loads(run(path, "-o", "json") or "{}").get("decisions", [])
    reference = [[d["pod"], d["host"] or "-"] for d in decisions]
    if not reference or incremental != reference:
        different = next((a for a in zip(incremental, reference) if a[0] != a[1]), (len(incremental), len(reference)))
        failed.append("%s: the incremental scheduler and the reference scheduler differ: %s" % (name, different))
    return len(reference)


cases = [(s, KEYS.get(s, [])) for s in shapes()] + MORE
decided = sum(compare(shape, keys) for shape, keys in cases)
if len(cases) < 35 or decided < 100 * len(cases):
    failed.append("only %d decisions in %d shapes were compared" % (decided, len(cases)))
for f in failed:
    print("FAILED: " + f)
sys.exit(1 if failed else 0)
