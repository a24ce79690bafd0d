#!/usr/bin/env python3
"""Tests kube-scheduler --record-dir and schedsim replay and anonymise: what a daemon did is repeated byte for byte."""
import glob
import gzip
import json
import os
import re
import signal
import subprocess

import harness
from harness import BIN, ROOT, Api, Scheduler, node, pod, schedsim, scratch, wait_until, write_objects

HERE = os.path.join(ROOT, "test")


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
    """Runs a scheduler that places pods, keeps some waiting, and evicts with PodPriority. Returns where its pods
    are."""
    api = Api.start(write_objects("cluster.json", [node(f"node-{i:02d}", cpu="2") for i in range(8)]))
    api.add_priority_class("high", 1000)
    s = Scheduler(api.url, f"--record-dir={folder}", *flags, name=os.path.basename(folder))
    for i in range(pods):
        api.add_pod(f"web-{i:02d}", cpu="500m")
    api.wait_placed(count=32)
    if any("PodPriority" in f for f in flags):
        api.add_pod("urgent", cpu="1500m", priority_class="high")

        # Victims have a grace period, and only this test plays the kubelet.
        def evict():
            for name, p in api.pods().items():
                if p["metadata"].get("deletionTimestamp"):
                    api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
            return api.placements()["urgent"]

        wait_until("the urgent pod placed", evict)
    else:
        api.call("DELETE", "/api/v1/namespaces/default/pods/web-00?gracePeriodSeconds=0")
        api.wait_placed(count=32)
    where = api.placements()
    # What is not in the buffer any more need not be in a file yet, and only what is in a file outlives SIGKILL.
    placed = {f"default/{name}" for name, n in where.items() if n}

    def placed_in_files():
        return {l["pod"] for l in lines_so_far(folder) if l.get("in") == "schedule" and "node" in l}

    wait_until("pods whose placement is in a file", placed_in_files, at_least=placed)
    s.wait_metric("scheduler_recording_buffered_events", 0)
    m = s.metrics()
    assert m["scheduler_recording_lost_events_total"] == 0 and m["scheduler_recording_bytes_total"] > 0, m
    s.process.send_signal(end)
    s.process.wait()
    api.process.kill()
    return where


FOLDER = scratch("recording")


def test_replays_what_a_daemon_did():
    folder = FOLDER
    where = record(folder)
    status, r = replayed(folder)
    assert status == 0 and r["same"] and not r["truncated"] and r["lostEvents"] == 0, r
    assert r["placed"] >= 33 and r["decisions"] > r["placed"], r
    status, out, _ = schedsim("replay", folder, "--check")
    assert status == 0 and out.startswith("ok: "), out
    # It contains only what scheduling reads.
    text = json.dumps(lines(folder))
    assert '"cpu": "500m"' in text and "kubelet" not in text and "podIP" not in text
    # The last decision about one pod, with all scores.
    pod_name = next(name for name, n in sorted(where.items()) if n)
    status, out, err = schedsim("replay", folder, f"--pod={pod_name}")
    assert status == 0 and pod_name in out and "Scores of 0 to 10, times their weight" in out, (out, err)
    status, out, err = schedsim("replay", folder, "--pod=nobody")
    assert status == 1 and "no decision about pod default/nobody is recorded" in err, err


def test_finds_the_first_difference():
    folder = FOLDER
    text = unpacked(folder).splitlines(keepends=True)
    at = [i for i, line in enumerate(text) if '"in":"schedule"' in line and '"node"' in line][5]
    changed = json.loads(text[at])
    node = changed["node"]
    changed["node"] = "node-00" if node != "node-00" else "node-01"
    other = scratch("changed.jsonl")
    with open(other, "w") as f:
        f.writelines(text[:at] + [json.dumps(changed, separators=(",", ":")) + "\n"] + text[at + 1 :])
    status, r = replayed(other)
    assert status == 1 and r["difference"]["pod"] == changed["pod"], r
    decision = {"out": "decision", **{k: changed[k] for k in ("pod", "node", "fit", "ties", "counter")}}
    assert json.loads(r["difference"]["recorded"]) == decision, r
    assert json.loads(r["difference"]["replayed"]) == {**decision, "node": node}, r


