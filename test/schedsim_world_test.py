#!/usr/bin/env python3
"""What schedsim makes of manifests: admission, the pods of workloads, new and leaving nodes, order (text/forms.test has
the forms of input)."""
import json
import tempfile

import harness
from harness import schedsim


def node(name, cpu="4", labels=None, **spec):
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict({"kubernetes.io/hostname": name}, **(labels or {}))},
        "spec": spec,
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def pod(name, cpu="1", meta=None, status=None, **spec):
    containers = [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}} if cpu else {}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": dict({"name": name}, **(meta or {})),
        "spec": dict({"containers": containers}, **spec),
        **({"status": status} if status else {}),
    }


def workload(kind, name, group="apps/v1", cpu="100m", template=None, **spec):
    pod_spec = dict(
        {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]}, **(template or {})
    )
    return {
        "apiVersion": group,
        "kind": kind,
        "metadata": {"name": name},
        "spec": dict(
            {
                "selector": {"matchLabels": {"app": name}},
                "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec},
            },
            **spec,
        ),
    }


def documents(*objects):
    return "\n".join(json.dumps(o) for o in objects)


def placements(*objects, flags=("--emulated-version=1.29",), text=None):
    code, out, err = schedsim(
        "run", "-", "-o", "placements", *flags, feed=text if text is not None else documents(*objects)
    )
    assert code == 0, err
    return dict(line.split() for line in out.splitlines()), err


def test_priority():
    gold = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "gold"}, "value": 1000}
    low = pod("low", cpu="3", meta={"uid": "u"}, nodeName="n1", priority=1)

    def victims(p, *more):
        out = schedsim(
            "run", "-", "-o", "json", "--preempt", "--emulated-version=1.29", feed=documents(node("n1"), low, p, *more)
        )[1]
        d = json.loads(out)["decisions"][-1]
        return d.get("preemption", {}).get("victims", []), d.get("preemptionError", "")

    assert victims(pod("p", cpu="2", priorityClassName="gold"), gold)[0] == ["default/low"], "named class"
    assert victims(pod("p", cpu="2", priorityClassName="system-cluster-critical"))[0] == [
        "default/low"
    ], "built-in class"
    never = dict(gold, preemptionPolicy="Never")
    assert "preemptionPolicy=Never" in victims(pod("p", cpu="2", priorityClassName="gold"), never)[1], "Never"
    assert victims(pod("p", cpu="2"), dict(gold, globalDefault=True))[0] == ["default/low"], "globalDefault"
    placed, err = placements(node("n1"), pod("p", priorityClassName="none"))
    assert (
        placed == {} and 'pods "p" is forbidden: no PriorityClass with name none was found' in err
    ), "an unknown class"
    code, _, err = schedsim(
        "run",
        "-",
        "--emulated-version=1.29",
        "--validate=strict",
        feed=documents(node("n1"), pod("p", priorityClassName="none")),
    )
    assert code == 1 and "no PriorityClass" in err, "strict"
    page = schedsim(
        "explain",
        "-",
        "--pod",
        "p",
        "--emulated-version=1.29",
        feed=documents(node("n1"), gold, pod("p", priorityClassName="gold")),
    )[1]
    assert "priority 1000 of PriorityClass gold" in page, "explain says where it comes from"


