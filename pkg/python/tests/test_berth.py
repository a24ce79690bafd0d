"""Tests of the module berth; test/python_unit_test.py runs them."""
import ctypes
import gzip
import json
import os
import pickle
import sys
import tempfile
import threading
import unittest

import numpy

import berth

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
DATA = os.path.join(ROOT, "test", "testdata")
OPENB = os.path.join(DATA, "traces", "openb.json.gz")


def node(name, cpu="4", labels=None):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": labels or {}},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}},
    }


def pod(name, cpu="1", on=None):
    spec = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]}
    if on:
        spec["nodeName"] = on
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": spec,
    }


def small(pods=3, **options):
    options.setdefault("release", "1.29")
    return berth.Cluster.from_objects(
        [node("a"), node("b"), node("c", "8")] + [pod("p%d" % i) for i in range(pods)], **options
    )


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


class Options(unittest.TestCase):
    def test_files_are_json_or_yaml_and_name_their_release(self):
        with tempfile.TemporaryDirectory() as folder:

            def file(name, text):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
                return f.name

            head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            packs = file(
                "c.yaml",
                head + "profiles:\n- schedulerName: default-scheduler\n  plugins: {score: {disabled: [{name: "
                "'*'}], enabled: "
                "[{name: NodeResourcesFit}]}}\n  pluginConfig:\n  - name: NodeResourcesFit\n"
                "    args: {scoringStrategy: "
                "{type: MostAllocated, resources: [{name: cpu, weight: 1}]}}\n",
            )
            for options in (dict(release="1.29"), dict(release=None)):
                placed = small(3, configuration=packs, **options).schedule().placements
                self.assertEqual(len(set(placed.values())), 1)
            policy = file(
                "p.yaml",
                "kind: Policy\npredicates: [{name: GeneralPredicates}]\n"
                "priorities: [{name: MostRequestedPriority, weight: 1}]\n",
            )
            self.assertEqual(len(set(small(3, policy=policy, release="1.10").schedule().placements.values())), 1)
            with self.assertRaisesRegex(berth.Error, "options: configuration: .*line"):
                small(configuration=file("bad.yaml", "a: [\n"))
        with self.assertRaisesRegex(berth.Error, "none.yaml"):
            small(configuration="none.yaml")
        with self.assertRaisesRegex(berth.Error, "rules: .*Cluster.add"):
            small(rules=[berth.priority(lambda pod, nodes: nodes.free[:, 0])])


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
        wrong = {
            "shape": lambda pod, nodes: [1.0],
            "finite": lambda pod, nodes: [float("nan")] * len(nodes),
            "ZeroDivisionError": lambda pod, nodes: 1 // 0,
        }
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

    def test_a_rule_reads_columns(self):
        c = small(0)
        seen = []

        @berth.priority(weight=1000)
        def best_fit(pod, nodes):
            seen.append(
                (
                    pod.name,
                    dict(zip(nodes.resources, pod.requests.tolist())),
                    nodes.free[:, 0].tolist(),
                    nodes.feasible.all(),
                )
            )
            return 100 - (nodes.free - pod.requests).clip(0).sum(axis=1) / nodes.allocatable.sum(axis=1) * 100

        c.add(best_fit)
        c.place(pod("first"), "b")
        self.assertEqual(c.schedule([pod("x"), pod("y")]).placements, {"default/x": "b", "default/y": "b"})
        self.assertEqual(
            seen[0],
            (
                "default/x",
                {"cpu": 1000, "memory": 2**30, "ephemeral-storage": 0, "pods": 1},
                [4000, 3000, 8000],
                True,
            ),
        )
        self.assertEqual(seen[1][2], [4000, 2000, 8000])
        with self.assertRaises(ValueError):
            c.columns().free[0, 0] = 1
        c.apply([node("d")])
        self.assertEqual(c.schedule([pod("z")]).placements, {"default/z": "b"})
        self.assertEqual(len(seen[-1][2]), 4)

    def test_hooks_tell_of_pods_that_come_and_go(self):
        c, told = small(1), []
        c.apply([pod("there", on="a")])
        names = c.nodes
        c.on_change(lambda p, n, placed: told.append((p.name, names[n], placed, p.requests[0])))
        c.place("default/p0", "b")
        c.forget("default/p0")
        c.delete_pod("default/there")
        where = c.schedule().placements["default/p0"]
        self.assertEqual(
            told,
            [
                ("default/there", "a", True, 1000),
                ("default/p0", "b", True, 1000),
                ("default/p0", "b", False, 1000),
                ("default/there", "a", False, 1000),
                ("default/p0", where, True, 1000),
            ],
        )

        def fails(p, n, placed):
            raise KeyError("of the hook")

        with self.assertRaisesRegex(KeyError, "of the hook"):
            c.on_change(fails)
        c.on_change(None)
        c.delete_pod("default/p0")

    def test_an_interrupt_passes(self):
        def interrupted(pod, nodes):
            raise KeyboardInterrupt

        c = small()
        c.add(berth.priority(interrupted))
        with self.assertRaises(KeyboardInterrupt):
            c.schedule()

    def test_priority_of_arrays_that_are_no_numbers(self):
        c = small()
        c.add(berth.priority(lambda pod, nodes: numpy.array(["a"] * len(nodes)), name="texts"))
        with self.assertRaisesRegex(berth.Error, "not of numbers"):
            c.schedule()
        with self.assertRaisesRegex(berth.Error, "finite"):
            c.add(berth.priority(lambda pod, nodes: None, weight=float("nan"), name="weightless"))


