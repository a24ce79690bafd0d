#!/usr/bin/env python3
"""Tests kube-scheduler of release 1.29 with hollow-apiserver of the same release: its decisions, and what it writes."""
import json

import harness
from harness import Api, Proxy, Scheduler, free_port, node, pod, scratch, wait_until, write_objects

ZONE = "topology.kubernetes.io/zone"


def start(*objects, flags=(), proxied=False):
    api = Api.start(
        *([write_objects("cluster.json", list(objects))] if objects else []), flags=["--emulated-version=1.29"]
    )
    proxy = Proxy(api.port) if proxied else None
    s = Scheduler(proxy.url if proxied else api.url, "--emulated-version=1.29", "--secure-port=0", *flags)
    return api, s, proxy


def scheduled(api, name):
    """Returns the PodScheduled condition of a pod, or None."""
    return api.condition(name, type="PodScheduled")


def why_not_bound(api, name):
    """Returns what that condition says, or None."""
    return (scheduled(api, name) or {}).get("message")


def leaves(api, name):
    return "deletionTimestamp" in api.pods()[name]["metadata"]


def nomination(api, name):
    return api.pods()[name]["status"].get("nominatedNodeName")


def series_events(api, reason):
    items = api.get("/apis/events.k8s.io/v1/namespaces/default/events")["items"]
    return [e for e in items if e["reason"] == reason]


def number_of_events(api, reason):
    return len(series_events(api, reason))


def test_constraints_of_topology_spread_are_kept():
    api, s, _ = start(*[node(f"n{i}", labels={ZONE: f"zone-{i % 3}"}) for i in range(6)])
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
        }
    ]
    names = [f"p{i}" for i in range(6)]
    for name in names:
        api.add_pod(name, labels={"app": "x"}, topologySpreadConstraints=spread)
    api.wait_placed(*names)
    zones = sorted(int(node_name[1:]) % 3 for node_name in api.placements().values())
    assert zones == [0, 0, 1, 1, 2, 2], zones
    wait_until("their events", number_of_events, api, "Scheduled", equals=6)
    e = next(e for e in series_events(api, "Scheduled") if e["regarding"]["name"] == "p0")
    assert e["action"] == "Binding" and e["type"] == "Normal" and e["reportingController"] == "default-scheduler", e
    assert e["reportingInstance"].startswith("default-scheduler-"), e
    assert e["note"] == f"Successfully assigned default/p0 to {api.placements()['p0']}", e
    m = s.metrics()
    assert m['scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"}'] == 6, m
    assert m['scheduler_pod_scheduling_sli_duration_seconds_count{attempts="1"}'] == 6, m
    assert m['scheduler_pending_pods{queue="gated"}'] == 0 and "scheduler_total_preemption_attempts" not in m, m
    assert (
        m['scheduler_watch_open{resource="csinodes"}'] == 1 and m['scheduler_watch_open{resource="namespaces"}'] == 1
    ), m
    assert s.stop() == 0


def test_a_gated_pod_waits_for_its_gates():
    api, s, proxy = start(node("n0"), proxied=True)
    api.add_pod("gated", schedulingGates=[{"name": "example.com/hold"}])
    api.add_pod("free")
    api.wait_placed("free")
    s.wait_metric('scheduler_pods_by_state{state="gated"}', 1)
    assert scheduled(api, "gated")["reason"] == "SchedulingGated"
    status, answer = api.call(
        "PATCH",
        "/api/v1/namespaces/default/pods/gated",
        {"spec": {"schedulingGates": None}},
        "application/merge-patch+json",
    )
    assert status == 200, answer
    api.wait_placed("gated")
    assert not [path for method, path in proxy.seen if method == "PATCH" and "gated" in path]


def test_a_pod_that_does_not_fit_is_told_why():
    api, s, proxy = start(node("n0", cpu="1"), proxied=True)
    api.add_pod("large", cpu="2")
    condition = wait_until("its condition", scheduled, api, "large")
    assert condition["status"] == "False" and condition["reason"] == "Unschedulable", condition
    assert condition["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
        "1 No preemption victims found for incoming pod."
    ), condition
    assert [m for m, path, _ in proxy.bodies if path.endswith("/large/status")] == ["PATCH"], proxy.bodies
    events = wait_until("its event", series_events, api, "FailedScheduling")
    assert events[0]["note"] == condition["message"] and events[0]["action"] == "Scheduling", events
    api.add_node("n1", cpu="4")
    api.wait_placed("large", on="n1")


