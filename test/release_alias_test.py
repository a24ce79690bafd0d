#!/usr/bin/env python3
"""Tests that nothing decides by the name of a release: programs that know every release by a second name (test/aliases)
give the same bytes under both names, but for the name. Golden data, command lines, the configuration, the API server
and the daemon."""
import glob
import gzip
import json
import os
import re

# The programs under test are those with second names; they lie below the directory of the shipped ones.
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["OUT"] = os.path.join(
    os.path.abspath(os.environ.get("OUT") or os.path.join(TOP, "_output")), "test", "aliased"
)

import harness  # noqa: E402
from harness import BIN, ROOT, Api, Proxy, Scheduler
from harness import node, pod, run, scratch, schedsim, wait_until, write_file, write_objects  # noqa: E402

DATA = os.path.join(ROOT, "test", "testdata")


def releases():
    """Returns the real names, oldest first, with their second names: {"1.10": "1.50"}. The programs themselves tell
    them."""
    _, _, err = run(f"{BIN}/hollow-apiserver", "--emulated-version=none")
    names = re.findall(r"\b1\.\d+", err.partition("must be")[2])
    assert len(names) % 2 == 0 and len(names) >= 10, err
    return dict(zip(names[::2], names[1::2]))


RELEASES = releases()


def plain(text):
    """Returns the text with real names instead of second names."""
    for name, second in RELEASES.items():
        text = re.sub(rf"(?<![\d.]){re.escape(second)}(?!\d)", name, text)
    return text


def assert_alike(what, one, other):
    """Asserts that texts, or lists of texts, are the same but for the name of the release."""
    one, other = (
        [plain(t) for t in texts] if isinstance(texts, list) else plain(texts).splitlines() for texts in (one, other)
    )
    differ = [(a, b) for a, b in zip(one, other) if a != b]
    assert not differ and len(one) == len(other), (
        what,
        len(one),
        len(other),
        [(a[:400], b[:400]) for a, b in differ[:3]],
    )


def test_golden_decisions():
    for name, second in RELEASES.items():
        files = sorted(glob.glob(os.path.join(DATA, f"golden-{name}", "*.jsonl.gz"))) or (
            sorted(glob.glob(os.path.join(DATA, "golden", "*.jsonl.gz")))
        )
        assert files, name
        for path in files:
            with gzip.open(path, "rt") as f:
                scenarios = [
                    dict(json.loads(line)["scenario"], name=str(i)) for i, line in enumerate(f) if line.strip()
                ]
            answers = []
            for release in (name, second):
                feed = "".join(json.dumps(dict(s, release=release)) + "\n" for s in scenarios[::3])
                status, out, err = schedsim("run", "-", "-o", "json", feed=feed)
                assert status == 0, (path, release, err[-500:])
                answers.append([out, err])
            assert answers[0][0].count("\n") >= len(scenarios[::3]) > 0, path
            for kind in (0, 1):
                assert_alike(f"{path} {release}", answers[0][kind], answers[1][kind])


CLUSTER = [
    *(node(f"n{i}", cpu="4", zone=f"z{i % 2}") for i in range(4)),
    *(pod(f"p{i}", cpu="900m", labels={"app": "a"}) for i in range(9)),
    pod("bound", cpu="3", on="n0", priority=1),
    pod("big", cpu="99"),
    pod("high", cpu="3500m", priority=9),
    {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "ds", "namespace": "default", "uid": "1"},
        "spec": {
            "selector": {"matchLabels": {"app": "ds"}},
            "template": {
                "metadata": {"labels": {"app": "ds"}},
                "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}]},
            },
        },
    },
]
POLICY = {
    "kind": "Policy",
    "apiVersion": "v1",
    "predicates": [{"name": "PodFitsResources"}, {"name": "GeneralPredicates"}],
    "priorities": [{"name": "LeastRequestedPriority", "weight": 2}, {"name": "NoSuch", "weight": 1}],
}
GOOD_POLICY = dict(POLICY, priorities=POLICY["priorities"][:1])
CONFIGURATIONS = [
    {"apiVersion": f"kubescheduler.config.k8s.io/{v}", "kind": "KubeSchedulerConfiguration", **more}
    for v, more in (
        ("v1alpha1", {}),
        ("v1beta1", {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "NodePort"}]}}}]}),
        ("v9", {}),
        ("v1", {"profiles": [{"schedulerName": "a", "plugins": {"score": {"disabled": [{"name": "*"}]}}}]}),
    )
]


def command_lines(cluster, template, policy, good, configurations):
    """Returns command lines of schedsim, in which RELEASE stands for a name, and OTHER for that of another release."""
    release = ("--emulated-version", "RELEASE")
    yield from (["run", cluster, *release, "-o", form] for form in ("summary", "json", "wide"))
    yield from (["explain", cluster, *release, "--pod", "default/" + p] for p in ("big", "high", "p0"))
    yield ["capacity", cluster, *release, "--pod-spec", template]
    yield ["what-if", cluster, *release, "--drain", "n0"]
    yield ["compare", cluster, "--emulated-version", "OTHER", *release]
    yield ["simulate", cluster, *release, "--seed", "7"]
    yield ["run", cluster, *release, "--validate=strict"]
    for form in ("policy", "configuration"):
        yield ["schema", form, *release]
    for file in (policy, good, *configurations):
        yield ["check", file, *release]
        yield ["convert", file, "--to", "RELEASE"]
        yield ["run", cluster, *release, "--policy-config-file", file]
        yield ["run", cluster, *release, "--config", file]
    yield ["run", cluster, *release, "--algorithm-provider", "ClusterAutoscalerProvider"]
    yield ["run", cluster, *release, "--algorithm-provider", "NoSuch"]


