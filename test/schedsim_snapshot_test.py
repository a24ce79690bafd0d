#!/usr/bin/env python3
"""schedsim snapshot against hollow-apiserver: a List that `schedsim run` takes, whose decision is the one that the
daemon makes on the same cluster."""
import gzip
import json
import os
import subprocess

import harness
from harness import BIN, Api, Proxy, Scheduler, node, scratch, status_body, write_objects


def snapshot(*flags, ok=True, output="json", **environment):
    p = subprocess.run(
        [f"{BIN}/schedsim", "snapshot", *flags, *(["-o", output] if output else [])],
        capture_output=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "HOME": scratch("nowhere"), **environment},
    )
    p.stderr = p.stderr.decode()
    if output == "json":
        p.stdout = p.stdout.decode()
    assert (p.returncode == 0) == ok, (p.returncode, p.stdout[:500], p.stderr)
    return p


def placements(text):
    p = subprocess.run(
        [f"{BIN}/schedsim", "run", "-", "-o", "placements"], input=text, capture_output=True, text=True, timeout=60
    )
    assert p.returncode == 0, p.stderr
    return dict(line.split() for line in p.stdout.splitlines())


def test_the_same_decision_as_the_daemon():
    api = Api.start(write_objects("cluster.json", [node(f"n{i}", cpu=str(2 + i % 3)) for i in range(7)]))
    s = Scheduler(api.url)
    for i in range(12):
        api.add_pod(f"first{i}", cpu="700m")
    api.wait_placed(*api.pods())
    assert s.stop() == 0
    api.add_pod("next", cpu="300m")
    taken = snapshot("--master", api.url)
    kinds = {}
    for item in json.loads(taken.stdout)["items"]:
        kinds[item["kind"]] = kinds.get(item["kind"], 0) + 1
        assert item["apiVersion"] and item["metadata"]["resourceVersion"], item
    assert kinds["Node"] == 7 and kinds["Pod"] == 13, kinds
    assert (
        "schedsim: the server does not have " in taken.stderr and "csinodes.storage.k8s.io" in taken.stderr
    ), taken.stderr
    packed = snapshot("--master", api.url, output=None).stdout
    assert gzip.decompress(packed).decode() == taken.stdout
    foreseen = placements(taken.stdout)
    assert list(foreseen) == ["default/next"], foreseen
    s = Scheduler(api.url)
    api.wait_placed("next")
    assert api.pods()["next"]["spec"]["nodeName"] == foreseen["default/next"]
    assert s.stop() == 0


def test_what_later_questions_need():
    """A manifest is admitted against a snapshot as in its cluster, and new nodes have the pods of its DaemonSets."""
    with Api.start(write_objects("small.json", [node("n1", cpu="4")]), flags=["--emulated-version=1.29"]) as api:
        api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "high"}, "value": 1000})
        api.post(
            "/apis/node.k8s.io/v1/runtimeclasses",
            {"metadata": {"name": "vm"}, "handler": "h", "overhead": {"podFixed": {"cpu": "1"}}},
        )
        api.post(
            "/api/v1/namespaces/default/limitranges",
            {
                "metadata": {"name": "lr"},
                "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]},
            },
        )
        api.post(
            "/api/v1/namespaces/default/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "1"}}}
        )
        template = {
            "metadata": {"labels": {"app": "ds"}},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
        }
        api.post(
            "/apis/apps/v1/namespaces/kube-system/daemonsets",
            {"metadata": {"name": "ds"}, "spec": {"selector": {"matchLabels": {"app": "ds"}}, "template": template}},
        )
        taken = snapshot("--master", api.url).stdout
    kinds = {item["kind"] for item in json.loads(taken)["items"]}
    assert {"DaemonSet", "PriorityClass", "LimitRange", "RuntimeClass", "ResourceQuota"} <= kinds, "kinds"
    new = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": n},
            "spec": {
                "priorityClassName": "high",
                "runtimeClassName": "vm",
                "containers": [{"name": "c", "image": "x"}],
            },
        }
        for n in "ab"
    ]
    text = taken + "\n" + "\n".join(json.dumps(p) for p in new)
    p = subprocess.run(
        [f"{BIN}/schedsim", "explain", "-", "--pod", "a", "--emulated-version=1.29"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
    )
    page = " ".join(p.stdout.split())
    assert (
        "LimitRange lr" in page and "priority 1000 of PriorityClass high" in page and "RuntimeClass vm" in page
    ), "admitted"
    assert 'pods "b" is forbidden: exceeded quota: q' in p.stderr, ("the quota", p.stderr)
    spec = scratch("pod.json")
    with open(spec, "w") as f:
        json.dump(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "namespace": "other"},
                "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "2"}}}]},
            },
            f,
        )
    p = subprocess.run(
        [
            f"{BIN}/schedsim",
            "capacity",
            "-",
            "--pod-spec",
            spec,
            "--add-node",
            "n1",
            "--replicas",
            "3",
            "--expand=on",
            "--emulated-version=1.29",
        ],
        input=taken,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert p.stdout.startswith("2 nodes like n1 are needed"), ("new nodes", p.stdout + p.stderr)


def test_more_than_a_page_and_several_kubeconfigs():
    api = Api.start(write_objects("cluster.json", [node(f"n{i:04}", cpu="4") for i in range(1203)]))
    gone = {"left": 1}

    def expire(method, path):
        if "continue=" in path and gone["left"]:
            gone["left"] -= 1
            return (
                410,
                {"Content-Type": "application/json"},
                status_body(410, "Expired", "The provided continue parameter is too old"),
            )
        return None

    proxy = Proxy(api.port, expire)
    one, two = scratch("one.yaml"), scratch("two.yaml")
    with open(one, "w") as f:
        f.write(
            "current-context: wrong\ncontexts: [{name: wrong, context: {cluster: nowhere}}]\n"
            "clusters: [{name: nowhere, cluster: {server: 'http://127.0.0.1:1'}}]\n"
        )
    with open(two, "w") as f:
        f.write(
            "contexts: [{name: right, context: {cluster: here}}]\n"
            f"clusters: [{{name: here, cluster: {{server: '{proxy.url}'}}}}]\n"
        )
    taken = snapshot("--context", "right", KUBECONFIG=f"{one}:{two}")
    names = [i["metadata"]["name"] for i in json.loads(taken.stdout)["items"] if i["kind"] == "Node"]
    assert names == [f"n{i:04}" for i in range(1203)], len(names)
    assert gone["left"] == 0 and sum("limit=500" in p for _, p in proxy.seen if "/nodes" in p) >= 4, proxy.seen
    assert "connection refused" in snapshot(ok=False, KUBECONFIG=f"{one}:{two}").stderr
    assert (
        "context was not found for specified context: no" in snapshot("--context=no", ok=False, KUBECONFIG=one).stderr
    )


def test_a_kind_that_is_forbidden_is_an_error():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="4")]))
    refusal = status_body(403, "Forbidden", 'pods is forbidden: User "me" cannot list pods')
    proxy = Proxy(api.port, {"/pods": (403, {"Content-Type": "application/json"}, refusal)})
    p = snapshot("--master", proxy.url, ok=False)
    assert p.stdout == "" and 'schedsim: cannot list pods: pods is forbidden: User "me" cannot list pods' in p.stderr, p
    assert "no configuration has been provided" in snapshot(ok=False).stderr


harness.main(globals())