class Frames(unittest.TestCase):
    def test_columns_make_a_cluster(self):
        nodes = {
            "name": ["a", "b"],
            "cpu": [4000, 8000],
            "memory": [2**33, 2**33],
            "example.com/gpu": [0, 2],
            "labels": [{"disk": "ssd"}, None],
        }
        pods = {
            "name": ["x", "y", "z"],
            "cpu": [1000] * 3,
            "example.com/gpu": [2, None, None],
            "node_selector": [None, {"disk": "ssd"}, None],
            "node": [None, None, "b"],
        }
        c = berth.Cluster.from_frames(nodes, pods, release="1.29")
        self.assertEqual(c.columns().resources, ("cpu", "memory", "ephemeral-storage", "pods", "example.com/gpu"))
        self.assertEqual(c.columns().requested[:, 0].tolist(), [0, 1000])
        self.assertEqual(c.label("disk"), ["ssd", None])
        self.assertEqual(c.schedule().placements, {"default/x": "b", "default/y": "a"})

    def test_wrong_tables(self):
        for nodes, text in (
            ({"name": ["a"], "cpu": [-1]}, "column cpu: -1"),
            ({"name": ["a", "b"], "cpu": [1]}, "different lengths"),
            ({"name": [1]}, "column name"),
            ({"name": ["a"], "cpu": [1.5]}, "whole number"),
            ({"name": ["a"], "labels": ["x"]}, "must be a dict"),
            ({"name": ["a\0b"]}, "NUL"),
        ):
            with self.assertRaisesRegex(berth.Error, text):
                berth.Cluster.from_frames(nodes)
        with self.assertRaisesRegex(berth.Error, "no such node"):
            berth.Cluster.from_frames({"name": ["a"]}, {"name": ["x"], "node": ["b"]})


class Preempting(unittest.TestCase):
    def test_victims(self):
        low, high = pod("low", "4", on="a"), pod("high", "4")
        low["spec"]["priority"], high["spec"]["priority"] = 1, 10
        c = berth.Cluster.from_objects([node("a"), low, high], release="1.29", preempt=True)
        p = c.preempt("default/high")
        self.assertEqual((p.node, p.victims), ("a", ["default/low"]))
        self.assertEqual(c.schedule().placements, {"default/high": None})
        c.preempt("default/high", apply=True)
        self.assertEqual(c.schedule().placements, {"default/high": "a"})
        with self.assertRaisesRegex(berth.Error, "option preempt"):
            small().preempt("default/p0")


