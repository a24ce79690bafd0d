#!/usr/bin/env python3
"""Applies all of hack/deploy with kubectl to hollow-apiserver: what it serves is created, and nothing changes when it
is applied again. Kinds that it does not serve are parsed by kubectl and must be known ones. The Dockerfile installs the
libraries that the programs need."""
import os
import re

import harness
from harness import BIN, Api, Kubectl, run

# Custom resources, which exist only where their operator runs.
NOT_SERVED = {"ServiceMonitor"}
PARTS_OF_EVERY_SYSTEM = {"libc6", "libgcc-s1", "libstdc++6"}


def documents(text):
    return [d for d in re.split(r"^---$", text, flags=re.M) if re.search(r"^kind:", d, re.M)]


def test_everything_applies():
    api = Api.start()
    kubectl = Kubectl(api)
    served = {line.split()[-1] for line in kubectl("api-resources", "--no-headers").splitlines()}
    assert {"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget"} <= served, served
    docs = []
    for folder in ("hack/deploy", "hack/deploy/monitoring"):
        docs += documents(kubectl("kustomize", folder))
    with open("hack/deploy/static-pod.yaml") as f:
        docs += documents(f.read())
    kinds = {re.search(r"^kind: *(\w+)", d, re.M).group(1) for d in docs}
    assert {
        "Deployment",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "PodDisruptionBudget",
        "Service",
        "ServiceMonitor",
        "Pod",
    } <= kinds, kinds
    rbac = {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    assert kinds - served <= NOT_SERVED | rbac, kinds - served
    for d in docs:
        kind = re.search(r"^kind: *(\w+)", d, re.M).group(1)
        if kind not in served:
            continue
        first = kubectl("apply", "--validate=false", "-f", "-", stdin=d)
        assert " created" in first, first
        again = kubectl("apply", "--validate=false", "-f", "-", stdin=d)
        assert " unchanged" in again or " configured" in again, again
    deployment = api.get("/apis/apps/v1/namespaces/kube-system/deployments/berth-scheduler")
    assert deployment["spec"]["replicas"] == 2
    budget = api.get("/apis/policy/v1beta1/namespaces/kube-system/poddisruptionbudgets/berth-scheduler")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items(), "the budget is for other pods"
    service = api.get("/api/v1/namespaces/kube-system/services/berth-scheduler")
    assert service["spec"]["selector"].items() <= labels.items(), "the service is for other pods"


def test_the_image_has_the_libraries_of_the_programs():
    with open("hack/deploy/Dockerfile") as f:
        installed = set(f.read().split("FROM")[2].split())
    for program in ("kube-scheduler", "schedsim", "hollow-apiserver"):
        needed = re.findall(r"NEEDED.*\[(.+)\]", run("readelf", "-d", os.path.join(BIN, program))[1])
        assert len(needed) > 5, needed
        for library in needed:
            packages = {line.split(":")[0] for line in run("dpkg-query", "-S", f"*/{library}")[1].splitlines()}
            assert packages & (installed | PARTS_OF_EVERY_SYSTEM), (program, library, packages)


harness.main(globals())
