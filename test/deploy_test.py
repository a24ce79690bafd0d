#!/usr/bin/env python3
"""All of hack/deploy, with the kubectl that operators have, against hollow-apiserver: what it serves is created, and nothing
changes when it is applied again. Kinds that it does not serve are parsed by kubectl and must be known ones."""
from daemon_harness import *

# Custom resources, which exist only where their operator runs.
NOT_SERVED = {"ServiceMonitor"}


def kubectl(api, *words, stdin=None, check=True):
    done = subprocess.run(["kubectl", f"--server={api.url}", f"--cache-dir={scratch('cache')}", *words], input=stdin, capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": scratch("home")})
    assert not check or done.returncode == 0, f"kubectl {words}: {done.stdout}{done.stderr}\n{stdin or ''}"
    return done


def documents(text):
    return [d for d in re.split(r"^---$", text, flags=re.M) if re.search(r"^kind:", d, re.M)]


def everything_applies():
    api = Api.start()
    served = {line.split()[-1] for line in kubectl(api, "api-resources", "--no-headers").stdout.splitlines()}
    assert {"Deployment", "Service", "ServiceAccount", "PodDisruptionBudget"} <= served, served
    docs = []
    for folder in ("hack/deploy", "hack/deploy/monitoring"):
        docs += documents(subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=True).stdout)
    with open("hack/deploy/static-pod.yaml") as f:
        docs += documents(f.read())
    kinds = {re.search(r"^kind: *(\w+)", d, re.M).group(1) for d in docs}
    assert {"Deployment", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "PodDisruptionBudget", "Service", "ServiceMonitor", "Pod"} <= kinds, kinds
    rbac = {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    assert kinds - served <= NOT_SERVED | rbac, kinds - served
    for d in docs:
        kind = re.search(r"^kind: *(\w+)", d, re.M).group(1)
        if kind not in served:
            continue
        first = kubectl(api, "apply", "--validate=false", "-f", "-", stdin=d).stdout
        assert " created" in first, first
        again = kubectl(api, "apply", "--validate=false", "-f", "-", stdin=d).stdout
        assert " unchanged" in again or " configured" in again, again
    deployment = api.get("/apis/apps/v1/namespaces/kube-system/deployments/berth-scheduler")
    assert deployment["spec"]["replicas"] == 2
    budget = api.get("/apis/policy/v1beta1/namespaces/kube-system/poddisruptionbudgets/berth-scheduler")
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels.items(), "the budget is for other pods"
    service = api.get("/api/v1/namespaces/kube-system/services/berth-scheduler")
    assert service["spec"]["selector"].items() <= labels.items(), "the service is for other pods"


run(everything_applies)
