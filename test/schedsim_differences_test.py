#!/usr/bin/env python3
"""The differences of decisions between releases 1.29 and 1.36, D-01 to D-28, each with what both releases decide. (D-27
and D-28 are bugs of the release: BUGS.md, N-01 and N-05.)"""
import http.server
import json
import threading

import harness
from harness import items, node, pod, schedsim, write_file

OLD, NEW = "1.29", "1.36"
API = "kubescheduler.config.k8s.io/v1"


def run(release, objects, *flags, config=None):
    more = (
        [
            "--config",
            write_file("config-%s.json" % release, dict(config, apiVersion=API, kind="KubeSchedulerConfiguration")),
        ]
        if config
        else []
    )
    return schedsim("run", "-", "--emulated-version=" + release, "-o", "json", *more, *flags, feed=items(*objects))


def decide(release, objects, *flags, config=None):
    """Returns the decisions by pod."""
    status, out, err = run(release, objects, *flags, config=config)
    assert status == 0, err
    return {d["pod"].split("/")[1]: d for d in json.loads(out)["decisions"]}


def both(objects, *flags, config=None):
    """Returns the decisions about pod p in both releases."""
    return tuple(decide(r, objects, *flags, config=config)["p"] for r in (OLD, NEW))


def scores(decision, plugin):
    return {n: of.get(plugin, 0) for n, of in decision["scores"].items()}


def disabled(*names, point="multiPoint", **args):
    profile = {"plugins": {point: {"disabled": [{"name": n} for n in names]}}}
    if args:
        profile["pluginConfig"] = [{"name": n, "args": a} for n, a in args.items()]
    return {"profiles": [profile]}


def storage(kind, name, group="storage.k8s.io/v1", **more):
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name}, **more}


def claim(name, volume=None, class_name="", modes=("ReadWriteOnce",), bound=True, **spec):
    metadata = {"name": name, "namespace": "default"}
    if volume and bound:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": {
            "storageClassName": class_name,
            "accessModes": list(modes),
            "resources": {"requests": {"storage": "1Gi"}},
            **({"volumeName": volume} if volume else {}),
            **spec,
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }


def volume(name, source=None, claimed=None, class_name="", on=None, modes=("ReadWriteOnce",), **spec):
    if on:
        spec["nodeAffinity"] = {
            "required": {
                "nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [on]}]}
                ]
            }
        }
    if claimed:
        spec["claimRef"] = {"namespace": "default", "name": claimed}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            **(source or {"csi": {"driver": "d", "volumeHandle": name}}),
            "accessModes": list(modes),
            "capacity": {"storage": "1Gi"},
            "storageClassName": class_name,
            **spec,
        },
    }


def uses(*claims):
    return [{"name": "v%d" % i, "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]


def container(name="c", cpu=None, image="busybox", port=None, **more):
    out = {"name": name, "image": image, **more}
    if cpu:
        out["resources"] = {"requests": {"cpu": cpu}}
    if port:
        out["ports"] = [{"containerPort": 1, "hostPort": port}]
    return out


def sidecar(**more):
    return container(name="s", restartPolicy="Always", **more)


def test_d_01_balanced_allocation_compares_with_and_without_the_pod():
    old, new = both(
        [
            node("n0", cpu="4", memory="8Gi"),
            node("n1", cpu="4", memory="8Gi"),
            pod("p", cpu="1", memory="2Gi"),
            pod("used", cpu="2", on="n1"),
        ]
    )
    # n1: 3 of 4 cpu and 2 of 8 GiB with the pod: S = 75; 2 of 4 and 0 of 8 without: S = 75.
    assert scores(old, "NodeResourcesBalancedAllocation") == {"n0": 100, "n1": 75}, old
    assert scores(new, "NodeResourcesBalancedAllocation") == {"n0": 75, "n1": 75}, new


def test_d_02_balanced_allocation_skips_pods_without_requests():
    old, new = both([node("n0"), node("n1"), pod("p", cpu=None)])
    assert (
        scores(old, "NodeResourcesBalancedAllocation")["n0"] == 100
        and scores(new, "NodeResourcesBalancedAllocation")["n0"] == 0
    ), (old, new)


def test_d_03_images_of_init_containers_count():
    have = {"images": [{"names": ["init:1"], "sizeBytes": 800 << 20}]}
    old, new = both(
        [node("n0", status=have), node("n1"), pod("p", initContainers=[container(name="i", image="init:1")])]
    )
    assert scores(old, "ImageLocality") == {"n0": 0, "n1": 0} and scores(new, "ImageLocality")["n0"] > 0, (old, new)


def test_d_04_sidecars_count_in_the_sum_with_defaults():
    used = pod("used", cpu="1", on="n0", initContainers=[sidecar(cpu="1")])
    old, new = both(
        [node("n0", cpu="4"), node("n1", cpu="4"), used, pod("p", cpu="1")],
        config=disabled(
            NodeResourcesFit={
                "scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu", "weight": 1}]}
            }
        ),
    )
    assert scores(old, "NodeResourcesFit") == {"n0": 50, "n1": 75}, old
    assert scores(new, "NodeResourcesFit") == {"n0": 25, "n1": 75}, new


