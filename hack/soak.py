#!/usr/bin/env python3
"""Real processes for a long time: hollow-apiserver and two kube-schedulers that contend for the lease, Jobs with ever new names,
ReplicaSets, nodes that come and go, a leader that is ended and a server that is killed every --period seconds.

usage: hack/soak.py PODS [--period=60] [--nodes=200] [--rate=1000]

Follows the server's own history, pod by pod: no pod is bound twice, no node gets more than it has. At the end nothing is
unbound, and the memory (slope over the last half, bytes a pod), open files and threads of the processes are printed.
The last line sums up. Exit status: 0 only when all of it held."""
import argparse, collections, http.client, json, os, re, random, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test"))
from harness import Api, Scheduler, cpu, stop_all  # noqa: E402

SLOPE_BYTES = 2.0  # a pod: 1 MB in 500,000 pods
STEADY = 20_000    # below so many pods a slope says nothing


class History:
    """What the server says became of each pod, by its watch; lists again when that ends."""

    def __init__(self, api):
        self.api, self.lock, self.problems = api, threading.Lock(), []
        self.node_of, self.bound, self.capacity = {}, 0, {}
        self.used = collections.Counter()
        self.cpu_of = {}
        self.over = False
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _saw(self, kind, pod):
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName", "")
        ended = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        before = self.node_of.get(uid, "")
        if before and node and before != node:
            self.problems.append(f"pod {pod['metadata']['name']} was on {before} and is on {node}")
        if node and not before and not ended:
            self.bound += 1
            self.cpu_of[uid] = cpu(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            self.used[node] += self.cpu_of[uid]
            self.node_of[uid] = node
            if node in self.capacity and self.used[node] > self.capacity[node]:
                self.problems.append(f"{node} is overcommitted: {self.used[node]}m of {self.capacity[node]}m")
        if ended and before:
            self.used[before] -= self.cpu_of.pop(uid)
            del self.node_of[uid]

    def _follow(self):
        while not self.over:
            try:
                self._list_and_watch()
            except (OSError, ValueError, AssertionError, http.client.HTTPException):
                time.sleep(0.1)  # the server is away; there is nothing else to wait for

    def _list_and_watch(self):
        pods = self.api.get("/api/v1/pods")
        with self.lock:
            there = {p["metadata"]["uid"] for p in pods["items"]}
            for uid in set(self.node_of) - there:
                self.used[self.node_of.pop(uid)] -= self.cpu_of.pop(uid)
            for p in pods["items"]:
                self._saw("ADDED", p)
        c = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=120)
        c.request("GET", "/api/v1/pods?watch=true&resourceVersion=" + pods["metadata"]["resourceVersion"])
        r = c.getresponse()
        while not self.over:
            line = r.readline()
            if not line:
                return
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            with self.lock:
                self._saw(event["type"], event["object"])


