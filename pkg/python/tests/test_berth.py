"""Tests of the module berth; test/python_module_test.py runs them."""
import gzip
import json
import os
import pickle
import sys
import threading
import unittest

import numpy

import berth

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
DATA = os.path.join(ROOT, "test", "testdata")
OPENB = os.path.join(DATA, "traces", "openb.json.gz")


def node(name, cpu="4", labels=None):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name, "labels": labels or {}},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}}


def pod(name, cpu="1", on=None):
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}
    if on:
        spec["nodeName"] = on
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


def small(pods=3, **options):
    options.setdefault("release", "1.29")
    return berth.Cluster.from_objects([node("a"), node("b"), node("c", "8")] + [pod("p%d" % i) for i in range(pods)], **options)


def recorded(path):
    with gzip.open(path, "rt") as f:
        return {name: None if where == "-" else where for name, where in (line.split() for line in f)}


class Decisions(unittest.TestCase):
    def check_against(self, release, input_name, folder, name):
        folder = os.path.join(DATA, folder, *(["placements-" + release] if release != "1.10" else []))
        with berth.Cluster.load(os.path.join(DATA, input_name), release=release) as c:
            self.assertEqual(c.schedule().placements, recorded(os.path.join(folder, name + ".placements.gz")))

    def test_openb_is_placed_as_each_release_does(self):
        for release in ("1.10", "1.13", "1.19", "1.29", "1.36"):
            self.check_against(release, "traces/openb.json.gz", "traces", "openb")

    def test_spreading_and_claims_are_placed_as_recorded(self):
        for name in ("w5-n1000", "w6-n1000"):
            self.check_against("1.29", "workloads/%s.json.gz" % name, "workloads", name)

    def test_ties(self):
        self.assertEqual(len(set(small(ties="first").schedule().nodes.tolist()[:1])), 1)
        seeds = [small(ties="random", seed=seed).schedule().nodes.tolist() for seed in (1, 1)]
        self.assertEqual(seeds[0], seeds[1])

    def test_reasons_explanations_and_frames_of_pods_that_wait(self):
        c = berth.Cluster.from_objects([node("a"), pod("big", "100")], release="1.29")
        r = c.schedule()
        self.assertEqual(r.placements, {"default/big": None})
        self.assertIn("Insufficient cpu", r.reason("default/big"))
        self.assertEqual(r.explain("default/big")["host"], "")


class Looking(unittest.TestCase):
    def test_scores_name_the_node_that_is_chosen(self):
        c = small()
        for i in range(3):
            m = c.scores("default/p%d" % i)
            self.assertEqual(m.feasible.tolist(), [True] * 3)
            total = sum(m.weight[name] * m.rule[name] for name in m.rule)
            numpy.testing.assert_array_equal(total, m.total)
            r = c.schedule([dict(pod("x%d" % i))])
            self.assertEqual(m.total[r.nodes[0]], m.total.max())

    def test_looking_changes_no_decision(self):
        c, other = small(6), small(6)
        for i in range(6):
            c.scores("default/p%d" % i), c.explain("default/p%d" % i)
        self.assertEqual(c.schedule().placements, other.schedule().placements)

    def test_rules_of_a_cluster_that_changed_are_an_error(self):
        c = small()
        m = c.scores("default/p0")
        c.schedule()
        with self.assertRaisesRegex(berth.Error, "has changed"):
            m.rule

    def test_amounts_and_changes(self):
        c = small()
        c.place("default/p0", "b")
        self.assertEqual(c.amounts("cpu")[1].tolist(), [0, 1000, 0])
        c.forget("default/p0")
        self.assertEqual(c.amounts("cpu")[1].tolist(), [0, 0, 0])
        c.apply([pod("bound", "2", on="c")])
        self.assertEqual(c.amounts("cpu")[1].tolist(), [0, 0, 2000])
        copy = c.copy()
        copy.delete_pod("default/bound")
        self.assertEqual((c.amounts("cpu")[1][2], copy.amounts("cpu")[1][2]), (2000, 0))
        c.remove_node("a")
        self.assertFalse(c.scores("default/p0").feasible[0])