def test_d_05_a_node_that_is_too_small_is_no_candidate():
    old, new = both(
        [
            node("n0", cpu="1"),
            node("n1", cpu="1"),
            pod("low", cpu="1", on="n0", priority=1),
            pod("p", cpu="2", priority=9),
        ],
        "--preempt",
    )
    assert "1 No preemption victims found" in old["preemptionError"], old
    assert "2 Preemption is not helpful for scheduling" in new["preemptionError"], new


def test_d_06_host_ports_of_sidecars_count():
    used, wanted = pod("used", on="n0", initContainers=[sidecar(port=80)]), pod("p")
    wanted["spec"]["containers"] = [container(port=80)]
    old, new = both([node("n0"), used, wanted])
    assert old.get("host") == "n0" and new["error"].endswith(
        "1 node(s) didn't have free ports for the requested pod ports."
    ), (old, new)
    used["spec"]["initContainers"], wanted["spec"] = [], dict(
        wanted["spec"], containers=[container()], initContainers=[sidecar(port=80)]
    )
    used["spec"]["containers"] = [container(port=80)]
    old, new = both([node("n0"), used, wanted])
    assert old.get("host") == "n0" and "free ports" in new["error"], (old, new)


def test_d_07_the_reason_of_taints_names_none():
    old, new = both([node("n0", taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]), pod("p")])
    assert (
        "1 node(s) had untolerated taint {k: v}." in old["error"]
        and "1 node(s) had untolerated taint(s)." in new["error"]
    ), (old, new)


def test_d_08_a_volume_on_another_node():
    old, new = both([node("n0"), volume("v", claimed="c", on="n9"), claim("c", "v"), pod("p", volumes=uses("c"))])
    assert "had volume node affinity conflict" in old["error"], old
    assert "didn't match PersistentVolume's node affinity" in new["error"], new


def test_d_09_a_claim_for_one_pod():
    once = ("ReadWriteOncePod",)
    old, new = both(
        [
            node("n0"),
            volume("v", claimed="c", modes=once),
            claim("c", "v", modes=once),
            pod("used", on="n0", volumes=uses("c")),
            pod("p", volumes=uses("c")),
        ]
    )
    assert (
        "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode" in old["error"]
    ), old
    assert (
        "unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
        in new["error"]
    ), new


def test_d_10_nodes_that_are_left_out_by_name_are_counted():
    only = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n0"]}]}]
            }
        }
    }
    old, new = both([node("n0", cpu="1"), node("n1"), node("n2"), pod("p", cpu="2", affinity=only)])
    assert old["error"] == "0/3 nodes are available: 1 Insufficient cpu.", old
    assert (
        new["error"]
        == "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
    ), new


REMOVED = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")


