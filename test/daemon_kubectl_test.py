#!/usr/bin/env python3
"""Tests an operator's daily work with kubectl, hollow-apiserver and kube-scheduler together: create, scale, cordon,
taint, delete, and what `kubectl describe` shows for waiting pods."""
import re

import harness
from harness import Api, Kubectl, Scheduler, node, pod, wait_until, write_objects


class Operator(Kubectl):
    """Pods as an operator sees them."""

    def node_of(self, name):
        return self("get", "pod", name, "-o", "jsonpath={.spec.nodeName}")

    def is_placed(self, name, nodes):
        def place():
            on = self.node_of(name)
            return on if on in nodes else None

        wait_until(f"{name} on one of {nodes}:\n{self('describe', 'pod', name)}", place)

    def waits_for(self, name, message):
        """Checks that the pod is pending, with the message in its condition and in its last event, as describe shows
        them."""

        def shown():
            text = self("describe", "pod", name)
            return message in text and re.search(r"Warning\s+FailedScheduling\s.*" + re.escape(message), text)

        wait_until(f"{message!r} of {name}:\n{self('describe', 'pod', name)}", shown)
        assert self("get", "pod", name, "-o", "jsonpath={.status.phase}{.spec.nodeName}") == "Pending"
        condition = "{.status.conditions[?(@.type=='PodScheduled')]"
        assert (
            self("get", "pod", name, "-o", f"jsonpath={condition}.status}} {condition}.reason}} {condition}.message}}")
            == f"False Unschedulable {message}"
        )


def starts(*nodes):
    api = Api.start(write_objects("cluster.json", nodes))
    return Operator(api), Scheduler(api.url)


def test_cordon_and_taint():
    kubectl, s = starts(node("n1", cpu="2"), node("n2", cpu="2"))
    kubectl.create(pod("first"))
    kubectl.is_placed("first", ["n1", "n2"])
    text = kubectl("describe", "pod", "first")
    where = kubectl.node_of("first")
    assert re.search(r"Normal\s+Scheduled\s.*default-scheduler\s+Successfully assigned first to " + where, text), text
    assert re.search(r"PodScheduled\s+True", text), text

    kubectl("cordon", "n1")
    kubectl("cordon", "n2")
    kubectl.create(pod("second"))
    kubectl.waits_for("second", "0/2 nodes are available: 2 node(s) were unschedulable.")
    kubectl("uncordon", "n2")
    kubectl.is_placed("second", ["n2"])

    kubectl("taint", "node", "n2", "dedicated=db:NoSchedule")
    kubectl.create(pod("third"))
    kubectl.waits_for(
        "third",
        "0/2 nodes are available: 1 node(s) had taints that the pod didn't tolerate, " "1 node(s) were unschedulable.",
    )
    tolerant = pod(
        "tolerant", tolerations=[{"key": "dedicated", "operator": "Equal", "value": "db", "effect": "NoSchedule"}]
    )
    kubectl.create(tolerant)
    kubectl.is_placed("tolerant", ["n2"])
    kubectl("taint", "node", "n2", "dedicated:NoSchedule-")
    kubectl.is_placed("third", ["n2"])
    assert s.stop() == 0


def test_delete_and_label():
    kubectl, s = starts(node("n1", cpu="2"))
    kubectl.create(pod("a", cpu="1500m"), pod("b", cpu="1"))
    kubectl.is_placed("a", ["n1"])
    kubectl.waits_for("b", "0/1 nodes are available: 1 Insufficient cpu.")
    kubectl("delete", "pod", "a", "--grace-period=0", "--force")
    kubectl.is_placed("b", ["n1"])

    picky = pod("picky", nodeSelector={"disk": "ssd"})
    kubectl.create(picky)
    kubectl.waits_for("picky", "0/1 nodes are available: 1 node(s) didn't match node selector.")
    kubectl("label", "node", "n1", "disk=ssd")
    kubectl.is_placed("picky", ["n1"])

    # When a node is deleted its pods stay as they are; without any node the message says so. A new node receives the
    # waiting pods.
    kubectl("delete", "node", "n1")
    kubectl.create(pod("late"))
    kubectl.waits_for("late", "no nodes available to schedule pods")
    kubectl.create(node("n3", cpu="2"))
    kubectl.is_placed("late", ["n3"])
    # A pod that is deleted while it waits is forgotten.
    kubectl.create(pod("huge", cpu="100"))
    kubectl.waits_for("huge", "0/1 nodes are available: 1 Insufficient cpu.")
    kubectl("delete", "pod", "huge")
    wait_until("pods that wait", s.total, "scheduler_pending_pods", equals=0)
    assert s.stop() == 0


def test_a_replica_set_scaled_by_hand():
    """There is no controller manager, so the test creates the pods that it would create."""
    kubectl, s = starts(*(node(f"n{i}") for i in range(4)))
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("x", cpu="500m")["spec"]}
    kubectl.create(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "web"},
            "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web"},
            "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
        },
    )
    uid = kubectl("get", "rs", "web", "-o", "jsonpath={.metadata.uid}")

    def reconcile():
        want = int(kubectl("get", "rs", "web", "-o", "jsonpath={.spec.replicas}"))
        have = sorted(kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}").split())
        if want > len(have):
            owner = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": uid, "controller": True}]
            kubectl.create(
                *(
                    {
                        "apiVersion": "v1",
                        "kind": "Pod",
                        "spec": template["spec"],
                        "metadata": {"name": f"web-{i}", "labels": {"app": "web"}, "ownerReferences": owner},
                    }
                    for i in range(len(have), want)
                )
            )
        elif want < len(have):
            kubectl("delete", "pod", "--grace-period=0", "--force", *have[want:])

    def nodes():
        return kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}").split()

    def number_placed():
        return len(nodes())

    reconcile()
    wait_until("four pods placed", number_placed, equals=4)
    assert sorted(nodes()) == ["n0", "n1", "n2", "n3"], "they are spread"
    kubectl("scale", "rs", "web", "--replicas=8")
    reconcile()
    wait_until("eight pods placed", number_placed, equals=8)
    assert sorted(nodes()) == sorted(2 * ["n0", "n1", "n2", "n3"]), nodes()
    kubectl("scale", "rs", "web", "--replicas=2")
    reconcile()
    wait_until("two pods left", number_placed, equals=2)
    s.wait_metric('scheduler_scheduler_cache_size{type="pods"}', 2)
    assert s.stop() == 0


def test_many_reasons():
    """Every node fails for a different reason; the reasons are counted and sorted as texts."""
    hot = node("hot", cpu="2")
    hot["status"]["conditions"].append({"type": "MemoryPressure", "status": "True"})
    off = node("off", cpu="2")
    off["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    kubectl, s = starts(node("small", cpu="1"), hot, off)
    kubectl.create(pod("p", cpu="2"))
    kubectl.is_placed("p", ["hot"])  # it has requests, so memory pressure does not matter
    none = pod("q")
    none["spec"]["containers"][0]["resources"] = {}
    none["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "hot"}
    kubectl.create(none)
    kubectl.waits_for(
        "q",
        "0/3 nodes are available: 1 node(s) didn't match node selector, "
        "1 node(s) had memory pressure, 1 node(s) were not ready.",
    )
    assert s.stop() == 0


harness.main(globals())
