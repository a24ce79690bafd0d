#!/usr/bin/env python3
"""Simulated controllers and kubelets around hollow-apiserver, used with kubectl as a person would: workloads come up,
are rolled out, drained and deleted. Recorded cases of a real controller manager are
pkg/apiserver/simulation_test.cc."""
import http.client
import json
import random
import signal
import socket
import struct
import threading
import time

import harness
from harness import Api, Kubectl, Proxy, Scheduler, node, wait_until

FLAGS = [
    "--emulated-version=1.36",
    "--simulate=kubelets,controllers",
    "--pod-start-delay=100ms",
    "--pod-stop-delay=50ms",
    "--job-duration=300ms",
]
SET = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "db", "namespace": "default"},
    "spec": {
        "serviceName": "db",
        "replicas": 2,
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
    },
}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "disks.example.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
SET["spec"]["volumeClaimTemplates"] = [
    {
        "metadata": {"name": "data"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
]
DAEMON = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
    },
}
SECONDS = "--timeout=20s"


def status_in(api, name, *phases):
    """Returns the status of a pod if it is in one of these phases, or None."""
    status = api.pods().get(name, {}).get("status", {})
    return status if status.get("phase") in phases else None


DAEMON_SET = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent"},
    "spec": {
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
    },
}


def begin():
    """A cluster of two nodes with a scheduler."""
    api = Api.start(flags=FLAGS)
    kubectl = Kubectl(api)
    kubectl.create(node("n1"), node("n2"))
    return api, kubectl, Scheduler(api.url, "--emulated-version=1.36", "--secure-port=0", bare=True, name="living")


def pods(kubectl, selector):
    """The names of the pods that are not being deleted, with their phases."""
    items = json.loads(kubectl("get", "pods", "-l", selector, "-o", "json"))["items"]
    return {p["metadata"]["name"]: p["status"]["phase"] for p in items if "deletionTimestamp" not in p["metadata"]}


def test_workloads():
    api, kubectl, _ = begin()
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=3")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")
    assert list(pods(kubectl, "app=web").values()) == ["Running"] * 3, "three pods run"
    kubectl("get", "deployment", "web", out="3")
    name = sorted(pods(kubectl, "app=web"))[0]
    kubectl(
        "describe",
        "pod",
        name,
        out=["Successfully assigned", "Pulled", "Created container: nginx", "Started container nginx"],
    )
    kubectl("describe", "deployment", "web", out=["NewReplicaSetAvailable", "Scaled up replica set"])

    before = set(pods(kubectl, "app=web"))
    kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")
    after = set(pods(kubectl, "app=web"))
    assert not before & after and len(after) == 3, "all pods are new ones"
    kubectl("rollout", "history", "deployment/web", out=["1 ", "2 "])
    kubectl("rollout", "undo", "deployment/web")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")
    kubectl("scale", "deployment/web", "--replicas=1")

    def pods_of_web():
        return len(pods(kubectl, "app=web"))

    wait_until("pods of web", pods_of_web, equals=1)

    kubectl.create(CLASS, SET, DAEMON)
    kubectl("rollout", "status", "statefulset/db", SECONDS)
    kubectl("rollout", "status", "daemonset/agent", SECONDS, out="successfully rolled out")
    assert sorted(pods(kubectl, "app=db")) == ["db-0", "db-1"], "ordinals"
    claims = json.loads(kubectl("get", "pvc", "-o", "json"))["items"]
    assert {c["metadata"]["name"]: (c["status"]["phase"], c["spec"]["volumeName"]) for c in claims} == {
        c["metadata"]["name"]: ("Bound", "pvc-" + c["metadata"]["uid"]) for c in claims
    }, "claims are bound to volumes of theirs"
    assert len(claims) == 2, "claims"
    assert len(pods(kubectl, "app=agent")) == 2, "a pod on each node"

    kubectl("create", "job", "once", "--image=busybox")
    kubectl("wait", "job/once", "--for=condition=complete", SECONDS, out="condition met")
    assert list(pods(kubectl, "job-name=once").values()) == ["Succeeded"], "the Job's pod has ended"
    kubectl("create", "cronjob", "often", "--image=busybox", "--schedule=*/5 * * * *")
    kubectl("create", "job", "now", "--from=cronjob/often")
    kubectl("wait", "job/now", "--for=condition=complete", SECONDS, out="condition met")

    kubectl("drain", "n1", "--force", "--ignore-daemonsets", SECONDS, out="drained")

    def places():
        """Returns the pods of db, and the nodes of the pods of web and db."""
        found = [p for p in api.pods().values() if p["metadata"].get("labels", {}).get("app") in ("web", "db")]
        named = {p["metadata"]["name"] for p in found if p["metadata"]["labels"]["app"] == "db"}
        return named, {p["spec"].get("nodeName") for p in found}

    wait_until("everything on n2", places, equals=({"db-0", "db-1"}, {"n2"}))
    kubectl("delete", "deployment", "web", SECONDS, out="deleted")

    def replica_sets():
        return json.loads(kubectl("get", "rs", "-o", "json"))["items"]

    wait_until("its pods, which go with it", pods_of_web, equals=0)
    wait_until("its sets, which go with it", replica_sets, equals=[])
    kubectl("create", "namespace", "passing")
    kubectl("create", "deployment", "x", "--image=x", "-n", "passing")
    kubectl("delete", "namespace", "passing", SECONDS, out="deleted")
    assert kubectl("get", "pods", "-n", "passing") == "", "the namespace is empty and gone"
    kubectl("get", "lease", "-n", "kube-node-lease", out=["n1", "n2"])


