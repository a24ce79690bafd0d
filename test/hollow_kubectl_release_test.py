#!/usr/bin/env python3
"""kubectl's workflows on hollow-apiserver --emulated-version=1.29, with the outcomes that were recorded with a real
1.29 server: apply, diff, server-side dry runs, strict validation, drain within budgets, cordon, taint, scale, describe,
wait, RBAC."""
import harness
from harness import Api, Kubectl

NODES = """
apiVersion: v1
kind: Node
metadata: {name: node-a, labels: {zone: a}}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
---
apiVersion: v1
kind: Node
metadata: {name: node-b, labels: {zone: b}}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}, conditions: [{type: Ready, status: "True"}]}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: app, labels: {a: "1"}}
spec:
  containers: [{name: c, image: "busybox:%d"}]
"""
BAD = """
apiVersion: v1
kind: Pod
metadata: {name: bad}
spec:
  nodeSelctor: {a: b}
  containers: [{name: c, image: i}]
"""
SPREAD = """
apiVersion: v1
kind: Pod
metadata: {name: spread, labels: {app: web}}
spec:
  schedulingGates: [{name: example.com/hold}]
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
  initContainers: [{name: side, image: i, restartPolicy: Always}]
  containers: [{name: c, image: i}]
"""
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: guard}
spec: {minAvailable: 1, selector: {matchLabels: {app: rs}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
"""


def test_workflows():
    with Api.start(flags=["--emulated-version=1.29"]) as s:
        kubectl = Kubectl(s)

        def field(what, path):
            return kubectl("get", *what.split(), "-o", "jsonpath={%s}" % path)

        kubectl("version", out="Server Version: v1.29.0")
        kubectl("apply", "-f", "-", stdin=NODES, out=["node/node-a created", "node/node-b created"])
        kubectl("create", "-f", "-", stdin=BAD, status=1, err='strict decoding error: unknown field "spec.nodeSelctor"')
        kubectl(
            "create",
            "--validate=warn",
            "--dry-run=server",
            "-f",
            "-",
            stdin=BAD,
            out="pod/bad created (server dry run)",
            err='Warning: unknown field "spec.nodeSelctor"',
        )
        kubectl("get", "pod", "bad", status=1, err='pods "bad" not found')
        kubectl("apply", "-f", "-", stdin=POD % 1, out="pod/app created")
        kubectl("apply", "-f", "-", stdin=POD % 1, out="pod/app unchanged")
        kubectl("diff", "-f", "-", stdin=POD % 2, status=1, out=["-  - image: busybox:1", "+  - image: busybox:2"])
        kubectl("apply", "--dry-run=server", "-f", "-", stdin=POD % 2, out="pod/app configured (server dry run)")
        assert field("pod app", ".spec.containers[0].image") == "busybox:1", "a dry run writes nothing"
        kubectl("apply", "-f", "-", stdin=POD % 2, out="pod/app configured")
        assert field("pod app", ".spec.containers[0].image") == "busybox:2", "and an apply does"
        kubectl("diff", "-f", "-", stdin=POD % 2, status=0)
        kubectl("delete", "pod", "app", "--dry-run=server", out='pod "app" deleted (server dry run)')
        kubectl("run", "new", "--image=i", "--dry-run=server", out="pod/new created (server dry run)")
        assert kubectl("get", "pods", "-o", "name") == "pod/app\n", "pods"

        kubectl("apply", "-f", "-", stdin=SPREAD, out="pod/spread created")
        kubectl("describe", "pod", "spread", out="zone:DoNotSchedule when max skew 1")
        assert (
            field("pod spread", ".spec.schedulingGates[0].name") + field("pod spread", ".status.conditions[0].reason")
            == "example.com/holdSchedulingGated"
        ), "the gate"
        kubectl("describe", "priorityclass", "system-node-critical", out=["2000001000", "PreemptLowerPriority"])
        kubectl("create", "priorityclass", "high", "--value=1000", "--preemption-policy=Never", out="created")
        kubectl("describe", "priorityclass", "high", out="Never")
        kubectl("describe", "node", "node-a", out="Allocatable:")
        kubectl(
            "get", "lease,csinodes,csidrivers,volumeattachments,csistoragecapacities", "-A", err="No resources found"
        )

        kubectl("taint", "nodes", "node-b", "k=v:NoSchedule", out="node/node-b tainted")
        kubectl("cordon", "node-b", out="node/node-b cordoned")
        assert field("node node-b", ".spec.unschedulable") == "true", "cordoned"
        kubectl("uncordon", "node-b", out="node/node-b uncordoned")
        kubectl("apply", "-f", "-", stdin=DEPLOYMENT, out="deployment.apps/web created")
        kubectl("scale", "deployment", "web", "--replicas=5", out="scaled")
        kubectl(
            "scale",
            "deployment",
            "web",
            "--replicas=9",
            "--current-replicas=3",
            status=1,
            err="Expected replicas to be 3, was 5",
        )
        assert (
            field("deployment web", ".spec.replicas") + " " + field("deployment web", ".metadata.generation") == "5 2"
        ), "scaled"

        # Drain evicts one pod; the one that the budget protects stays until the budget is deleted.
        for name, labels in (("rs-1", {"app": "rs"}), ("bare", {})):
            s.add_pod(name, cpu=None, on="node-a", labels=labels)

        def drain(*args, **kwargs):
            return kubectl("drain", "node-a", "--ignore-daemonsets", "--grace-period=0", *args, **kwargs)

        drain(
            "--timeout=1s", status=1, err="declare no controller (use --force to override): default/bare, default/rs-1"
        )
        drain(
            "--force",
            "--dry-run=server",
            "--timeout=20s",
            out=["evicting pod default/bare (server dry run)", "node/node-a drained (server dry run)"],
        )
        assert (
            kubectl("get", "pods", "-o", "name", "--field-selector=spec.nodeName=node-a") == "pod/bare\npod/rs-1\n"
        ), "a dry run evicts nobody"
        kubectl("apply", "-f", "-", stdin=BUDGET, out="poddisruptionbudget.policy/guard created")
        drain(
            "--force",
            "--timeout=12s",
            status=1,
            err="Cannot evict pod as it would violate the pod's disruption budget.",
        )
        assert (
            kubectl("get", "pods", "-o", "name", "--field-selector=spec.nodeName=node-a") == "pod/rs-1\n"
        ), "one is left"
        kubectl("delete", "pdb", "guard", out="deleted")
        drain("--force", "--timeout=20s", out=["evicting pod default/rs-1", "node/node-a drained"])
        assert kubectl("get", "pods", "-o", "name", "--field-selector=spec.nodeName=node-a") == "", "drained"
        kubectl("uncordon", "node-a", out="uncordoned")

        binding = (
            '{"kind":"Binding","apiVersion":"v1","metadata":{"name":"app"},"target":{"kind":"Node","name":"node-a"}}'
        )
        kubectl(
            "create", "--raw", "/api/v1/namespaces/default/pods/app/binding", "-f", "-", stdin=binding, out='"Success"'
        )
        kubectl("wait", "--for=condition=PodScheduled", "pod/app", "--timeout=10s", out="condition met")
        event = {
            "metadata": {"name": "app.1", "namespace": "default"},
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "default-scheduler",
            "type": "Normal",
            "reportingInstance": "x",
            "action": "Binding",
            "reason": "Scheduled",
            "note": "assigned to node-a",
            "regarding": {"kind": "Pod", "namespace": "default", "name": "app"},
        }
        assert s.call("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event)[0] == 201, "event"
        kubectl("get", "events", out="assigned to node-a")
        kubectl("events", out="assigned to node-a")
        kubectl("delete", "pod", "app", "--grace-period=0", "--force", out="deleted")
        kubectl("wait", "--for=delete", "pod/app", "--timeout=10s")

        kubectl("auth", "can-i", "create", "pods", out="yes")
        # Features that do not exist are rejected with a text that says so.
        kubectl("run", "unbound", "--image=i", out="pod/unbound created")
        kubectl("logs", "unbound", status=1, err="pod unbound does not have a host assigned")
        pod = {
            "metadata": {"name": "bound"},
            "spec": {"nodeName": "node-a", "containers": [{"name": "c", "image": "i"}]},
        }
        assert s.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201, "bound"
        for command in (("logs", "bound"), ("exec", "bound", "--", "ls"), ("attach", "bound")):
            kubectl(*command, status=1, err="hollow-apiserver runs no containers, at most it simulates them: ")
        kubectl("logs", "nobody", status=1, err='pods "nobody" not found')
        kubectl("get", "pods", "--as=jane", status=1, err='users "jane" is forbidden: impersonation is not served here')
        kubectl(
            "get", "componentstatuses", status=1, err='the server doesn\'t have a resource type "componentstatuses"'
        )
        for name in ("unbound", "bound"):
            kubectl("delete", "pod", name, "--grace-period=0", "--force", out="deleted")
        for path in ("/healthz", "/livez", "/readyz"):
            kubectl("get", "--raw", path, out="ok")
        kubectl(
            "explain", "pod.spec", status=1, err="hollow-apiserver has no OpenAPI schema, and so nothing to explain"
        )
        kubectl(
            "apply",
            "-f",
            "hack/deploy/rbac.yaml",
            out=["serviceaccount/", "clusterrole.rbac.authorization.k8s.io/", "created"],
        )
        # kubectl sends these as protobuf.
        kubectl("create", "secret", "generic", "s", "--from-literal=key=value", out="created")
        assert field("secret s", ".data.key") == "dmFsdWU=", "secret"
        for kind in (
            ("serviceaccount", "sa"),
            ("role", "r", "--verb=get", "--resource=pods"),
            ("rolebinding", "rb", "--role=r", "--user=u"),
            ("clusterrole", "cr", "--verb=list", "--resource=nodes"),
            ("job", "j", "--image=busybox"),
            ("namespace", "team"),
        ):
            kubectl("create", *kind, out="created")
        assert field("role r", ".rules[0].verbs[0]") + field("rolebinding rb", ".roleRef.name") == "getr", "rules"
        kubectl("apply", "--server-side", "-f", "-", stdin=POD % 1, out="serverside-applied")


harness.main(globals())