def test_classes_and_limits():
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "box"},
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "3"}},
        "scheduling": {"nodeSelector": {"pool": "box"}},
    }
    nodes = [node("n1"), node("n2", labels={"pool": "box"})]
    placed, err = placements(*nodes, runtime, pod("a", runtimeClassName="box"), pod("b", runtimeClassName="box"))
    assert placed == {"default/a": "n2", "default/b": "-"}, "RuntimeClass"
    placed, err = placements(*nodes, pod("a", runtimeClassName="box"))
    assert "the input has no RuntimeClass box, which default/a names" in err, "a RuntimeClass that is not there"
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "lr"},
        "spec": {
            "limits": [
                {"type": "Container", "defaultRequest": {"cpu": "2"}, "max": {"cpu": "3"}, "default": {"cpu": "2"}}
            ]
        },
    }
    placed, err = placements(node("n1"), limits, *[pod(n, cpu=None) for n in "abc"])
    assert sorted(placed.values()) == ["-", "n1", "n1"], "LimitRange"
    placed, err = placements(node("n1"), limits, pod("big", cpu="4"))
    assert (
        placed == {} and "maximum cpu usage per Container is 3" in err or "must be less than" in err
    ), "what a LimitRange refuses"
    for release, limit in (("1.10", "limit"), ("1.36", "limit of 2")):
        for o in (pod("big", cpu="2500m"), workload("Deployment", "web", cpu="2500m")):
            placed, err = placements(node("n1"), limits, o, flags=["--emulated-version=" + release])
            assert (
                placed == {}
                and 'spec.containers[0].resources.requests: Invalid value: "2500m": '
                "must be less than or equal to cpu %s\n" % limit in err
            ), ("a default limit below the request in " + release)
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}}
    placed, err = placements(node("n1"), quota, workload("Deployment", "web", replicas=5))
    assert (
        len(placed) == 2
        and "refuse 3 objects" in err
        and "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" in err
    ), "ResourceQuota"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as spec:
        json.dump(pod("p", cpu=None), spec)
        spec.flush()
        out = schedsim(
            "capacity", "-", "--pod-spec", spec.name, "--emulated-version=1.29", feed=documents(node("n1"), limits)
        )[1]
        assert "default/p: 2 more fit" in out, "capacity"


def test_storage():
    def sc(name, mode, **more):
        return dict(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
                "provisioner": "d.example.com",
                "volumeBindingMode": mode,
            },
            **more,
        )

    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    uses = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    assert placements(node("n1"), sc("late", "WaitForFirstConsumer"), claim, uses)[0] == {
        "default/p": "n1"
    }, "default class"
    assert placements(node("n1"), sc("now", "Immediate"), claim, uses)[0] == {
        "default/p": "n1"
    }, "default class that binds at once"
    none = json.loads(json.dumps(claim))
    none["spec"]["storageClassName"] = ""
    assert placements(node("n1"), sc("late", "WaitForFirstConsumer"), none, uses)[0] == {"default/p": "-"}, "no class"
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "manual",
            "hostPath": {"path": "/x"},
        },
    }
    manual = json.loads(json.dumps(claim))
    manual["spec"]["storageClassName"] = "manual"
    assert placements(node("n1"), volume, manual, uses)[0] == {
        "default/p": "n1"
    }, "a volume of a class that is not there"
    db = workload(
        "StatefulSet",
        "db",
        replicas=2,
        serviceName="db",
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": claim["spec"]}],
    )
    placed, err = placements(node("n1"), sc("late", "WaitForFirstConsumer"), db)
    assert placed == {"default/db-0": "n1", "default/db-1": "n1"}, ("claims of a StatefulSet", placed, err)
    scratch = pod("e", volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": claim["spec"]}}}])
    assert placements(node("n1"), sc("late", "WaitForFirstConsumer"), scratch)[0] == {
        "default/e": "n1"
    }, "ephemeral volumes"


def test_workloads():
    nodes = [node("n1"), node("n2", unschedulable=True), node("n3", labels={"os": "win"})]
    agent = workload(
        "DaemonSet",
        "agent",
        template={
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "os", "operator": "DoesNotExist"}]}]
                    }
                }
            }
        },
    )
    for release in ("1.10", "1.29"):
        placed, _ = placements(*nodes, agent, flags=[f"--emulated-version={release}"])
        assert placed == {"default/agent-n1": "n1", "default/agent-n2": "n2"}, "DaemonSet in " + release
    apart = {
        "affinity": {
            "podAntiAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"job-name": "j"}}}
                ]
            }
        }
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {
            "parallelism": 3,
            "completions": 2,
            "template": {
                "spec": dict({"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}, **apart)
            },
        },
    }
    placed, _ = placements(node("n1"), node("n2"), job)
    assert sorted(placed.values()) == ["n1", "n2"], "labels of a Job"
    suspended = json.loads(json.dumps(job))
    suspended["spec"]["suspend"] = True
    placed, err = placements(node("n1"), suspended)
    assert placed == {} and "Job default/j is suspended: no pod is made of it" in err, "a suspended Job"
    foreign = dict(job, apiVersion="batch.volcano.sh/v1alpha1")
    placed, err = placements(node("n1"), foreign)
    assert (
        placed == {} and "skipped an object of kind Job of batch.volcano.sh/v1alpha1" in err
    ), "a Job of another group"
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {
            "schedule": "* * * * *",
            "jobTemplate": {"spec": {"parallelism": 2, "completions": 2, "template": job["spec"]["template"]}},
        },
    }
    placed, err = placements(node("n1"), cron)
    assert placed == {} and "CronJob default/c makes pods only at its times" in err and "2 pods a run" in err, "CronJob"
    cron["spec"]["suspend"] = True
    placed, err = placements(node("n1"), cron)
    assert "CronJob default/c is suspended" in err, "a suspended CronJob"
    hpa = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {
            "minReplicas": 3,
            "maxReplicas": 9,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        },
    }
    assert (
        len(placements(node("n1"), hpa, workload("Deployment", "web"))[0]) == 3
    ), "minReplicas of a target without replicas"
    placed, err = placements(node("n1"), hpa, workload("Deployment", "web", replicas=1))
    assert len(placed) == 1 and "--autoscaled" in err, "minReplicas is said"
    assert (
        len(placements(node("n1"), hpa, workload("Deployment", "web", replicas=1), flags=["--autoscaled"])[0]) == 3
    ), "minReplicas on request"
    placed, err = placements(node("n1"), hpa)
    assert (
        "the input has no Deployment default/web, which HorizontalPodAutoscaler default/h names" in err
    ), "an autoscaler whose target is not there"
    limited = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {
                "metadata": {"labels": {"app": "d"}},
                "spec": {"containers": [{"name": "c", "image": "x", "resources": {"limits": {"cpu": "3"}}}]},
            },
        },
    }
    for how, text in (
        ("document", documents(node("n1"), limited)),
        ("List", documents(node("n1"), {"apiVersion": "v1", "kind": "List", "items": [limited]})),
    ):
        assert sorted(placements(text=text)[0].values()) == ["-", "n1"], "requests from limits in a " + how


