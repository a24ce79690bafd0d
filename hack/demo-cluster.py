#!/usr/bin/env python3
"""Writes the nodes of the demo cluster: test/testdata/demo/nodes.yaml is its output.

usage: demo-cluster.py [NODES PER ZONE] > test/testdata/demo/nodes.yaml

Three zones of 100 nodes: of every 20 nodes 13 are for general work (every other one with an SSD), 2 have GPUs and a
taint, 1 is for infrastructure and has a taint, 4 are small. In each zone one general node is cordoned and one is not
ready; its kubelet does not run where kubelets are simulated.
"""
import sys

KINDS = ["general"] * 13 + ["gpu"] * 2 + ["infra"] + ["small"] * 4
SIZES = {  # cpu, memory, pods
    "general": ("16", "64Gi", "110"),
    "gpu": ("32", "256Gi", "110"),
    "infra": ("8", "32Gi", "110"),
    "small": ("2", "4Gi", "20"),
}


def node(zone, number):
    kind = KINDS[number % len(KINDS)]
    name = "%s-%s-%03d" % (kind, zone[-1], number)
    labels = {
        "kubernetes.io/hostname": name,
        "failure-domain.beta.kubernetes.io/region": "demo",
        "failure-domain.beta.kubernetes.io/zone": zone,
        "kind": kind,
    }
    if kind == "general" and number % 2 == 0:
        labels["disk"] = "ssd"
    cpu, memory, pods = SIZES[kind]
    extra = ', nvidia.com/gpu: "8"' if kind == "gpu" else ""
    spec = []
    if kind == "gpu":
        spec.append("taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]")
    if kind == "infra":
        spec.append("taints: [{key: dedicated, value: infra, effect: NoSchedule}]")
    if number == 5:
        spec.append("unschedulable: true")
    ready = "False" if number == 25 else "True"
    print("---")
    print("apiVersion: v1")
    print("kind: Node")
    print("metadata:")
    print("  name: %s" % name)
    print("  labels: {%s}" % ", ".join("%s: %s" % kv for kv in labels.items()))
    if number == 25:
        print('  annotations: {simulate.berth/down: "true"}')
    if spec:
        print("spec: {%s}" % ", ".join(spec))
    amounts = '{cpu: "%s", memory: %s, pods: "%s"%s}' % (cpu, memory, pods, extra)
    print("status:")
    print("  capacity: %s" % amounts)
    print("  allocatable: %s" % amounts)
    print('  conditions: [{type: Ready, status: "%s"}]' % ready)


print("# Made by hack/demo-cluster.py, which says what is in it.")
for z in ("zone-a", "zone-b", "zone-c"):
    for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
        node(z, n)
