#!/usr/bin/env python3
"""kube-scheduler --record-dir and schedsim replay and anonymise: what a daemon did is done again byte for byte."""
import glob
import json
import os
import signal
import subprocess

from daemon_harness import *

HERE = os.path.dirname(os.path.abspath(__file__))


def schedsim(*args):
    p = subprocess.run([f"{BIN}/schedsim", *args], capture_output=True, text=True, timeout=120)
    return p.returncode, p.stdout, p.stderr


def replayed(path, *flags):
    status, out, err = schedsim("replay", path, "-o", "json", *flags)
    assert out, (status, err)
    return status, json.loads(out)


def lines(folder):
    return [json.loads(line) for line in unpacked(folder).splitlines()]


def unpacked(folder):
    names = sorted(glob.glob(f"{folder}/segment-*.jsonl.zst"))
    return subprocess.run(["zstdcat", *names], check=True, capture_output=True, text=True).stdout


def record(folder, *flags, pods=40, end=signal.SIGTERM):
    """A scheduler that places pods, waits for some, evicts when told so; returns where its pods are."""
    api = Api.start(write_objects("cluster.json", [node(f"node-{i:02d}", cpu="2") for i in range(8)]))
    api.add_priority_class("high", 1000)
    s = Scheduler(api.url, f"--record-dir={folder}", *flags, name=os.path.basename(folder))
    for i in range(pods):
        api.add_pod(f"web-{i:02d}", cpu="500m")
    wait_until("32 pods placed", lambda: sum(1 for n in api.placements().values() if n) == 32)
    if any("PodPriority" in f for f in flags):
        api.add_pod("urgent", cpu="1500m", priority_class="high")
        # Victims have a grace period; nobody here plays the kubelet but this test.
        def evict():
            for name, p in api.pods().items():
                if p["metadata"].get("deletionTimestamp"):
                    api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
            return api.placements()["urgent"]
        wait_until("the urgent pod placed", evict)
    else:
        api.call("DELETE", "/api/v1/namespaces/default/pods/web-00?gracePeriodSeconds=0")
        wait_until("room used again", lambda: sum(1 for n in api.placements().values() if n) == 32)
    where = api.placements()
    wait_until("all that was done flushed", lambda: any(
        f.tell() for f in [open(p, "rb") for p in glob.glob(f"{folder}/*")] if f.seek(0, 2)) and
        s.metrics()["scheduler_recording_buffered_events"] == 0)
    m = s.metrics()
    assert m["scheduler_recording_lost_events_total"] == 0 and m["scheduler_recording_bytes_total"] > 0, m
    s.process.send_signal(end)
    s.process.wait()
    api.process.kill()
    return where


FOLDER = scratch("recording")


def replays_what_a_daemon_did():
    folder = FOLDER
    where = record(folder)
    status, r = replayed(folder)
    assert status == 0 and r["same"] and not r["truncated"] and r["lostEvents"] == 0, r
    assert r["placed"] >= 33 and r["decisions"] > r["placed"], r
    status, out, _ = schedsim("replay", folder, "--check")
    assert status == 0 and out.startswith("ok: "), out
    # Only what scheduling reads is in it.
    text = json.dumps(lines(folder))
    assert '"cpu": "500m"' in text and "kubelet" not in text and "podIP" not in text
    # One pod's last decision, with all scores.
    pod_name = next(name for name, n in sorted(where.items()) if n)
    status, out, err = schedsim("replay", folder, f"--pod={pod_name}")
    assert status == 0 and pod_name in out and "LeastRequestedPriority" in out, (out, err)
    status, out, err = schedsim("replay", folder, "--pod=nobody")
    assert status == 1 and "no decision about pod default/nobody is recorded" in err, err


def finds_the_first_difference():
    folder = FOLDER
    text = unpacked(folder).splitlines(keepends=True)
    at = [i for i, line in enumerate(text) if '"out":"decision"' in line and '"node"' in line][5]
    changed = json.loads(text[at])
    changed["node"] = "node-00" if changed["node"] != "node-00" else "node-01"
    other = scratch("changed.jsonl")
    with open(other, "w") as f:
        f.writelines(text[:at] + [json.dumps(changed, separators=(",", ":")) + "\n"] + text[at + 1:])
    status, r = replayed(other)
    assert status == 1 and r["difference"]["pod"] == changed["pod"], r
    assert json.loads(r["difference"]["recorded"]) == changed and json.loads(r["difference"]["replayed"]) == json.loads(text[at]), r