def test_a_deployment_that_is_being_deleted():
    """Until its finalizers are gone, its pods count as updated if they are of its present template."""
    _, kubectl, _ = begin()
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=2")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")

    def second():
        return int(time.time())

    wait_until("another second, so that the first set is the older one", second, at_least=second() + 1)
    kubectl("set", "image", "deployment/web", "nginx=nginx:2")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")
    kubectl("patch", "deployment", "web", "--type=merge", '-p={"metadata": {"finalizers": ["example.com/kept"]}}')
    kubectl("delete", "deployment", "web", "--wait=false")

    def looked_at():
        web = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
        return web["status"]["observedGeneration"] == web["metadata"]["generation"] and web

    web = wait_until("the controller has seen it", looked_at)
    assert "deletionTimestamp" in web["metadata"]
    assert (web["status"]["replicas"], web["status"]["updatedReplicas"]) == (2, 2), web["status"]


def test_rejected_by_the_kubelet():
    """Somebody who places pods wrongly sees it."""
    api, kubectl, scheduler = begin()
    scheduler.process.kill()
    for name, cpu in (("fits", "3"), ("does-not", "64")):
        kubectl.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {
                    "nodeName": "n1",
                    "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}],
                },
            }
        )
    kubectl("wait", "pod/fits", "--for=condition=Ready", SECONDS)
    status = wait_until("the pod is rejected", status_in, api, "does-not", "Failed")
    assert status["reason"] == "OutOfcpu", "reason"
    assert status["message"].startswith(
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 64000, used: 3000"
    ), ("message", status["message"])