def test_d_11_plugins_of_in_tree_limits_are_gone():
    objects = [node("n0"), pod("p")]
    for name in REMOVED:
        for point, word in (("filter", "filter"), ("preFilter", "preFilter")):
            config = {"profiles": [{"plugins": {point: {"enabled": [{"name": name}]}}}]}
            status, _, err = run(NEW, objects, config=config)
            want = (
                'profiles[0].plugins.%s.enabled[0]: Invalid value: "%s": was invalid in version "v1" '
                '(KubeSchedulerConfiguration is version '
                '"kubescheduler.config.k8s.io/v1")' % (word, name)
            )
            assert status != 0 and want in err and "does not exist" not in err, err
        status, _, err = run(NEW, objects, config={"profiles": [{"pluginConfig": [{"name": name, "args": {}}]}]})
        assert status != 0 and 'profiles[0].pluginConfig[0]: Invalid value: "%s": was invalid' % name in err, err
        status, _, err = run(
            NEW, objects, config={"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": name}]}}}]}
        )
        assert (
            status != 0
            and (
                'initializing profiles: creating profile for scheduler name default-scheduler: PreFilterPlugin "%s" '
                'does not exist' % name
            )
            in err
        ), err
        assert decide(NEW, objects, config=disabled(name))["p"]["host"] == "n0"
        assert run(OLD, objects, config=disabled(name))[0] == 0


def test_d_12_limits_of_volumes_are_those_of_csi_nodes():
    driver = "d"
    objects = [
        node("n0", allocatable={"attachable-volumes-csi-" + driver: "1"}),
        pod("used", on="n0", volumes=uses("a")),
        pod("p", volumes=uses("b")),
    ]
    for c in "ab":
        objects += [volume("v" + c, claimed=c), claim(c, "v" + c)]
    none = storage("CSINode", "n0", spec={"drivers": [{"name": driver, "nodeID": "n0"}]})
    one = storage("CSINode", "n0", spec={"drivers": [{"name": driver, "nodeID": "n0", "allocatable": {"count": 1}}]})
    old, new = both(objects + [none])
    assert "exceed max volume count" in old["error"] and new.get("host") == "n0", (old, new)
    for d in both(objects + [one]):
        assert "exceed max volume count" in d["error"], d


def test_d_13_a_missing_claim_rejects_and_is_no_error():
    config = {
        "profiles": [
            {
                "plugins": {
                    "multiPoint": {
                        "disabled": [{"name": n} for n in ("VolumeBinding", "VolumeRestrictions", "VolumeZone")]
                    }
                }
            }
        ]
    }
    old, new = both(
        [
            node("n0"),
            storage("CSINode", "n0", spec={"drivers": [{"name": "d", "nodeID": "n0", "allocatable": {"count": 1}}]}),
            pod("p", volumes=uses("nope")),
        ],
        config=config,
    )
    assert not old["error"].startswith("0/1") and "nope" in old["error"], old
    assert new["error"].startswith("0/1 nodes are available: ") and "nope" in new["error"], new


def test_d_14_plugins_without_anything_to_score_have_no_score():
    old, new = both([node("n0"), node("n1"), pod("p")])
    for plugin in ("NodeAffinity", "VolumeBinding"):
        assert not new["scores"]["n0"].get(plugin) and not old["scores"]["n0"].get(plugin), (old, new)


def test_d_15_and_d_16_dynamic_resources_is_a_default_plugin_and_speaks_before_preemption():
    old, new = both([node("n0", cpu="1"), pod("p", cpu="2", priority=9)], "--preempt")
    assert old["preemptionError"].startswith("preemption: 0/1"), old
    assert new["preemptionError"].startswith("no new claims to deallocate, preemption: 0/1"), new
    new = decide(
        NEW, [node("n0", cpu="1"), pod("p", cpu="2", priority=9)], "--preempt", config=disabled("DynamicResources")
    )["p"]
    assert new["preemptionError"].startswith("preemption: 0/1"), new


def test_d_17_declared_node_features():
    objects = [node("n0"), node("n1", status={"declaredFeatures": ["RestartAllContainersOnContainerExits"]})]
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    p = pod("p")
    p["spec"]["containers"][0]["restartPolicyRules"] = rules
    assert decide(NEW, objects + [p])["p"]["host"] == "n1"
    new = decide(NEW, objects[:1] + [p])["p"]
    assert new["error"] == "0/1 nodes are available: 1 node(s) didn't match Pod's required features.", new
    new = decide(NEW, objects[:1] + [pod("p", hostNetwork=True, hostUsers=False)])["p"]
    assert "didn't match Pod's required features" in new["error"], new
    assert decide(NEW, objects[:1] + [p], config=disabled("NodeDeclaredFeatures"))["p"]["host"] == "n0"


