#!/usr/bin/env python3
"""Which events wake a pod that waits, in releases 1.13 and 1.19, seen from outside: by the tries of the pod and by the
metrics of the queue."""
import harness
from harness import Api, Scheduler, node, wait_until, write_objects

NODE, VOLUMES, CLAIMS = (
    "/api/v1/nodes/n0",
    "/api/v1/persistentvolumes",
    "/api/v1/namespaces/default/persistentvolumeclaims",
)
SERVICES, CLASSES = "/api/v1/namespaces/default/services", "/apis/storage.k8s.io/v1/storageclasses"


def change_node(api, what, kind="merge-patch+json"):
    status, answer = api.call("PATCH", NODE + ("/status" if "status" in what else ""), what, "application/" + kind)
    assert status == 200, answer


def change(api, path, what):
    status, answer = api.call("PATCH", path, what, "application/merge-patch+json")
    assert status == 200, answer


def remove(api, path):
    status, answer = api.call("DELETE", path + "?gracePeriodSeconds=0")
    assert status == 200, answer


def storage_class(api, name, mode):
    api.post(
        CLASSES,
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name},
            "provisioner": "example.com/p",
            "volumeBindingMode": mode,
        },
    )


# What is done, and the label of the event in 1.19; None: nobody wakes.
EVENTS = [
    ("a node comes", "NodeAdd", lambda api: api.add_node("n1", cpu="1")),
    ("a node is closed", None, lambda api: change_node(api, {"spec": {"unschedulable": True}})),
    (
        "a node is opened",
        "NodeSpecUnschedulableChange",
        lambda api: change_node(api, {"spec": {"unschedulable": None}}),
    ),
    ("a node grows", "NodeAllocatableChange", lambda api: change_node(api, {"status": {"allocatable": {"cpu": "3"}}})),
    ("a node's labels", "NodeLabelChange", lambda api: change_node(api, {"metadata": {"labels": {"a": "b"}}})),
    (
        "a node's taints",
        "NodeTaintChange",
        lambda api: change_node(api, {"spec": {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}}),
    ),
    ("a node's annotation", None, lambda api: change_node(api, {"metadata": {"annotations": {"a": "b"}}})),
    (
        "a node's condition",
        "NodeConditionChange",
        lambda api: change_node(
            api, {"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Odd", "status": "True"}]}}
        ),
    ),
    (
        "a volume comes",
        "PvAdd",
        lambda api: api.post(
            VOLUMES,
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": "v"},
                "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}},
            },
        ),
    ),
    ("a volume changes", "PvUpdate", lambda api: change(api, VOLUMES + "/v", {"metadata": {"labels": {"a": "b"}}})),
    (
        "a claim comes",
        "PvcAdd",
        lambda api: api.post(
            CLAIMS,
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {"name": "c"},
                "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            },
        ),
    ),
    ("a claim changes", "PvcUpdate", lambda api: change(api, CLAIMS + "/c", {"metadata": {"labels": {"a": "b"}}})),
    (
        "a service comes",
        "ServiceAdd",
        lambda api: api.post(
            SERVICES,
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "s"},
                "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
            },
        ),
    ),
    (
        "a service changes",
        "ServiceUpdate",
        lambda api: change(api, SERVICES + "/s", {"spec": {"selector": {"a": "c"}}}),
    ),
    ("a service goes", "ServiceDelete", lambda api: remove(api, SERVICES + "/s")),
    ("a class that binds at once", None, lambda api: storage_class(api, "now", "Immediate")),
    ("a class that waits", "StorageClassAdd", lambda api: storage_class(api, "later", "WaitForFirstConsumer")),
    ("a placed pod goes", "AssignedPodDelete", lambda api: remove(api, "/api/v1/namespaces/default/pods/placed")),
]


def begin(release, *flags):
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="2")]), flags=["--emulated-version=" + release])
    api.add_pod("placed", cpu="1", on="n0")
    s = Scheduler(api.url, "--emulated-version=" + release, *flags)
    s.wait_for_log("Caches are synced")
    return api, s


def test_1_13_tries_again_at_once():
    """Without a back-off, each event leads to one more try at once."""
    api, s = begin("1.13", "-v=4")  # says each try

    def tries(name="big"):
        return s.log().count("Unable to schedule default %s: no fit" % name)

    api.add_pod("big", cpu="99")
    wait_until("the first try", lambda: tries() == 1)
    for what, event, do in EVENTS:
        # What happens before the pod is back in the queue counts for it, too.
        wait_until("the pod in the queue", lambda: s.metrics()['scheduler_pods_by_state{state="queued"}'] == 1)
        before = tries()
        do(api)
        if event:
            wait_until(what, lambda: tries() > before)
            assert tries() == before + 1, what
        else:
            # A pod that comes behind the event is tried behind it, and nothing else was.
            name = "behind-" + what.split()[-1]
            api.add_pod(name, cpu="99")
            wait_until(what, lambda: tries(name) == 1)
            remove(api, "/api/v1/namespaces/default/pods/" + name)
            assert tries() == before, what
    # The pod's own change: a label wakes it, its status does not.
    before = tries()
    change(api, "/api/v1/namespaces/default/pods/big", {"metadata": {"labels": {"a": "b"}}})
    wait_until("a label of the pod", lambda: tries() == before + 1)
    assert s.stop() == 0


def test_1_19_names_the_event_that_wakes():
    """Each event moves all pods that wait into the back-off, and the metric of the queue names it."""
    api, s = begin("1.19")

    def moved(event):
        return sum(
            v
            for k, v in s.metrics().items()
            if k.startswith("scheduler_queue_incoming_pods_total{") and 'event="%s"' % event in k
        )

    for i, (what, event, do) in enumerate(EVENTS):
        name = "big-%d" % i
        api.add_pod(name, cpu="99")
        wait_until("its first try", lambda: api.pods()[name].get("status", {}).get("conditions"))
        if event is None:
            do(api)
            continue
        before = moved(event)
        do(api)
        wait_until("%s: %s" % (what, event), lambda: moved(event) > before)
    assert moved("PodAdd") == len(EVENTS) and moved("ScheduleAttemptFailure") >= len(EVENTS)
    wait_until("a back-off ends", lambda: moved("BackoffComplete") > 0)
    known = {e for _, e, _ in EVENTS} | {"PodAdd", "ScheduleAttemptFailure", "BackoffComplete", "PodUpdate"}
    labels = {
        k.split('event="')[1].split('"')[0] for k in s.metrics() if k.startswith("scheduler_queue_incoming_pods_total{")
    }
    assert labels <= known, labels - known
    assert s.stop() == 0


harness.main(globals())