def test_nodes():
    agent = workload("DaemonSet", "agent", cpu="1")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as spec:
        json.dump(pod("p", cpu="2"), spec)
        spec.flush()

        def needed(*objects, replicas=4):
            return schedsim(
                "capacity",
                "-",
                "--pod-spec",
                spec.name,
                "--add-node",
                "n1",
                "--replicas",
                str(replicas),
                "--emulated-version=1.29",
                feed=documents(*objects),
            )[1]

        assert needed(node("n1"), agent).startswith("3 nodes like n1"), (
            "new nodes have the pods of DaemonSets",
            needed(node("n1"), agent),
        )
        tainted = node(
            "n1",
            unschedulable=True,
            taints=[
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
                {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"},
            ],
        )
        assert needed(tainted).startswith("2 nodes like n1"), ("new nodes are not cordoned", needed(tainted))

    def owner(kind, name):
        return {
            "ownerReferences": [{"apiVersion": "v1", "kind": kind, "name": name, "uid": "u" + name, "controller": True}]
        }

    running = {"phase": "Running"}

    def drained(*pods, flags=("--emulated-version=1.29",)):
        return json.loads(
            schedsim(
                "what-if",
                "-",
                "--drain",
                "n1",
                "-o",
                "json",
                *flags,
                feed=documents(node("n1"), node("n2", cpu="1"), *pods),
            )[1]
        )

    d = drained(
        pod(
            "static",
            meta=dict(owner("Node", "n1"), annotations={"kubernetes.io/config.mirror": "x"}),
            nodeName="n1",
            status=running,
        ),
        pod("mirror", meta={"annotations": {"kubernetes.io/config.mirror": "x"}}, nodeName="n1", status=running),
        pod("bare", nodeName="n1", status=running, volumes=[{"name": "v", "emptyDir": {}}]),
        pod(
            "going",
            meta=dict(owner("ReplicaSet", "web"), deletionTimestamp="2026-01-01T00:00:00Z"),
            nodeName="n1",
            status=running,
        ),
        pod("web", meta=owner("ReplicaSet", "web"), nodeName="n1", status=running),
    )
    assert [(m["pod"], m["to"]) for m in d["moves"]] == [("default/web", "n2")], "drain"
    assert d["withoutController"] == ["default/bare"] and d["withEmptyDir"] == ["default/bare"], "lost"

    def guarded(ready, budget, count=1, **more):
        status = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]}
        pods = [
            pod(
                f"w{i}",
                cpu="100m",
                meta=dict(owner("ReplicaSet", "web"), labels={"app": "web"}),
                nodeName="n1" if i < count else "n2",
                status=status,
            )
            for i in range(3)
        ]
        pdb = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b"},
            "spec": dict({"selector": {"matchLabels": {"app": "web"}}}, **budget),
            **more,
        }
        return drained(*pods, pdb)["violatedBudgets"]

    assert guarded(True, {"minAvailable": 2}) == [], "a budget without a status"
    assert guarded(True, {"minAvailable": 3}) != [], "and one that does not allow it"
    assert (
        guarded(True, {"maxUnavailable": "34%"}) == [] and guarded(True, {"maxUnavailable": "34%"}, count=3) != []
    ), "a percentage"
    assert guarded(False, {"minAvailable": 3, "unhealthyPodEvictionPolicy": "AlwaysAllow"}) == [], "AlwaysAllow"
    empty = {"minAvailable": 3, "selector": {}}
    assert guarded(True, empty) != [] and guarded(True, empty, apiVersion="policy/v1beta1") == [], (
        "an empty selector",
        guarded(True, empty),
        guarded(True, empty, apiVersion="policy/v1beta1"),
    )
    assert (
        guarded(
            True,
            {"minAvailable": 2},
            status={
                "observedGeneration": 1,
                "disruptionsAllowed": 0,
                "currentHealthy": 2,
                "desiredHealthy": 2,
                "expectedPods": 3,
            },
        )
        != []
    ), "a status counts"

    def again(replicas):
        """The pods of a ReplicaSet that are made again, of three on the drained node."""
        of = workload("ReplicaSet", "web", replicas=replicas)
        pods = [
            pod(
                f"w{i}",
                cpu="100m",
                meta=dict(owner("ReplicaSet", "web"), labels={"app": "web"}, uid=f"w{i}"),
                nodeName="n1",
                status=running,
            )
            for i in range(3)
        ]
        d = drained(of, *pods)
        return len(d["moves"]), d["notWanted"]

    assert again(3) == (3, []) and again(1) == (1, ["default/w0", "default/w1"]), (
        "as many as the controller wants",
        again(1),
    )
    budgets = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": n},
            "spec": {"minAvailable": 0, "selector": {"matchLabels": {"app": "web"}}},
        }
        for n in "ab"
    ]
    d = drained(
        pod("w", meta=dict(owner("ReplicaSet", "web"), labels={"app": "web"}), nodeName="n1", status=running), *budgets
    )
    assert d["withSeveralBudgets"] == ["default/w"], "several budgets"