class Environment(unittest.TestCase):
    def test_an_episode_places_as_it_is_told(self):
        c = small(4)
        env = berth.Env(c)
        o, info = env.reset(seed=0)
        self.assertEqual((info["pod"], o["mask"].tolist(), o["requests"][0]), ("default/p0", [True] * 3, 1000))
        before = berth.Env.copy_of(o)
        o, reward, done, truncated, info = env.step(1)
        self.assertEqual(
            (reward, done, truncated, info["pod"], o["free"][1, 0], before["free"][1, 0]),
            (1.0, False, False, "default/p1", 3000, 4000),
        )
        o, reward, done, _, _ = env.step(-1)
        self.assertEqual((reward, done), (0.0, False))
        env.step(1)
        _, _, done, _, info = env.step(2)
        self.assertEqual((done, info["pod"]), (True, None))
        with self.assertRaisesRegex(berth.Error, "over"):
            env.step(0)
        self.assertEqual(c.amounts("cpu")[1].tolist(), [0, 0, 0])
        self.assertEqual(env.reset()[0]["free"][:, 0].tolist(), [4000, 4000, 8000])

    def test_seeds_and_masks(self):
        def orders(seed):
            env, names = berth.Env(small(8), shuffle=True), []
            _, info = env.reset(seed=seed)
            done = False
            while not done:
                names.append(info["pod"])
                _, _, done, _, info = env.step(int(numpy.flatnonzero(env.mask)[0]))
            return names

        self.assertEqual(orders(3), orders(3))
        self.assertNotEqual(orders(3), orders(4))
        env = berth.Env(berth.Cluster.from_objects([node("a"), node("b", "1"), pod("x", "2")], release="1.29"))
        o, _ = env.reset()
        self.assertEqual(o["mask"].tolist(), [True, False])
        with self.assertRaisesRegex(berth.Error, "does not fit"):
            env.step(1)
        with self.assertRaisesRegex(berth.Error, "does not fit"):
            env.step(5)

    def test_pods_leave_when_their_time_is_over(self):
        objects = [node("a", "1")] + [pod("p%d" % i) for i in range(3)]
        env = berth.Env(
            berth.Cluster.from_objects(objects, release="1.29"), arrivals=[0, 5, 10], durations=[10, 1, numpy.inf]
        )
        env.reset()
        o, _, _, _, info = env.step(0)
        self.assertEqual((info["time"], o["mask"].tolist()), (5.0, [False]))
        o, _, _, _, info = env.step(-1)
        self.assertEqual((info["time"], o["mask"].tolist()), (10.0, [True]))
        for times in ([1, 2], [-1, 0, 0], [float("nan"), 1, 2]):
            with self.assertRaisesRegex(berth.Error, "numbers from 0 on"):
                berth.Env(env._base, arrivals=times)


