"""What the Python tests share: where the programs are, objects of a cluster, checks, and the running of test functions.

A test script holds functions named test_... and ends with

    harness.main(globals())

It runs all of them in the order of the file, or those that the command line names: test/schedsim_run_test.py test_preempt.
A function checks with check(), which goes on after a failure, or with assert, which ends the function. The script prints
failures only, and its exit status is 0 when there were none.
"""
import json
import os
import subprocess
import sys
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(os.path.abspath(os.environ.get("OUT") or os.path.join(ROOT, "_output")), "bin")
_failed = []


def check(what, ok, seen=""):
    """Reports `what` as failed unless `ok`; `seen` says what there was instead."""
    if not ok:
        _failed.append(what)
        print("FAILED: %s: %s" % (what, str(seen)[:2000]))


def main(functions):
    """Runs the test functions among these (a script's globals()) and ends the process."""
    tests = {name: f for name, f in functions.items() if name.startswith("test_") and callable(f)}
    chosen = sys.argv[1:] or list(tests)
    unknown = [name for name in chosen if name not in tests]
    if unknown:
        sys.exit("%s: there is no test %s; there are: %s" % (sys.argv[0], ", ".join(unknown), " ".join(tests)))
    for name in chosen:
        try:
            tests[name]()
        except Exception:
            _failed.append(name)
            print("FAILED: %s\n%s" % (name, traceback.format_exc()))
    if not tests:
        sys.exit("%s: there is no test function" % sys.argv[0])
    sys.exit(1 if _failed else 0)


def schedsim(*words, feed=None, env=None):
    """Runs schedsim; returns its exit status, standard output and standard error. `feed` is its standard input: bytes, a
    text, or an object to be written as JSON."""
    if isinstance(feed, (dict, list)):
        feed = json.dumps(feed)
    if isinstance(feed, str):
        feed = feed.encode()
    run = subprocess.run([os.path.join(BIN, "schedsim"), *words], input=feed, stdin=subprocess.DEVNULL if feed is None else None,
                         capture_output=True, env=dict(os.environ, **(env or {})))
    return run.returncode, run.stdout.decode(errors="replace"), run.stderr.decode(errors="replace")


def node(name="n1", zone=None, cpu="4", memory="8Gi", pods="110", labels=None, allocatable=None, ready="True", status=None,
         **spec):
    """A Node. `allocatable` adds resources, `status` replaces members of the status, `spec` is spec's members."""
    labels = dict(labels or {})
    labels.setdefault("kubernetes.io/hostname", name)
    if zone is not None:
        labels["failure-domain.beta.kubernetes.io/zone"] = zone
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
            "status": dict({"allocatable": dict({"cpu": cpu, "memory": memory, "pods": pods}, **(allocatable or {})),
                            "conditions": [{"type": "Ready", "status": ready}]}, **(status or {}))}


def pod(name="p1", cpu="1", memory=None, namespace="ns", on=None, labels=None, port=None, owner=None, meta=None, requests=None,
        **spec):
    """A Pod of one container. `on`: the node where it is bound; `port`: its host port; `owner`: the kind of its controller;
    `meta`: more members of its metadata; `spec` is spec's members."""
    metadata = {"name": name, "namespace": namespace, "uid": name, "labels": labels or {}}
    if owner:
        metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}]
    if requests is None:
        requests = dict({"cpu": cpu}, **({"memory": memory} if memory else {}))
    container = {"name": "c", "resources": {"requests": requests}}
    if port:
        container["ports"] = [{"hostPort": port}]
    if on:
        spec["nodeName"] = on
    spec.setdefault("containers", [container])
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(metadata, **(meta or {})), "spec": spec}


def items(*objects):
    """A List of objects."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
