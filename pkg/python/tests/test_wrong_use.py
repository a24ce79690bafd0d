"""Tests of what the module berth says to wrong arguments and wrong rules; test/python_unit_test.py runs them."""
import copy
import inspect
import os
import pickle
import sys
import unittest

import numpy

import berth
from berth import _library
from test_berth import node, pod, small


class Arguments(unittest.TestCase):
    """Whatever is given, a mistake is a berth.Error."""

    def refused(self, text, function):
        with self.assertRaisesRegex(berth.Error, text):
            function()

    def test_numbers_of_nodes_are_not_cut(self):
        for wrong, text in ((2**32, "32 bits"), (2**64, "32 bits"), (1.7, "whole number"), (None, "whole number")):
            self.refused(text, lambda: small().place("default/p0", wrong))
            for simulate in (None, {}):
                env = berth.Env(small(), simulate=simulate)
                env.reset()
                self.refused(text, lambda: env.step(wrong))
        c = small()
        c.place("default/p0", numpy.int64(1))
        self.assertEqual(c.amounts("cpu")[1].tolist(), [0, 1000, 0])

    def test_values_of_another_type(self):
        c = small()
        for wrong in (5, object(), 1.5):
            self.refused("must be dicts", lambda: c.schedule(wrong))
            self.refused("must be dicts", lambda: c.scores(wrong))
            self.refused("must be dicts", lambda: c.apply(wrong))
            self.refused("must be dicts", lambda: berth.Cluster.from_objects(wrong))
            self.refused("must be a path", lambda: berth.Cluster.load(wrong))
            self.refused("must be a path", lambda: berth.Cluster.load([wrong]))
            self.refused("must be a DataFrame", lambda: berth.Cluster.from_frames(wrong))
            self.refused("path of a file", lambda: small(policy=wrong))
            self.refused("is no Cluster", lambda: berth.Env(wrong))
            self.refused("must be a function", lambda: berth.Env(c, reward=wrong))
            self.refused("must be a function", lambda: berth.priority(wrong))
            self.refused("must be a function", lambda: berth.predicate(wrong))
            self.refused("must be a function", lambda: c.on_change(wrong))
            self.refused("must be a function", lambda: c.on_log(wrong))
        self.refused("must be a DataFrame", lambda: berth.Cluster.from_frames("names"))
        self.refused("weight", lambda: berth.priority(len, weight="heavy"))
        self.refused("must be dicts", lambda: c.apply([{"kind": {1, 2}}]))
        self.refused("hardPod.* 1 to 100", lambda: small(hardPodAffinitySymmetricWeight=0))
        for times in ("x", ["a", "b", "c"]):
            self.refused("numbers from 0 on", lambda: berth.Env(c, arrivals=times))
        for seed in (-1, "x"):
            self.refused("seed", lambda: berth.Env(c).reset(seed=seed))

    def test_files_that_cannot_be_read(self):
        for path in ("/nowhere.yaml", os.path.dirname(__file__), "a\0b", "\ud800"):
            self.refused("nowhere|directory|NUL|Unicode", lambda: small().schedule(path))

    def test_names_that_c_would_cut_short_or_that_are_no_text(self):
        c = small()
        for name, text in (("a\0b", "NUL"), (b"a\xffb", "UTF-8"), (b"\xed\xa0\x80", "UTF-8"), (b"\xc0\xaf", "UTF-8")):

            def written(kind, spec=""):
                raw = name if isinstance(name, bytes) else name.replace("\0", "\\u0000").encode()
                return b'{"apiVersion":"v1","kind":"%s","metadata":{"name":"%s"}%s}' % (kind, raw, spec.encode())

            bound = ',"spec":{"nodeName":"a","containers":[{"name":"c"}]}'
            self.refused(text, lambda: berth.Cluster.from_objects(written(b"Node")))
            self.refused(text, lambda: c.apply(written(b"Node")))
            self.refused(text, lambda: c.apply(written(b"Pod", bound)))
            self.refused(text, lambda: c.schedule(written(b"Pod", ',"spec":{"containers":[{"name":"c"}]}')))
            for function in (c.node, c.remove_node, c.delete_pod, c.amounts, c.label):
                self.refused(text, lambda: function(name))
        self.assertEqual(c.nodes, ["a", "b", "c"])
        self.assertEqual(c.apply([node("gr\u00f6\u00dfe-\u4e2d-\U0001f600")]), 1)

    def test_a_length_that_lies_is_found_before_anything_is_written_or_answered(self):
        c = small(1)
        columns = c.columns()
        free, allocatable = numpy.zeros(columns.free.shape), numpy.zeros(columns.free.shape)
        names = (_library.c_char_p * len(columns.resources))(*[r.encode() for r in columns.resources])
        episode = _library.handle(
            "begin",
            c._handle,
            c._pending.handle,
            None,
            None,
            b"",
            0,
            names,
            len(names),
            3,
            _library.address(allocatable),
            _library.address(free),
        )
        mask, pod_name = numpy.full(3, 7, numpy.uint8), _library.c_char_p()

        def following(node_index, size):
            at = _library.address(mask)
            _library.call("next", episode, node_index, size, _library.byref(pod_name), at, None, None)

        for size in (2, 4, 2**63):
            self.refused("arrays of", lambda: following(-1, size))
        self.assertEqual(mask.tolist(), [7, 7, 7])
        following(-1, 3)
        self.assertEqual((pod_name.value, mask.tolist()), (b"default/p0", [1, 1, 1]))
        _library.call("end", episode)