class SimulatedTime(unittest.TestCase):
    def run_to_the_end(self, env, choose, seed=None):
        """Runs an episode; returns [(time, pod, node)]."""
        steps, (o, info) = [], env.reset(seed=seed)
        done = info["pod"] is None
        while not done:
            time, name, at = info["time"], info["pod"], choose(o)
            o, _, done, _, info = env.step(at)
            steps.append((time, name, at))
        return steps

    def first(self, o):
        return int(numpy.flatnonzero(o["mask"])[0])

    def test_pods_wait_until_another_ends(self):
        objects = [node("a", "1")] + [pod("p%d" % i) for i in range(3)]
        with berth.Cluster.from_objects(objects, release="1.29") as c:
            env = berth.Env(c, arrivals=[0, 5, 7], durations=[60, 30, numpy.inf], simulate={})
            steps = self.run_to_the_end(env, self.first)
            # The second pod comes at 5 and finds no room; it is asked about when there is some.
            self.assertEqual(
                [(name, at) for _, name, at in steps], [("default/p0", 0), ("default/p1", 0), ("default/p2", 0)]
            )
            self.assertEqual([time for time, _, _ in steps], [0, 60, 90])
            outcome = env.outcome()
            self.assertEqual(
                (outcome["pods"], outcome["placed"], outcome["neverPlaced"], outcome["cut"]), (3, 3, 0, False)
            )
            self.assertEqual((outcome["waitSeconds"]["max"], outcome["makespanSeconds"]), (83, 90))
            self.assertEqual(c.amounts("cpu")[1].tolist(), [0])
            with self.assertRaisesRegex(berth.Error, "over"):
                env.step(0)
            env.close()

    def test_what_is_left_waits_for_a_change(self):
        objects = [node("a"), node("b")] + [pod("p%d" % i) for i in range(2)]
        env = berth.Env(
            berth.Cluster.from_objects(objects, release="1.29"), arrivals=[0, 100], durations=[50, 50], simulate={}
        )
        o, info = env.reset()
        self.assertEqual((info, o["free"][:, 0].tolist()), ({"pod": "default/p0", "time": 0.0}, [4000, 4000]))
        o, reward, done, _, info = env.step(-1)
        self.assertEqual((reward, done), (0.0, False))
        with self.assertRaisesRegex(berth.Error, "not over"):
            env.outcome()
        with self.assertRaisesRegex(berth.Error, "does not fit"):
            env.step(7)
        for _ in range(20):
            if done:
                break
            o, _, done, _, info = env.step(1)
        self.assertTrue(done)
        self.assertEqual((env.outcome()["placed"], env.placed), (2, 2))
        env.close()

    def test_many_pods_wait_and_no_node_is_overcommitted(self):
        rng = numpy.random.default_rng(5)
        arrivals, durations = numpy.sort(rng.integers(0, 900, 60)).astype(float), rng.integers(30, 400, 60).astype(
            float
        )
        objects = [node("n%d" % i, str(2 + i)) for i in range(4)] + [
            pod("p%02d" % i, "%dm" % rng.integers(200, 1500)) for i in range(60)
        ]
        c = berth.Cluster.from_objects(objects, release="1.29")

        def policy(o):
            return int(numpy.flatnonzero(o["mask"])[-1])

        runs = [
            self.run_to_the_end(berth.Env(c, arrivals=arrivals, durations=durations, simulate={}), policy)
            for _ in range(2)
        ]
        self.assertEqual(runs[0], runs[1])
        self.assertEqual(len(runs[0]), 60)
        self.assertTrue(any(time > arrivals[int(name[-2:])] for time, name, _ in runs[0]))
        self.assertTrue(all(time >= arrivals[int(name[-2:])] for time, name, _ in runs[0]))
        # No node ever has more than it offers.
        held = []
        for time, name, at in runs[0]:
            held.append(
                (
                    time,
                    time + durations[int(name[-2:])],
                    at,
                    next(o for o in objects if o["metadata"]["name"] == name.split("/")[1]),
                )
            )
            there = [h for h in held if h[2] == at and h[1] > time]
            used = sum(int(h[3]["spec"]["containers"][0]["resources"]["requests"]["cpu"][:-1]) for h in there)
            self.assertLessEqual(used, 1000 * (2 + at))

    def test_generated_pods_follow_the_seed(self):
        env = berth.Env(
            berth.Cluster.from_objects([node("a"), node("b")], release="1.29"),
            simulate={"generate": ["count=30,for=1h,duration=10m,cpu=500m"], "startDelay": "1s"},
        )
        runs = [self.run_to_the_end(env, self.first, seed) for seed in (1, 1, 2)]
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])
        self.assertEqual(len(runs[0]), 30)
        env.close()

    def test_files_of_arrivals(self):
        import tempfile

        with tempfile.NamedTemporaryFile("w", suffix=".csv") as f:
            f.write("time,duration,name,cpu\n10,60,x,1\n5,60,p0,\n")
            f.flush()
            env = berth.Env(small(2), simulate={"arrivals": f.name})
            steps = self.run_to_the_end(env, self.first)
            self.assertEqual(
                [(time, name) for time, name, _ in steps], [(0, "default/p1"), (5, "default/p0"), (10, "default/x")]
            )

    def test_mistakes(self):
        c = small()
        for simulate, text in (
            ({"arrivals": "/nowhere.csv"}, "nowhere"),
            ({"generate": ["count=x"]}, "count"),
            ({"nonsense": 1}, "unknown option; must be one of arrivals, "),
            ({"until": "soon"}, "until"),
            ({"generate": "x"}, "must be a list"),
        ):
            with self.assertRaisesRegex(berth.Error, text):
                berth.Env(c, simulate=simulate).reset()
        with self.assertRaisesRegex(berth.Error, "shuffle"):
            berth.Env(c, simulate={}, shuffle=True)
        # An episode that nobody ends goes with the environment, wherever it is.
        for steps in (0, 1, 2):
            env = berth.Env(c, simulate={"generate": ["count=1000,for=1h,duration=1m,cpu=100m"]})
            env.reset()
            for _ in range(steps):
                env.step(-1)
            del env