def test_budgets_in_preemption():
    """A budget without a status lets as many pods go as its controller would write."""
    low = [
        pod(n, cpu="4", meta={"uid": n, "labels": {"app": app}}, nodeName=on, priority=p, status={"phase": "Running"})
        for n, app, on, p in (("guarded", "w", "n1", 1), ("other", "x", "n2", 2), ("second", "w", "n3", 5000))
    ]

    def victims(least):
        pdb = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "b"},
            "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": "w"}}},
        }
        out = schedsim(
            "run",
            "-",
            "-o",
            "json",
            "--preempt",
            "--emulated-version=1.29",
            feed=documents(
                *[node(n) for n in ("n1", "n2", "n3")],
                *low,
                pdb,
                pod("high", cpu="4", meta={"uid": "high"}, priority=1000),
            ),
        )[1]
        return json.loads(out)["decisions"][-1]["preemption"]["victims"]

    assert victims(1) == ["default/guarded"], ("one may go", victims(1))
    assert victims(2) == ["default/other"], ("none may go", victims(2))


def test_explain():
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "lr"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "100m"}}]},
    }
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "vm"},
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "3"}},
    }
    default = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "usual"},
        "value": 7,
        "globalDefault": True,
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {
            "template": {
                "metadata": {"labels": {"app": "j"}},
                "spec": {
                    "restartPolicy": "Never",
                    "runtimeClassName": "vm",
                    "containers": [{"name": "c", "image": "x"}],
                    "topologySpreadConstraints": [
                        {
                            "maxSkew": 1,
                            "topologyKey": "kubernetes.io/hostname",
                            "whenUnsatisfiable": "DoNotSchedule",
                            "matchLabelKeys": ["app"],
                            "labelSelector": {"matchLabels": {"x": "y"}},
                        }
                    ],
                },
            }
        },
    }
    out = schedsim(
        "explain",
        "-",
        "--pod",
        "j-0000",
        "--emulated-version=1.36",
        "-o",
        "json",
        feed=documents(node("n1"), limits, runtime, default, job),
    )[1]
    assert json.loads(out)["admission"] == [
        "requests and limits of LimitRange lr",
        "priority 7 of PriorityClass usual",
        "tolerations of DefaultTolerationSeconds",
        "overhead of RuntimeClass vm",
        "labels of matchLabelKeys in its selectors",
    ], "where all of it comes from"
    out = schedsim(
        "explain",
        "-",
        "--pod",
        "agent-n1",
        feed=documents(node("n1", unschedulable=True), workload("DaemonSet", "agent")),
    )[1]
    assert "node n1 from its DaemonSet's controller" in " ".join(out.split()), "a node from the controller"


