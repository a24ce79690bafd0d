#!/usr/bin/env python3
"""Which events wake a pod that waits, in releases 1.13 and 1.19, seen from outside: by the tries of the pod and by the
metrics of the queue; and that pods which wait hold up no others."""
import harness
from harness import Api, Scheduler, node, wait_until, write_objects

NODES, NODE, VOLUMES = "/api/v1/nodes", "/api/v1/nodes/n0", "/api/v1/persistentvolumes"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
SERVICES, CLASSES = "/api/v1/namespaces/default/services", "/apis/storage.k8s.io/v1/storageclasses"


def send(api, method, path, body=None):
    kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
    status, answer = api.call(method, path, body, kind)
    assert status in (200, 201), answer


def remove(api, path):
    send(api, "DELETE", path + "?gracePeriodSeconds=0")


def storage_class(name, mode):
    return {"metadata": {"name": name}, "provisioner": "example.com/p", "volumeBindingMode": mode}


LABELLED = {"metadata": {"labels": {"a": "b"}}}
TAINTED = {"spec": {"taints": [{"key": "k", "effect": "PreferNoSchedule"}]}}
ODD = {"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Odd", "status": "True"}]}}
VOLUME = {
    "metadata": {"name": "v"},
    "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/v"}},
}
CLAIM = {
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
SERVICE = {"metadata": {"name": "s"}, "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]}}
PLACED = "/api/v1/namespaces/default/pods/placed?gracePeriodSeconds=0"
# What happens, the label of the event in 1.19 (None: nobody wakes), and the request that makes it happen.
EVENTS = [
    ("a node comes", "NodeAdd", "POST", NODES, node("n1", cpu="1")),
    ("a node is closed", None, "PATCH", NODE, {"spec": {"unschedulable": True}}),
    ("a node is opened", "NodeSpecUnschedulableChange", "PATCH", NODE, {"spec": {"unschedulable": None}}),
    ("a node grows", "NodeAllocatableChange", "PATCH", NODE + "/status", {"status": {"allocatable": {"cpu": "3"}}}),
    ("a node's labels", "NodeLabelChange", "PATCH", NODE, LABELLED),
    ("a node's taints", "NodeTaintChange", "PATCH", NODE, TAINTED),
    ("a node's annotation", None, "PATCH", NODE, {"metadata": {"annotations": {"a": "b"}}}),
    ("a node's condition", "NodeConditionChange", "PATCH", NODE + "/status", ODD),
    ("a volume comes", "PvAdd", "POST", VOLUMES, VOLUME),
    ("a volume changes", "PvUpdate", "PATCH", VOLUMES + "/v", LABELLED),
    ("a claim comes", "PvcAdd", "POST", CLAIMS, CLAIM),
    ("a claim changes", "PvcUpdate", "PATCH", CLAIMS + "/c", LABELLED),
    ("a service comes", "ServiceAdd", "POST", SERVICES, SERVICE),
    ("a service changes", "ServiceUpdate", "PATCH", SERVICES + "/s", {"spec": {"selector": {"a": "c"}}}),
    ("a service goes", "ServiceDelete", "DELETE", SERVICES + "/s?gracePeriodSeconds=0", None),
    ("a class that binds at once", None, "POST", CLASSES, storage_class("now", "Immediate")),
    ("a class that waits", "StorageClassAdd", "POST", CLASSES, storage_class("later", "WaitForFirstConsumer")),
    ("a placed pod goes", "AssignedPodDelete", "DELETE", PLACED, None),
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
    wait_until("the first try", tries, equals=1)
    for what, event, *request in EVENTS:
        # What happens before the pod is back in the queue counts for it, too.
        s.wait_metric('scheduler_pods_by_state{state="queued"}', 1)
        before = tries()
        send(api, *request)
        if event:
            wait_until(what, tries, at_least=before + 1)
            assert tries() == before + 1, what
        else:
            # A pod that comes behind the event is tried behind it, and nothing else was.
            name = "behind-" + what.split()[-1]
            api.add_pod(name, cpu="99")
            wait_until(what, tries, name, equals=1)
            remove(api, "/api/v1/namespaces/default/pods/" + name)
            assert tries() == before, what
    # The pod's own change: a label wakes it, its status does not.
    before = tries()
    send(api, "PATCH", "/api/v1/namespaces/default/pods/big", {"metadata": {"labels": {"a": "b"}}})
    wait_until("a label of the pod", tries, equals=before + 1)
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

    for i, (what, event, *request) in enumerate(EVENTS):
        name = "big-%d" % i
        api.add_pod(name, cpu="99")
        wait_until("its first try", api.conditions, name)
        if event is None:
            send(api, *request)
            continue
        before = moved(event)
        send(api, *request)
        wait_until("%s: %s" % (what, event), moved, event, at_least=before + 1)
    assert moved("PodAdd") == len(EVENTS) and moved("ScheduleAttemptFailure") >= len(EVENTS)
    wait_until("a back-off ends", moved, "BackoffComplete", at_least=1)
    known = {event for _, event, *_ in EVENTS} | {"PodAdd", "ScheduleAttemptFailure", "BackoffComplete", "PodUpdate"}
    labels = {
        k.split('event="')[1].split('"')[0] for k in s.metrics() if k.startswith("scheduler_queue_incoming_pods_total{")
    }
    assert labels <= known, labels - known
    assert s.stop() == 0


def test_pods_that_never_fit_do_not_hold_up_others():
    api = Api.start(write_objects("cluster.json", [node("n0", cpu="64")]))
    s = Scheduler(api.url, "--kube-api-qps=50", "--kube-api-burst=50", "--feature-gates=PodPriority=true")
    api.add_priority_class("high", 1000)
    for i in range(30):
        api.add_pod(f"stuck{i}", cpu="100", priority_class="high")
    s.wait_for_log("Failed to schedule pod: default/stuck29")
    names = [f"p{i}" for i in range(30)]
    for n in names:
        api.add_pod(n, cpu="100m")
    api.wait_placed(*names, within=30)
    m = s.metrics()
    assert m['scheduler_pending_pods_by_reason{reason="Insufficient cpu"}'] == 30, m


harness.main(globals())