def test_compares_another_policy():
    folder = FOLDER
    policy = scratch("packing.json")
    with open(policy, "w") as f:
        f.write('{"kind":"Policy","apiVersion":"v1","priorities":[{"name":"MostRequestedPriority","weight":1}]}')
    status, r = replayed(folder, "--policy", policy)
    assert status == 0 and r["recorded"]["pods"] == r["other"]["pods"] == 40, r
    assert r["other"]["placed"] >= 32 and r["differing"], r
    status, out, _ = schedsim("replay", folder, "--policy", policy)
    assert status == 0 and "deleted at the times of the recording" in out, out
    assert max(len(line) for line in out.splitlines()) <= 80, out
    # The same algorithm makes the same decisions.
    status, r = replayed(folder, "--algorithm-provider=DefaultProvider")
    assert status == 0 and r["recorded"]["placed"] == r["other"]["placed"], r


def test_evictions_and_a_kill():
    folder = scratch("killed")
    record(folder, "--feature-gates=PodPriority=true", end=signal.SIGKILL)
    status, r = replayed(folder)
    assert status == 0 and r["same"] and r["placed"] >= 32, r
    assert any(l.get("out") == "preemption" and l.get("victims") for l in lines_so_far(folder)), "no eviction recorded"


def lines_so_far(folder):
    """Returns the whole lines of a recording that is still being written, or that is broken: as far as it can be
    read."""
    out = subprocess.run(f"zstdcat {folder}/segment-*.jsonl.zst 2>/dev/null", shell=True, capture_output=True).stdout
    return [json.loads(line) for line in out.decode().rpartition("\n")[0].splitlines()]


def test_a_recording_that_is_older_than_a_correction():
    """As a scheduler would have recorded that did not count what a pod requests as a whole."""
    placed = pod("x", on="a", cpu="1")
    cluster = [node("a", cpu="4"), node("b", cpu="4"), placed, pod("p", cpu="2"), pod("q", cpu="500m")]
    for release in ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36"):
        folder = scratch("corrected-" + release)
        assert (
            schedsim(
                "simulate",
                write_objects("cluster.json", cluster),
                "--emulated-version=" + release,
                "--record-dir",
                folder,
            )[0]
            == 0
        )
        now = unpacked(folder)
        assert schedsim("replay", folder, "--check", "--accept-corrections")[1].count(";") == 0
        before = now.replace(
            '"spec":{"containers":[{"image":"busybox","resources":{"requests":{"cpu":"1"}}',
            '"spec":{"resources":{"requests":{"cpu":"3500m"}},"containers":[{"image":"busybox"',
        )
        assert before != now, now
        newer, older = scratch("newer.jsonl"), scratch("older.jsonl")
        with open(newer, "w", encoding="utf-8") as f:
            f.write(before)
        with open(older, "w", encoding="utf-8") as f:
            f.write("".join(re.sub('"mends":[0-9]+,', "", line) for line in before.splitlines(True)))
        correction = "pods count for their pod-level requests"
        # What has every correction differs for another reason.
        status, out, _ = schedsim("replay", newer, "--accept-corrections")
        assert status == 1 and "differ" in out and "bug fixes" not in out, (release, out)
        status, out, _ = schedsim("replay", older)
        assert (
            status == 1
            and "is older than these bug fixes" in out
            and correction in out
            and "--accept-corrections" in out
        ), (release, out)
        status, result = replayed(older)
        assert status == 1 and any(m.startswith(correction) for m in result["corrections"]) and not result["same"], (
            release,
            result,
        )
        status, out, _ = schedsim("replay", older, "--accept-corrections", "--check")
        assert status == 0 and re.fullmatch(
            "ok: [0-9]+ inputs, [0-9]+ decisions?; [0-9]+ accepted differences?\n", out
        ), (release, out)


def test_anonymises():
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


