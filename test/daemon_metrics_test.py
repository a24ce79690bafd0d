#!/usr/bin/env python3
"""The families of /metrics against the recorded pages of the real schedulers (testdata/metrics): names, types, help
texts, labels and buckets; and when those are counted that only one release has."""
import functools
import os
import re

import harness
from harness import Api, Proxy, Scheduler, node, pod, status_body, wait_until, write_file, write_objects

VOLUMES, CLAIMS = "/api/v1/persistentvolumes", "/api/v1/namespaces/default/persistentvolumeclaims"
RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata", "metrics")
SAMPLE = re.compile(r"([a-z0-9_]+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? \S+")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def families(page):
    """Returns what is said of each family of the scheduler: its type, its help text, the names of its labels, and its
    bounds."""
    found = {}
    for line in page.splitlines():
        kind = re.match(r"# (HELP|TYPE) (scheduler_\S+) (.*)", line)
        if kind:
            found.setdefault(kind[2], {"labels": set(), "bounds": set()})[kind[1]] = kind[3]
            continue
        sample = SAMPLE.fullmatch(line)
        if sample is None:
            continue
        name, labels = sample.groups()
        # The name of a family may end like those of its samples.
        family = found.get(line.partition("{")[0].partition(" ")[0]) or found.get(name)
        if family is None:
            continue
        values = dict(LABEL.findall(labels or ""))
        bound = values.pop("le", None)
        family["labels"] |= set(values)
        if bound not in (None, "+Inf"):
            family["bounds"].add(bound)
    return found


def start(release, *flags, objects=()):
    api = Api.start(
        write_objects("metrics-%s.json" % release, [node("a", cpu="1"), node("b", cpu="1"), *objects]),
        flags=["--emulated-version=" + release],
    )
    run = functools.partial(Scheduler, api.url, "--emulated-version=" + release, *flags, name="metrics-" + release)
    return api, run


def page(s):
    return s.page("/metrics")[2]


def add_urgent_pod(api):
    urgent = pod("urgent", cpu="900m")
    urgent["spec"]["priorityClassName"] = "system-cluster-critical"
    urgent["metadata"]["namespace"] = "kube-system"
    api.post("/api/v1/namespaces/kube-system/pods", urgent)


def test_families_of_the_release():
    for release in ("1.19", "1.36"):
        with open(os.path.join(RECORDED, release + ".txt")) as f:
            recorded = families(f.read())
        assert len(recorded) >= 18, recorded.keys()
        api, run = start(release, objects=[pod(n, cpu="900m", on=n[-1], priority=0) for n in ("low-a", "low-b")])
        for name in ("fits-1", "fits-2"):
            api.add_pod(name, cpu="50m")
        s = run()
        api.wait_placed("fits-1", "fits-2")
        api.add_pod("big", cpu="10")
        wait_until("big refused", api.conditions, "big")
        api.add_node("c", cpu="1m")  # an event that big is asked about
        add_urgent_pod(api)

        def ending():
            return [n for n, p in api.pods().items() if "deletionTimestamp" in p["metadata"]]

        [victim] = wait_until("a victim", ending)
        api.call("DELETE", "/api/v1/namespaces/default/pods/%s?gracePeriodSeconds=0" % victim)
        api.wait_placed("urgent", namespace="kube-system")

        def missing():
            shown = families(page(s))
            return [(name, of, shown.get(name)) for name, of in recorded.items() if not agree(of, shown.get(name))]

        def agree(of, shown):
            return shown and all(
                of[k] == shown[k] for k in ("HELP", "TYPE", "labels", "bounds") if k != "bounds" or of[k]
            )

        wait_until("every family as recorded: %s" % missing(), missing, equals=[])
        # Those that went before the release or came after it.
        shown = set(families(page(s)))
        gone = {
            "1.19": {"unschedulable_pods", "pod_scheduling_sli_duration_seconds", "plugin_evaluation_total"},
            "1.36": {"pod_scheduling_duration_seconds", "e2e_scheduling_duration_seconds"},
        }
        assert not shown & {"scheduler_" + name for name in gone[release]}, shown


def test_families_of_1_13():
    api, run = start("1.13")
    s = run()
    api.add_pod("p", cpu="50m")
    api.wait_placed("p")
    wait_until("its bind measured", counted, s, 'scheduling_latency_seconds_count{operation="binding"}', equals=1)
    text = page(s)
    assert 'scheduler_scheduling_latency_seconds{operation="predicate_evaluation",quantile="0.99"} ' in text, text
    for result in ("hit", "miss"):
        assert 'scheduler_equiv_cache_lookups_total{result="%s"} 0\n' % result in text, text


