#!/usr/bin/env python3
"""schedsim check and schedsim schema: Policies and configurations, good and bad, and the schemas that editors use."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:  # Debian's package belongs to Debian's python3, which may not be the first in PATH.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEDSIM = os.path.join(os.environ.get("OUT") or os.path.join(ROOT, "_output"), "bin", "schedsim")
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def schedsim(*words, feed=None):
    return subprocess.run([SCHEDSIM, *words], input=feed, capture_output=True, text=True)


def report(text, *flags):
    """Exit status and report of `schedsim check` for a text."""
    run = schedsim("check", "-", "-o", "json", *flags, feed=text)
    return run.returncode, json.loads(run.stdout)


def configuration(profile=None, **members):
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            **({"profiles": [profile]} if profile is not None else {}), **members}


def args(plugin, **members):
    return configuration({"pluginConfig": [{"name": plugin, "args": members}]})


class CheckConfiguration(unittest.TestCase):
    def test_the_default_profile(self):
        status, r = report(HEAD)
        self.assertEqual((status, r["good"], r["errors"]), (0, True, []))
        profile, = r["profiles"]
        self.assertEqual(profile["schedulerName"], "default-scheduler")
        self.assertEqual([(p["name"], p["weight"]) for p in profile["plugins"]["score"]],
                         [("TaintToleration", 3), ("NodeAffinity", 2), ("NodeResourcesFit", 1), ("VolumeBinding", 1),
                          ("PodTopologySpread", 2), ("InterPodAffinity", 2), ("NodeResourcesBalancedAllocation", 1),
                          ("ImageLocality", 1)])

    def test_the_table_names_all_extension_points_in_80_columns(self):
        run = schedsim("check", "-", feed=HEAD + "percentageOfNodesToScore: 10\n")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertLessEqual(max(map(len, run.stdout.splitlines())), 80, run.stdout)
        for part in ("a good KubeSchedulerConfiguration", "Profile default-scheduler", "queueSort   PrioritySort",
                     "TaintToleration x3, NodeAffinity x2", "permit      none",
                     "percentageOfNodesToScore has no effect"):
            self.assertIn(part, run.stdout)

    def test_all_mistakes_at_once_with_their_places(self):
        text = json.dumps(configuration({"plugins": {"filter": {"enabled": [{"name": "NodePort"}]}}}, parallelism=0,
                                        parallelsm=3), indent=1)
        run = schedsim("check", "-", feed=text)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 3, run.stderr)
        self.assertRegex(lines[0], r'^standard input: line \d+, column \d+: unknown field "parallelsm" '
                                   r'\(did you mean "parallelism"\?\)$')
        self.assertIn("parallelism: Invalid value: 0: should be an integer value greater than zero", lines[1])
        self.assertIn('FilterPlugin "NodePort" does not exist (did you mean "NodePorts"? there are: AzureDiskLimits',
                      lines[2])

    def test_other_versions_are_refused(self):
        for version, words in (("kubescheduler.config.k8s.io/v1beta2", 'no kind "KubeSchedulerConfiguration"'),
                               ("componentconfig/v1alpha1", "kube-scheduler --config")):
            status, r = report(json.dumps({"apiVersion": version, "kind": "KubeSchedulerConfiguration"}))
            self.assertEqual(status, 1)
            self.assertIn(words, r["errors"][0])

    def test_gates_change_the_profile(self):
        status, r = report(HEAD, "--feature-gates=PodSchedulingReadiness=false")
        self.assertEqual(status, 0, r)
        self.assertEqual(r["profiles"][0]["plugins"]["preEnqueue"], [])


class CheckPolicy(unittest.TestCase):
    def test_the_old_name_works(self):
        run = schedsim("check-policy", os.path.join(ROOT, "policies", "most-pods.json"))
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("a good Policy", run.stdout)

    def test_a_wrong_duration_hides_no_wrong_name(self):
        policy = {"predicates": [{"name": "PodFitResources"}],
                  "priorities": [{"name": "EqualPriority", "weight": 0}],
                  "extenders": [{"urlPrefix": "http://127.0.0.1", "httpTimeout": "5s"}]}
        status, r = report(json.dumps(policy))
        self.assertEqual(status, 1)
        self.assertEqual(len(r["errors"]), 3, r["errors"])
        text = "\n".join(r["errors"])
        for part in ('extenders[0].httpTimeout: "5s"', 'did you mean "PodFitsResources"?', "should have a positive"):
            self.assertIn(part, text)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(json.dumps(policy))
            f.flush()
            run = schedsim("run", "-", "--policy-config-file", f.name, feed="{}")
        self.assertEqual(run.returncode, 1)
        for part in ('httpTimeout: "5s"', "PodFitsResources", "should have a positive"):
            self.assertIn(part, run.stderr)

    def test_a_wrong_duration_hides_no_mistake_of_its_extender(self):
        extender = {"urlPrefix": "ftp://x", "prioritizeVerb": "p", "weight": -2, "managedResources": [{"name": "cpu"}]}
        for duration, message in (("5s", '"5s": a whole number is needed here'), (-5, "-5 is negative")):
            policy = {"predicates": [], "priorities": [], "hardPodAffinitySymmetricWeight": 500,
                      "extenders": [{**extender, "httpTimeout": duration}]}
            status, r = report(json.dumps(policy))
            self.assertEqual(status, 1)
            with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                f.write(json.dumps(policy))
                f.flush()
                run = schedsim("run", "-", "--policy-config-file", f.name, feed='{"kind":"List","items":[{"kind":"Pod","metadata":{"name":"p"}}]}')
            self.assertEqual(run.returncode, 1)
            for text in ("\n".join(r["errors"]), run.stderr):
                for part in ("httpTimeout: " + message, "should have a positive weight", "cpu is an invalid extended resource name",
                             "should begin with http://", "hardPodAffinitySymmetricWeight: 500"):
                    self.assertEqual(text.count(part), 1, part + " in\n" + text)


class Suggestions(unittest.TestCase):
    def test_flags_commands_and_gates(self):
        for words, part in ((("run", "--polcy-config-file=x"), 'did you mean "--policy-config-file"?'),
                            (("chek", "x"), 'did you mean "check"?'),
                            (("schema", "polcy"), 'did you mean "policy"?'),
                            (("run", "--feature-gates=PodPriorty=true"), 'did you mean "PodPriority"?')):
            run = schedsim(*words)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn(part, run.stderr)


class Schemas(unittest.TestCase):
    """What a schema accepts, `check` accepts, and what `check` refuses for its form, the schema refuses."""

    @classmethod
    def setUpClass(cls):
        cls.validators = {}
        for kind in ("policy", "configuration"):
            run = schedsim("schema", kind)
            assert run.returncode == 0, run.stderr
            schema = json.loads(run.stdout)
            jsonschema.Draft7Validator.check_schema(schema)
            cls.validators[kind] = jsonschema.Draft7Validator(schema)

    def good(self, kind, document):
        self.assertEqual([e.message for e in self.validators[kind].iter_errors(document)], [], document)
        status, r = report(json.dumps(document))
        self.assertEqual((status, r["errors"]), (0, []), document)

    def bad(self, kind, document):
        self.assertTrue(list(self.validators[kind].iter_errors(document)), document)
        status, r = report(json.dumps(document))
        self.assertTrue(status == 1 or r["warnings"], document)

    def test_all_shipped_policies_are_good(self):
        files = glob.glob(os.path.join(ROOT, "policies", "*.json"))
        self.assertGreaterEqual(len(files), 5)
        for name in files:
            with open(name) as f:
                self.good("policy", json.load(f))

    def test_good_policies(self):
        for policy in ({}, {"kind": "Policy", "apiVersion": "v1", "predicates": [], "priorities": []},
                       {"predicates": [{"name": "Mine", "argument": {"labelsPresence": {"labels": ["a"]}}}]},
                       {"extenders": [{"urlPrefix": "http://x", "filterVerb": "f", "httpTimeout": 1000000000,
                                       "BindVerb": "b", "tlsConfig": {"Insecure": True},
                                       "managedResources": [{"name": "example.com/x"}]}]}):
            self.good("policy", policy)

    def test_bad_policies(self):
        for policy in ({"kind": "Policies"}, {"predicate": []}, {"predicates": {}}, {"predicates": [{"name": "Nope"}]},
                       {"predicates": [{}]}, {"priorities": [{"name": "EqualPriority"}]},
                       {"priorities": [{"name": "EqualPriority", "weight": 0}]},
                       {"priorities": [{"name": "EqualPriority", "weight": "1"}]},
                       {"predicates": [{"name": "Mine", "argument": {}}]},
                       {"extenders": [{"urlPrefix": "http://x", "httpTimeout": "5s"}]},
                       {"hardPodAffinitySymmetricWeight": 101}, {"alwaysCheckAllPredicates": "yes"}):
            self.bad("policy", policy)

    def test_good_configurations(self):
        for document in (
                configuration(),
                configuration({"plugins": {"score": {"disabled": [{"name": "*"}],
                                                     "enabled": [{"name": "ImageLocality", "weight": 2}]},
                                           "multiPoint": {"enabled": [{"name": "CinderLimits"}]}}}),
                configuration(leaderElection={"leaseDuration": "1m30s", "leaderElect": False}, parallelism=1),
                args("NodeResourcesFit", kind="NodeResourcesFitArgs", apiVersion="kubescheduler.config.k8s.io/v1",
                     scoringStrategy={"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 3}],
                                      "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0},
                                                                             {"utilization": 100, "score": 10}]}}),
                args("PodTopologySpread", defaultingType="List", defaultConstraints=[
                    {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]),
                args("NodeAffinity", addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}]}}),
                args("SomebodysPlugin", anything=[1, 2]),
                configuration(extenders=[{"urlPrefix": "http://x", "prioritizeVerb": "p", "weight": 1,
                                          "httpTimeout": "100ms", "enableHTTPS": False}])):
            self.good("configuration", document)

    def test_bad_configurations(self):
        for document in (
                {"kind": "KubeSchedulerConfiguration"},
                {"apiVersion": "kubescheduler.config.k8s.io/v1beta2", "kind": "KubeSchedulerConfiguration"},
                configuration(algorithmSource={}),
                configuration(parallelism=0),
                configuration(parallelism="16"),
                configuration(percentageOfNodesToScore=101),
                configuration(leaderElection={"leaseDuration": 15}),
                configuration({"plugins": {"filter": {"enabled": [{"name": "ImageLocality"}]}}}),
                configuration({"plugins": {"multiPoint": {"enabled": [{"name": "Nope"}]}}}),
                configuration({"plugins": {"filters": {}}}),
                args("NodeResourcesFit", bogus=1),
                args("InterPodAffinity", hardPodAffinityWeight=101),
                args("PodTopologySpread", defaultingType="Lists"),
                args("NodeAffinity", addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Foo"}]}]}}),
                args("PodTopologySpread", defaultingType="List", defaultConstraints=[
                    {"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]),
                configuration(extenders=[{"httpTimeout": 5}])):
            self.bad("configuration", document)


if __name__ == "__main__":
    unittest.main()
