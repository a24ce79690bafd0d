#!/usr/bin/env python3
"""No program and no command loses output in silence: a write that fails is a message and exit status 1."""
import os, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(os.environ.get("OUT") or os.path.join(ROOT, "_output"), "bin")
failed = []

NODE = """apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""
POD = """apiVersion: v1
kind: Pod
metadata: {name: p1, namespace: default}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
"""
POLICY = '{"kind":"Policy","apiVersion":"v1","predicates":[{"name":"PodFitsResources"}],"priorities":[{"name":"LeastRequestedPriority","weight":1}]}'


def check(what, ok, seen=""):
    if not ok:
        failed.append(what)
        print("FAILED: %s: %s" % (what, seen))


def command_lines(folder):
    def file(name, text):
        path = os.path.join(folder, name)
        with open(path, "w") as f:
            f.write(text)
        return path

    cluster, pod, policy = file("cluster.yaml", NODE + "---\n" + POD), file("pod.yaml", POD), file("policy.json", POLICY)
    for program in "kube-scheduler", "schedsim", "hollow-apiserver":
        yield [program, "--help"]
        yield [program, "--version"]
    for o in "table", "json", "placements":
        yield ["schedsim", "run", cluster, "-o", o]
    for o in "table", "json", "yaml":
        yield ["schedsim", "explain", cluster, "--pod", "default/p1", "-o", o]
        yield ["schedsim", "capacity", cluster, "--pod-spec", pod, "-o", o]
        yield ["schedsim", "check-policy", policy, "-o", o]
    yield ["schedsim", "explain", cluster, "--pod", "default/p1", "-o", "wide"]
    yield ["schedsim", "capacity", cluster, "--add-node", "n1"]
    yield ["schedsim", "what-if", cluster, "--cordon", "n1"]
    for o in "table", "csv", "json":
        yield ["schedsim", "compare", cluster, "--algorithm-provider", "DefaultProvider", "-o", o]
    yield ["schedsim", "tune", cluster, "--budget", "3", "--hold-back", "0"]
    yield ["schedsim", "schema", "policy"]
    recording = os.path.join(ROOT, "test/testdata/recordings/evictions.jsonl.gz")
    yield ["schedsim", "replay", recording]
    yield ["schedsim", "anonymise", recording]
    yield ["schedsim", "completion", "bash"]
    yield ["schedsim", "help", "run"]


with tempfile.TemporaryDirectory() as folder:
    for words in command_lines(folder):
        line = [os.path.join(BIN, words[0])] + words[1:]
        name = " ".join(w if "/" not in w or w[0] != "/" else os.path.basename(w) for w in words)
        good = subprocess.run(line, capture_output=True, text=True)
        check("%s prints something" % name, good.returncode == 0 and good.stdout, good.stderr)
        with open("/dev/full", "w") as full:
            run = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
        check("%s >/dev/full" % name, run.returncode == 1 and "No space left on device" in run.stderr, run)
        reader, writer = os.pipe()
        os.close(reader)
        run = subprocess.run(line, stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        check("%s into a closed pipe" % name, run.returncode == 1 and "Broken pipe" in run.stderr, run)

    # A server whose one line of output is lost cannot be found by whoever started it.
    with open("/dev/full", "w") as full:
        run = subprocess.run([os.path.join(BIN, "hollow-apiserver"), "--insecure-port=0"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    check("hollow-apiserver >/dev/full", run.returncode == 1 and "No space left on device" in run.stderr, run)

print("%d failed" % len(failed))
sys.exit(1 if failed else 0)
