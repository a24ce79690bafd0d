#!/usr/bin/env python3
"""Bugs of releases 1.13, 1.19 and 1.36 in pkg/scheduler/BUGS.md, by number: that they are kept, or that they are fixed.
All of 1.36 are here; of the others those that a Policy shows."""
import http.server
import json
import threading

import harness
from harness import Api, Scheduler, items, node, pod, schedsim, wait_until, write_file

API = "kubescheduler.config.k8s.io/v1"
ZONES = "topology.kubernetes.io/zone"


def decide(objects, *flags, config=None):
    """Returns the decisions of 1.36 by pod."""
    more = (
        ["--config", write_file("config.json", dict(config, apiVersion=API, kind="KubeSchedulerConfiguration"))]
        if config
        else []
    )
    status, out, err = schedsim(
        "run", "-", "--emulated-version=1.36", "-o", "json", *more, *flags, feed=items(*objects)
    )
    assert status == 0, err
    return {d["pod"].split("/")[1]: d for d in json.loads(out)["decisions"]}


def uses(claim):
    return [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]


def test_n_01_kept_a_rejection_before_dynamic_resources_never_preempts():
    low = pod("low", cpu="1", on="n0", priority=1)
    want = decide([node("n0", cpu="1"), low, pod("p", cpu="1", priority=100, volumes=uses("nope"))], "--preempt")["p"]
    assert (
        want["error"] == '0/1 nodes are available: persistentvolumeclaim "nope" not found.'
        and want["preemptionError"] == "not found"
    ), want
    assert not want["preemption"]["victims"], want
    # Without DynamicResources among the PostFilters, preemption says why it finds nothing.
    other = decide(
        [node("n0", cpu="1"), low, pod("p", cpu="1", priority=100, volumes=uses("nope"))],
        "--preempt",
        config={"profiles": [{"plugins": {"postFilter": {"disabled": [{"name": "DynamicResources"}]}}}]},
    )["p"]
    assert other["preemptionError"] != "not found" and "not helpful" in json.dumps(other), other