def test_schedsim_command_lines():
    cluster = write_objects("cluster.json", CLUSTER)
    files = [
        write_file(f"file-{i}.json", json.dumps(f))
        for i, f in enumerate([pod("t", cpu="1"), POLICY, GOOD_POLICY, *CONFIGURATIONS])
    ]
    others = dict(zip(RELEASES, [*list(RELEASES)[1:], *RELEASES]))
    succeeded = 0
    for line in command_lines(cluster, *files[:3], files[3:]):
        for name, second in RELEASES.items():
            one, other = (
                schedsim(*[w.replace("RELEASE", r).replace("OTHER", others[name]) for w in line])
                for r in (name, second)
            )
            assert one[0] == other[0], (line, name, one, other)
            succeeded += one[0] == 0
            for kind in (1, 2):
                assert_alike(f"{line} {name}", one[kind], other[kind])
    assert succeeded > 80, succeeded


def test_daemon_command_lines():
    files = [write_file(f"c-{i}.json", json.dumps(f)) for i, f in enumerate([POLICY, GOOD_POLICY, *CONFIGURATIONS])]
    lines = [
        ["--help"],
        ["--version"],
        ["--no-such-flag"],
        ["--policy-config-file=x", "--config=y"],
        ["--feature-gates=NoSuch=true"],
        *(["--config=" + f, "--write-config-to=OUT"] for f in files),
        ["--write-config-to=OUT"],
        *(["--policy-config-file=" + f, "--write-config-to=OUT"] for f in files[:2]),
    ]
    for line in lines:
        for name, second in RELEASES.items():
            answers = []
            for release in (name, second):
                out = scratch("written-" + release)
                words = [w.replace("OUT", out) for w in line]
                status, printed, log = run(f"{BIN}/kube-scheduler", f"--emulated-version={release}", *words)
                written = ""
                if os.path.exists(out):
                    with open(out) as f:
                        written = f.read()
                    os.remove(out)
                answers.append([str(status), printed, *untimed(log).replace(out, "OUT").splitlines(), written])
            assert_alike(f"{line} {name}", *answers)


def untimed(log):
    """Returns lines of a log without their times, process numbers and lines of sources."""
    return re.sub(r"(?m)^([IWEF])\d{4} [\d:.]+ +\d+ ", r"\1 ", log)


def test_server_and_daemon():
    for name, second in RELEASES.items():
        told = []
        for release in (name, second):
            objects = write_objects("live.json", [node("n0", cpu="2"), pod("low", cpu="2", on="n0", priority=1)])
            api = Api.start(objects, flags=["--emulated-version=" + release])
            pages = [json.dumps(without_build(api.get(path))) for path in ("/version", "/api", "/apis", "/api/v1")]
            pages += [
                json.dumps(api.get(f"/apis/{g['preferredVersion']['groupVersion']}"))
                for g in api.get("/apis")["groups"]
            ]
            proxy = Proxy(api.port)
            s = Scheduler(proxy.url, "--emulated-version=" + release, leader_elect=True)
            api.add_pod("big", cpu="99")
            wait_until("the event of the pod that fits nowhere", api.events, reason="FailedScheduling")
            api.add_node("n1", cpu="2")
            api.add_pod("small", cpu="1")
            api.wait_placed("small", on="n1")
            [event] = [e.get("message") or e.get("note") for e in api.events(reason="FailedScheduling")][:1]
            s.metrics()
            families = sorted(set(re.findall(r"(?m)^# .*$", s.page("/metrics")[2])))
            # Whether a pod that does not fit yet is read again before the daemon ends is a matter of time, and so are
            # whether the second pod is tried once before the daemon learns of the second node, and whether the lock is
            # renewed.
            asked = sorted(
                {
                    f"{verb} {re.sub(r'[?].*', '', path)}"
                    for verb, path in proxy.seen
                    if "/events/" not in path
                    and not (verb == "GET" and "/default/pods/" in path)
                    and not path.endswith("/default/pods/small/status")
                    and not (verb in ("GET", "PUT") and path.partition("?")[0].endswith("/kube-scheduler"))
                }
            )
            start = [re.sub(r"^.*?\] ", "", line) for line in s.log().splitlines()[:1]]
            assert s.stop() == 0
            told.append([*pages, event, *families, *asked, *start])
            api.stop()
        assert len(told[0]) > 60, told[0]
        assert_alike(name, *told)


def without_build(page):
    return {k: v for k, v in page.items() if k not in ("buildDate", "serverAddressByClientCIDRs")}


harness.main(globals())