def plugins_that_reject(s):
    """Returns the plugins in scheduler_unschedulable_pods."""
    return sorted(
        k.split('plugin="')[1].split('"')[0]
        for k, v in s.metrics().items()
        if k.startswith("scheduler_unschedulable_pods{") and v == 1
    )


def test_a_node_wakes_a_pod_whose_volumes_are_too_many_for_the_others():
    full = node("n0", cpu="4")
    full["status"]["allocatable"]["attachable-volumes-aws-ebs"] = "0"
    api, s, _ = start(full)
    api.add_pod("p", volumes=[{"name": "d", "awsElasticBlockStore": {"volumeID": "vol-1"}}])
    condition = wait_until("its condition", scheduled, api, "p")
    assert condition["message"].startswith("0/1 nodes are available: 1 node(s) exceed max volume count."), condition
    wait_until("the plugin counted", plugins_that_reject, s, equals=["EBSLimits"])
    api.add_node("n1", cpu="4")
    api.wait_placed("p", on="n1")


def test_a_pod_that_is_rejected_before_any_node_is_looked_at_counts_for_the_plugin():
    api, s, _ = start(node("n0"))
    api.add_pod("p", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "none"}}])
    condition = wait_until("its condition", scheduled, api, "p")
    assert 'persistentvolumeclaim "none" not found' in condition["message"], condition
    wait_until("the plugin counted", plugins_that_reject, s, equals=["VolumeRestrictions"])
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]}]
    api.add_pod(
        "q", affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    )
    condition = wait_until("its condition", scheduled, api, "q")
    assert "pod affinity terms conflict" in condition["message"], condition
    wait_until("both plugins counted", plugins_that_reject, s, equals=["NodeAffinity", "VolumeRestrictions"])
    attempts = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"}'
    assert s.metrics()[attempts] == 2
    # Neither plugin waits for CSI drivers. VolumeRestrictions waits for claims.
    api.post(
        "/apis/storage.k8s.io/v1/csidrivers",
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d.example.com"}, "spec": {}},
    )
    api.post(
        "/api/v1/namespaces/default/persistentvolumeclaims",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "other", "namespace": "default"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
    )
    s.wait_metric(attempts, 3)


def test_preempts():
    low = pod("low", cpu="4", on="n0", uid="uid-low")
    api, s, proxy = start(node("n0"), low, proxied=True)
    api.post(
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    )
    api.post(
        "/apis/scheduling.k8s.io/v1/priorityclasses",
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": "polite"},
            "value": 1000,
            "preemptionPolicy": "Never",
        },
    )
    api.add_pod("polite", cpu="4", priorityClassName="polite")
    condition = wait_until("the polite pod refused", scheduled, api, "polite")
    assert condition["message"].endswith(" preemption: not eligible due to preemptionPolicy=Never."), condition
    assert "low" in api.pods()
    api.add_pod("high", cpu="4", priorityClassName="high")

    def staying():
        return [name for name, p in api.pods().items() if name == "low" and "deletionTimestamp" not in p["metadata"]]

    wait_until("victims that nobody has deleted", staying, equals=[])
    marked = [
        json.loads(body) for method, path, body in proxy.bodies if method == "PATCH" and path.endswith("/low/status")
    ]
    target = marked[0]["status"]["conditions"][0]
    assert target["type"] == "DisruptionTarget" and target["reason"] == "PreemptionByScheduler", marked
    events = wait_until("the victim's event", series_events, api, "Preempted")
    high = api.pods()["high"]
    assert events[0]["note"] == f"Preempted by pod {high['metadata']['uid']} on node n0", events
    assert events[0]["related"]["name"] == "high" and events[0]["action"] == "Preempting", events

    def node_of_high():
        high = api.pods()["high"]
        return high["spec"].get("nodeName") or high["status"].get("nominatedNodeName")

    wait_until("the node that the pod is nominated for, or placed on", node_of_high, equals="n0")
    status, answer = api.call("DELETE", "/api/v1/namespaces/default/pods/low?gracePeriodSeconds=0")
    assert status in (200, 404), answer
    api.wait_placed("high")