def test_what_else_a_kubelet_rejects():
    # Without controllers, of which one would delete what does not tolerate a taint.
    api = Api.start(flags=[f.replace("kubelets,controllers", "kubelets") for f in FLAGS])
    kubectl = Kubectl(api)
    kubectl.create(node("n1"), node("n2"))
    kubectl("taint", "node", "n2", "a=b:NoExecute", out="tainted")

    def pod_on(name, on, **spec):
        container = {"name": "c", "image": "x"}
        container.update(spec.pop("container", {}))
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default"},
            "spec": dict(spec, nodeName=on, containers=[container]),
        }

    def wants(port, **more):
        return {"ports": [dict(more, containerPort=80, hostPort=port)]}

    def ended(name):
        return wait_until(name, status_in, api, name, "Running", "Failed")

    port, gpu = "NodePorts", {"resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}
    both = dict(gpu, resources=dict(gpu["resources"], requests={"example.com/gpu": "1", "memory": "1Pi"}))
    for p, reason in (
        (pod_on("first", "n1", container=wants(8080, hostIP="10.0.0.1")), None),
        (pod_on("same", "n1", container=wants(8080)), port),
        (pod_on("udp", "n1", container=wants(8080, protocol="UDP")), None),
        (pod_on("other-ip", "n1", container=wants(8080, hostIP="10.0.0.2")), None),
        (
            pod_on("sidecar", "n1", initContainers=[dict(wants(8080), name="i", image="x", restartPolicy="Always")]),
            port,
        ),
        (pod_on("init", "n1", initContainers=[dict(wants(8080), name="i", image="x")]), None),
        (pod_on("taint", "n2"), "TaintToleration"),
        (pod_on("tolerates", "n2", tolerations=[{"key": "a", "operator": "Exists"}]), None),
        (pod_on("gpu", "n1", container=gpu), "OutOfexample.com/gpu"),
        (pod_on("memory-first", "n1", container=both, nodeSelector={"a": "b"}), "OutOfmemory"),
    ):
        kubectl.create(p)
        status = ended(p["metadata"]["name"])
        assert status.get("reason") == reason, p["metadata"]["name"]
        if reason == port:
            text = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
            assert status["message"] == "Pod was rejected: " + text, "message"


def test_what_has_lost_its_owner_goes():
    api, kubectl, _ = begin()

    def owned(kind, name, owner, uid, **more):
        reference = {"apiVersion": "v1", "kind": owner, "name": "o", "uid": uid}
        return dict(more, apiVersion="v1", kind=kind, metadata={"name": name, "ownerReferences": [reference]})

    kubectl.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "o"}}, DAEMON_SET)
    uid = api.get("/api/v1/namespaces/default/configmaps/o")["metadata"]["uid"]
    port = {"ports": [{"port": 80}]}
    kubectl.create(
        owned("Secret", "of-one", "ConfigMap", uid),
        owned("Service", "of-one", "ConfigMap", uid, spec=port),
        owned("Endpoints", "of-none", "Service", "of-nobody"),
        owned("ConfigMap", "of-what", "Widget", "of-nobody"),
    )

    def left():
        found = kubectl("get", "secrets,services,endpoints,configmaps,controllerrevisions", "-o", "name").split()
        return {n.split("/")[0] for n in found if "/of-" in n or "/agent-" in n}

    revisions, stays = "controllerrevision.apps", "configmap"
    wait_until("revision", left, equals={"secret", "service", revisions, stays})
    kubectl("delete", "cm/o", "ds/agent", SECONDS)
    # Of a kind that the server does not have nobody can tell whether its objects are gone.
    wait_until("they are gone", left, equals={stays})


def test_a_taint_that_keeps_new_pods_away_leaves_the_status_of_a_daemon_set():
    api, kubectl, _ = begin()
    kubectl.create(DAEMON_SET)

    def status(name="agent"):
        return api.get("/apis/apps/v1/namespaces/default/daemonsets/" + name).get("status", {})

    def ready(name="agent"):
        return status(name).get("numberReady")

    def numbers(*names):
        found = status()
        return [found.get(name) for name in names]

    wait_until("they run", ready, equals=2)
    kubectl("taint", "node", "n1", "a=b:NoSchedule", out="tainted")
    # What comes later has been looked at.
    kubectl.create(dict(DAEMON_SET, metadata={"name": "other"}))
    wait_until("another runs", ready, "other", equals=1)
    assert status()["desiredNumberScheduled"] == 2, "as before"
    # The status is looked at again because of the other node.
    kubectl("taint", "node", "n2", "a=b:NoExecute", out="tainted")
    wait_until(
        "pods that are wanted, misplaced", numbers, "desiredNumberScheduled", "numberMisscheduled", equals=[0, 1]
    )
    kubectl.create(node("n3"))
    wait_until("pods that are wanted, ready", numbers, "desiredNumberScheduled", "numberReady", equals=[1, 1])


def test_resize_in_place():
    """A pod gets what it asks for by now if its node has it, and is told why not otherwise."""
    api, kubectl, _ = begin()
    kubectl.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "grows", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
        }
    )
    kubectl("wait", "pod/grows", "--for=condition=Ready", SECONDS)

    def resize(resources, **wanted):
        kubectl(
            "patch",
            "pod",
            "grows",
            "--subresource=resize",
            "-p",
            json.dumps({"spec": {"containers": [{"name": "c", "resources": resources}]}}),
            **wanted
        )

    given = "--for=jsonpath={.status.containerStatuses[0].resources.requests.cpu}="
    kubectl("wait", "pod/grows", given + "1", SECONDS)
    resize({"requests": {"cpu": "2"}}, out="patched")
    kubectl("wait", "pod/grows", given + "2", SECONDS, out="condition met")
    resize({"requests": {"cpu": "64"}}, out="patched")
    kubectl("wait", "pod/grows", "--for=condition=PodResizePending", SECONDS, out="condition met")
    kubectl(
        "get",
        "pod",
        "grows",
        "-o",
        "jsonpath={.status.conditions[?(@.type=='PodResizePending')].reason}",
        out="Infeasible",
    )
    resize({"requests": {"cpu": "3"}}, out="patched")
    kubectl("wait", "pod/grows", given + "3", SECONDS, out="condition met")
    assert (
        kubectl("get", "pod", "grows", "-o", "jsonpath={.status.conditions[?(@.type=='PodResizePending')].reason}")
        == ""
    ), "nothing is pending"
    resize(
        {"requests": {"cpu": "3", "memory": "1Gi"}, "limits": {"cpu": "3", "memory": "1Gi"}},
        status=1,
        err="Pod QOS Class may not change as a result of resizing",
    )


