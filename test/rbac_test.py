#!/usr/bin/env python3
"""hack/deploy/rbac.yaml and rbac-1.29.yaml against what kube-scheduler really asks for: every request it makes in a run
with all there is (failures, preemption, volumes, events that repeat, a Policy ConfigMap, each kind of lock) must be
allowed, and every right that is granted must be used, but for those named here with a reason."""
import re

import harness
from harness import Api, Proxy, Scheduler, wait_until

# (api group, resource, verb) of rights for actions that do not occur in this run.
UNUSED = {
    ("", "nodes", "get"): "a bind that says the node is gone",
    ("authentication.k8s.io", "tokenreviews", "create"): "--secure-port",
    ("authorization.k8s.io", "subjectaccessreviews", "create"): "--secure-port",
    ("storage.k8s.io", "csinodes", "watch"): "there are CSINodes on servers from 1.14 on",
    ("extensions", "replicasets", "list"): "asked first, on servers before 1.16",
    ("extensions", "replicasets", "watch"): "asked first, on servers before 1.16",
    ("apps", "replicasets", "list"): "asked when extensions is gone, on servers from 1.16 on",
    ("apps", "replicasets", "watch"): "asked when extensions is gone, on servers from 1.16 on",
}
# Those of release 1.29, which replace some of the former.
UNUSED_LATER = {
    ("", "nodes", "get"): "a bind that says the node is gone",
    ("", "pods", "get"): "a bind that meets a conflict",
    ("", "persistentvolumeclaims", "update"): "a claim whose volume is to be made",
    ("authentication.k8s.io", "tokenreviews", "create"): "--secure-port",
    ("authorization.k8s.io", "subjectaccessreviews", "create"): "--secure-port",
    ("", "configmaps", "get"): "--secure-port",
}


def rules(file):
    """Returns (kind of role, groups, resources, verbs, names) of each rule; the file has one rule per line."""
    out, kind = [], None
    for line in open("hack/deploy/" + file):
        if m := re.match(r"kind: (\w+)", line):
            kind = m.group(1)
        if line.startswith("- {apiGroups:"):
            fields = {k: [v.strip(' "') for v in vs.split(",")] for k, vs in re.findall(r"(\w+): \[([^]]*)\]", line)}
            out.append(
                (kind, fields["apiGroups"], fields["resources"], fields["verbs"], fields.get("resourceNames", []))
            )
    assert len(out) >= 10, (file, out)
    return out


def classify(method, target):
    """Returns what RBAC sees of a request: (group, resource, verb, namespace, name), or None if it is not for a
    resource."""
    path, _, query = target.partition("?")
    m = re.match(
        r"/(?:api/v1|apis/([^/]+)/[^/]+)(?:/namespaces/([^/]+)(?=/))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?$", path
    )
    if not m:
        return None
    group, ns, resource, name, sub = m.group(1) or "", m.group(2), m.group(3), m.group(4), m.group(5)
    verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method)
    if verb is None:
        verb = "get" if name else "watch" if "watch=true" in query else "list"
    return group, resource + ("/" + sub if sub else ""), verb, ns, name