def claimed_pod(api, name):
    """Adds a volume, a claim that gets it when a pod is placed, and the pod "uses-NAME"."""
    late = {"volumeBindingMode": "WaitForFirstConsumer", "provisioner": "kubernetes.io/no-provisioner"}
    api.post(
        "/apis/storage.k8s.io/v1/storageclasses",
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, **late},
    )
    size = {"accessModes": ["ReadWriteOnce"], "storageClassName": name}
    disk = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"}, **size}
    api.post(VOLUMES, {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": disk})
    available = {"status": {"phase": "Available"}}
    assert api.call("PATCH", f"{VOLUMES}/{name}/status", available, "application/merge-patch+json")[0] == 200
    meta = {"name": name, "namespace": "default"}
    wanted = {"resources": {"requests": {"storage": "1Gi"}}, **size}
    api.post(CLAIMS, {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": wanted})
    api.add_pod("uses-" + name, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": name}}])


def test_steps_of_volumes_in_1_13():
    api, run = start("1.13")
    s = run()
    api.add_pod("plain", cpu="50m")
    api.wait_placed("plain")
    took = 'volume_scheduling_duration_seconds_count{operation="%s"}'
    wait_until("its attempt counted", counted, s, took % "assume", equals=1)
    text = page(s)
    assert count(text, took % "predicate") == 1 and "bind" not in re.findall('operation="(.*?)",le', text), text
    assert 'scheduler_volume_scheduling_duration_seconds_bucket{operation="assume",le="1000"} 1\n' in text, text
    assert "scheduler_volume_binder_cache_requests_total" not in text, text
    claimed_pod(api, "disk")

    def claimed_by():
        return api.get(f"{VOLUMES}/disk")["spec"].get("claimRef")

    wait_until("the volume reserved", claimed_by)
    claim = api.get(f"{CLAIMS}/disk")
    claim["spec"]["volumeName"] = "disk"
    claim["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
    assert api.call("PUT", f"{CLAIMS}/disk", claim)[0] == 200
    api.wait_placed("uses-disk")
    wait_until("the binding of claims measured", counted, s, took % "bind", equals=1)
    text = page(s)
    for operation in ("add", "delete"):
        sample = 'volume_binder_cache_requests_total{operation="%s"}' % operation
        assert count(text, sample) == 1, text
    assert count(text, took % "assume") == 2 and "stage_error" not in text, text
    assert s.stop() == 0
    # Other releases do not show them so.
    api, run = start("1.10")
    s = run()
    assert "scheduler_volume_scheduling" not in page(s)


def count(text, sample):
    found = re.search("^scheduler_" + re.escape(sample) + r" (\S+)$", text, re.M)
    return float(found[1]) if found else 0


def counted(s, sample):
    return count(page(s), sample)


def test_what_changes_of_the_cluster_count_for():
    api, run = start("1.36", objects=[pod("low", cpu="900m", on="a", priority=0)])
    api.add_pod("p", cpu="10")
    s = run()
    wait_until("p refused", api.conditions, "p")
    api.add_node("c", cpu="1m")
    handled = 'event_handling_duration_seconds_count{event="%s"}'
    wait_until("the node handled", counted, s, handled % "NodeAdd", equals=3)
    api.call("DELETE", "/api/v1/namespaces/default/pods/low?gracePeriodSeconds=0")
    wanted = {"NodeAdd": 3, "AssignedPodAdd": 1, "AssignedPodDelete": 1, "UnschedulablePodAdd": 1}

    def changes():
        text = page(s)
        return {e: count(text, handled % e) for e in wanted}

    wait_until("each change counted: %s" % changes(), changes, equals=wanted)
    # The condition that the scheduler writes comes back as an update.
    wait_until("the update", counted, s, handled % "UnschedulablePodUpdate")
    asked = 'queueing_hint_execution_duration_seconds_count{event="NodeAdd",hint="%s",plugin="NodeResourcesFit"}'
    assert count(page(s), asked % "QueueSkip") == 1, page(s)
    assert not count(page(s), asked % "Queue")


def test_what_becomes_of_batches():
    config = write_file(
        "batches.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection:"
        " {leaderElect: false}\nprofiles:\n- pluginConfig:\n  - name: PodTopologySpread\n    args:"
        " {defaultingType: List}\n",
    )
    api, run = start("1.36", "--config=" + config, objects=[node("c", cpu="1"), node("d", cpu="1")])
    for i in range(3):
        api.add_pod("p%d" % i, cpu="900m")
    s = run()
    api.wait_placed(*("p%d" % i for i in range(3)))
    wanted = {
        'batch_attempts_total{profile="default-scheduler",result="no_hint"}': 1,
        'batch_attempts_total{profile="default-scheduler",result="hint_used"}': 2,
        'get_node_hint_duration_seconds_count{hinted="hint",profile="default-scheduler"}': 2,
        'store_schedule_results_duration_seconds_count{profile="default-scheduler"}': 3,
    }

    def counts():
        return {k: count(page(s), k) for k in wanted}

    wait_until("the batch counted: " + page(s), counts, equals=wanted)


def test_n_06_fixed_evictions_that_fail_count_as_errors():
    api, _ = start("1.36", objects=[pod(n, cpu="900m", on=n[-1], priority=0) for n in ("low-a", "low-b")])
    proxy = Proxy(api.port, {"^DELETE ": (500, {}, status_body(500, "no", "InternalError"))})
    s = Scheduler(proxy.url, "--emulated-version=1.36", name="metrics-errors")
    add_urgent_pod(api)
    wait_until("the failure counted", counted, s, 'preemption_goroutines_execution_total{result="error"}')
    assert count(page(s), 'preemption_goroutines_duration_seconds_count{result="error"}')


harness.main(globals())
