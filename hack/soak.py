#!/usr/bin/env python3
"""Runs real processes for a long time: hollow-apiserver, and two kube-schedulers with recordings that contend for the
lease. The pods of Jobs and ReplicaSets with ever new names keep the nodes full, and nodes come and go.

usage: hack/soak.py PODS [--rate=750] [--period=60] [--nodes=40] [--minutes=M] [--record-max-bytes=64Mi]

Until four tenths of the pods have been created, the leader is ended every --period seconds and the other scheduler
takes over; half a period later the server is killed and started again with all that it had confirmed. After that all
processes keep running and only nodes come and go, so that they reach their steady size. In the second half of the pods,
or with more than a million in the last 500,000, memory, open files and threads are measured and must not grow. --rate
pods are created each second at most, fewer than the machine could take, because what processes keep for some seconds,
such as events, would otherwise grow and shrink with the machine's other work.

The script follows each pod through a watch and checks that no pod is bound twice and that no node gets more cpu, memory
or pods than it has. At the end every pod must have been bound, and the recordings must be complete and replay. With
--minutes no pods are created after that time. The last line sums up. The exit status is 0 only if all checks held."""
import argparse, collections, http.client, json, os, random, re, signal, sys, threading, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test"))
from harness import Api, Scheduler, cpu, node, pod, schedsim, scratch, stop_all, wait_until  # noqa: E402

MEASURED = 500_000  # pods at the end, or half of all
SLOPE_BYTES = 2.0  # a pod: 1 MB in 500,000 pods
STEADY = 20_000  # pods after which processes have reached their steady size
WAITING = 500  # pods that wait at most
BATCH = 50  # pods that are created together at most
FULL = 0.8  # of all cpu; above it, the pods that were bound first are deleted
MORE_FILES = 16  # open files more than before that are no leak, because connections come and go
NODE = {"cpu": "16", "memory": "32Gi", "pods": "110"}
# The kinds of objects besides pods and nodes that a restarted server gets back, as a real one reads them from etcd.
KEPT = (("ReplicaSet", "apps/v1", "/apis/apps/v1/replicasets"), ("Endpoints", "v1", "/api/v1/endpoints"))
LOCK = "/api/v1/namespaces/kube-system/endpoints/kube-scheduler"


def requests(p):
    """Returns milliCPU, MiB and 1, for a pod of one container."""
    wanted = p["spec"]["containers"][0]["resources"]["requests"]
    return cpu(wanted["cpu"]), int(wanted["memory"].removesuffix("Mi")), 1


class History:
    """The state of each pod, from a watch; when the watch ends, pods are listed again. Only pods that were seen bound
    are deleted, so that no bind is missed."""

    def __init__(self, api):
        self.api, self.lock, self.problems = api, threading.Lock(), []
        self.pods, self.bound = {}, 0  # by uid: [name, node, requests]
        self.deletable = collections.deque()  # names, in the order of binding
        self.used, self.capacity = {}, (16000, 32 * 1024, 110)
        self.over = False
        threading.Thread(target=self._follow, daemon=True).start()

    def _saw(self, p):
        uid, name, on = p["metadata"]["uid"], p["metadata"]["name"], p["spec"].get("nodeName", "")
        known = self.pods.setdefault(uid, [name, "", requests(p)])
        if known[1] == on:
            return
        if known[1]:
            self.problems.append(f"pod {name} was on {known[1]} and is on {on or 'none'}")
        known[1] = on
        self.bound += 1
        self.deletable.append(name)
        used = self.used[on] = [a + b for a, b in zip(self.used.get(on, (0, 0, 0)), known[2])]
        if any(u > c for u, c in zip(used, self.capacity)):
            self.problems.append(f"{on} is overcommitted by {name}: {used} of {self.capacity} (milliCPU, MiB, pods)")

    def _gone(self, uid):
        name, on, amounts = self.pods.pop(uid, ("", "", ()))
        if on:
            self.used[on] = [a - b for a, b in zip(self.used[on], amounts)]

    def _follow(self):
        while not self.over:
            try:
                self._list_and_watch()
            except (OSError, json.JSONDecodeError, AssertionError, http.client.HTTPException):
                time.sleep(0.1)  # the server is restarting
            except Exception as e:  # noqa: BLE001 - otherwise nothing would be checked any more, unnoticed
                self.problems.append(f"the history cannot be read: {e!r}")
                return

    def _list_and_watch(self):
        listed = self.api.get("/api/v1/pods")
        with self.lock:
            for uid in set(self.pods) - {p["metadata"]["uid"] for p in listed["items"]}:
                self._gone(uid)
            for p in listed["items"]:
                self._saw(p)
        c = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=120)
        c.request("GET", "/api/v1/pods?watch=true&resourceVersion=" + listed["metadata"]["resourceVersion"])
        r = c.getresponse()
        while not self.over:
            line = r.readline()
            if not line:
                return
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            with self.lock:
                if event["type"] == "DELETED":
                    self._gone(event["object"]["metadata"]["uid"])
                else:
                    self._saw(event["object"])

    def counts(self):
        """Returns the number of pods that wait, and the milliCPU of those that are bound."""
        with self.lock:
            return len(self.pods) - sum(u[2] for u in self.used.values()), sum(u[0] for u in self.used.values())