def test_profiles_of_a_configuration_file():
    path = scratch("configuration.yaml")
    with open(path, "w") as f:
        f.write(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "leaderElection: {leaderElect: false}\nprofiles:\n- schedulerName: spreading\n- schedulerName: packing\n"
            "  pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: {type: MostAllocated}}\n"
        )
    api = Api.start(
        write_objects("cluster.json", [node("a"), node("b"), pod("first", cpu="1", on="a")]),
        flags=["--emulated-version=1.29"],
    )
    s = Scheduler(api.url, f"--config={path}", "--secure-port=0", bare=True)
    api.add_pod("one", schedulerName="packing")
    api.add_pod("two", schedulerName="spreading", cpu="100m")
    api.add_pod("other", schedulerName="somebody-else")
    api.wait_placed("one", "two")
    assert api.placements() == {"first": "a", "one": "a", "two": "b", "other": None}
    assert s.stop() == 0


def test_a_profile_without_preemption_evicts_nobody():
    path = scratch("no-preemption.yaml")
    for release, version in (("1.19", "v1beta1"), ("1.29", "v1"), ("1.36", "v1")):
        with open(path, "w") as f:
            f.write(
                f"apiVersion: kubescheduler.config.k8s.io/{version}\nkind: KubeSchedulerConfiguration\n"
                "leaderElection: {leaderElect: false}\nprofiles:\n- schedulerName: evicts\n- schedulerName: waits\n"
                "  plugins: {postFilter: {disabled: [{name: '*'}]}}\n"
            )
        emulated = "--emulated-version=" + release
        objects = [node("a", cpu="1"), pod("low", cpu="1", on="a")]
        with Api.start(write_objects("cluster.json", objects), flags=[emulated]) as api:
            s = Scheduler(api.url, f"--config={path}", emulated, "--secure-port=0", bare=True)
            for name, value in (("higher", 10), ("high", 5)):
                api.post(
                    "/apis/scheduling.k8s.io/v1/priorityclasses",
                    {"kind": "PriorityClass", "metadata": {"name": name}, "value": value},
                )
            api.add_pod("first", schedulerName="waits", cpu="1", priorityClassName="higher")
            condition = wait_until("its condition", scheduled, api, "first")
            assert condition["message"] == "0/1 nodes are available: 1 Insufficient cpu.", (release, condition)
            assert not leaves(api, "low"), release
            api.add_pod("second", schedulerName="evicts", cpu="1", priorityClassName="high")
            wait_until("the victim of the other profile", leaves, api, "low")
            assert nomination(api, "first") is None, release
            assert s.stop() == 0


def test_the_note_of_an_event_is_cut():
    taints = [[{"key": f"example.com/for-team-{i:02}", "effect": "NoSchedule"}] for i in range(40)]
    api, s, _ = start(*[node(f"n{i}", taints=t) for i, t in enumerate(taints)])
    api.add_pod("unwanted")
    condition = wait_until("its condition", scheduled, api, "unwanted")
    (event,) = wait_until("its event", series_events, api, "FailedScheduling")
    assert len(condition["message"]) > 1024, condition
    assert event["note"] == condition["message"][:1020] + " ...", event
    assert s.stop() == 0


LATE = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "volumeBindingMode": "WaitForFirstConsumer"}
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
VOLUMES = "/api/v1/persistentvolumes"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"


def add_classes(api):
    """Adds the class "local" of volumes that exist, and "made" of volumes that a provisioner makes."""
    api.post(CLASSES, dict(LATE, metadata={"name": "local"}, provisioner="kubernetes.io/no-provisioner"))
    api.post(CLASSES, dict(LATE, metadata={"name": "made"}, provisioner="example.com/disk"))


