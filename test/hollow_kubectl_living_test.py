#!/usr/bin/env python3
"""kubectl at home on a living cluster: the commands that people try, one after another, with their exit statuses and
outputs."""
import harness
from harness import Api, Kubectl, Scheduler, node, write_file

MANIFEST = """
apiVersion: v1
kind: ConfigMap
metadata: {name: cm}
data: {a: b}
---
apiVersion: v1
kind: Pod
metadata: {name: applied}
spec:
  resources: {requests: {cpu: 100m}}
  containers: [{name: c, image: x}]
"""
DAEMON = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: c, image: x}]}
"""
INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  ingressClassName: x
  rules:
  - host: example.com
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
"""
APPLIED = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: ssa, labels: {tier: a}}
spec:
  replicas: 1
  selector: {matchLabels: {app: ssa}}
  template:
    metadata: {labels: {app: ssa}}
    spec: {containers: [{name: c, image: x, env: [{name: A, value: b}]}]}
"""
# Without the label and the variable, and with another image.
APPLIED_LATER = APPLIED.replace(", labels: {tier: a}", "").replace("image: x, env: [{name: A, value: b}]", "image: z")
# Each command, its exit status, and texts of its standard output, or of its standard error if it fails.
COMMANDS = (
    (("version",), 0, ["Server Version: v1.36"]),
    (("create", "deployment", "web", "--image=x", "--replicas=2"), 0, ["deployment.apps/web created"]),
    (("run", "a", "--image=x"), 0, ["pod/a created"]),
    (("create", "job", "j", "--image=x"), 0, ["job.batch/j created"]),
    (("create", "cronjob", "cj", "--image=x", "--schedule=* * * * *"), 0, ["cronjob.batch/cj created"]),
    (
        ("create", "cronjob", "bad", "--image=x", "--schedule=61 * * * *"),
        1,
        ["end of range (61) above maximum (59): 61"],
    ),
    (("apply", "-f", "MANIFEST"), 0, ["configmap/cm created", "pod/applied created"]),
    (("apply", "-f", "MANIFEST"), 0, ["configmap/cm unchanged", "pod/applied unchanged"]),
    (("apply", "--server-side", "-f", "MANIFEST"), 0, ["configmap/cm serverside-applied"]),
    (("apply", "--server-side", "-f", "APPLIED"), 0, ["deployment.apps/ssa serverside-applied"]),
    (("apply", "--server-side", "-f", "APPLIED"), 0, ["deployment.apps/ssa serverside-applied"]),
    (("apply", "--server-side", "-f", "LATER", "--field-manager=b"), 1, ['conflict with "kubectl"', "spec.template"]),
    (("apply", "--server-side", "-f", "LATER"), 0, ["deployment.apps/ssa serverside-applied"]),
    (("get", "deploy", "ssa", "-o", "jsonpath=<{.metadata.labels}{.spec.template.spec.containers[0].env}>"), 0, ["<>"]),
    (("get", "deploy", "ssa", "-o", "yaml", "--show-managed-fields"), 0, ["manager: kubectl", "operation: Apply"]),
    (("delete", "deploy", "ssa", "--timeout=20s"), 0, ["deleted"]),
    (("apply", "-f", "DAEMON"), 0, ["daemonset.apps/agent created"]),
    (("wait", "pod/a", "--for=create", "--timeout=20s"), 0, ["condition met"]),
    (("wait", "pod/a", "--for=condition=Ready", "--timeout=20s"), 0, ["condition met"]),
    (("wait", "pod/a", "--for=jsonpath={.spec.nodeName}", "--timeout=20s"), 0, ["condition met"]),
    (("rollout", "status", "deploy/web", "--timeout=20s"), 0, ["successfully rolled out"]),
    (("rollout", "status", "ds/agent", "--timeout=20s"), 0, ["successfully rolled out"]),
    (("expose", "deploy", "web", "--port=80"), 0, ["service/web exposed"]),
    (("wait", "endpoints/web", "--for=jsonpath={.subsets[0].addresses[1].ip}", "--timeout=20s"), 0, ["condition met"]),
    (("get", "endpoints,endpointslices"), 0, ["10.128.0.", "endpointslice.discovery.k8s.io/web-"]),
    (("describe", "service", "web"), 0, ["10.128.0.", ":80"]),
    (("wait", "job/j", "--for=condition=Complete", "--timeout=20s"), 0, ["condition met"]),
    (("get", "pods", "-o", "wide"), 0, ["IP", "NODE", "NOMINATED NODE", "READINESS GATES"]),
    (("get", "nodes", "-o", "wide"), 0, ["INTERNAL-IP", "EXTERNAL-IP", "CONTAINER-RUNTIME", "v1.36.0", "simulated://"]),
    (("get", "deploy"), 0, ["READY", "UP-TO-DATE", "AVAILABLE", "2/2"]),
    (("get", "ds"), 0, ["DESIRED   CURRENT   READY   UP-TO-DATE   AVAILABLE   NODE SELECTOR"]),
    (("get", "job"), 0, ["STATUS     COMPLETIONS   DURATION", "Complete   1/1"]),
    (("get", "cj"), 0, ["SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST SCHEDULE"]),
    (("get", "controllerrevisions"), 0, ["CONTROLLER", "REVISION", "daemonset.apps/agent"]),
    (("get", "hpa,endpointslices,limitranges,quota,runtimeclass"), 0, []),
    (("get", "pc"), 0, ["system-node-critical", "2000001000", "PREEMPTIONPOLICY"]),
    (("create", "quota", "few", "--hard=pods=100"), 0, ["created"]),
    (("get", "quota"), 0, ["REQUEST", "LIMIT", "pods: "]),
    (("get", "sa"), 0, ["default"]),
    (("create", "token", "default"), 0, ["."]),
    (("create", "token", "nobody"), 1, ['serviceaccounts "nobody" not found']),
    (("logs", "a"), 1, ["runs no containers"]),
    (("logs", "deploy/web"), 1, ["runs no containers"]),
    (("top", "pods"), 1, ["Metrics API not available"]),
    (("events", "--for", "pod/a"), 0, ["LAST SEEN", "Scheduled", "Pulled", "Started"]),
    (("get", "events", "--sort-by=.lastTimestamp"), 0, ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]),
    (("describe", "pod", "a"), 0, ["Successfully assigned default/a", "Started container a"]),
    (("describe", "node", "n1"), 0, ["KubeletReady", "Allocated resources"]),
    (("describe", "deploy", "web"), 0, ["NewReplicaSetAvailable"]),
    (("explain", "pods"), 1, ["no OpenAPI schema"]),
    (("debug", "node/n1", "--image=x"), 0, ["Creating debugging pod node-debugger-n1-"]),
    (("debug", "a", "--image=x"), 1, ["ephemeral containers are disabled"]),
    (("patch", "deploy", "web", "-p", '{"spec":{"replicas":3}}'), 0, ["patched"]),
    (("scale", "deploy", "web", "--replicas=2"), 0, ["scaled"]),
    (("set", "resources", "deploy", "web", "--requests=cpu=100m"), 0, ["resource requirements updated"]),
    (("annotate", "pod", "a", "x=y"), 0, ["annotated"]),
    (("edit", "deploy", "web"), 0, []),
    (
        ("autoscale", "deployment", "web", "--min=1", "--max=5", "--cpu-percent=70"),
        0,
        ["horizontalpodautoscaler.autoscaling/web autoscaled"],
    ),
    (("get", "hpa"), 0, ["REFERENCE", "TARGETS", "Deployment/web", "<unknown>"]),
    (
        ("get", "horizontalpodautoscalers.v1.autoscaling", "web", "-o", "yaml"),
        0,
        ["apiVersion: autoscaling/v1", "targetCPUUtilizationPercentage: 70"],
    ),
    (
        ("get", "horizontalpodautoscalers.v2.autoscaling", "web", "-o", "yaml"),
        0,
        ["apiVersion: autoscaling/v2", "averageUtilization: 70", "type: Utilization"],
    ),
    (("auth", "can-i", "*", "*"), 0, ["yes"]),
    (("auth", "can-i", "--list"), 0, ["*.*", "[*]"]),
    (("auth", "whoami"), 0, ["system:unsecured", "system:masters"]),
    (("apply", "-f", "INGRESS"), 0, ["ingress.networking.k8s.io/web created"]),
    (("get", "ingress"), 0, ["CLASS", "example.com"]),
    (("create", "ingress", "i", "--rule=a.com/*=web:80,tls=s"), 0, ["ingress.networking.k8s.io/i created"]),
    (("describe", "ing", "i"), 0, ["a.com", "web:80", "s terminates a.com"]),
    (("describe", "ing", "web"), 0, ["example.com", "web:80"]),
    (("get", "networkpolicies"), 0, []),
    (("certificate", "approve", "x"), 1, ["the server doesn't have a resource type \"certificatesigningrequests\""]),
    (("get", "componentstatuses"), 1, ["the server doesn't have a resource type \"componentstatuses\""]),
    (("get", "crd"), 1, ["the server doesn't have a resource type \"crd\""]),
    (("get", "--raw", "/openapi/v3"), 1, ["the server could not find the requested resource"]),
    (("api-resources",), 0, ["horizontalpodautoscalers", "endpointslices", "cronjobs"]),
    (("api-versions",), 0, ["autoscaling/v2", "discovery.k8s.io/v1"]),
    (("get", "all"), 0, ["pod/a", "deployment.apps/web", "daemonset.apps/agent", "job.batch/j", "cronjob.batch/cj"]),
    (("delete", "pod", "applied", "--timeout=20s"), 0, ["deleted"]),
    (("run", "b", "--image=x"), 0, ["pod/b created"]),
    (("delete", "pod", "b", "--force"), 0, ["force deleted"]),
    (("cordon", "n1"), 0, ["cordoned"]),
    (("drain", "n1", "--force", "--ignore-daemonsets", "--timeout=20s"), 0, ["drained"]),
    (("drain", "n1", "--force", "--ignore-daemonsets", "--grace-period=0", "--timeout=20s"), 0, ["drained"]),
    (("delete", "deploy", "web", "--timeout=20s"), 0, ["deleted"]),
)


def test_commands():
    files = {
        "MANIFEST": write_file("manifest.yaml", MANIFEST),
        "DAEMON": write_file("daemon.yaml", DAEMON),
        "INGRESS": write_file("ingress.yaml", INGRESS),
        "APPLIED": write_file("applied.yaml", APPLIED),
        "LATER": write_file("later.yaml", APPLIED_LATER),
    }
    api = Api.start(
        flags=[
            "--emulated-version=1.36",
            "--simulate=kubelets,controllers",
            "--pod-start-delay=100ms",
            "--pod-stop-delay=50ms",
            "--job-duration=100ms",
        ]
    )
    kubectl = Kubectl(api)
    kubectl.env["KUBE_EDITOR"] = "true"
    kubectl.create(node("n1"), node("n2"))
    scheduler = Scheduler(api.url, "--emulated-version=1.36", "--secure-port=0", bare=True, name="at-home")
    for command, status, texts in COMMANDS:
        command = [files.get(word, word) for word in command]
        kubectl(*command, status=status, **({"err": texts} if status else {"out": texts}))
    assert scheduler.stop() == 0, "the scheduler ends well"


harness.main(globals())