class Misuse(unittest.TestCase):
    def test_configurations_that_no_release_reads(self):
        for version, readers in (("v1alpha2", "release 1.18"), ("v1beta2", "releases 1.22 to 1.27")):
            given = {"kind": "KubeSchedulerConfiguration", "apiVersion": "kubescheduler.config.k8s.io/" + version}
            for release in (None, "1.8", "1.13", "1.19", "1.29", "1.36"):
                with self.assertRaisesRegex(
                    berth.Error, "is read by %s of Kubernetes: convert the file with schedsim convert" % readers
                ):
                    berth.Cluster.from_objects([node("a")], release=release, configuration=given)

    def test_bad_input(self):
        for options, text in (
            ({"release": "1.2"}, "1.2"),
            ({"nonsense": 1}, "unknown option; must be one of release, "),
            ({"ties": "x"}, "turn, first"),
            ({"policy": {"kind": "Policy"}, "release": "1.29"}, "has no Policies"),
        ):
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

    def test_closed(self):
        c = small()
        r = c.schedule()
        c.close()
        for use in (c.schedule, lambda: c.scores("default/p0"), c.copy, lambda: r.explain("default/p0")):
            with self.assertRaisesRegex(berth.Error, "closed"):
                use()

    def test_a_rule_that_terminates_ends_the_call_and_not_the_process(self):
        from berth import _library

        terminate = ctypes.cast(ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev, _library.RULE)
        c = small()
        self.assertEqual(
            _library.LIBRARY.berth_add_priority(c._handle, b"Ends", ctypes.c_double(1), terminate, None), 0
        )
        with self.assertRaisesRegex(berth.Error, "terminated without an exception"):
            c.schedule()
        with self.assertRaisesRegex(berth.Error, "can only be closed"):
            c.schedule()
        c.close()

    def test_snapshots(self):
        for release in ("1.10", "1.13", "1.19", "1.29", "1.36"):
            c = small(6, release=release)
            c.remove_node(c.nodes[1])
            c.apply(
                [
                    node("late"),
                    pod("before", "1", on="late"),
                    {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default"}},
                ]
            )
            c.place("default/p0", "late")
            c.place(pod("loose", "1"), "late")
            c.delete_pod("default/before")
            copies = [c.copy(), berth.Cluster.restore(c.snapshot()), pickle.loads(pickle.dumps(c))]
            copies.append(pickle.loads(pickle.dumps(copies[2])))
            expected = [n for n in c.nodes if n]
            placements = copies[0].schedule([pod("n%d" % i, "1") for i in range(8)]).placements
            for other in copies[1:]:
                self.assertEqual(other.nodes, copies[0].nodes)
                self.assertEqual(sorted(other.nodes), sorted(expected))
                self.assertEqual(other.schedule([pod("n%d" % i, "1") for i in range(8)]).placements, placements)
                other.delete_pod("default/loose")

    def test_a_snapshot_of_a_trace(self):
        c = berth.Cluster.load(OPENB, release="1.29")
        self.assertGreater(len(c.schedule().pods), 8000)
        copied, other = c.copy(), berth.Cluster.restore(c.snapshot())
        for resource in ("cpu", "alibabacloud.com/gpu-milli", "pods"):
            self.assertEqual(copied.amounts(resource)[1].tolist(), other.amounts(resource)[1].tolist())
        more = [pod("n%d" % i, "2") for i in range(50)]
        self.assertEqual(copied.scores(more[0]).total.tolist(), other.scores(more[0]).total.tolist())
        self.assertEqual(copied.schedule(more).placements, other.schedule(more).placements)

    def test_wrong_snapshots(self):
        good = gzip.decompress(small().snapshot())
        for bad in (
            b"",
            b"{}",
            b"[]",
            good[:-20],
            good.replace(b'"Snapshot"', b'"List"'),
            good.replace(b'"turn": "0"', b'"turn": 0.5'),
            good.replace(b'"lists": []', b'"lists": 3'),
            good.replace(b'"pods": []', b'"pods": [["a", 7, 7]]'),
            good.replace(b'"pods": []', b'"pods": [["a", -1, 99]]'),
            good.replace(b'"pods": []', b'"pods": [["a", "x"]]'),
            good.replace(b'"nodes": [', b'"nodes": ["none", '),
        ):
            self.assertNotEqual(bad, good)
            with self.assertRaises(berth.Error):
                berth.Cluster.restore(bad)
        with self.assertRaisesRegex(berth.Error, "bytes"):
            berth.Cluster.restore("text")
        c = small()
        c.add(berth.predicate(lambda pod, nodes: nodes.feasible))
        with self.assertRaisesRegex(berth.Error, "rules or hooks"):
            pickle.dumps(c)
        c = small()
        c.close()
        with self.assertRaisesRegex(berth.Error, "closed"):
            pickle.dumps(c)

    def test_a_forked_child_opens_its_own(self):
        c = small()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                c.schedule()
            except berth.Error as e:
                status = 0 if "another process" in str(e) and small().schedule().pending == [] else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(c.schedule().pending, [])

    def test_a_rule_keeps_its_arrays_after_the_cluster_is_closed(self):
        c, kept = small(), []
        c.add(
            berth.priority(
                lambda pod, nodes: kept.extend((nodes.free, nodes.feasible, pod.requests)) or numpy.zeros(len(nodes)),
                name="keeps",
            )
        )
        c.schedule()
        c.close()
        self.assertEqual([a.shape for a in kept[:3]], [(3, 4), (3,), (4,)])
        self.assertEqual(sum(float(a.sum()) for a in kept[-3:]) > 0, True)

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
                results.append(
                    (
                        release,
                        c.schedule().placements
                        == recorded(os.path.join(DATA, "traces", "placements-" + release, "openb.placements.gz")),
                    )
                )

        threads = [threading.Thread(target=work, args=(r,)) for r in ("1.19", "1.29", "1.36")]
        [t.start() for t in threads], [t.join() for t in threads]
        self.assertEqual(sorted(results), [("1.19", True), ("1.29", True), ("1.36", True)])


if __name__ == "__main__":
    unittest.main()