def add_volume(api, name, zone, storage_class="local", claim=None):
    """Adds a volume of a zone: one that is available, or one that was made for a claim."""
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": storage_class,
        "local": {"path": "/x"},
        "nodeAffinity": {
            "required": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]
            }
        },
    }
    if claim:
        spec["claimRef"] = {
            "kind": "PersistentVolumeClaim",
            "namespace": "default",
            "name": claim,
            "uid": api.get(f"{CLAIMS}/{claim}")["metadata"]["uid"],
        }
    api.post(VOLUMES, {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
    status, answer = api.call(
        "PATCH",
        f"{VOLUMES}/{name}/status",
        {"status": {"phase": "Bound" if claim else "Available"}},
        "application/merge-patch+json",
    )
    assert status == 200, answer


def add_claimed_pod(api, name, storage_class):
    """Adds a claim, and the pod "uses-NAME" that has it."""
    api.post(
        CLAIMS,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": storage_class,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    api.add_pod(f"uses-{name}", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])


def bind_claim(api, name, volume):
    """Binds a claim to a volume, as the volume controller does."""
    claim = api.get(f"{CLAIMS}/{name}")
    claim["spec"]["volumeName"] = volume
    claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
    status, answer = api.call("PUT", f"{CLAIMS}/{name}", claim)
    assert status == 200, answer


def selected_node(api, name):
    def selected():
        meta = api.get(f"{CLAIMS}/{name}")["metadata"]
        return meta.get("annotations", {}).get("volume.kubernetes.io/selected-node")

    return wait_until("a node selected", selected)


def reserved_for(api, volume):
    def claimed_by():
        return api.get(f"{VOLUMES}/{volume}")["spec"].get("claimRef")

    return wait_until("a volume reserved", claimed_by)["name"]


def pre_bind_failed(api, pod_name, why):
    wait_until(
        "the pod says why it is not bound",
        why_not_bound,
        api,
        pod_name,
        equals=f'running PreBind plugin "VolumeBinding": binding volumes: {why}',
    )
    assert scheduled(api, pod_name)["reason"] == "SchedulerError"


def test_claims_wait_for_their_first_consumer():
    api, s, proxy = start(node("n0"), node("n1", labels={ZONE: "b"}), proxied=True)
    add_classes(api)
    add_volume(api, "pv", "b")
    add_claimed_pod(api, "kept", "local")
    add_claimed_pod(api, "fresh", "made")
    assert reserved_for(api, "pv") == "kept"
    chosen = selected_node(api, "fresh")
    assert not any(api.placements().values()), "pods are bound after their claims"
    bind_claim(api, "kept", "pv")
    api.wait_placed("uses-kept", on="n1")
    bind_claim(api, "fresh", "pv-fresh")
    assert api.placements()["uses-fresh"] is None, "nobody knows yet where the volume can be used"
    api.post(
        VOLUMES,
        {
            "metadata": {"name": "pv-fresh"},
            "spec": {
                "capacity": {"storage": "1Gi"},
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": "made.example.com", "volumeHandle": "fresh"},
                "storageClassName": "made",
                "claimRef": {
                    "namespace": "default",
                    "name": "fresh",
                    "uid": api.get(f"{CLAIMS}/fresh")["metadata"]["uid"],
                },
            },
        },
    )
    api.wait_placed("uses-fresh", on=chosen)
    assert not [body for method, path, body in proxy.bodies if path.endswith("/status")], "no condition was needed"
    s.wait_for_log(
        '"Updated PersistentVolume with claim. Waiting for binding to complete" pod="default/uses-kept" PV="pv" '
        'PVC="default/kept"'
    )
    s.wait_for_log('"All PVCs for pod are bound" pod="default/uses-kept"')


def bound_where_its_volume_is(api, claim, volume, chosen, other):
    """Waits until the claim's pod has failed on the chosen node, where its volume cannot be used, and is bound to the
    other."""
    pre_bind_failed(
        api,
        f"uses-{claim}",
        f'pv "{volume}" node affinity doesn\'t match node "{chosen}": no matching NodeSelectorTerms',
    )
    api.wait_placed(f"uses-{claim}", on=other)


def test_a_volume_that_was_made_for_another_zone():
    api, s, _ = start(node("n0", labels={ZONE: "a"}), node("n1", labels={ZONE: "b"}))
    add_classes(api)
    add_claimed_pod(api, "moved", "made")
    chosen = selected_node(api, "moved")
    other = {"n0": "n1", "n1": "n0"}[chosen]
    add_volume(api, "pv", {"n0": "a", "n1": "b"}[other], "made", claim="moved")
    bind_claim(api, "moved", "pv")
    bound_where_its_volume_is(api, "moved", "pv", chosen, other)
    assert s.stop() == 0


def test_a_claim_that_is_bound_to_another_volume():
    api, s, _ = start(node("n0", labels={ZONE: "a"}))
    add_classes(api)
    add_volume(api, "near", "a")
    add_claimed_pod(api, "data", "local")
    assert reserved_for(api, "near") == "data"
    api.add_node("n1", labels={ZONE: "b"})
    add_volume(api, "far", "b", claim="data")
    bind_claim(api, "data", "far")
    bound_where_its_volume_is(api, "data", "far", "n0", "n1")
    assert s.stop() == 0


def test_reservations_that_are_taken_back():
    api, s, _ = start(node("n0", labels={ZONE: "a"}))
    add_classes(api)
    add_volume(api, "pv", "a")
    add_claimed_pod(api, "kept", "local")
    assert reserved_for(api, "pv") == "kept"
    volume = api.get(f"{VOLUMES}/pv")
    del volume["spec"]["claimRef"]
    status, answer = api.call("PUT", f"{VOLUMES}/pv", volume)
    assert status == 200, answer
    pre_bind_failed(api, "uses-kept", 'ClaimRef got reset for pv "pv"')
    assert reserved_for(api, "pv") == "kept"

    for name, kept, why in (
        ("failed", {"example.com/owner": "me"}, 'provisioning failed for PVC "failed"'),
        ("reset", None, 'selectedNode annotation reset for PVC "reset"'),
    ):
        add_claimed_pod(api, name, "made")
        selected_node(api, name)
        claim = api.get(f"{CLAIMS}/{name}")
        claim["metadata"].pop("annotations")
        if kept:
            claim["metadata"]["annotations"] = kept
        status, answer = api.call("PUT", f"{CLAIMS}/{name}", claim)
        assert status == 200, answer
        pre_bind_failed(api, f"uses-{name}", why)
        assert selected_node(api, name) == "n0"
    assert s.stop() == 0


def test_claims_that_are_not_bound_in_time():
    path = scratch("timeout.yaml")
    with open(path, "w") as f:
        f.write(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "leaderElection: {leaderElect: false}\n"
            "profiles:\n- pluginConfig:\n  - name: VolumeBinding\n    args: {bindTimeoutSeconds: 1}\n"
        )
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=1.29"])
    s = Scheduler(api.url, f"--config={path}", "--secure-port=0", bare=True)
    api.post(
        "/apis/storage.k8s.io/v1/storageclasses",
        {"metadata": {"name": "made"}, "provisioner": "example.com/disk", "volumeBindingMode": "WaitForFirstConsumer"},
    )
    api.post(
        "/api/v1/namespaces/default/persistentvolumeclaims",
        {
            "metadata": {"name": "slow"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "storageClassName": "made",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        },
    )
    api.add_pod("waits", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "slow"}}])
    wait_until(
        "the pod says why it is not bound",
        why_not_bound,
        api,
        "waits",
        equals='running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded',
    )
    assert scheduled(api, "waits")["reason"] == "SchedulerError"
    # What others have nominated it to does not outlive the failure.
    status, answer = api.call(
        "PATCH",
        "/api/v1/namespaces/default/pods/waits/status",
        {"status": {"nominatedNodeName": "n0"}},
        "application/merge-patch+json",
    )
    assert status == 200 and answer["status"]["nominatedNodeName"] == "n0", answer
    wait_until("the nomination is gone", nomination, api, "waits", equals=None)
    assert s.stop() == 0


def test_claims_of_1_13_that_are_not_bound_in_time():
    """The event has the error. The claim has its node then, and counts as one that is bound at once."""
    address = f"127.0.0.1:{free_port()}"
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1alpha1",
        "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "healthzBindAddress": address,
        "metricsBindAddress": address,
        "bindTimeoutSeconds": 1,
    }
    path = scratch("timeout-1.13.yaml")
    with open(path, "w") as f:
        json.dump(config, f)
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=["--emulated-version=1.13"])
    s = Scheduler(api.url, f"--config={path}", "--secure-port=0", bare=True)
    add_classes(api)
    add_claimed_pod(api, "slow", "made")

    def messages():
        return [e["message"] for e in api.events()]

    wait_until("messages of events", messages, containing="timed out waiting for the condition")
    wait_until(
        "the pod waits for its claim",
        why_not_bound,
        api,
        "uses-slow",
        equals="pod has unbound immediate PersistentVolumeClaims",
    )
    assert s.stop() == 0


def test_the_lock_is_a_lease():
    api, s, proxy = start(node("n0"), flags=["--leader-elect=true"], proxied=True)
    api.add_pod("p0")
    api.wait_placed("p0")
    lease = api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
    assert lease["spec"]["holderIdentity"] and lease["spec"]["leaseDurationSeconds"] == 15, lease
    events = wait_until("an event of the core group", api.events, "kube-system", "LeaderElection")
    assert (
        events[0]["involvedObject"]["kind"] == "Lease" and events[0]["source"]["component"] == "default-scheduler"
    ), events
    assert s.stop() == 0
    lease = api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
    assert lease["spec"]["holderIdentity"] == "" and lease["spec"]["leaseDurationSeconds"] == 1, lease


harness.main(globals())
