#!/usr/bin/env python3
"""Admission of hollow-apiserver through HTTP: recorded cases of a real API server 1.36 (testdata/world), what other
releases do, quotas whose objects come and go, the flag for single plugins, and objects of files."""
import glob
import json
import os
import subprocess

import harness
from harness import BIN, ROOT, Api, scratch

RESOURCES = {
    "Pod": "api/v1/namespaces/{}/pods",
    "PersistentVolumeClaim": "api/v1/namespaces/{}/persistentvolumeclaims",
    "LimitRange": "api/v1/namespaces/{}/limitranges",
    "ResourceQuota": "api/v1/namespaces/{}/resourcequotas",
    "Service": "api/v1/namespaces/{}/services",
    "ReplicationController": "api/v1/namespaces/{}/replicationcontrollers",
    "Deployment": "apis/apps/v1/namespaces/{}/deployments",
    "ReplicaSet": "apis/apps/v1/namespaces/{}/replicasets",
    "StatefulSet": "apis/apps/v1/namespaces/{}/statefulsets",
    "DaemonSet": "apis/apps/v1/namespaces/{}/daemonsets",
    "Job": "apis/batch/v1/namespaces/{}/jobs",
    "PodDisruptionBudget": "apis/policy/v1/namespaces/{}/poddisruptionbudgets",
    "PriorityClass": "apis/scheduling.k8s.io/v1/priorityclasses",
    "RuntimeClass": "apis/node.k8s.io/v1/runtimeclasses",
    "StorageClass": "apis/storage.k8s.io/v1/storageclasses",
    "PersistentVolume": "api/v1/persistentvolumes",
}


def path(kind, ns, name=""):
    return "/" + RESOURCES[kind].format(ns) + ("/" + name if name else "")


def pod(name, labels=None, requests=None, **spec):
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": dict({"containers": [{"name": "c", "image": "x", "resources": {"requests": requests or {}}}]}, **spec),
    }