class Load:
    """Creates pods, and deletes those that were bound first when the nodes are full."""

    def __init__(self, api, history, nodes, rate):
        self.api, self.history, self.room, self.rate = api, history, nodes * 16000 * FULL, rate
        self.created, self.sets, self.connection = 0, collections.deque(), None
        self.due, self.paced = 0.0, time.monotonic()  # pods that may be created, at most a batch, at the time `paced`

    def call(self, method, path, body):
        """Sends a request on a connection that stays open, and checks that it succeeded."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=60)
        self.connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
        r = self.connection.getresponse()
        text = r.read()
        assert r.status in (200, 201), f"{method} {path}: {r.status} {text}"
        return json.loads(text)

    def replica_set(self):
        """Returns the name and uid of one of 20 ReplicaSets. Every hundredth pod makes a new one, as a rollout does."""
        if self.created % 100 == 0 or not self.sets:
            name = f"web-{self.created:09d}"
            labels = {"app": name}
            made = self.call(
                "POST",
                "/apis/apps/v1/namespaces/default/replicasets",
                {
                    "apiVersion": "apps/v1",
                    "kind": "ReplicaSet",
                    "metadata": {"name": name, "labels": labels},
                    "spec": {
                        "replicas": 10,
                        "selector": {"matchLabels": labels},
                        "template": {
                            "metadata": {"labels": labels},
                            "spec": {"containers": [{"name": "c", "image": "busybox"}]},
                        },
                    },
                },
            )
            self.sets.append((name, made["metadata"]["uid"]))
            if len(self.sets) > 20:
                self.call("DELETE", "/apis/apps/v1/namespaces/default/replicasets/" + self.sets.popleft()[0], {})
        return random.choice(self.sets)

    def create(self):
        self.created += 1
        if self.created % 4 == 0:
            owner, uid = self.replica_set()
            kind, version, labels = "ReplicaSet", "apps/v1", {"app": owner}
        else:
            owner, uid = f"job-{self.created:09d}", f"uid-{self.created:09d}"
            kind, version, labels = "Job", "batch/v1", {"job-name": owner, "controller-uid": uid}
        meta = {
            "ownerReferences": [{"apiVersion": version, "kind": kind, "name": owner, "uid": uid, "controller": True}]
        }
        self.call(
            "POST",
            "/api/v1/namespaces/default/pods",
            pod(
                f"{owner}-{self.created:x}",
                labels=labels,
                meta=meta,
                requests={"cpu": f"{random.choice((100, 200, 500))}m", "memory": f"{random.choice((64, 256, 1000))}Mi"},
            ),
        )

    def turn(self, until):
        """Creates some pods, until `until` pods have been created, and deletes some. Returns whether pods wait."""
        waiting, in_use = self.history.counts()
        now = time.monotonic()
        self.due, self.paced = min(BATCH, self.due + (now - self.paced) * self.rate), now
        for _ in range(min(int(self.due), WAITING - waiting, until - self.created)):
            self.create()
            self.due -= 1
        excess = min(100, int((in_use - self.room) / 250)) if self.created < until else 50 if waiting else 0
        for _ in range(excess):
            if self.history.deletable:
                self.call(
                    "DELETE",
                    "/api/v1/namespaces/default/pods/" + self.history.deletable.popleft(),
                    {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0},
                )
        return waiting > 0


class Schedulers:
    """Two schedulers that contend for the lease. Each slot has a folder for its recording, which a restarted process
    continues."""

    def __init__(self, api, max_bytes):
        self.api, self.max_bytes, self.started, self.lost = api, max_bytes, 0, 0
        self.folders = [scratch("recording-0"), scratch("recording-1")]
        self.slots = [self._start(0), self._start(1)]

    def _start(self, slot):
        self.started += 1
        return Scheduler(
            self.api.url,
            "--leader-elect-retry-period=1s",
            "--algorithm-provider=ClusterAutoscalerProvider",
            f"--record-dir={self.folders[slot]}",
            f"--record-max-bytes={self.max_bytes}",
            # Each Job is a pod template of its own. Full within the first 10,000 pods, so that what grows then is a
            # leak.
            "--kept-answers-max-bytes=4Mi",
            "-v=0",
            name=f"scheduler-{self.started}",
            leader_elect=True,
        )

    def holder(self):
        status, lock = self.api.call("GET", LOCK)
        found = status == 200 and lock["metadata"].get("annotations", {}).get(
            "control-plane.alpha.kubernetes.io/leader"
        )
        return json.loads(found)["holderIdentity"] if found else ""

    def recorded(self, slot, what):
        return self.slots[slot].metrics(whole=False).get(f"scheduler_recording_{what}_total", 0)

    def leader(self):
        """Returns the slot of the leader: the process that has bound pods, because a process that loses the lease
        ends."""

        def binding():
            name = "scheduler_binding_latency_microseconds_count"
            return [slot for slot, s in enumerate(self.slots) if s.metrics(whole=False).get(name)]

        return wait_until("somebody binds", binding)[0]

    def change_leader(self):
        """Ends the leader with SIGTERM and waits until the other has taken over. Returns the problem, or ""."""
        slot, before = self.leader(), self.holder()
        status, log = self.slots[slot].stop(), self.slots[slot].log()
        self.slots[slot] = self._start(slot)

        def successor():
            return self.holder() if self.holder() != before else ""

        wait_until("another leader", successor)
        return "" if status == 0 else f"a scheduler ended with {status}: {log[-2000:]}"

    def replace_ended(self):
        """Starts schedulers again that ended because they lost the lease, as happens on a busy machine. Returns the
        problem if one ended for another reason, or ""."""
        for slot, s in enumerate(self.slots):
            if s.process.poll() is not None:
                if "lost lease" not in s.log() and "leaderelection lost" not in s.log():
                    return f"a scheduler ended with {s.process.returncode}: {s.log()[-2000:]}"
                self.lost += 1
                self.slots[slot] = self._start(slot)
        return ""

    def check_recordings(self):
        """Replays the recordings. Yields the problems. REQUIRES: the schedulers have ended."""
        for folder in self.folders:
            size = sum(os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder))
            status, out, err = schedsim("replay", folder, "--check")
            print(f"{os.path.basename(folder)}: {size / 2**20:.1f} MiB, {(out or err).strip()}")
            if status:
                yield f"{folder} does not replay: {out}{err}"


def restart_server(api, load, schedulers):
    """Kills the server while requests are under way, and starts it again with what it had confirmed. The schedulers are
    stopped meanwhile, so that the server confirms nothing after it was read."""
    for s in schedulers.slots:
        s.process.send_signal(signal.SIGSTOP)
    try:

        def versions():
            return {p["metadata"]["uid"]: p["metadata"]["resourceVersion"] for p in api.get("/api/v1/pods")["items"]}

        def is_quiet():
            return versions() == versions()

        wait_until("a quiet server", is_quiet)
        api.restart(KEPT)
    finally:
        load.connection = None
        for s in schedulers.slots:
            s.process.send_signal(signal.SIGCONT)


def proc(pid):
    """Returns a process's resident bytes, open files and threads."""
    with open(f"/proc/{pid}/statm") as f:
        resident = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with open(f"/proc/{pid}/status") as f:
        threads = int(re.search(r"^Threads:\s+(\d+)", f.read(), re.M).group(1))
    return resident, len(os.listdir(f"/proc/{pid}/fd")), threads