class Load:
    """Creates pods until there were enough, and deletes those that have been bound, as Jobs that are done."""

    def __init__(self, api, history, pods, rate):
        self.api, self.history, self.pods, self.rate = api, history, pods, rate
        self.created, self.unbound, self.gate = 0, 0, threading.RLock()  # the gate is held while the server is away

    def turn(self):
        with self.gate:
            for _ in range(min(self.pods - self.created, max(0, 500 - self.unbound), self.rate // 10)):
                self.created += 1
                self.api.add_pod(f"job-{self.created:09d}", cpu=f"{random.choice((100, 200, 500))}m")
            items = self.api.get("/api/v1/pods")["items"]
            for p in [p for p in items if p["spec"].get("nodeName")][: self.rate // 5]:
                self.api.call("DELETE", "/api/v1/namespaces/default/pods/" + p["metadata"]["name"],
                              {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
            self.unbound = sum(not p["spec"].get("nodeName") for p in items)


def proc(pid):
    """Resident bytes, open files, threads."""
    with open(f"/proc/{pid}/statm") as f:
        resident = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with open(f"/proc/{pid}/status") as f:
        threads = int(re.search(r"^Threads:\s+(\d+)", f.read(), re.M).group(1))
    return resident, len(os.listdir(f"/proc/{pid}/fd")), threads


def slope(samples):
    """Least squares over (pods, bytes)."""
    n = len(samples)
    mx, my = sum(s[0] for s in samples) / n, sum(s[1] for s in samples) / n
    var = sum((s[0] - mx) ** 2 for s in samples)
    return sum((s[0] - mx) * (s[1] - my) for s in samples) / var if var else 0.0


def main():
    parser = argparse.ArgumentParser(usage="soak.py PODS [--period=60] [--nodes=200] [--rate=1000]")
    parser.add_argument("pods", type=int)
    parser.add_argument("--period", type=float, default=60)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--rate", type=int, default=1000)
    args = parser.parse_args()
    random.seed(1)
    # Events are kept for so short a time that their number, and so the server's memory, is steady before the last half.
    api = Api.start(flags=("--event-ttl=10s",))
    history = History(api)
    for i in range(args.nodes):
        history.capacity[f"n{i}"] = 16000
        api.add_node(f"n{i}", cpu="16")

    def start(n):
        return Scheduler(api.url, "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms",
                         "-v=0", name=f"scheduler-{n}", leader_elect=True)

    schedulers, started = [start(0), start(1)], 2
    load = Load(api, history, args.pods, args.rate)
    samples = collections.defaultdict(list)
    leader_changes = server_restarts = 0
    begin = disturb = time.monotonic()
    stuck_at, stuck_bound = begin, 0
    while load.created < args.pods or load.unbound:
        load.turn()
        now = time.monotonic()
        for name, p in [("hollow-apiserver", api.process)] + [(f"kube-scheduler {i}", s.process) for i, s in enumerate(schedulers)]:
            samples[name].append((load.created, p.pid, *proc(p.pid)))
        if history.bound != stuck_bound:
            stuck_at, stuck_bound = now, history.bound
        if now - stuck_at > 120:
            history.problems.append(f"nothing was bound for 120 s: {load.unbound} of {load.created} pods wait")
            break
        if history.problems:
            break
        if now - disturb > args.period and load.created < args.pods:
            disturb = now
            if (leader_changes + server_restarts) % 2 == 0:
                i = leader_changes % 2
                if schedulers[i].stop() != 0:
                    history.problems.append("a scheduler did not end with 0")
                schedulers[i], started = start(started), started + 1
                leader_changes += 1
            else:
                with load.gate:
                    api.restart()
                server_restarts += 1
            churned = random.randrange(args.nodes)
            api.call("DELETE", f"/api/v1/nodes/n{churned}")
            api.add_node(f"n{churned}", cpu="16")
    seconds = time.monotonic() - begin
    history.over = True
    unbound = [p["metadata"]["name"] for p in api.get("/api/v1/pods")["items"] if not p["spec"].get("nodeName")]
    if unbound:
        history.problems.append(f"{len(unbound)} pods are unbound at the end: {unbound[:5]}")
    print("%-18s %12s %14s %10s %8s" % ("process", "MiB at end", "bytes a pod", "files", "threads"))
    for name, rows in samples.items():
        last = [r for r in rows if r[1] == rows[-1][1]]  # of the process that runs now
        half = last[len(last) // 2:]
        grows = slope([(r[0], r[2]) for r in half])
        print("%-18s %12.1f %14.1f %4d..%-4d %3d..%-3d" % (name, rows[-1][2] / 2**20, grows, min(r[3] for r in half), max(r[3] for r in half),
                                                       min(r[4] for r in half), max(r[4] for r in half)))
        if half and half[-1][0] - half[0][0] > STEADY and grows > SLOPE_BYTES:
            history.problems.append(f"{name} grows by {grows:.1f} bytes a pod")
    for s in schedulers:
        s.stop()
    for problem in history.problems:
        print("FOUND: " + problem)
    print("soak: %d pods in %.0f s, %d leader changes, %d server restarts: %d found"
          % (load.created - len(unbound), seconds, leader_changes, server_restarts, len(history.problems)))
    return 1 if history.problems else 0


try:
    status = main()
finally:
    stop_all()
sys.exit(status)
