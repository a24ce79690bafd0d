#!/usr/bin/env python3
"""Tests common kubectl commands with hollow-apiserver."""
import harness
from harness import Api, Kubectl

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {zone: a}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p1, labels: {app: x}}
spec:
  containers: [{name: c, image: busybox, resources: {requests: {cpu: 100m}}}]
"""
SET = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:%d"}]}
"""


def test_daily_commands():
    with Api.start() as s:
        kubectl = Kubectl(s)

        def cells(text):
            """Returns a table's rows without the header, as words."""
            return [line.split() for line in text.splitlines()[1:]]

        kubectl("version", out="v1.10.0")
        kubectl("create", "-f", "-", stdin=NODE, out="node/n1 created")
        kubectl("create", "-f", "-", stdin=POD, out="pod/p1 created")
        kubectl("create", "-f", "-", stdin=POD, status=1, err='pods "p1" already exists')
        assert cells(kubectl("get", "nodes"))[0][:3] == ["n1", "Ready", "<none>"], "get nodes"
        assert [c for i, c in enumerate(cells(kubectl("get", "pods", "-o", "wide"))[0]) if i != 4] == [
            "p1",
            "0/1",
            "Pending",
            "0",
            "<none>",
            "<none>",
        ], "get pods -o wide"
        assert cells(kubectl("get", "pods", "-A"))[0][:2] == ["default", "p1"], "get pods -A"
        kubectl("get", "pod", "p1", "-o", "yaml", out=["schedulerName: default-scheduler", "cpu: 100m"])
        kubectl("get", "pods", "--field-selector=spec.nodeName=", "-l", "app=x", out="p1")
        kubectl("get", "pods", "-l", "app=y", err="No resources found")

        kubectl("label", "node", "n1", "tier=gold", out="labeled")
        kubectl("taint", "node", "n1", "k=v:NoSchedule", out="tainted")
        assert (
            kubectl("get", "node", "n1", "-o", "jsonpath={.spec.taints[0].key}{.metadata.labels.tier}") == "kgold"
        ), "taint"
        kubectl("cordon", "n1", out="cordoned")
        kubectl("get", "nodes", out="Ready,SchedulingDisabled")
        kubectl("uncordon", "n1", out="uncordoned")
        kubectl("taint", "node", "n1", "k:NoSchedule-", out="untainted")
        assert kubectl("get", "node", "n1", "-o", "jsonpath={.spec}") == '{"externalID":"n1"}', "uncordon"
        kubectl("annotate", "pod", "p1", "a=b", out="annotated")
        kubectl("patch", "pod", "p1", "-p", '{"metadata":{"labels":{"more":"1"}}}', out="patched")

        kubectl("apply", "-f", "-", stdin=SET % 1, out="replicaset.apps/web created")
        kubectl("scale", "rs", "web", "--replicas=5", out="scaled")
        assert cells(kubectl("get", "rs"))[0][:3] == ["web", "5", "0"], "get rs"
        kubectl("apply", "-f", "-", stdin=SET % 2, out="replicaset.apps/web configured")
        assert cells(kubectl("get", "rs", "-o", "wide"))[0][5:] == ["c", "nginx:2", "app=web"], "get rs -o wide"
        kubectl("delete", "rs", "web", out="deleted")
        kubectl("get", "rs", err="No resources found")

        binding = '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"p1"},"target":{"kind":"Node","name":"n1"}}'
        kubectl(
            "create", "--raw", "/api/v1/namespaces/default/pods/p1/binding", "-f", "-", stdin=binding, out='"Success"'
        )
        uid = kubectl("get", "pod", "p1", "-o", "jsonpath={.metadata.uid}")
        event = {
            "metadata": {"name": "p1.1"},
            "reason": "Scheduled",
            "message": "Successfully assigned p1 to n1",
            "type": "Normal",
            "count": 1,
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p1", "uid": uid},
            "source": {"component": "default-scheduler"},
            "firstTimestamp": "2026-01-01T00:00:00Z",
            "lastTimestamp": "2026-01-01T00:00:00Z",
        }
        assert s.call("POST", "/api/v1/namespaces/default/events", event)[0] == 201, "event"
        kubectl(
            "describe", "pod", "p1", out=["Node:         n1/", "Successfully assigned p1 to n1", "PodScheduled   True"]
        )
        kubectl("describe", "node", "n1", out=["default                     p1", "100m (2%)"])
        kubectl("get", "events", out="Successfully assigned p1 to n1")
        kubectl("wait", "--for=condition=PodScheduled", "pod/p1", "--timeout=10s", out="condition met")

        kubectl("run", "runner", "--image=busybox", out="pod/runner created")
        kubectl("delete", "pod", "runner", out="deleted")
        kubectl("delete", "pod", "p1", "--wait=false", out="deleted")
        kubectl("get", "pods", out="Terminating")
        kubectl("delete", "pod", "p1", "--grace-period=0", "--force", out="deleted")
        kubectl("get", "pods", err="No resources found")
        kubectl("delete", "node", "n1", out="deleted")
        # kubectl sends these as protobuf.
        kubectl("create", "namespace", "team", out="created")
        kubectl("create", "configmap", "cm", "--from-literal=key=value", "-n", "team", out="created")
        assert kubectl("get", "cm", "cm", "-n", "team", "-o", "jsonpath={.data.key}") == "value", "configmap"
        kubectl("create", "deployment", "web", "--image=nginx:3", "--replicas=3", "--port=80", out="created")
        assert (
            kubectl(
                "get",
                "deploy",
                "web",
                "-o",
                "jsonpath={.spec.replicas} {.spec.selector.matchLabels.app} "
                "{.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].ports[0].containerPort}",
            )
        ) == "3 web nginx:3 80", "deployment"
        kubectl("create", "service", "clusterip", "front", "--tcp=80:8080", out="created")
        assert (
            kubectl("get", "svc", "front", "-o", "jsonpath={.spec.ports[0].targetPort} {.spec.selector.app}")
            == "8080 front"
        ), "service"
        kubectl("create", "priorityclass", "high", "--value=1000", "--description=d", out="created")
        assert (
            kubectl("get", "priorityclass", "high", "-o", "jsonpath={.value} {.description}") == "1000 d"
        ), "priority class"
        kubectl("create", "poddisruptionbudget", "pdb", "--selector=app=web", "--min-available=50%", out="created")
        assert (
            kubectl("get", "pdb", "pdb", "-o", "jsonpath={.spec.minAvailable} {.spec.selector.matchLabels.app}")
            == "50% web"
        ), "budget"
        kubectl("api-resources", out=["poddisruptionbudgets", "storageclasses", "leases"])
        kubectl("get", "--raw", "/healthz", out="ok")


harness.main(globals())