def slope(samples):
    """Returns the bytes per pod by linear regression over samples of (pods, bytes)."""
    n = len(samples)
    mx, my = sum(s[0] for s in samples) / n, sum(s[1] for s in samples) / n
    var = sum((s[0] - mx) ** 2 for s in samples)
    return sum((s[0] - mx) * (s[1] - my) for s in samples) / var if var else 0.0


class Samples:
    """Memory, open files and threads of each process, sampled once a second."""

    def __init__(self):
        self.rows, self.at, self.told = collections.defaultdict(list), 0.0, time.monotonic()

    def take(self, created, processes):
        if time.monotonic() - self.at < 1:
            return
        self.at = time.monotonic()
        for name, pid in processes:
            self.rows[name].append((created, *proc(pid), pid))
        if self.at - self.told > 60:
            self.told = self.at
            now = ", ".join(
                "%s %.0f MiB, %d files" % (name, rows[-1][1] / 2**20, rows[-1][2]) for name, rows in self.rows.items()
            )
            print(f"{created} pods: {now}", file=sys.stderr, flush=True)

    def report(self, since):
        """Prints a table of the samples from `since` pods on, and yields what grew."""
        print("%-18s %16s %12s %12s %12s" % ("process", "MiB at end", "bytes a pod", "files", "threads"))
        for name, rows in self.rows.items():
            rows = [r for r in rows if r[4] == rows[-1][4] and r[0] >= since] or rows[-1:]
            grows, early, late = slope(rows), rows[: len(rows) // 2] or rows, rows[len(rows) // 2 :]
            files, threads = (
                [(min(r[i] for r in part), max(r[i] for r in part)) for part in (early, late)] for i in (2, 3)
            )
            print(
                "%-18s %16.1f %12.1f %12s %12s"
                % (
                    name,
                    rows[-1][1] / 2**20,
                    grows,
                    "%d..%d" % (min(f[0] for f in files), max(f[1] for f in files)),
                    "%d..%d" % (min(t[0] for t in threads), max(t[1] for t in threads)),
                )
            )
            if rows[-1][0] - rows[0][0] < STEADY:
                continue
            if grows > SLOPE_BYTES:
                yield f"{name} grows by {grows:.1f} bytes a pod over {rows[-1][0] - rows[0][0]} pods"
            if files[1][1] > files[0][1] + MORE_FILES:
                yield f"{name} had {files[0][1]} files open at most, and later {files[1][1]}"
            if threads[1][1] > threads[0][1]:
                yield f"{name} had {threads[0][1]} threads at most, and later {threads[1][1]}"


class Disturbance:
    """Ends processes and replaces nodes at intervals, and counts how often."""

    def __init__(self, args, api, load, schedulers):
        self.args, self.api, self.load, self.schedulers = args, api, load, schedulers
        self.leader_changes = self.server_restarts = 0
        self.disturbed = self.churned = time.monotonic()

    def turn(self, calm):
        """Does what is due. `calm`: the processes keep running. Returns the problem, or ""."""
        problem = self.schedulers.replace_ended()
        if not calm and not problem and time.monotonic() - self.disturbed > self.args.period / 2:
            if self.leader_changes > self.server_restarts:
                restart_server(self.api, self.load, self.schedulers)
                self.server_restarts += 1
            else:
                problem = self.schedulers.change_leader()
                self.leader_changes += 1
            self.disturbed = time.monotonic()
        if time.monotonic() - self.churned > self.args.period / 4:
            name = f"n{random.randrange(self.args.nodes)}"
            self.api.call("DELETE", f"/api/v1/nodes/{name}")
            self.api.post("/api/v1/nodes", node(name, **NODE))
            self.churned = time.monotonic()
        return problem


def soak(args, api, history, load, schedulers):
    """Runs to the end. Returns the samples, and the number of pods that had been created when the measured part
    began."""
    samples, calm_since, measured_since, disturbance = Samples(), None, None, Disturbance(args, api, load, schedulers)
    begin = moved_at = time.monotonic()
    moved = 0
    # The history may not have seen the pods that were created last, so that none seems to wait. All were bound when it
    # has seen that.
    while (history.bound < load.created or load.created < args.pods) and not history.problems:
        elapsed = time.monotonic() - begin
        if args.minutes and elapsed > args.minutes * 60:
            args.pods = load.created
        waiting = load.turn(args.pods)
        samples.take(
            load.created,
            [("hollow-apiserver", api.process.pid)]
            + [(f"kube-scheduler {i}", s.process.pid) for i, s in enumerate(schedulers.slots)],
        )
        if history.bound != moved:
            moved, moved_at = history.bound, time.monotonic()
        elif time.monotonic() - moved_at > 120:
            history.problems.append(
                f"nothing was bound for 120 s while {history.counts()[0]} of {load.created} pods wait"
            )
        done = max(load.created / max(args.pods, 1), elapsed / (args.minutes * 60) if args.minutes else 0)
        if calm_since is None and done >= 0.4:
            calm_since = load.created
        if measured_since is None and done >= max(0.5, 1 - MEASURED / max(args.pods, 1)):
            measured_since = load.created
        problem = disturbance.turn(calm_since is not None)
        if problem:
            history.problems.append(problem)
        if not waiting or load.due < 1:
            time.sleep(0.005)
    print(
        f"{load.created} pods in {time.monotonic() - begin:.0f} s; {disturbance.leader_changes} leader changes, "
        f"{schedulers.lost} leases lost, "
        f"{disturbance.server_restarts} server restarts in the first {calm_since or load.created}"
    )
    return samples, measured_since or load.created


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("pods", type=int)
    parser.add_argument("--rate", type=float, default=750)
    parser.add_argument("--period", type=float, default=60)
    parser.add_argument("--nodes", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--record-max-bytes", default="64Mi")
    args = parser.parse_args()
    random.seed(1)
    # The time to live of events is short so that their number, and with it the server's memory, is steady when it is
    # measured.
    api = Api.start(flags=("--event-ttl=10s",))
    for i in range(args.nodes):
        api.post("/api/v1/nodes", node(f"n{i}", **NODE))
    history = History(api)
    load = Load(api, history, args.nodes, args.rate)
    schedulers = Schedulers(api, args.record_max_bytes)
    samples, measured_since = soak(args, api, history, load, schedulers)
    problems = history.problems
    unbound = [p["metadata"]["name"] for p in api.get("/api/v1/pods")["items"] if not p["spec"].get("nodeName")]
    if unbound or history.bound != load.created:
        problems.append(
            f"{load.created} pods were created and {history.bound} were bound; at the end {len(unbound)} wait: "
            f"{unbound[:5]}"
        )
    problems.extend(samples.report(measured_since))
    for i in (0, 1):
        for what in ("lost_events", "errors"):
            count = schedulers.recorded(i, what)
            if count:
                problems.append(f"kube-scheduler {i}: {count:.0f} {what} of its recording")
    for s in schedulers.slots:
        s.stop()
    problems.extend(schedulers.check_recordings())
    history.over = True
    for problem in problems:
        print("FOUND: " + problem)
    print("soak: %d pods: %d found" % (history.bound, len(problems)))
    return 1 if problems else 0


try:
    status = main()
finally:
    stop_all()
sys.exit(status)