def test_scheduler_is_killed():
    """Nothing is made twice when the scheduler dies amid a rollout."""
    _, kubectl, scheduler = begin()
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=20")
    scheduler.process.send_signal(signal.SIGKILL)
    scheduler.process.wait()
    assert len(pods(kubectl, "app=web")) == 20, "as many pods as wanted"
    Scheduler(kubectl.api.url, "--emulated-version=1.36", "--secure-port=0", bare=True, name="living-2")
    kubectl("rollout", "status", "deployment/web", SECONDS, out="successfully rolled out")
    assert list(pods(kubectl, "app=web").values()) == ["Running"] * 20, "as many pods as wanted"


class Made:
    """Watches pods and counts those that were ever made, by the kind and the name of their controller."""

    def __init__(self, api):
        self.api, self.seen, self.ends = api, {}, False
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        version = 0
        while not self.ends:
            c = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=60)
            c.request("GET", "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=2&resourceVersion=%s" % version)
            for line in c.getresponse():
                event = json.loads(line)
                assert event["type"] != "ERROR", event
                version = event["object"]["metadata"]["resourceVersion"]
                owner = [
                    o["kind"] for o in event["object"]["metadata"].get("ownerReferences", []) if o.get("controller")
                ]
                self.seen[event["object"]["metadata"]["uid"]] = owner[0] if owner else ""
            c.close()

    def __call__(self, kind):
        return sum(k == kind for k in list(self.seen.values()))


def leave_amid(api, method, path, body, whole):
    """Sends a request, or a part of it, and goes away without reading the answer, as a client does that is killed."""
    text = json.dumps(body).encode()
    head = (
        "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/merge-patch+json\r\nContent-Length: %d\r\n\r\n"
        % (method, path, len(text))
    ).encode()
    s = socket.create_connection(("127.0.0.1", api.port))
    if not whole:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # the connection is reset
    s.sendall(head + (text if whole else text[: len(text) // 2]))
    s.close()


def test_nothing_is_made_twice_whatever_ends():
    """Schedulers are killed, their requests are refused and their answers lost, their watches end; clients go away amid
    requests and change objects that controllers are working on; pods are deleted."""
    r = random.Random(37)
    api = Api.start(flags=FLAGS)
    kubectl, made = Kubectl(api), Made(api)
    kubectl.create(node("n1"), node("n2"), DAEMON)

    def fault(method, path):
        return (
            r.choice([None] * 8 + ["refuse", "lose-answer"])
            if method != "GET"
            else (("cut", r.randrange(3000)) if "watch" in path and r.random() < 0.3 else None)
        )

    proxy = Proxy(api.port, fault)

    def run(i):
        return Scheduler(proxy.url, "--emulated-version=1.36", "--secure-port=0", bare=True, name="fails-%d" % i)

    scheduler = run(0)
    kubectl("create", "deployment", "web", "--image=nginx", "--replicas=10")
    kubectl.create({**SET, "spec": {k: v for k, v in SET["spec"].items() if k != "volumeClaimTemplates"}})
    kubectl.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "work", "namespace": "default"},
            "spec": {
                "completions": 8,
                "parallelism": 2,
                "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}},
            },
        }
    )
    objects = [
        "/apis/apps/v1/namespaces/default/" + o for o in ("deployments/web", "statefulsets/db", "daemonsets/agent")
    ]
    objects.append("/apis/batch/v1/namespaces/default/jobs/work")
    deleted = {"ReplicaSet": 0, "StatefulSet": 0, "DaemonSet": 0}
    for i in range(60):
        path = r.choice(objects)
        leave_amid(api, "PATCH", path, {"metadata": {"annotations": {"example.com/round": str(i)}}}, r.random() < 0.7)
        stale = api.get(r.choice(objects))
        api.call("PATCH", path, {"metadata": {"labels": {"round": str(i)}}}, "application/merge-patch+json")
        if i % 3 == 0:
            stale["metadata"]["annotations"] = {"example.com/stale": str(i)}
            status, _ = api.call("PUT", [o for o in objects if o.endswith("/" + stale["metadata"]["name"])][0], stale)
            assert status in (200, 409), status
        if i % 5 == 0:
            for p in api.get("/api/v1/namespaces/default/pods")["items"]:
                owner = p["metadata"]["ownerReferences"][0]["kind"]
                if owner in deleted and "deletionTimestamp" not in p["metadata"]:
                    deleted[owner] += 1
                    leave_amid(api, "DELETE", "/api/v1/namespaces/default/pods/" + p["metadata"]["name"], {}, True)
                    break
        if i % 12 == 6:
            scheduler.process.send_signal(signal.SIGKILL)
            scheduler.process.wait()
            scheduler = run(i)

    def succeeded():
        return api.get(objects[3])["status"].get("succeeded")

    wait_until("pods of the Job that have succeeded", succeeded, equals=8)
    proxy.fault = {}
    for what in ("deployment/web", "statefulset/db", "daemonset/agent"):
        kubectl("rollout", "status", what, "--timeout=60s")
    made.ends = True
    assert made("ReplicaSet") - deleted["ReplicaSet"] == 10, "pods of the Deployment"
    assert made("StatefulSet") - deleted["StatefulSet"] == 2, "pods of the StatefulSet"
    assert made("DaemonSet") - deleted["DaemonSet"] == 2, "pods of the DaemonSet"
    assert made("Job") == 8, "pods of the Job"
    assert len(api.get("/apis/apps/v1/namespaces/default/replicasets")["items"]) == 1, "ReplicaSets"