def test_what_a_release_takes_of_a_runtime_class():
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "vm"},
        "handler": "h",
        "overhead": {"podFixed": {"cpu": "3"}},
        "scheduling": {"nodeSelector": {"pool": "blue"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
    }
    p = pod("p", runtimeClassName="vm")
    for release, got in (
        ("1.10", []),
        ("1.13", []),
        ("1.19", ["overhead and nodeSelector and tolerations of RuntimeClass vm"]),
    ):
        out = schedsim(
            "explain",
            "-",
            "--pod",
            "p",
            "--emulated-version=" + release,
            "-o",
            "json",
            feed=documents(node("n1"), runtime, p),
        )[1]
        assert [a for a in json.loads(out)["admission"] if "RuntimeClass" in a] == got, release


def test_later_fields_of_templates_are_as_those_of_pods():
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ]
    where, err = placements(
        node("n1"),
        workload("Deployment", "d", replicas=1, template={"topologySpreadConstraints": spread}),
        flags=("--emulated-version=1.10",),
    )
    assert list(where.values()) == ["-"], "it waits"
    assert (
        "spec.template.spec.topologySpreadConstraints: is a field of" in err
        and "a pod that demands something by it waits" in err
    ), "and that is said"


def test_policies():
    def run(policy, *flags):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(policy)
            f.flush()
            return schedsim(
                "run",
                "-",
                "-o",
                "placements",
                "--policy-config-file",
                f.name,
                *flags,
                feed=documents(node("n1"), pod("p")),
            )

    code, out, err = run('{"urlPrefix": "http://127.0.0.1:1", "filterVerb": "filter"}')
    assert (
        code == 0 and out == "default/p n1\n" and "is a single extender" in err
    ), "an extender alone has no effect, which is said"
    for document, says in (
        (documents(pod("p")), "is a Pod, neither a Policy nor"),
        (documents({"apiVersion": "v1", "kind": "List", "items": [node("n1")]}), "is a List, neither"),
        ("apiVersion: v1\nkind: Node\nmetadata: {name: a}\n", "is a Node, neither"),
        ("kind: Pod\n---\nkind: Pod\n", "has several YAML documents"),
    ):
        code, out, err = schedsim("check", "-", feed=document)
        assert code == 1 and out == "" and says in err and len(err.splitlines()) == 1, (
            "check says what it was given",
            document,
            err,
        )
    twice = (
        '{"kind": "Policy", "predicates": [{"name": "PodFitsResources"}],\n'
        '"predicates": [{"name": "PodFitsHostPorts"}]}'
    )
    code, _, err = run(twice)
    assert code == 0 and "line 2" in err and "predicates: given more than once" in err, "a key twice"
    code, _, err = run(twice, "--validate=strict")
    assert code == 1 and "given more than once" in err, "is an error when strict"


def test_order():
    a = pod("a", cpu="3", meta={"creationTimestamp": "2026-01-01T00:00:00Z"}, priority=1)
    b = pod("b", cpu="3", meta={"creationTimestamp": "2026-01-01T00:00:05Z"}, priority=1000)
    placed, err = placements(node("n1"), a, b)
    assert placed == {"default/a": "n1", "default/b": "-"} and "--order=queue" in err, "as in the file"
    placed, err = placements(node("n1"), a, b, flags=["--emulated-version=1.29", "--order=queue"])
    assert placed == {"default/b": "n1", "default/a": "-"} and "--order" not in err, "as in the queue"
    placed, err = placements(node("n1"), b, a, flags=["--order=queue"])
    assert placed == {"default/a": "n1", "default/b": "-"}, ("by age in 1.10", placed, err)


harness.main(globals())