def test_d_18_pods_count_for_what_they_have_during_a_resize():
    used = pod("used", cpu="1", on="n0")
    used["status"] = {
        "containerStatuses": [
            {"name": "c", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "3"}}}
        ]
    }
    new = decide(NEW, [node("n0", cpu="4"), used, pod("p", cpu="2")])["p"]
    assert "Insufficient cpu" in new["error"], new
    # What cannot be done does not count, and a status without resources changes nothing.
    grows = pod("used", cpu="3", on="n0")
    grows["status"] = {
        "containerStatuses": [
            {"name": "c", "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1"}}}
        ],
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
    }
    assert decide(NEW, [node("n0", cpu="4"), grows, pod("p", cpu="2")])["p"].get("host") == "n0"
    grows["status"]["conditions"][0]["reason"] = "Deferred"
    assert "Insufficient cpu" in decide(NEW, [node("n0", cpu="4"), grows, pod("p", cpu="2")])["p"]["error"]


def test_d_19_pod_level_requests_count_in_the_filter_and_on_the_node():
    p = pod("p", cpu="100m", resources={"requests": {"cpu": "3"}})
    assert "Insufficient cpu" in decide(NEW, [node("n0", cpu="2"), p])["p"]["error"]
    used = pod("used", cpu="100m", on="n0", resources={"requests": {"cpu": "3"}})
    assert "Insufficient cpu" in decide(NEW, [node("n0", cpu="4"), used, pod("p", cpu="2")])["p"]["error"]
    # Limits alone do not count.
    assert (
        decide(NEW, [node("n0", cpu="2"), pod("p", cpu="100m", resources={"limits": {"cpu": "3"}})])["p"].get("host")
        == "n0"
    )


def test_d_20_volumes_match_by_their_attributes_class():
    class_ = storage(
        "StorageClass", "wait", provisioner="kubernetes.io/no-provisioner", volumeBindingMode="WaitForFirstConsumer"
    )
    gold = claim("c", class_name="wait", volumeAttributesClassName="gold")
    for with_class, fits in (({}, False), ({"volumeAttributesClassName": "gold"}, True)):
        new = decide(
            NEW, [node("n0"), class_, volume("v", class_name="wait", **with_class), gold, pod("p", volumes=uses("c"))]
        )["p"]
        assert bool(new.get("host")) == fits, new
    assert (
        decide(OLD, [node("n0"), class_, volume("v", class_name="wait"), gold, pod("p", volumes=uses("c"))])["p"].get(
            "host"
        )
        == "n0"
    )


def test_d_21_equal_pods_in_a_row_may_be_placed_by_one_decision():
    config = disabled(PodTopologySpread={"defaultingType": "List", "defaultConstraints": []})
    objects = [node("n%d" % i, cpu=str(4 + i)) for i in range(4)] + [pod(n, cpu="4") for n in ("a", "b", "c")]
    new = decide(NEW, objects, config=config)
    assert (
        not new["a"].get("hint") and new["b"]["hint"] == new["b"]["host"] and new["c"]["hint"] == new["c"]["host"]
    ), new
    for d in (
        decide(NEW, objects),
        decide(OLD, objects, config=config),
        decide(NEW, objects, "--feature-gates=OpportunisticBatching=false", config=config),
    ):
        assert not any(x.get("hint") for x in d.values()), d


def test_d_22_portworx_volumes_count_for_their_driver_and_rbd_never():
    sources = {
        "pxd.portworx.com": {"portworxVolume": {"volumeID": "x"}},
        "rbd.csi.ceph.com": {"rbd": {"monitors": ["m"], "image": "i"}},
    }
    for driver, source in sources.items():
        objects = [
            node("n0"),
            storage("CSINode", "n0", spec={"drivers": [{"name": driver, "nodeID": "n0", "allocatable": {"count": 0}}]}),
            volume("v", source=source, claimed="c"),
            claim("c", "v"),
            pod("p", volumes=uses("c")),
        ]
        new = decide(NEW, objects)["p"]
        assert bool(new.get("host")) == ("rbd" in source), (driver, new)


