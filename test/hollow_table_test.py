#!/usr/bin/env python3
"""Tables of hollow-apiserver, as kubectl get asks for them: whole objects where it sorts by what is in them, and when
events were last seen."""
import http.client
import json
import re

import harness
from harness import DEADLINE, Api, node, pod, write_objects

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
RELEASES = ("1.10", "1.29", "1.36")
EVENT = {
    "apiVersion": "events.k8s.io/v1",
    "kind": "Event",
    "metadata": {"name": "e1", "namespace": "default"},
    "regarding": {"kind": "Pod", "name": "a", "namespace": "default"},
    "eventTime": "2026-11-26T01:14:20.135852Z",
    "reportingController": "default-scheduler",
    "reportingInstance": "default-scheduler-vm",
    "action": "Binding",
    "reason": "Scheduled",
    "note": "hi",
    "type": "Normal",
}


def table(s, path):
    c = http.client.HTTPConnection("127.0.0.1", s.port, timeout=DEADLINE)
    c.request("GET", path, headers={"Accept": TABLE if s.release != "1.10" else TABLE.replace("v=v1;", "v=v1beta1;")})
    answer = json.loads(c.getresponse().read())
    c.close()
    assert answer["kind"] == "Table", "kind of " + path
    return answer


def started(release):
    s = Api.start(
        write_objects("cluster.json", [node("n0", cpu="4"), node("n1", cpu="8"), pod("a")]),
        flags=["--emulated-version=" + release],
    )
    s.release = release
    return s


def test_rows_have_what_is_asked_for():
    for release in RELEASES:
        with started(release) as s:
            for asked, has_status in (("Object", True), ("Metadata", False), ("", False)):
                rows = table(s, "/api/v1/nodes" + ("?includeObject=" + asked if asked else ""))["rows"]
                assert len(rows) == 2, "%s: rows with includeObject=%s" % (release, asked)
                assert ["status" in r["object"] for r in rows] == [has_status] * 2, "%s: their status" % release
            rows = table(s, "/api/v1/nodes?includeObject=Object")["rows"]
            assert sorted(r["object"]["status"]["capacity"]["cpu"] for r in rows) == ["4", "8"], (
                release + ": what kubectl sorts by"
            )


def test_what_rows_cannot_have_is_a_bad_request():
    """Older servers look at each row, and find nothing wrong where there are none."""
    checked = "Unable to convert to Table as requested: includeObject: Invalid value: \"Bogus\": must be 'Metadata', "
    for release, says in (
        ("1.10", 'unrecognized includeObject value: "Bogus"'),
        ("1.13", 'unrecognized includeObject value: "Bogus"'),
        ("1.19", checked + "'Object', 'None', or empty"),
        ("1.29", checked + "'Object', 'None', or empty"),
        ("1.36", checked + "'Object', 'None', or empty"),
    ):
        with started(release) as s:
            accept = {"Accept": TABLE.replace("v=v1;", "v=v1beta1;") if release in ("1.10", "1.13") else TABLE}
            for path in ("/api/v1/nodes", "/api/v1/nodes/n0", "/api/v1/persistentvolumes"):
                status, answer = s.call("GET", path + "?includeObject=Bogus", headers=accept)
                empty = path.endswith("persistentvolumes") and release in ("1.10", "1.13")
                assert status == (200 if empty else 400), "%s: status of %s" % (release, path)
                if not empty:
                    assert (answer["reason"], answer["message"]) == ("BadRequest", says), release + ": words"
            # Only tables have rows.
            assert s.call("GET", "/api/v1/nodes?includeObject=Bogus")[0] == 200, release + ": a list"


def test_events_with_series_are_seen():
    for release in ("1.29", "1.36"):
        with started(release) as s:
            s.post("/apis/events.k8s.io/v1/namespaces/default/events", EVENT)
            got = table(s, "/api/v1/namespaces/default/events")
            names = [c["name"] for c in got["columnDefinitions"]]
            assert names[:4] + [n for n in names if n == "Message"] == [
                "Last Seen",
                "Type",
                "Reason",
                "Object",
                "Message",
            ], (release + ": columns")
            cells = dict(zip(names, got["rows"][0]["cells"]))
            assert (cells["Type"], cells["Reason"], cells["Object"], cells["Message"]) == (
                "Normal",
                "Scheduled",
                "pod/a",
                "hi",
            ), (release + ": cells")
            assert cells["Last Seen"] not in ("<unknown>", ""), release + ": it was seen"