class Functions(unittest.TestCase):
    def setUp(self):
        self.unraisable, self.before = [], sys.unraisablehook
        sys.unraisablehook = self.unraisable.append

    def tearDown(self):
        sys.unraisablehook = self.before
        self.assertEqual(self.unraisable, [])

    def test_an_exception_that_has_no_text(self):
        class Mute(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def rule(pod, nodes):
            raise Mute()

        for made in (berth.priority(rule), berth.predicate(rule)):
            c = small()
            c.add(made)
            with self.assertRaisesRegex(berth.Error, "rule rule: Mute"):
                c.schedule()

    def test_what_a_rule_raises_comes_out_of_every_call_that_asks_it(self):
        def rule(pod, nodes):
            raise KeyboardInterrupt

        c = small(preempt=True)
        c.add(berth.predicate(rule))
        big = pod("big", "100")
        for call in (
            c.schedule,
            lambda: c.scores("default/p0"),
            lambda: c.explain("default/p0"),
            lambda: c.preempt(big),
        ):
            with self.assertRaises(KeyboardInterrupt):
                call()
        c = small(preempt=True)
        c.add(berth.predicate(lambda pod, nodes: 1 // 0, name="divides"))
        for call in (
            c.schedule,
            lambda: c.scores("default/p0"),
            lambda: c.explain("default/p0"),
            lambda: c.preempt(big),
        ):
            with self.assertRaisesRegex(berth.Error, "rule divides: ZeroDivisionError") as raised:
                call()
            self.assertEqual(raised.exception.code, -4)

    def test_names_of_rules(self):
        for name in ("f", "best fit", "gr\u00f6\u00dfe"):
            c = small()
            c.add(berth.priority(lambda pod, nodes: [0, 1, 0], weight=1e9, name=name))
            self.assertEqual(c.schedule([pod("x")]).placements, {"default/x": "b"})
        for name in ("", "a\0b", b"\xff"):
            with self.assertRaisesRegex(berth.Error, "the name of the rule"):
                small().add(berth.priority(len, name=name))

    def test_a_rule_decides_in_another_cluster(self):
        for release in ("1.10", "1.19", "1.29", "1.36"):
            other, counted = small(0, release=release), []

            def looks_elsewhere(pod, nodes):
                counted.append(other.schedule([globals()["pod"]("o%d" % len(counted), "100m")]).nodes)
                with small(release=release) as third:
                    third.schedule()
                return nodes.free[:, 0]

            c, plain = small(8, release=release), small(8, release=release)
            c.add(berth.priority(looks_elsewhere, weight=0.001))
            c.add(berth.predicate(lambda pod, nodes: looks_elsewhere(pod, nodes) >= 0, name="too"))
            plain.add(berth.priority(lambda pod, nodes: nodes.free[:, 0], weight=0.001))
            self.assertEqual(c.schedule().placements, plain.schedule().placements)
            self.assertGreater(len(counted), 8)

    def test_scores_have_what_rules_of_ones_own_give(self):
        c = small()
        before = c.scores("default/p0").total
        c.add(berth.priority(lambda pod, nodes: [0, 0.5, 0], weight=300))
        m = c.scores("default/p0")
        self.assertEqual((m.total - before).tolist(), [0, 150, 0])
        self.assertEqual(m.ties.tolist(), [1])
        self.assertEqual(c.schedule([pod("x")]).nodes.tolist(), [1])
        self.assertEqual(small().scores(pod("big", "100")).ties.tolist(), [])
        self.assertEqual(small().scores(pod("big", "6")).ties.tolist(), [2])
        c.add(berth.priority(lambda pod, nodes: [float("nan")] * 3, name="none"))
        with self.assertRaisesRegex(berth.Error, "finite"):
            c.scores("default/p0")

    def test_arrays_stay_while_the_library_writes_them(self):
        c = small(preempt=True)
        c.add(berth.predicate(lambda pod, nodes: nodes.feasible))
        for i in range(3):
            c.apply([pod("bound%d" % i, "100m", on="a")])
            self.assertEqual(c.preempt(pod("big", "100")).victims, [])
            self.assertEqual(c.explain("default/p0")["host"], "c")
        self.assertIsNone(c.columns().feasible)

    def test_functions_that_are_replaced_while_they_run(self):
        c = small()

        def hook(pod, at, placed):
            c.on_change(None)

        def log(severity, text):
            c.on_log(None)

        c.on_change(hook)
        c.on_log(log)
        for _ in range(2):
            with self.assertRaisesRegex(berth.Error, "in use"):
                c.place("default/p0", "a")
            c.on_change(None)
            c.forget("default/p0")
            c.on_change(hook)

    def test_what_a_log_raises(self):
        c, said = small(), []

        def log(severity, text):
            said.append(text)
            raise KeyError("of the log")

        c.on_log(log)
        with self.assertRaisesRegex(KeyError, "of the log"):
            c.apply([pod("huge", "9" * 30, on="a")])
        self.assertNotEqual(said, [])

    def test_what_cannot_be_pickled_says_what_can(self):
        c = small()
        for thing in (c.schedule(), c.scores(pod("x")), berth.Env(c), c._pending):
            for function in (pickle.dumps, copy.deepcopy):
                with self.assertRaisesRegex(berth.Error, "cannot be pickled: pickle"):
                    function(thing)
        other = copy.deepcopy(c)
        self.assertEqual(other.amounts("cpu")[1].tolist(), c.amounts("cpu")[1].tolist())


class Manual(unittest.TestCase):
    def test_all_that_is_public_is_described_and_typed(self):
        for name in berth.__all__:
            thing = getattr(berth, name)
            self.assertTrue(inspect.getdoc(thing), name)
            members = vars(thing).items() if inspect.isclass(thing) else [(name, thing)]
            for member, value in members:
                function = getattr(value, "__func__", getattr(value, "fget", value))
                if member.startswith("_") or not inspect.isfunction(function):
                    continue
                self.assertTrue(inspect.getdoc(function), "%s.%s" % (name, member))
                signature = inspect.signature(function)
                of = [p for p in signature.parameters.values() if p.name not in ("self", "cls")]
                self.assertEqual([p.name for p in of if p.annotation is p.empty], [], "%s.%s" % (name, member))
                if name not in ("priority", "predicate"):  # either a rule, or what makes one
                    self.assertIsNot(signature.return_annotation, signature.empty, "%s.%s" % (name, member))


if __name__ == "__main__":
    unittest.main()
