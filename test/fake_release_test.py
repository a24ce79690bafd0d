#!/usr/bin/env python3
"""Tests that a release comes in through one door: programs that are linked with a release that was never published
(test/fake_release) decide, experiment, serve and elect as it says, although no other line knows it. It scores up to 7,
has two rules of its own, texts, a queue and an order of writes that no real release has together, another lock, and a
flag."""
import json
import os

# The programs under test lie below the directory of the shipped ones.
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
os.environ["OUT"] = os.path.join(
    os.path.abspath(os.environ.get("OUT") or os.path.join(TOP, "_output")), "test", "faked"
)

import harness  # noqa: E402
from harness import BIN, Api, Scheduler
from harness import node, pod, run, schedsim, wait_until, write_objects  # noqa: E402

FAKE = "1.77"
CLUSTER = [
    node("n1", cpu="4"),
    node("node-22", cpu="4"),
    node("long-name-3", cpu="2", labels={"colour": "red"}),
    pod("red", cpu="1", labels={"colour": "red"}),
    pod("plain", cpu="3"),
    pod("second", cpu="3"),
    pod("third", cpu="3"),
]


def test_decisions():
    status, out, err = schedsim(
        "run", write_objects("cluster.json", CLUSTER), f"--emulated-version={FAKE}", "-o", "json"
    )
    assert status == 0, err
    made = {d["pod"]: d for d in json.loads(out)["decisions"]}
    assert made["default/red"]["host"] == "node-22", made  # seven letters and more are equal, and names descend
    assert made["default/plain"]["host"] == "node-22", made
    assert made["default/second"]["host"] == "n1", made
    assert made["default/third"]["error"].startswith("none of 3 would do; "), made
    assert "1 node(s) had another colour" in made["default/third"]["error"], made
    assert (
        schedsim(
            "run",
            write_objects("cluster.json", CLUSTER),
            f"--emulated-version={FAKE}",
            "--check-decisions",
            "-o",
            "json",
        )[0]
        == 0
    )


def test_scenario_and_experiments():
    scenario = json.dumps(
        {
            "apiVersion": "schedsim/v1",
            "kind": "Scenario",
            "emulatedVersion": FAKE,
            "cluster": {"apiVersion": "v1", "kind": "List", "items": CLUSTER[:3]},
            "pods": CLUSTER[3:5],
        }
    )
    status, out, err = schedsim("run", "-", "-o", "json", feed=scenario)
    assert status == 0 and out.count("node-22") >= 1, (out, err)
    cluster = write_objects("cluster.json", CLUSTER)
    status, out, err = schedsim("explain", cluster, f"--emulated-version={FAKE}", "--pod=default/red")
    assert status == 0 and "Scores of 0 to 7" in out and "LongName" in out, (out, err)
    status, out, err = schedsim("compare", cluster, "--emulated-version=1.10", f"--emulated-version={FAKE}")
    assert status == 0 and FAKE in out, (out, err)
    status, out, err = schedsim("simulate", cluster, f"--emulated-version={FAKE}", "-o", "summary")
    assert status == 0, (out, err)
    status, out, err = schedsim("run", cluster, "--emulated-version=1.78")
    assert status != 0 and "1.36 or 1.77" in err, err


def test_own_flag():
    status, out, err = run(
        f"{BIN}/kube-scheduler", f"--emulated-version={FAKE}", "--paint=blue", "--write-config-to=/dev/null"
    )
    assert status == 0 and "--paint" in out + err, (out, err)
    status, out, err = run(
        f"{BIN}/kube-scheduler", "--emulated-version=1.13", "--paint=blue", "--write-config-to=/dev/null"
    )
    assert status != 0 and "unknown flag: --paint" in err, err


def test_daemon():
    api = Api.start(flags=(f"--emulated-version={FAKE}",))
    scheduler = Scheduler(api.url, f"--emulated-version={FAKE}", leader_elect=True)
    for o in CLUSTER:
        api.post("/api/v1/nodes" if o["kind"] == "Node" else "/api/v1/namespaces/default/pods", o)
    api.wait_placed(count=3)
    assert not api.placements()["third"] and api.placements()["red"] in ("node-22", "long-name-3"), api.placements()

    def messages():
        return "\n".join(e.get("message") or e.get("note") or "" for e in api.events(reason="Scheduled"))

    wait_until("an event in the release's words", messages, containing="Sent to ")
    api.wait_condition("third", "none of 3 would do")
    assert api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")["items"], "the release's lock"
    assert scheduler.stop() == 0


harness.main(globals())