class Rules(unittest.TestCase):
    def test_a_priority_and_a_predicate_decide(self):
        c = small()

        @berth.priority(weight=1e6)
        def last(pod, nodes):
            return numpy.arange(len(nodes))

        @berth.predicate
        def not_c(pod, nodes):
            return numpy.array([n != "c" for n in nodes.names])

        c.add(last)
        self.assertEqual(set(c.copy().schedule().placements.values()) - {"a", "b", "c"}, set())
        self.assertEqual(c.schedule([pod("x")]).placements, {"default/x": "c"})
        c.add(not_c)
        self.assertEqual(c.schedule([pod("y")]).placements, {"default/y": "b"})

    def test_what_a_rule_does_wrong_is_an_error(self):
        wrong = {"shape": lambda pod, nodes: [1.0], "finite": lambda pod, nodes: [float("nan")] * len(nodes),
                 "ZeroDivisionError": lambda pod, nodes: 1 // 0}
        for what, function in wrong.items():
            c = small()
            c.add(berth.priority(function, name="wrong"))
            with self.assertRaisesRegex(berth.Error, what):
                c.schedule()

    def test_a_rule_cannot_call_back_into_its_cluster(self):
        c = small()
        c.add(berth.priority(lambda pod, nodes: c.schedule([globals()["pod"]("z")]).nodes, name="again"))
        with self.assertRaisesRegex(berth.Error, "in use"):
            c.schedule()


class Misuse(unittest.TestCase):
    def test_bad_input(self):
        for options, text in (({"release": "1.2"}, "1.2"), ({"nonsense": 1}, "there is no such option"), ({"ties": "x"}, "turn, first"),
                              ({"policy": {"kind": "Policy"}, "release": "1.29"}, "has no Policies")):
            with self.assertRaisesRegex(berth.Error, text):
                small(**options)
        with self.assertRaisesRegex(berth.Error, "nowhere"):
            berth.Cluster.load("/nowhere.json")
        with self.assertRaisesRegex(berth.Error, "NUL"):
            small().node("a\0b")
        with self.assertRaisesRegex(berth.Error, "Unicode"):
            small().node("\ud800")
        with self.assertRaises(berth.Error):
            berth.Cluster.from_objects("{")

    def test_closed_and_pickled(self):
        c = small()
        r = c.schedule()
        c.close()
        for use in (c.schedule, lambda: c.scores("default/p0"), c.copy, lambda: r.explain("default/p0")):
            with self.assertRaisesRegex(berth.Error, "closed"):
                use()
        with self.assertRaisesRegex(berth.Error, "pickled"):
            pickle.dumps(small())

    def test_handles_that_are_none(self):
        from berth import _library
        for handle in (None, 0, 1, 12345678, 2**63):
            with self.assertRaisesRegex(berth.Error, "not one of open"):
                _library.call("close", handle)
        c = small()
        with self.assertRaisesRegex(berth.Error, "not one of open"):
            _library.call("close", c._pending.handle)
        with self.assertRaisesRegex(berth.Error, "arrays of 2"):
            _library.call("scores", c._handle, c._pending.handle, 0, 2, None, None)

    def test_clusters_of_several_threads(self):
        results = []

        def work(release):
            with berth.Cluster.load(OPENB, release=release) as c:
                results.append((release, c.schedule().placements == recorded(os.path.join(DATA, "traces", "placements-" + release,
                                                                                         "openb.placements.gz"))))

        threads = [threading.Thread(target=work, args=(r,)) for r in ("1.19", "1.29", "1.36")]
        [t.start() for t in threads], [t.join() for t in threads]
        self.assertEqual(sorted(results), [("1.19", True), ("1.29", True), ("1.36", True)])


if __name__ == "__main__":
    unittest.main()