def test_n_02_fixed_a_capacity_without_capacity_has_no_part_in_the_score():
    class_ = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "c"},
        "provisioner": "d",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": "d"},
        "spec": {"storageCapacity": True},
    }
    room = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": "r", "namespace": "default"},
        "storageClassName": "c",
        "nodeTopology": {},
        "maximumVolumeSize": "10Gi",
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {
            "storageClassName": "c",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    where = decide(
        [node("n0"), node("n1"), class_, driver, room, claim, pod("p", volumes=uses("c"))],
        "--feature-gates=StorageCapacityScoring=true",
    )["p"]
    assert where.get("host") in ("n0", "n1"), where


def test_n_03_kept_the_score_of_fit_ignores_pod_level_requests():
    """The node with less room is better for what the container asks for; with the pod-level requests counted it would
    not be."""

    def one(config, **more):
        p = pod("p", cpu="100m", **more)
        return decide([node("n0", cpu="4"), node("n1", cpu="8"), pod("used", cpu="1", on="n1"), p], config=config)["p"]

    only_fit = {
        "profiles": [
            {
                "plugins": {
                    "multiPoint": {
                        "disabled": [{"name": n} for n in ("NodeResourcesBalancedAllocation", "ImageLocality")]
                    }
                }
            }
        ]
    }
    plain, level = one(only_fit), one(only_fit, resources={"requests": {"cpu": "3"}})
    assert plain["totals"] == level["totals"], (plain, level)
    # The filter counts them.
    assert "Insufficient cpu" in one(only_fit, resources={"requests": {"cpu": "9"}})["error"]


def test_n_04_kept_pods_that_differ_in_the_protocol_of_a_port_may_share_a_batch():
    """The node that the batch gives is filtered, so that nothing wrong is placed."""

    def asks(name, protocol):
        p = pod(name, cpu="4")
        p["spec"]["containers"][0]["ports"] = [{"containerPort": 1, "hostPort": 80, "protocol": protocol}]
        return p

    config = {
        "profiles": [
            {
                "pluginConfig": [
                    {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}
                ]
            }
        ]
    }
    d = decide(
        [node("n%d" % i, cpu=str(4 + i)) for i in range(4)] + [asks("a", "TCP"), asks("b", "UDP"), asks("c", "TCP")],
        config=config,
    )
    assert all(d[p].get("host") for p in "abc") and d["b"].get("hint") == d["b"]["host"], d
    assert len({d[p]["host"] for p in "ac"}) == 2, d


def extender(answer):
    """Starts an extender that answers each filter call with answer(the request), and returns its entry in a
    configuration."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = json.dumps(answer({k.lower(): v for k, v in body.items()})).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {"urlPrefix": "http://127.0.0.1:%d/x" % server.server_port, "filterVerb": "filter"}


def test_n_05_fixed_scores_behind_an_extender_see_the_nodes_as_they_are():
    def all_nodes(request):
        return {"nodes": request["nodes"], "failedNodes": {}}

    objects = [node("full", cpu="1"), node("empty", cpu="1"), pod("used", cpu="800m", on="full"), pod("p", cpu="50m")]
    d = decide(objects, config={"extenders": [extender(all_nodes)]})["p"]
    assert d["host"] == "empty" and d["totals"]["empty"] > d["totals"]["full"], d
    assert d["totals"] == decide(objects)["p"]["totals"], d


def test_19_03_fixed_of_several_nodes_one_needs_no_victims():
    """An extender refuses all nodes, so that preemption looks at nodes on which the pod fits as they are."""

    def no_node(request):
        return {"nodenames": [], "failedNodes": {n: "no" for n in request["nodenames"]}}

    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "extenders": [dict(extender(no_node), nodeCacheCapable=True)],
    }
    objects = [node("full", cpu="1"), node("roomy", cpu="2")]
    objects += [pod("on-full", cpu="1", on="full", priority=1), pod("on-roomy", cpu="1", on="roomy", priority=2)]
    status, out, err = schedsim(
        "run",
        "-",
        "--emulated-version=1.19",
        "--preempt",
        "-o",
        "json",
        "--config",
        write_file("config.json", config),
        feed=items(*objects, pod("p", cpu="1", priority=100)),
    )
    assert status == 0, err
    found = json.loads(out)["decisions"][0]["preemption"]
    assert (found["node"], found["victims"]) == ("roomy", []), found


def test_m_18_fixed_the_text_of_a_failure_is_no_format_string():
    def no_node(request):
        return {"nodenames": [], "failedNodes": {n: "100%d sure: %s" for n in request["nodenames"]}}

    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "extenders": [dict(extender(no_node), nodeCacheCapable=True)],
    }
    with Api.start(flags=["--emulated-version=1.29"]) as api:
        api.add_node("n1", cpu="1")
        Scheduler(api.url, "--emulated-version=1.29", "--config", write_file("config.json", config))
        api.post("/api/v1/namespaces/default/pods", pod("p"))

        wait_until("the event", api.events, reason="FailedScheduling")
        (event,) = api.events(reason="FailedScheduling")
        assert "1 100%d sure: %s" in (event.get("message") or event.get("note")), event


def by_policy(release, objects, predicates=None, priorities=None, **more):
    """Returns the decisions by a Policy, or the error."""
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        **{k: v for k, v in (("predicates", predicates), ("priorities", priorities)) if v is not None},
        **more,
    }
    status, out, err = schedsim(
        "run",
        "-",
        "--emulated-version=" + release,
        "--policy-config-file",
        write_file("policy.json", policy),
        "-o",
        "json",
        feed=items(*objects),
    )
    return {d["pod"].split("/")[1]: d for d in json.loads(out)["decisions"]} if status == 0 else err


CLUSTER = [node("n0", cpu="4", labels={"a": "b"}), node("n1", cpu="8")]
RATIO = {
    "requestedToCapacityRatioArguments": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]}
}


def test_13_04_kept_predicates_about_conditions_end_the_start():
    for name in ("CheckNodeCondition", "CheckNodeMemoryPressure", "CheckNodeDiskPressure", "CheckNodePIDPressure"):
        err = by_policy("1.13", [*CLUSTER, pod("p")], [{"name": name}])
        assert (
            "Invalid configuration: Predicate type not found for " + name in err and "remove it from the Policy" in err
        ), err


def test_19_01_fixed_priorities_with_the_names_of_plugins_are_errors():
    for name in ("NodeLabel", "ServiceAffinity"):
        argument = (
            {"labelPreference": {"label": "a", "presence": True}}
            if name == "NodeLabel"
            else {"serviceAntiAffinity": {"label": "a"}}
        )
        err = by_policy("1.19", [*CLUSTER, pod("p")], [], [{"name": name, "weight": 1, "argument": argument}])
        assert isinstance(err, str) and name in err, err


def test_19_04_kept_weights_are_cut_to_32_bits():
    totals = {
        w: by_policy("1.19", [*CLUSTER, pod("p")], [], [{"name": "LeastRequestedPriority", "weight": w}])["p"]["totals"]
        for w in (2, 4294967298)
    }
    assert totals[2] == totals[4294967298], totals


def test_19_09_kept_a_known_name_loses_its_argument():
    d = by_policy(
        "1.19",
        [*CLUSTER, pod("p")],
        [{"name": "PodFitsResources", "argument": {"labelsPresence": {"labels": ["a"], "presence": True}}}],
        [],
    )
    assert set(d["p"]["totals"]) == {"n0", "n1"}, d
    d = by_policy(
        "1.19",
        [*CLUSTER, pod("p")],
        [{"name": "Own", "argument": {"labelsPresence": {"labels": ["a"], "presence": True}}}],
        [],
    )
    assert d["p"]["host"] == "n0" and "n1" in d["p"]["failures"], d


def test_19_10_kept_a_ratio_without_resources_scores_nothing():
    d = by_policy("1.19", [*CLUSTER, pod("p", cpu="2")], [], [{"name": "R", "weight": 3, "argument": RATIO}])
    assert len(set(d["p"]["totals"].values())) == 1, d
    with_cpu = {
        "requestedToCapacityRatioArguments": dict(
            RATIO["requestedToCapacityRatioArguments"], resources=[{"name": "cpu", "weight": 1}]
        )
    }
    d = by_policy("1.19", [*CLUSTER, pod("p", cpu="2")], [], [{"name": "R", "weight": 3, "argument": with_cpu}])
    assert d["p"]["totals"]["n0"] > d["p"]["totals"]["n1"], d


def test_19_11_kept_the_flag_of_the_hard_weight_has_no_effect_beside_a_policy():
    """Only the Policy's own hardPodAffinitySymmetricWeight counts."""
    near = {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "host"}
            ]
        }
    }
    objects = [
        node("n0", cpu="4", labels={"host": "n0"}),
        node("n1", cpu="4", labels={"host": "n1"}),
        pod("seed", labels={"app": "x"}, on="n1"),
        pod("asks", on="n1", affinity=near),
        pod("p", labels={"app": "x"}),
    ]
    policy = {
        "kind": "Policy",
        "apiVersion": "v1",
        "predicates": [],
        "priorities": [{"name": "InterPodAffinityPriority", "weight": 1}],
    }
    found = []
    for flags in ([], ["--hard-pod-affinity-symmetric-weight=100"]):
        status, out, err = schedsim(
            "run",
            "-",
            "--emulated-version=1.19",
            "--policy-config-file",
            write_file("policy.json", policy),
            "-o",
            "json",
            *flags,
            feed=items(*objects)
        )
        assert status == 0, err
        found.append([d for d in json.loads(out)["decisions"] if d["pod"] == "default/p"][0]["scores"])
    assert found[0] == found[1], found


def test_19_12_kept_general_predicates_beside_a_part_of_it_do_not_start():
    for part in ("HostName", "PodFitsHostPorts", "MatchNodeSelector", "PodFitsResources"):
        err = by_policy("1.19", [*CLUSTER, pod("p")], [{"name": "GeneralPredicates"}, {"name": part}], [])
        assert 'already registered as "' in err, (part, err)


harness.main(globals())