def test_empty_and_damaged_recordings_are_no_success():
    with gzip.open(os.path.join(HERE, "testdata/recordings/evictions.jsonl.gz")) as f:
        text = f.read()
    header = text.split(b"\n")[0] + b"\n"
    packed = {
        "gz": gzip.compress(text),
        "zst": subprocess.run(["zstd", "-q", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout,
    }
    bad = {"empty": b"", "newline": b"\n", "header": header, "no header": text[len(header) :]}
    # Members that are something else than they may be.
    for before, after in (
        (b'"gates":{', b'"gates":5,"y":{'),
        (b'"BlockVolume":false', b'"BlockVolume":"zzz"'),
        (b'"maxBackoffMicros":', b'"maxBackoffMicros":"1","x":'),
        (b'"segment":1', b'"segment":1.5'),
        (b'"counters":{}', b'"counters":"zzz"'),
        (b'"in":"tick","t":5', b'"in":"tick","id":"1","t":5'),
        (b'"rv":"14"', b'"rv":14'),
    ):
        bad[after] = text.replace(before, after, 1)
        assert bad[after] != text, before
    for kind, whole in packed.items():
        path = scratch("whole." + kind)
        with open(path, "wb") as f:
            f.write(whole)
        assert schedsim("replay", path, "--check")[0] == 0, kind
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 4
        bad["flipped " + kind] = bytes(flipped)
    for name, content in bad.items():
        path = scratch("bad")
        with open(path, "wb") as f:
            f.write(content)
        for command in (
            ["replay", path, "--check"],
            ["replay", path],
            ["replay", path, "-o", "json"],
            ["anonymise", path],
        ):
            # What anonymise does not copy may be anything.
            if command[0] == "anonymise" and isinstance(name, bytes):
                continue
            status, out, err = schedsim(*command)
            assert status == 1 and err and not out.startswith("ok"), (name, command, status, out[:100], err)
    # One that was cut is as good as it goes; what a daemon writes can be read up to the last frame of Zstandard.
    half = len(text) // 2
    frames = [
        subprocess.run(["zstd", "-q", "-c"], input=t, stdout=subprocess.PIPE, check=True).stdout
        for t in (text[:half], text[half:])
    ]
    for content in (text[:-9], packed["gz"][:-9], frames[0] + frames[1][:-9]):
        path = scratch("cut")
        with open(path, "wb") as f:
            f.write(content)
        status, out, err = schedsim("replay", path, "--check")
        assert status == 0 and "ends early" in out, (out, err)


def placements(path):
    status, out, err = schedsim("run", path, "-o", "placements")
    assert status == 0, err
    return [line.split() for line in out.splitlines()]


def test_anonymises_objects():
    objects = [
        node(f"host-{i}", cpu=str(2 + i % 3), labels={"rack": f"rack-{i % 3}", "number": str(i)}) for i in range(20)
    ]
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
    # The order of names is preserved.
    mapped = sorted((n, m) for n, m in names.items() if n != "-")
    assert [m for _, m in mapped] == sorted(m for _, m in mapped)


def test_shipped_recordings():
    for path in sorted(glob.glob(f"{HERE}/testdata/recordings/*")):
        status, out, err = schedsim("replay", path, "--check")
        assert status == 0, f"{path}: {out}{err}"
        # A difference would be found.
    assert len(glob.glob(f"{HERE}/testdata/recordings/*")) >= 2


ZONE = "topology.kubernetes.io/zone"
CONFIGURATION = """# Two schedulers, of which one packs.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: packing
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
"""


def record_1_29(folder, *flags, packing=False):
    """Runs a scheduler of release 1.29 with spread constraints, a gate, an eviction and a pod that fits nowhere."""
    api = Api.start(
        write_objects(
            "cluster-1.29.json",
            [node(f"n{i}", cpu="2", labels={ZONE: f"zone-{i % 3}"}) for i in range(6)]
            + [
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": "high"},
                    "value": 1000,
                }
            ],
        ),
        flags=["--emulated-version=1.29"],
    )
    s = Scheduler(api.url, f"--record-dir={folder}", "--secure-port=0", *flags, name=os.path.basename(folder))

    def add(name, cpu="500m", priority_class=None, **spec):
        api.add_pod(name, cpu=cpu, priority_class=priority_class, labels={"app": "x"}, **spec)

    spread = [
        {
            "maxSkew": 1,
            "topologyKey": ZONE,
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "x"}},
        }
    ]
    for i in range(12):
        add(f"p{i:02d}", topologySpreadConstraints=spread)
    add("gated", schedulingGates=[{"name": "example.com/hold"}])
    api.wait_placed(count=12)
    add("large", cpu="3")
    if packing:
        add("packed", schedulerName="packing")
    add("urgent", cpu="1500m", priority_class="high")

    def evict():
        for name, p in api.pods().items():
            if p["metadata"].get("deletionTimestamp"):
                api.call("DELETE", f"/api/v1/namespaces/default/pods/{name}?gracePeriodSeconds=0")
        return api.placements()["urgent"] and (not packing or api.placements()["packed"])

    wait_until("the urgent pod placed", evict)
    wait_until("why the large one is not", api.condition, "large", type="PodScheduled")
    s.process.send_signal(signal.SIGTERM)
    s.process.wait()
    api.process.kill()