def test_readiness_and_status_of_pods():
    # The columns READY, STATUS and RESTARTS of pods with init containers, sidecars, gates and ends of several kinds.
    init = [{"name": "i", "image": "x"}, {"name": "side", "image": "x", "restartPolicy": "Always"}]
    ok = {"terminated": {"exitCode": 0, "reason": "Completed"}}
    running = {"running": {}}

    def status(name, state, ready=False, restarts=0, **more):
        return dict(more, name=name, state=state, ready=ready, restartCount=restarts, image="x")

    first, side = status("i", ok, True, 2), status("side", running, True, 1, started=True)
    main = status("main", running, True, 3)
    # So long ago that the days beside the years do not matter.
    ended = {"exitCode": 1, "finishedAt": "2000-01-01T00:00:00Z"}
    gated = [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]
    is_ready = [{"type": "Ready", "status": "True"}]
    for spec, given, cells in (
        ({}, {"phase": "Running", "containerStatuses": [main]}, ["1/1", "Running", "3"]),
        (
            {},
            {"phase": "Running", "containerStatuses": [dict(main, lastState={"terminated": ended})]},
            ["1/1", "Running", None],
        ),
        ({}, {"phase": "Pending", "conditions": gated}, ["0/1", "SchedulingGated", "0"]),
        (
            {},
            {"phase": "Failed", "containerStatuses": [status("main", {"terminated": {"exitCode": 3}})]},
            ["0/1", "ExitCode:3", "0"],
        ),
        (
            {},
            {"phase": "Failed", "containerStatuses": [status("main", {"terminated": {"exitCode": 1, "signal": 9}})]},
            ["0/1", "Signal:9", "0"],
        ),
        ({}, {"phase": "Failed", "reason": "Evicted"}, ["0/1", "Evicted", "0"]),
        (
            {"initContainers": init},
            {"phase": "Running", "initContainerStatuses": [first, side], "containerStatuses": [main]},
            ["2/2", "Running", "4"],
        ),
        (
            {"initContainers": init},
            {"phase": "Pending", "initContainerStatuses": [status("i", running)]},
            ["0/2", "Init:0/2", "0"],
        ),
        (
            {"initContainers": init},
            {"phase": "Pending", "initContainerStatuses": [first, status("side", running)]},
            ["0/2", "Init:1/2", "2"],
        ),
        (
            {"initContainers": init},
            {"phase": "Pending", "initContainerStatuses": [status("i", {"waiting": {"reason": "CrashLoopBackOff"}})]},
            ["0/2", "Init:CrashLoopBackOff", "0"],
        ),
        (
            {"initContainers": init},
            {
                "phase": "Failed",
                "initContainerStatuses": [status("i", {"terminated": {"exitCode": 1, "reason": "Error"}})],
            },
            ["0/2", "Init:Error", "0"],
        ),
        (
            {"containers": [{"name": "main", "image": "x"}, {"name": "b", "image": "x"}]},
            {
                "phase": "Running",
                "conditions": is_ready,
                "containerStatuses": [status("main", ok), status("b", running, True)],
            },
            ["1/2", "Running", "0"],
        ),
        (
            {"containers": [{"name": "main", "image": "x"}, {"name": "b", "image": "x"}]},
            {"phase": "Running", "containerStatuses": [status("main", ok), status("b", running, True)]},
            ["1/2", "NotReady", "0"],
        ),
    ):
        p = dict(pod("p", **spec), status=given)
        with Api.start(write_objects("states.json", [node("n0"), p]), flags=["--emulated-version=1.36"]) as s:
            s.release = "1.36"
            row = table(s, "/api/v1/namespaces/default/pods")["rows"][0]
            if cells[2] is None:
                assert re.fullmatch(r"3 \(\d+y ago\)", row["cells"][3]) is not None, (
                    "the last restart",
                    row["cells"][3],
                )
                cells[2] = row["cells"][3]
            assert row["cells"][1:4] == cells, json.dumps(given)


harness.main(globals())