def test_a_node_goes_down():
    """It is found, its pods are evicted when they do not tolerate that any longer, and it comes back."""
    api = Api.start(flags=FLAGS + ["--node-monitor-grace-period=12s"])
    kubectl = Kubectl(api)
    kubectl.create(node("n1"), node("n2"))
    Scheduler(api.url, "--emulated-version=1.36", "--secure-port=0", bare=True, name="down")
    toleration = {
        "key": "node.kubernetes.io/unreachable",
        "effect": "NoExecute",
        "operator": "Exists",
        "tolerationSeconds": 1,
    }
    kubectl.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {"tolerations": [toleration], "containers": [{"name": "c", "image": "x"}]},
                },
            },
        }
    )
    kubectl("rollout", "status", "deployment/web", SECONDS)
    kubectl("cordon", "n2")
    kubectl("wait", "node/n2", "--for=jsonpath={.spec.taints[0].key}=node.kubernetes.io/unschedulable", SECONDS)
    kubectl("uncordon", "n2")
    kubectl("annotate", "node", "n1", "simulate.berth/down=true")
    kubectl("wait", "node/n1", "--for=condition=Ready=Unknown", "--timeout=60s", out="condition met")

    def taints():
        return [t["effect"] for t in api.get("/api/v1/nodes/n1")["spec"].get("taints", [])]

    wait_until("a taint that evicts", taints, containing="NoExecute")
    kubectl(
        "describe",
        "node",
        "n1",
        out=["node.kubernetes.io/unreachable:NoExecute", "Kubelet stopped posting node status"],
    )

    def running_on_n2():
        listed = api.get("/api/v1/namespaces/default/pods")["items"]
        return sum(p["spec"].get("nodeName") == "n2" and p["status"]["phase"] == "Running" for p in listed)

    wait_until("two pods run on n2", running_on_n2, equals=2)
    kubectl("get", "events", out=["TaintManagerEviction", "NodeNotReady"])
    kubectl("annotate", "node", "n1", "simulate.berth/down=false", "--overwrite")
    kubectl("wait", "node/n1", "--for=condition=Ready", "--timeout=60s", out="condition met")
    wait_until("taints, which go", taints, equals=[])

    def number_of_pods():
        return len(api.pods())

    wait_until("pods without those that were evicted", number_of_pods, equals=2)


def test_off_by_default():
    with Api.start(flags=["--emulated-version=1.36"]) as api:
        kubectl = Kubectl(api)
        kubectl("create", "deployment", "web", "--image=nginx")
        kubectl("get", "pods", err="No resources found")


harness.main(globals())