def test_d_23_values_that_are_none_of_labels():
    terms = [{"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["-3"]}]}]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    old, new = both([node("n0", labels={"k": "1"}), pod("p", affinity=affinity)])
    assert old["outcome"] == new["outcome"] if "outcome" in old else old.get("host") == new.get("host"), (old, new)
    for release in (OLD, NEW):
        status, _, err = run(
            release,
            [node("n0")],
            config={
                "profiles": [
                    {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": affinity["nodeAffinity"]}}]}
                ]
            },
        )
        assert status != 0 and "addedAffinity" in err and "-3" in err, err


def test_d_24_tolerations_that_compare_numbers_need_their_gate():
    tainted = node("n0", taints=[{"key": "k", "value": "5", "effect": "NoSchedule"}])
    for op, value, fits in (
        ("Gt", "4", True),
        ("Gt", "5", False),
        ("Lt", "6", True),
        ("Lt", "5", False),
        ("Gt", "-1", True),
        ("Gt", "04", False),
        ("Gt", "+4", False),
        ("Lt", "9223372036854775808", False),
    ):
        p = pod("p", tolerations=[{"key": "k", "operator": op, "value": value, "effect": "NoSchedule"}])
        assert not decide(NEW, [tainted, p])["p"].get("host"), (op, value)
        new = decide(NEW, [tainted, p], "--feature-gates=TaintTolerationComparisonOperators=true")["p"]
        assert bool(new.get("host")) == fits, (op, value, new)


def test_d_25_the_other_rules_decide_as_before():
    disk = [{"name": "d", "gcePersistentDisk": {"pdName": "x"}}]
    zone = "topology.kubernetes.io/zone"
    away = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"a": "b"}}, "topologyKey": zone}
            ]
        }
    }
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": zone,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"a": "b"}},
        }
    ]
    nodes = [node("n0", labels={zone: "z0"}), node("n1", labels={zone: "z1"}, unschedulable=True)]
    used = pod("used", on="n0", labels={"a": "b"}, port=80, volumes=disk)
    cases = [
        {"port": 80},
        {"volumes": disk},
        {"affinity": away},
        {"labels": {"a": "b"}, "topologySpreadConstraints": spread},
        {},
    ]
    for case in cases:
        old, new = both(nodes + [used, pod("p", **case)])
        for key in ("host", "error", "failures"):
            assert old.get(key) == new.get(key), (case, key, old, new)


def test_d_26_without_scores_the_search_ends_at_the_first_node():
    config = {
        "profiles": [{"plugins": {"preScore": {"disabled": [{"name": "*"}]}, "score": {"disabled": [{"name": "*"}]}}}]
    }
    objects = [node("n%d" % i) for i in range(4)] + [pod(n) for n in ("a", "b", "c")]
    new = decide(NEW, objects, config=config)
    assert [new[p]["host"] for p in "abc"] == ["n0", "n1", "n2"] and new["a"]["evaluated"] == 2, new
    old = decide(OLD, objects, config=config)
    assert all("evaluated" not in d for d in old.values()) and old["a"]["totals"] == {
        "n%d" % i: 1 for i in range(4)
    }, old


def test_d_27_a_rejection_before_dynamic_resources_ends_preemption():
    low = pod("low", cpu="4", on="n0", priority=1)
    old, new = both([node("n0"), low, pod("p", cpu="4", priority=9, volumes=uses("nope"))], "--preempt")
    assert old["preemptionError"].startswith("preemption: ") and new["preemptionError"] == "not found", (old, new)


def test_d_28_scores_behind_an_extender_see_nodes_as_they_are():
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = {k.lower(): v for k, v in json.loads(self.rfile.read(int(self.headers["Content-Length"]))).items()}
            answer = json.dumps({"nodes": body["nodes"], "failedNodes": {}}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    objects = [node("full", cpu="1"), node("empty", cpu="1"), pod("used", cpu="800m", on="full"), pod("p", cpu="50m")]
    d = decide(
        NEW,
        objects,
        config={"extenders": [{"urlPrefix": "http://127.0.0.1:%d" % server.server_port, "filterVerb": "f"}]},
    )["p"]
    assert d["totals"] == decide(NEW, objects)["p"]["totals"] and d["host"] == "empty", d


harness.main(globals())