def test_release_1_29():
    folder = scratch("later")
    record_1_29(folder, "--emulated-version=1.29")
    status, r = replayed(folder)
    assert status == 0 and r["same"] and r["placed"] >= 13, r
    made = {l["out"] for l in lines(folder) if "out" in l}
    assert {"patch", "markVictim", "delete"} <= made, made
    # The watch may show a pod on its node before the answer to its bind; then its event has a line of its own.
    assigned = sum(l.get("assigned") == "key" or l.get("out") == "assignedByKey" for l in lines(folder))
    assert assigned == r["placed"], f"{assigned} events of {r['placed']} assigned pods"
    # The explanation is that of `schedsim explain`.
    status, out, err = schedsim("replay", folder, "--pod=large")
    assert status == 0 and "What would make it fit" in out and "preemption: " not in out, (out, err)
    status, out, err = schedsim("replay", folder, "--pod=p05", "-o", "wide")
    assert status == 0 and "PodTopologySpread" in out, (out, err)
    # For release 1.10, spread constraints are fields that it does not understand.
    status, r = replayed(folder, "--emulated-version=1.10")
    assert status == 0 and r["recorded"]["placed"] > r["other"]["placed"], r
    status, out, err = schedsim("anonymise", folder)
    assert status == 0, err
    other = scratch("later.jsonl")
    with open(other, "w") as f:
        f.write(out)
    for name in ("p05", "default/", "zone-", "urgent"):
        assert name not in out, next(line for line in out.splitlines() if name in line)
    assert replayed(other)[1]["same"]


def test_release_1_29_configured():
    config = scratch("configuration.yaml")
    with open(config, "w") as f:
        f.write(CONFIGURATION)
    folder = scratch("configured")
    record_1_29(folder, f"--config={config}", "--kubeconfig=", packing=True)
    status, r = replayed(folder)
    assert status == 0 and r["same"] and r["placed"] >= 14, r
    # A recording of 1.10 is decided by another configuration.
    status, r = replayed(FOLDER, "--config", config)
    assert status == 0 and r["recorded"]["pods"] == r["other"]["pods"] == 40 and r["other"]["placed"] >= 32, r
    # A Policy and a provider are those of the release that is asked for.
    policy = scratch("policy.json")
    with open(policy, "w") as f:
        json.dump(
            {
                "kind": "Policy",
                "apiVersion": "v1",
                "predicates": [{"name": "GeneralPredicates"}],
                "priorities": [{"name": "MostRequestedPriority", "weight": 1}],
            },
            f,
        )
    for release in ("1.13", "1.19"):
        status, out, err = schedsim("replay", FOLDER, "--policy", policy, "--emulated-version=" + release, "-o", "json")
        assert status == 0 and json.loads(out)["recorded"]["pods"] == 40, (release, err)
    for flags, text in (
        (["--policy", policy, "--emulated-version=1.29"], "release 1.29 has no Policies"),
        (["--algorithm-provider=DefaultProvider", "--emulated-version=1.36"], "release 1.36 has no Policies"),
        (
            ["--emulated-version=1.36", "--config", os.path.join(HERE, "..", "policies", "most-pods.json")],
            "must be a version of kubescheduler.config.k8s.io",
        ),
        (["--emulated-version=1.11"], "invalid value \"1.11\": must be 1.8"),
        (["--emulated-version=1.10", "--config", config], "contradicts --config"),
        (
            ["--config", os.path.join(HERE, "..", "policies", "most-pods.json")],
            "must be a version of kubescheduler.config.k8s.io",
        ),
        (["--config", config, "--algorithm-provider=DefaultProvider"], "give one of"),
    ):
        status, out, err = schedsim("replay", FOLDER, *flags)
        assert status in (1, 2) and text in err and not out, (flags, status, err)