def conversation(lock, later):
    """Returns method and target of all requests of a run with this kind of lock."""
    api = Api.start(flags=["--emulated-version=1.29"] if later else [])
    for n in ("n1", "n2"):
        api.add_node(n, cpu="1", memory="1Gi", pods="10")
    scheduling = "scheduling.k8s.io/" + ("v1" if later else "v1alpha1")
    api.post(
        "/apis/%s/priorityclasses" % scheduling,
        {"apiVersion": scheduling, "kind": "PriorityClass", "metadata": {"name": "important"}, "value": 1000},
    )
    api.post(
        "/apis/storage.k8s.io/v1/storageclasses",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "late"},
            "provisioner": "kubernetes.io/no-provisioner",
            "volumeBindingMode": "WaitForFirstConsumer",
        },
    )
    api.post(
        "/api/v1/persistentvolumes",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "pv"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "late",
                "hostPath": {"path": "/x"},
            },
        },
    )
    volume = api.get("/api/v1/persistentvolumes/pv")
    volume["status"] = {"phase": "Available"}
    assert api.call("PUT", "/api/v1/persistentvolumes/pv/status", volume)[0] == 200
    api.post(
        "/api/v1/namespaces/default/persistentvolumeclaims",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "claim", "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "late",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    api.post(
        "/api/v1/namespaces/kube-system/configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "scheduler-policy", "namespace": "kube-system"},
            "data": {"policy.cfg": '{"kind":"Policy","apiVersion":"v1"}'},
        },
    )
    between = Proxy(api.port)
    release = (
        ["--emulated-version=1.29", "--secure-port=0"]
        if later
        else [
            "--feature-gates=PodPriority=true",
            "--policy-configmap=scheduler-policy",
            "--policy-configmap-namespace=kube-system",
        ]
    )
    s = Scheduler(
        between.url,
        *release,
        "--leader-elect-resource-lock=" + lock,
        ("--leader-elect-resource-name" if later else "--lock-object-name") + "=berth-scheduler",
        "--leader-elect-retry-period=200ms",
        "--leader-elect-renew-deadline=40s",
        "--leader-elect-lease-duration=60s",
        name="scheduler-" + lock,
        bare=True,
    )

    def wait(what, function, *args):
        def holds():
            assert s.process.poll() is None, "kube-scheduler ended with %d before %s" % (s.process.returncode, what)
            return function(*args)

        wait_until(what, holds)

    def asked(method, pattern):
        def seen():
            return any(m == method and re.search(pattern, t) for m, t in list(between.seen))

        return seen

    def is_placed(name):
        wait(name + " is placed", api.node_of, name)

    def remove(name):
        api.call(
            "DELETE",
            "/api/v1/namespaces/default/pods/" + name,
            {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0},
        )

    for i in range(2):
        api.add_pod("low-%d" % i, cpu="900m")
        is_placed("low-%d" % i)
    api.add_pod("volume", cpu="50m", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "claim"}}])
    wait("the volume is reserved", asked("PUT", "/persistentvolumes/pv"))
    api.add_pod("huge", cpu="64")
    wait("a condition is written", asked("PATCH" if later else "PUT", "/pods/huge/status"))
    # Something changes each time, so that the pod is tried again and fails again, and the event is patched.
    n = 0

    def again():
        nonlocal n
        n += 1
        if later:
            # In release 1.29 the deletion of a pod wakes it.
            api.add_pod("gone-%d" % n, cpu="1m")
            is_placed("gone-%d" % n)
            remove("gone-%d" % n)
        else:
            n1 = api.get("/api/v1/nodes/n1")
            n1["metadata"]["labels"]["n"] = str(n)
            api.call("PUT", "/api/v1/nodes/n1", n1)
        return asked("PATCH", "/events/")()

    wait("an event is repeated", again)
    api.add_pod("high", cpu="800m", priority_class="important")
    wait("a preemption", asked("DELETE", "/pods/low-"))

    # There is no kubelet to end the victim. The request is seen before the server has carried it out.
    def victims_end():
        victims = [name for name, p in api.pods().items() if p["metadata"].get("deletionTimestamp")]
        for name in victims:
            remove(name)
        return victims

    wait("a victim is being deleted", victims_end)
    is_placed("high")
    wait("the lock is renewed", asked("PUT", "/%s/berth-scheduler" % lock))
    wait("an event says who leads", asked("POST", "^/api/v1/namespaces/kube-system/events"))

    def all_watched():
        answered = [classify(m, t) for m, t, status in list(between.answers) if status == 200]
        asked_for = [classify(m, t) for m, t in list(between.seen)]

        def of(verb, all_of):
            return {what[:2] for what in all_of if what and what[2] == verb}

        return of("list", answered) <= of("watch", asked_for)

    wait("what was listed is watched", all_watched)
    assert s.stop() == 0
    return between.seen


def check_rights(file, locks, unused, later):
    granted, used = rules(file), set()
    for lock in locks:
        for method, target in sorted(set(conversation(lock, later))):
            what = classify(method, target)
            assert what, "%s: %s %s is of a resource" % (file, method, target)
            if what is None:
                continue
            group, resource, verb, ns, name = what
            hits = [
                (kind, g, r, v)
                for kind, groups, resources, verbs, names in granted
                for g in groups
                for r in resources
                for v in verbs
                if (g, r, v) == (group, resource, verb)
                and (not names or name in names)
                and (kind == "ClusterRole" or ns == "kube-system")
            ]
            assert hits, (
                "%s: %s %s is allowed" % (file, method, target),
                "%s %s in group %r" % (verb, resource, group),
            )
            used.update(h[1:] for h in hits)
    for kind, groups, resources, verbs, names in granted:
        for group, resource, verb in ((g, r, v) for g in groups for r in resources for v in verbs):
            right = (group, resource, verb)
            assert right in used or right in unused, "%s: %s %s in group %r is used" % (file, verb, resource, group)


def test_release_1_10():
    check_rights("rbac.yaml", ("endpoints", "configmaps", "leases"), UNUSED, False)


def test_release_1_29():
    check_rights("rbac-1.29.yaml", ("leases",), UNUSED_LATER, True)


harness.main(globals())
