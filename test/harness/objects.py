"""Nodes, pods and lists of them."""
from harness.running import write_file


def node(
    name="n1",
    cpu="4",
    memory="8Gi",
    pods="110",
    zone=None,
    labels=None,
    allocatable=None,
    ready="True",
    status=None,
    **spec
):
    """Returns a Node. `zone` is its failure domain, `allocatable` adds resources, `status` replaces members of the
    status, `spec` is spec's members."""
    labels = dict(labels or {})
    labels.setdefault("kubernetes.io/hostname", name)
    if zone is not None:
        labels["failure-domain.beta.kubernetes.io/zone"] = zone
    resources = dict({"cpu": cpu, "memory": memory, "pods": pods}, **(allocatable or {}))
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": dict(
            {"capacity": dict(resources), "allocatable": resources, "conditions": [{"type": "Ready", "status": ready}]},
            **(status or {})
        ),
    }


def pod(
    name="p1",
    cpu="500m",
    memory=None,
    namespace="default",
    on=None,
    labels=None,
    port=None,
    owner=None,
    uid=None,
    meta=None,
    requests=None,
    scheduler=None,
    priority_class=None,
    **spec
):
    """Returns a Pod of one container. `on` is the node that it is bound to, `port` its host port, `owner` the kind of
    its controller; `requests` replaces cpu and memory; `meta` is more members of its metadata, `spec` is spec's
    members."""
    metadata = {"name": name, "namespace": namespace}
    if uid:
        metadata["uid"] = uid
    if labels:
        metadata["labels"] = labels
    if owner:
        metadata["ownerReferences"] = [
            {"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}
        ]
    if requests is None:
        requests = dict({"cpu": cpu} if cpu else {}, **({"memory": memory} if memory else {}))
    container = {"name": "c", "image": "busybox"}
    if requests:
        container["resources"] = {"requests": requests}
    if port:
        container["ports"] = [{"hostPort": port, "containerPort": port}]
    spec = {"containers": [container], **spec}
    spec.update(
        (key, value)
        for key, value in (("nodeName", on), ("schedulerName", scheduler), ("priorityClassName", priority_class))
        if value
    )
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(metadata, **(meta or {})), "spec": spec}


def items(*objects):
    """Returns a List of objects, which is how kubectl get -o json prints them: programs take them as they are."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def write_objects(name, objects):
    """Writes a List of objects into a scratch file, and returns its path."""
    return write_file(name, items(*objects))


def cpu(quantity):
    """Returns a quantity of cpu in milliCPU."""
    return int(quantity[:-1]) if quantity.endswith("m") else int(quantity) * 1000