def random_objects(random):
    """Returns objects whose names are prefixes of one another, differ in case, or contain separators."""
    words = [w + tail for w in ("alpha", "alpha-1", "beta", "zz", "b") for tail in ("", "0", "-x", ".y", "10", "9")]
    random.shuffle(words)
    zones, apps = random.sample(words, 3), random.sample(words, 4)
    nodes = [
        node(
            "host-" + w,
            cpu=str(random.randint(1, 4)),
            labels={"corp.example/zone": random.choice(zones), "team": random.choice(apps)},
        )
        for w in words[:12]
    ]
    pods = []
    for i, w in enumerate(words):
        p = pod(
            "job-" + w,
            namespace="tenant-" + random.choice("abc"),
            cpu=f"{random.randint(1, 20) * 100}m",
            uid=f"private-{random.random()}",
        )
        p["metadata"]["labels"] = {"team": random.choice(apps)}
        kind = random.randint(0, 3)
        if kind == 0:
            p["spec"]["nodeSelector"] = {"corp.example/zone": random.choice(zones)}
        elif kind == 1:
            term = {"labelSelector": {"matchLabels": {"team": random.choice(apps)}}, "topologyKey": "corp.example/zone"}
            p["spec"]["affinity"] = {
                random.choice(["podAffinity", "podAntiAffinity"]): {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {"weight": random.randint(1, 100), "podAffinityTerm": term}
                    ]
                }
            }
        pods.append(p)
    return nodes, pods


def test_anonymises_whatever_the_names_are():
    """Property: for any names, their byte order is preserved, placements are equal under the map, and no name occurs in
    the result."""
    import random as r

    for seed in range(12):
        random = r.Random(seed)
        nodes, pods = random_objects(random)
        path = write_objects(f"property-{seed}.json", nodes + pods)
        status, out, err = schedsim("anonymise", path)
        assert status == 0, (seed, err)
        other = scratch(f"property-{seed}-anonymous.json")
        with open(other, "w") as f:
            f.write(out)
        renamed = [o for line in out.splitlines() for o in json.loads(line)["items"]]
        assert len(renamed) == len(nodes) + len(pods), seed
        names = {o["metadata"]["name"]: q["metadata"]["name"] for o, q in zip(nodes, renamed)}
        in_order = [m for _, m in sorted((n.encode(), m.encode()) for n, m in names.items())]
        assert in_order == sorted(in_order) and len(set(in_order)) == len(names), (seed, names)
        for o in nodes + pods:
            for name in (o["metadata"]["name"], o["metadata"].get("uid"), "corp.example", "tenant-"):
                assert name is None or name not in out, (seed, name)
        real, anonymous = placements(path), placements(other)
        assert len(real) == len(anonymous) == len(pods), seed
        assert [names.get(n, n) for _, n in real] == [n for _, n in anonymous], seed
        assert sum(n != "-" for _, n in real) > 5, (seed, real)


def test_bad_flags():
    for flags, text in (
        (["--record-max-bytes=10"], "must be a quantity of at least 1Mi"),
        (["--record-dir=/proc/none/there"], "--record-dir: cannot create folder /proc/none/there"),
    ):
        p = subprocess.run(
            [f"{BIN}/kube-scheduler", "--master=http://127.0.0.1:1", "--leader-elect=false", "--port=-1", *flags],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert p.returncode == 1 and text in p.stderr, (flags, p.returncode, p.stderr[-500:])


harness.main(globals())