def compares_another_policy():
    folder = FOLDER
    policy = scratch("packing.json")
    with open(policy, "w") as f:
        f.write('{"kind":"Policy","apiVersion":"v1","priorities":[{"name":"MostRequestedPriority","weight":1}]}')
    status, r = replayed(folder, "--policy", policy)
    assert status == 0 and r["recorded"]["pods"] == r["other"]["pods"] == 40, r
    assert r["other"]["placed"] >= 32 and r["differing"], r
    status, out, _ = schedsim("replay", folder, "--policy", policy)
    assert status == 0 and "deleted when they were in the recording" in out, out
    assert max(len(line) for line in out.splitlines()) <= 80, out
    # The same algorithm decides the same.
    status, r = replayed(folder, "--algorithm-provider=DefaultProvider")
    assert status == 0 and r["recorded"]["placed"] == r["other"]["placed"], r


def evictions_and_a_kill():
    folder = scratch("killed")
    record(folder, "--feature-gates=PodPriority=true", end=signal.SIGKILL)
    status, r = replayed(folder)
    assert status == 0 and r["same"] and r["placed"] >= 32, r
    assert any(l.get("out") == "preemption" and l.get("victims") for l in lines_of_killed(folder)), "no eviction recorded"


def lines_of_killed(folder):
    """As far as they can be read."""
    out = subprocess.run(f"zstdcat {folder}/segment-*.jsonl.zst 2>/dev/null", shell=True, capture_output=True).stdout
    return [json.loads(line) for line in out.decode().splitlines() if line.endswith("}")]


def anonymises():
    folder = FOLDER
    status, out, err = schedsim("anonymise", folder)
    assert status == 0, err
    for name in ("web-", "node-0", "default/", scratch("")):
        assert name not in out, next(line for line in out.splitlines() if name in line)
    other = scratch("anonymous.jsonl")
    with open(other, "w") as f:
        f.write(out)
    (status, a), (_, b) = replayed(other), replayed(folder)
    assert status == 0 and a["same"] and (a["decisions"], a["placed"]) == (b["decisions"], b["placed"]), (a, b)


def placements(path):
    status, out, err = schedsim("run", path, "-o", "placements")
    assert status == 0, err
    return [line.split() for line in out.splitlines()]


def anonymises_objects():
    objects = [node(f"host-{i}", cpu=str(2 + i % 3), rack=f"rack-{i % 3}", number=str(i)) for i in range(20)]
    objects += [pod(f"job-{i}", cpu=f"{100 + i * 7}m") for i in range(60)]
    for i, o in enumerate(objects[20:]):
        o["metadata"]["uid"] = f"secret-uid-{i}"
        o["metadata"]["annotations"] = {"password": "hunter2"}
        if i % 5 == 0:
            o["spec"]["nodeSelector"] = {"rack": f"rack-{i % 3}"}
    path = write_objects("objects.json", objects)
    status, out, err = schedsim("anonymise", path)
    assert status == 0, err
    for name in ("host-", "job-", "rack-", "secret", "hunter2", "busybox", '"rack"'):
        assert name not in out, name
    assert '"kubernetes.io/hostname"' in out
    other = scratch("anonymous.json")
    with open(other, "w") as f:
        f.write(out)
    real, renamed = placements(path), placements(other)
    assert len(real) == len(renamed) == 60 and any(n != "-" for _, n in real)
    names = {}
    for (p, n), (q, m) in zip(real, renamed):
        assert names.setdefault(n, m) == m and (n == "-") == (m == "-"), (p, n, q, m)
    # The order of names is kept.
    mapped = sorted((n, m) for n, m in names.items() if n != "-")
    assert [m for _, m in mapped] == sorted(m for _, m in mapped)


def shipped_recordings():
    for path in sorted(glob.glob(f"{HERE}/testdata/recordings/*")):
        status, out, err = schedsim("replay", path, "--check")
        assert status == 0, f"{path}: {out}{err}"
        # The first difference would be found.
    assert len(glob.glob(f"{HERE}/testdata/recordings/*")) >= 2


def bad_flags():
    for flags, text in ((["--record-max-bytes=10"], "must be a quantity of bytes of 1Mi at least"),
                        (["--record-dir=/proc/none/there"], "--record-dir: cannot create folder /proc/none/there")):
        p = subprocess.run([f"{BIN}/kube-scheduler", "--master=http://127.0.0.1:1", "--leader-elect=false", "--port=-1", *flags],
                           capture_output=True, text=True, timeout=60)
        assert p.returncode == 1 and text in p.stderr, (flags, p.returncode, p.stderr[-500:])


run(replays_what_a_daemon_did, finds_the_first_difference, compares_another_policy, anonymises, anonymises_objects,
    evictions_and_a_kill, bad_flags, shipped_recordings)
