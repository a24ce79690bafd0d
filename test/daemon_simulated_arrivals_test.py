#!/usr/bin/env python3
"""Pods that arrive a second apart in simulated time go where the real daemon puts them when they arrive at
hollow-apiserver one after another, in every release; also those that wait until another pod ends."""
import csv
import io
import random
from concurrent.futures import ThreadPoolExecutor

import harness
from harness import Api, Scheduler, node, pod, schedsim, wait_until, write_objects

RELEASES = ("1.8", "1.9", "1.10", "1.13", "1.19", "1.29", "1.36")
NODES = [node("n%d" % i, cpu=str(2 + i), zone="z%d" % (i % 2)) for i in range(4)]
PODS = "/api/v1/namespaces/default/pods"


def story(seed):
    """Returns what happens: (time, "arrives", pod) and (time, "ends", name). Arrivals are a second apart; minutes pass
    before and after a pod ends, so that one that waits is tried again."""
    r, happens, first, time = random.Random(seed), [], [], 0
    for i in range(24):
        p = pod("p%d" % i, cpu="1", memory="%dMi" % r.randrange(64, 900), labels={"app": r.choice(("web", "db"))})
        happens.append((time, "arrives", p))
        time += 1
        if i < 14:
            first.append(p["metadata"]["name"])  # these fill the nodes
        else:
            happens.append((time + 180, "ends", first.pop(r.randrange(len(first)))))
            time += 360
    return happens


def simulated(happens, release):
    """Returns where simulate places each pod and when, in whole seconds; a pod that waits at the end is not among
    them."""
    ends = {name: t for t, what, name in happens if what == "ends"}
    pods = []
    for t, what, p in happens:
        if what == "arrives":
            # A pod runs from when it is placed, and only those end that are placed at once.
            duration = (
                {"schedsim/duration": "%ds" % (ends[p["metadata"]["name"]] - t)}
                if p["metadata"]["name"] in ends
                else {}
            )
            pods.append(dict(p, metadata=dict(p["metadata"], annotations={"schedsim/time": "%ds" % t, **duration})))
    status, out, err = schedsim(
        "simulate", write_objects(f"story-{release}.json", NODES + pods), "-o", "csv", "--emulated-version", release
    )
    assert status == 0, "status of release " + release
    rows = csv.DictReader(io.StringIO(out))
    return {r["pod"].split("/")[1]: (r["node"], float(r["placed"])) for r in rows if r["node"]}


def is_comparable(happens, placed):
    """Whether pods that end were placed at once, some pods wait, and never two at a time, of which either might be
    tried first."""
    at = {p["metadata"]["name"]: t for t, what, p in happens if what == "arrives"}
    waits = sorted(
        (at[name], placed[name][1] if name in placed else float("inf"))
        for name in at
        if placed.get(name, (0, -1))[1] != at[name]
    )
    ends = [name for _, what, name in happens if what == "ends"]
    return (
        len(waits) > 1
        and all(a[1] < b[0] for a, b in zip(waits, waits[1:]))
        and all(placed.get(n, (0, -1))[1] == at[n] for n in ends)
    )


def by_daemon(happens, placed, release):
    """Returns where kube-scheduler places each pod when all of it happens at hollow-apiserver."""
    api = Api.start(write_objects(f"nodes-{release}.json", NODES), flags=["--emulated-version=" + release])
    scheduler = Scheduler(api.url, "--emulated-version=" + release, name="scheduler-" + release)
    found = {}
    for i, (time, what, p) in enumerate(happens):
        name = p if what == "ends" else p["metadata"]["name"]
        if what == "ends":
            status, body = api.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")
            assert status == 200, body
        else:
            api.post(PODS, p)

        def is_decided(name=name):
            got = api.get(f"{PODS}/{name}")
            return got["spec"].get("nodeName") or any(
                c["type"] == "PodScheduled" for c in got.get("status", {}).get("conditions", [])
            )

        if what == "arrives":
            wait_until(f"{name} is placed, or said not to fit, in {release}", is_decided)
        # What is placed before the next thing happens is waited for, so that it comes before that here, too.
        until = happens[i + 1][0] if i + 1 < len(happens) else float("inf")
        for waiting, (_, when) in placed.items():
            if time < when < until or (what == "ends" and when == time):
                api.wait_placed(waiting)
        found.update((n, on) for n, on in api.placements().items() if on)
    assert scheduler.stop() == 0
    return found


def places_them_alike(release):
    for seed in range(1, 200):
        happens = story(seed)
        placed = simulated(happens, release)
        if is_comparable(happens, placed):
            break
    else:
        assert False, "a story for release " + release
    assert by_daemon(happens, placed, release) == {n: on for n, (on, _) in placed.items()}, "release %s, story %d" % (
        release,
        seed,
    )


def test_the_daemon_places_them_alike():
    """In four releases at a time, because the daemon mostly waits out the back-off of pods."""
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(places_them_alike, RELEASES))


harness.main(globals())