def namespace(api, name):
    api.post("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


def is_of_controllers(step):
    """Whether a step needs controllers or kubelets, which are not there."""
    if "patch" in step:
        return step["patch"]["kind"] not in ("PriorityClass", "StorageClass")
    return not any(k in step for k in ("create", "rm", "quotas")) and "settle" not in step


def expected(answer, ns):
    return answer["code"], answer.get("message", "").replace("NAMESPACE", ns)


def play(api, recorded, ns):
    """Plays the steps of a recording up to the first that needs controllers. Returns what was answered otherwise than
    recorded, as (what, wanted, got), and whether all steps were played."""
    answers = (a for a in recorded["want"]["answers"] if "create" in a or "patch" in a or "quotas" in a)
    different, cluster_wide = [], []
    complete = True
    for step in recorded["steps"]:
        if is_of_controllers(step):
            complete = False
            break
        if "rm" in step and step["rm"][0] in RESOURCES:
            api.call("DELETE", path(step["rm"][0], ns, step["rm"][1]))
        if "patch" in step:
            p = step["patch"]
            status, got = api.call(
                "PATCH", path(p["kind"], ns, p["name"]), p["strategicMerge"], "application/strategic-merge-patch+json"
            )
            want = expected(next(answers), ns)
            if want != (status, got.get("message", "")):
                different.append((p, want, (status, got)))
        if "quotas" in step:
            for name, want in next(answers)["quotas"].items():
                got = api.get(path("ResourceQuota", ns, name))["status"]
                if got["used"] != want["used"] or got["hard"] != want["hard"]:
                    different.append((name, want, got))
        for o in step.get("create", []):
            want = expected(next(answers), ns)
            if o["kind"] not in RESOURCES:
                complete = False
                continue
            status, got = api.call("POST", path(o["kind"], ns), o)
            if want != (status, got.get("message", "") if status != 201 else ""):
                different.append(
                    (
                        o["kind"] + "/" + o["metadata"]["name"],
                        want,
                        (status, got.get("message", got) if status != 201 else ""),
                    )
                )
            if status == 201 and "namespace" not in got["metadata"]:
                cluster_wide.append(path(o["kind"], ns, o["metadata"]["name"]))
    return different, complete, cluster_wide


def lacks(want, got, where=""):
    """Returns where `got` is not what a recording has; None if it is. Lists and maps of a pod's spec are compared as a
    whole."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return where, want, got
        for key, value in want.items():
            if found := lacks(value, got.get(key, {} if value == {} else None), where + "." + key):
                return found
        return None
    if isinstance(want, list):
        if not isinstance(got, list) or len(want) != len(got):
            return where, want, got
        for i, value in enumerate(want):
            if found := lacks(value, got[i], "%s[%d]" % (where, i)):
                return found
        return None
    return None if want == got else (where, want, got)


# What is answered otherwise than recorded, and why.
DIFFERENT = {
    "76-job-own-selector": ("the recording has no uids", ["Job/bad"]),
    "123-replicaset-refused-by-quota": ("no controller makes the pods that the quota counts", ["q"]),
    "124-admission-service-account": ("nobody makes accounts, so they are not looked up", ["Pod/nobody"]),
}


def test_recorded():
    compared = 0
    with Api.start(flags=["--emulated-version=1.36"]) as api:
        for file in sorted(glob.glob(os.path.join(ROOT, "test/testdata/world/*.json"))):
            name = os.path.basename(file)[:-5]
            with open(file) as f:
                recorded = json.load(f)
            ns = namespace(api, "case-" + name)
            different, complete, cluster_wide = play(api, recorded, ns)
            assert (different if name not in DIFFERENT else [d[0] for d in different]) == DIFFERENT.get(name, ("", []))[
                1
            ], name
            for want in recorded["want"]["objects"] if complete else []:
                if want["kind"] not in ("Pod", "PersistentVolumeClaim"):
                    continue
                status, got = api.call("GET", path(want["kind"], ns, want["metadata"]["name"]))
                if status != 200:
                    continue  # a controller has made it
                for key in ("nodeName", "volumeName"):
                    want["spec"].pop(key, None)
                assert lacks(want["spec"], got["spec"]) is None, (
                    name,
                    want["metadata"]["name"],
                    lacks(want["spec"], got["spec"]),
                )
                limits = want["metadata"].get("annotations", {}).get("kubernetes.io/limit-ranger")
                assert got["metadata"].get("annotations", {}).get("kubernetes.io/limit-ranger") == limits, (
                    name + ": annotation"
                )
                compared += 1
            for p in cluster_wide:
                api.call("DELETE", p)
    assert compared > 40, "objects compared"


def used(api, name, ns="default"):
    return api.get(path("ResourceQuota", ns, name))["status"]["used"]


def test_quotas_follow_what_exists():
    with Api.start(flags=["--emulated-version=1.29"]) as api:
        api.post(path("Pod", "default"), pod("before", requests={"cpu": "100m"}))
        api.post(
            path("ResourceQuota", "default"),
            {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2", "requests.cpu": "1", "count/configmaps": "1"}}},
        )
        assert used(api, "q") == {
            "pods": "1",
            "requests.cpu": "100m",
            "count/configmaps": "0",
        }, "what is there when the quota comes"
        api.post(path("Pod", "default"), pod("a", requests={"cpu": "500m"}))
        status, got = api.call("POST", path("Pod", "default") + "?dryRun=All", pod("b", requests={"cpu": "10m"}))
        assert (status, got["message"]) == (
            403,
            'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2',
        ), "a pod too many"
        api.call(
            "PATCH",
            path("Pod", "default", "a") + "/status",
            {"status": {"phase": "Succeeded"}},
            "application/merge-patch+json",
        )
        assert used(api, "q") == {
            "pods": "1",
            "requests.cpu": "100m",
            "count/configmaps": "0",
        }, "a pod that has finished"
        api.call("DELETE", path("Pod", "default", "before"))
        assert used(api, "q") == {"pods": "0", "requests.cpu": "0", "count/configmaps": "0"}, "a pod that is gone"
        api.call(
            "PATCH",
            path("ResourceQuota", "default", "q"),
            {"spec": {"hard": {"count/pods": "5"}}},
            "application/merge-patch+json",
        )
        assert used(api, "q")["count/pods"] == "1", "another limit"
        for i in range(2):
            api.call("POST", path("Pod", "default"), pod("dry%d" % i, requests={"cpu": "10m"}), headers={"X": str(i)})
        assert used(api, "q")["count/pods"] == "3", "the new limit counts"


def test_quotas_of_services_and_counts_of_any_kind():
    with Api.start(flags=["--emulated-version=1.36"]) as api:
        hard = {
            "services": "9",
            "services.loadbalancers": "1",
            "services.nodeports": "4",
            "count/poddisruptionbudgets.policy": "1",
            "count/limitranges": "1",
        }
        api.post(path("ResourceQuota", "default"), {"metadata": {"name": "q"}, "spec": {"hard": hard}})
        before = int(used(api, "q")["services"])

        def service(name, kind, ports=1, **more):
            listed = [{"name": "p%d" % i, "port": 80 + i} for i in range(ports)]
            spec = dict({"type": kind, "ports": listed, "selector": {"a": "b"}}, **more)
            return api.call("POST", path("Service", "default"), {"metadata": {"name": name}, "spec": spec})

        assert service("a", "ClusterIP")[0] == 201, "a service of the cluster"
        assert service("b", "NodePort", 2)[0] == 201, "ports of nodes"
        assert service("c", "LoadBalancer", allocateLoadBalancerNodePorts=False)[0] == 201, "a balancer"
        status, got = service("d", "LoadBalancer", allocateLoadBalancerNodePorts=False)
        assert (
            status == 403 and "requested: services.loadbalancers=1, used: services.loadbalancers=1" in got["message"]
        ), "a balancer too many"
        status, got = service("e", "NodePort", 3)
        assert (
            status == 403 and "requested: services.nodeports=3, used: services.nodeports=2" in got["message"]
        ), "ports too many"
        budget = {"metadata": {"name": "x"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"a": "b"}}}}
        limits = {"metadata": {"name": "x"}, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "9"}}]}}
        for kind, o in (("PodDisruptionBudget", budget), ("LimitRange", limits)):
            assert api.call("POST", path(kind, "default"), o)[0] == 201, kind
            o["metadata"]["name"] = "y"
            status, got = api.call("POST", path(kind, "default"), o)
            assert status == 403 and "exceeded quota: q, requested: count/" in got["message"], kind + " too many"
        assert used(api, "q") == {
            "services": str(before + 3),
            "services.loadbalancers": "1",
            "services.nodeports": "2",
            "count/poddisruptionbudgets.policy": "1",
            "count/limitranges": "1",
        }, "used"


def test_releases():
    for release, priority in (("1.10", 0), ("1.13", 0), ("1.29", 0), ("1.36", 0)):
        with Api.start(flags=["--emulated-version=" + release]) as api:
            made = api.post(path("Pod", "default"), pod("p"))["spec"]
            assert [(t["key"], t["tolerationSeconds"]) for t in made["tolerations"]] == [
                ("node.kubernetes.io/not-ready", 300),
                ("node.kubernetes.io/unreachable", 300),
            ], (release + ": tolerations")
            assert made["priority"] == priority, release + ": priority"
            status, got = api.call(
                "POST",
                path("Pod", "default"),
                {"metadata": {"generateName": "gen-"}, "spec": dict(pod("x")["spec"], priorityClassName="none")},
            )
            assert (status, got["message"]) == (
                403,
                'pods "gen-" is forbidden: no PriorityClass with name none was found',
            ), (release + ": a name that is not made yet")
            limits = {
                "metadata": {"name": "lr"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}, "defaultRequest": {"cpu": "500m"}}]},
            }
            filled = api.post(path("LimitRange", "default"), limits)["spec"]["limits"][0]
            assert (filled["default"], filled["defaultRequest"]) == ({"cpu": "2"}, {"cpu": "500m"}), (
                release + ": a LimitRange is completed"
            )
            c = api.post(path("Pod", "default"), pod("limited"))["spec"]["containers"][0]["resources"]
            assert c == {"requests": {"cpu": "500m"}, "limits": {"cpu": "2"}}, release + ": and applied"
            listed = [r["name"] for r in api.get("/api/v1")["resources"]]
            assert {"limitranges", "resourcequotas", "resourcequotas/status"} <= set(listed), (
                release + ": quotas and limits are listed"
            )


def test_single_plugins():
    with Api.start(
        flags=["--emulated-version=1.29", "--disable-admission-plugins=DefaultTolerationSeconds,ResourceQuota"]
    ) as api:
        api.post(path("ResourceQuota", "default"), {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}})
        made = api.post(path("Pod", "default"), pod("p"))
        assert "tolerations" not in made["spec"], "neither tolerations nor quotas"
        assert made["spec"]["priority"] == 0, "and the others"
    done = subprocess.run(
        [os.path.join(BIN, "hollow-apiserver"), "--disable-admission-plugins=LimitRange"],
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and 'invalid value "LimitRange": must be LimitRanger, ' in done.stderr, (
        "an unknown plugin",
        done.stderr,
    )


def test_files():
    """A class may come after the pod that names it; a List is what a server has stored, and stays as it is."""
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 7}
    file = scratch("loose.json")
    with open(file, "w") as f:
        for o in (
            pod("loose", priorityClassName="high"),
            high,
            {"apiVersion": "v1", "kind": "List", "items": [pod("stored")]},
        ):
            f.write(json.dumps(o) + "\n")
    with Api.start(file, flags=["--emulated-version=1.29"]) as api:
        pods = api.pods()
        assert (pods["loose"]["spec"]["priority"], len(pods["loose"]["spec"]["tolerations"])) == (7, 2), "a document"
        assert "tolerations" not in pods["stored"]["spec"], ("an item of a List", pods["stored"])


harness.main(globals())
