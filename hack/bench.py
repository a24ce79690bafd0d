#!/usr/bin/env python3
"""`make bench`: what a decision costs, measured by schedsim, and the whole daemon against hollow-apiserver.

usage: bench.py [--runs N] [--only NAME,...] [--big] [--svg FILE] [-o FILE.json] [WORKLOAD.json.gz ...]

CPU per decision is cpuSeconds / pods of `schedsim run --stats` (loading and printing excluded, the CPU of all threads
counted), the median of N runs (5). Inputs are made by hack/gen-workload in OUT/bench and kept; files named on the
command line are measured as well. Every node is scored for every pod. Results go to the table and, for
hack/bench-compare.sh, to OUT/bench/results.json.

  --big   also 1,000,000 nodes and 1,000,000 pods of 1,000 templates (one run; minutes, and some 10 GiB of memory)
  --svg   where to draw CPU over nodes beside the real 1.10 and 1.29; a run without --only draws OUT/bench/scaling.svg
          (--only 1k,5k,20k,100k --big --svg hack/bench/scaling.svg makes the one in the README)
"""
import argparse, http.client, http.server, json, os, re, socket, statistics, subprocess, sys, tempfile, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "hack/bench"))
import churn
import crons
import living
import sampled
import steady
import waiting

OUT = os.path.join(ROOT, os.environ.get("OUT") or "_output")

# name, what, arguments of gen-workload or a file, goal in microseconds, 1.10 in microseconds (CPU per decision on 2
# cores, Zen 4)
CASES = [
    (
        "w1",
        "plain pods of one ReplicaSet with a Service",
        "--nodes 5000 --pods 1000 --preload 10 --like w1",
        20,
        46_100,
    ),
    ("w2", "required node affinity", "--nodes 5000 --pods 1000 --preload 10 --like w2", 20, 56_400),
    ("w3", "required anti-affinity by hostname", "--nodes 5000 --pods 1000 --preload 10 --like w3", 100, 48_960_000),
    ("w4", "preferred pod affinity by zone", "--nodes 5000 --pods 1000 --preload 10 --like w4", 100, 41_153_000),
    (
        "w5",
        "mixed services, taints, requests: 400 kinds",
        "--nodes 5000 --pods 1000 --preload 10 --like w5",
        25,
        35_800,
    ),
    ("openb", "a production trace, whole: 0.5 s are its goal", "test/testdata/traces/openb.json.gz", 61, 5_720),
    ("alone", "each pod of a template of its own", "--nodes 5000 --pods 2000 --templates 2000", None, None),
    (
        "claims",
        "pods with a bound claim each, volumes in zones",
        "--nodes 5000 --pods 1000 --preload 10 --like claims",
        None,
        None,
    ),
    (
        "local",
        "claims bound late, a local volume on each node",
        "--nodes 5000 --pods 1000 --preload 10 --like local",
        None,
        None,
    ),
    ("full", "preemption: all nodes full, 20 pods each", "--nodes 5000 --pods 20 --full", 5000, None),
    ("1k", "scaling: 100 templates", "--nodes 1000 --pods 10000 --templates 100", None, None),
    ("5k", "scaling: 100 templates", "--nodes 5000 --pods 10000 --templates 100", None, None),
    ("20k", "scaling: 100 templates", "--nodes 20000 --pods 20000 --templates 100", None, None),
    ("100k", "scaling: 100 templates", "--nodes 100000 --pods 100000 --templates 100", 250, None),
]
# The same in release 1.29; the last column is the real 1.29 with every node scored.
LATER_CASES = [
    (
        "w1@1.29",
        "plain pods of one ReplicaSet with a Service",
        "--nodes 5000 --pods 1000 --preload 10 --like w1",
        20,
        57_000,
    ),
    ("w2@1.29", "required node affinity", "--nodes 5000 --pods 1000 --preload 10 --like w2", 20, 52_000),
    ("w3@1.29", "required anti-affinity by hostname", "--nodes 5000 --pods 1000 --preload 10 --like w3", 25, 61_000),
    ("w4@1.29", "preferred pod affinity by zone", "--nodes 5000 --pods 1000 --preload 10 --like w4", 25, 70_000),
    (
        "w5@1.29",
        "mixed services, taints, requests: 400 kinds",
        "--nodes 5000 --pods 1000 --preload 10 --like w5",
        25,
        39_000,
    ),
    (
        "w6@1.29",
        "spread over zones (hard) and nodes (soft)",
        "--nodes 5000 --pods 1000 --preload 10 --like w6",
        25,
        53_000,
    ),
    (
        "w7@1.29",
        "CSI claims, every other one to be provisioned",
        "--nodes 5000 --pods 1000 --preload 10 --like w7",
        200,
        840_000,
    ),
    ("100k@1.29", "w6's constraints", "--nodes 100000 --pods 2000 --like w6", 100, None),
]
BIG = ("1m", "scaling: 1,000 templates", "--nodes 1000000 --pods 1000000 --templates 1000", 600, None)
# Other shapes of clusters and pods. name, what, arguments of gen-shape, goal in microseconds.
SHAPES = [
    ("own", "each pod of a template of its own", "own 5000 1000", 60),
    ("own-req", "the same with requests of its own", "own-req 5000 1000", 60),
    ("own-na", "the same with node affinity of its own", "own-na 5000 1000", 100),
    ("gpu", "GPUs, taints, node affinity with many values", "gpu 5000 1000", 60),
    ("unlike", "500 templates on nodes that are all different", "unlike 1000 1000", 60),
    ("soup", "60 apps near and far from one another", "soup 1000 1000", 40),
    ("rs-many", "4,000 ReplicaSets with Services", "rs-many 1000 4000 T=4000", 60),
    ("4500", "4,500 templates in turn", "rs-many 5000 9000 T=4500", 100),
    ("aff-zone", "required affinity by one of 33 zones", "aff-zone 5000 1000 zones=33", 60),
    ("aff-host", "required affinity by hostname", "aff-host 5000 1000", 60),
    ("pref-zone", "preferred affinity by one of 1,000 zones", "pref-zone 5000 1000 zones=1000", 60),
    ("spread", "spreading over 1,000 zones", "w1 5000 1000 zones=1000", 60),
    ("anti-terms", "500 terms against the pods' label", "anti-terms 5000 1000 T=500", 60),
    ("terms", "10,000 anti-affinity terms in each pod", "terms 5000 20 T=10000", 20_000),
    ("svcaff", "ServiceAffinity", "svcaff 5000 1000", 60),
    ("svcanti", "ServiceAntiAffinity", "svcanti 5000 1000", 60),
    ("image", "ImageLocality, 50 images a node", "image 5000 1000", 60),
    ("avoid", "a node that avoids one of 400 controllers", "avoid 5000 1000", 60),
    ("infeasible", "pods that fit nowhere, 500 kinds", "infeasible 5000 1000", 60),
    ("infeasible-sel", "node selectors without a node, 500 kinds", "infeasible-sel 5000 1000", 60),
    ("nominated", "1,000 nominated pods", "nominated 5000 1000 K=1000", 100),
    ("wffc-any", "claims bound late, 5,000 volumes for everywhere", "wffc-any 5000 1000", 100),
    ("wffc-local", "claims bound late, a local volume on each node", "wffc-local 5000 1000", 100),
    ("wffc-local4", "the same with four", "wffc-local 5000 1000 V=4", 100),
    ("preempt", "preemption on full nodes", "preempt 5000 100", 2_000),
    ("preempt-100", "the same with 100 disruption budgets", "preempt 5000 100 pdbs=100", 2_000),
    ("preempt-1000", "the same with 1,000", "preempt 5000 100 pdbs=1000", 5_000),
    ("preempt-anti", "preemption with anti-affinity", "preempt 5000 100 anti=1", 5_000),
]
# Pods about which an extender is asked: name, what, whether it knows the nodes (nodeCacheCapable), goal in microseconds
# of our own CPU.
EXTENDERS = [
    ("extender-names", "an extender that is sent names", True, 1_000),
    ("extender-nodes", "an extender that is sent whole nodes", False, 10_000),
]
SCALING = ("1k", "5k", "20k", "100k", "1m")


def make_input(name, arguments):
    """`arguments`: of gen-workload, a file, or a function that writes one."""
    if callable(arguments):
        path = os.path.join(OUT, "bench", name + ".json")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        arguments(path)
        return path
    if not arguments.startswith("--"):
        return os.path.join(ROOT, arguments)
    directory = os.path.join(OUT, "bench")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, re.sub(r"[^a-z0-9]+", "-", arguments).strip("-") + ".json")
    if not os.path.exists(path):
        subprocess.run([os.path.join(ROOT, "hack/gen-workload"), *arguments.split(), "-o", path + ".part"], check=True)
        os.rename(path + ".part", path)
    return path


def make_shape(arguments):
    directory = os.path.join(OUT, "bench")
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, "shape-" + re.sub(r"[^a-zA-Z0-9]+", "-", arguments) + ".json")
    if not os.path.exists(path):
        subprocess.run([os.path.join(ROOT, "hack/gen-shape"), *arguments.split(), "o=" + path + ".part"], check=True)
        os.rename(path + ".part", path)
    return path


def measure(path, runs, output="placements", flags=()):
    got = []
    for _ in range(runs):
        done = subprocess.run(
            [os.path.join(OUT, "bin/schedsim"), "run", path, "-o", output, "--stats", "--validate=off", *flags],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        line = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
        if done.returncode != 0 or not line.startswith("{"):
            raise RuntimeError("schedsim run %s: exit %d: %s" % (path, done.returncode, done.stderr[-500:]))
        got.append(json.loads(line))

    def median(name):
        return statistics.median(s[name] for s in got)

    cpu_micros = [1e6 * s["cpuSeconds"] / s["pods"] for s in got]

    return {
        "nodes": got[0]["nodes"],
        "pods": got[0]["pods"],
        "scheduled": got[0]["scheduled"],
        "runs": runs,
        "cpuMicros": statistics.median(cpu_micros),
        "cpuMicrosLow": min(cpu_micros),
        "cpuMicrosHigh": max(cpu_micros),
        "wallSeconds": median("wallSeconds"),
        "p50Micros": median("p50Micros"),
        "p99Micros": median("p99Micros"),
        "peakRSSBytes": max(s["peakRSSBytes"] for s in got),
    }


# name, what, input, flags of `schedsim simulate`, goals in seconds of CPU (or none) and bytes.
OPENB = "test/testdata/traces/openb"
SIMULATED = [
    (
        "days",
        "openb with its real times, 149 days",
        OPENB + ".json.gz",
        ["--arrivals", OPENB + "-pods.csv.gz", "--only-arrivals"],
        1,
        1 << 30,
    ),
    (
        "month",
        "a million pods in a month, 2,000 at a time",
        "--nodes 5000 --pods 1",
        ["--only-arrivals", "--generate", "count=1000000,for=30d,duration=90m,cpu=500m,memory=1Gi"],
        60,
        1 << 30,
    ),
    ("crons", "a day of 1,000 hourly CronJobs, with controllers", crons.write, ["--until", "24h"], None, 256 << 20),
]


def simulated(path, flags, runs):
    """Returns what `schedsim simulate` took, the whole command."""
    got = []
    for _ in range(runs):
        with tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                [
                    os.path.join(OUT, "bin/schedsim"),
                    "simulate",
                    path,
                    *flags,
                    "--emulated-version=1.29",
                    "-o",
                    "json",
                    "--stats",
                    "--validate=off",
                ],
                stdout=subprocess.DEVNULL,
                stderr=err,
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            text = err.read().decode()
        if process.returncode != 0:
            raise RuntimeError("schedsim simulate %s: exit %d: %s" % (path, process.returncode, text[-500:]))
        got.append(
            {
                "pods": json.loads(text.strip().splitlines()[-1])["pods"],
                "cpuSeconds": usage.ru_utime + usage.ru_stime,
                "peakRSSBytes": usage.ru_maxrss << 10,
            }
        )
    return {
        "pods": got[0]["pods"],
        "runs": runs,
        "cpuSeconds": statistics.median(g["cpuSeconds"] for g in got),
        "peakRSSBytes": max(g["peakRSSBytes"] for g in got),
    }


class LetAllPass(http.server.BaseHTTPRequestHandler):
    """An extender that lets all nodes pass and sends them back as it was sent them."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"NodeNames": sent["NodeNames"], "Nodes": sent["Nodes"]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def measure_extender(knows_nodes, runs):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), LetAllPass)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as policy:
            json.dump(
                {
                    "kind": "Policy",
                    "apiVersion": "v1",
                    "extenders": [
                        {
                            "urlPrefix": "http://127.0.0.1:%d" % server.server_port,
                            "filterVerb": "filter",
                            "nodeCacheCapable": knows_nodes,
                        }
                    ],
                },
                policy,
            )
            policy.flush()
            path = make_input("extender", "--nodes 5000 --pods 100 --like w1")
            return measure(path, runs, flags=["--policy-config-file=" + policy.name])
    finally:
        server.shutdown()
        server.server_close()


# ---- the daemon -----------------------------------------------------------------------------------


def metrics(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    return {m.group(1): float(m.group(2)) for m in re.finditer(r"^(\w+(?:\{[^}]*\})?) ([0-9.e+-]+)$", text, re.M)}


def status_kib(pid, field):
    with open("/proc/%d/status" % pid) as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field + ":"))


def note_synced(log, synced, begin):
    """Follows a scheduler's log and records when it has all lists."""
    for line in log:
        if "Caches are synced" in line:
            synced.append(time.monotonic() - begin)


def cpu_seconds(pid):
    """Returns the CPU time of all threads of a process."""
    with open("/proc/%d/stat" % pid) as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def recording(runs):
    """Measures what --record-dir costs the daemon: CPU of all its threads for each pod, with and without it,
    alternating, and bytes. Medians are used, because the timing of its threads changes a run by up to a fifth."""
    cpu, size, pods = {False: [], True: []}, 0, 50000
    for _ in range(runs):
        for recorded in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                r = end_to_end(5000, 0, pods, ["--record-dir=" + folder] if recorded else [])
                size = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))
            cpu[recorded].append(1e6 * r["cpuSeconds"] / pods)
    without, with_it = statistics.median(cpu[False]), statistics.median(cpu[True])
    return {
        "pods": pods,
        "runs": runs,
        "cpuMicros": without,
        "recordedCpuMicros": with_it,
        "morePercent": 100 * (with_it / without - 1),
        "bytesPerPod": size / pods,
    }


def end_to_end(nodes, bound, pending, flags=None):
    """Runs hollow-apiserver with everything loaded, then kube-scheduler, and returns seconds until it is synced, binds
    per second, and memory."""
    load = make_input("e2e", "--nodes %d --pods %d --templates 50 --preload %d" % (nodes, pending, bound))
    programs = []
    try:
        server = subprocess.Popen(
            [os.path.join(OUT, "bin/hollow-apiserver"), "--insecure-port=0", "--load=" + load],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        programs.append(server)
        port = int(server.stdout.readline().rsplit(":", 1)[1])
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            own = s.getsockname()[1]
        begin = time.monotonic()
        scheduler = subprocess.Popen(
            [
                os.path.join(OUT, "bin/kube-scheduler"),
                "--master=http://127.0.0.1:%d" % port,
                "--leader-elect=false",
                "--address=127.0.0.1",
                "--port=%d" % own,
                "--kube-api-qps=1e6",
                "--kube-api-burst=1000000",
                "--logtostderr",
                *(flags or []),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        programs.append(scheduler)
        first, done, synced = None, None, []
        threading.Thread(target=note_synced, args=(scheduler.stderr, synced, begin), daemon=True).start()
        while True:
            now = time.monotonic()
            if scheduler.poll() is not None or now - begin > 600:
                raise RuntimeError(
                    "the scheduler ended" if scheduler.poll() is not None else "not done after 10 minutes"
                )
            try:
                m = metrics(own)
            except (OSError, http.client.HTTPException):
                time.sleep(0.01)
                continue
            binds = m.get("scheduler_binding_latency_microseconds_count", 0)
            if first is None and binds > 0:
                first, first_binds = now, binds
            # Work that is still to be done for bound pods counts as well.
            left = m.get("scheduler_events_queued", 0) + m.get("scheduler_recording_buffered_events", 0)
            if binds >= pending and (pending or synced) and done is None:
                done = now
            if done is not None and (flags is None or left == 0):
                break
            time.sleep(0.05)  # a scrape costs the scheduler CPU, too
        return {
            "nodes": nodes,
            "boundBefore": nodes * bound,
            "pods": pending,
            "startSeconds": synced[0] if synced else None,
            "bindsPerSecond": (pending - first_binds) / (done - first) if pending and done > first else None,
            "cpuSeconds": cpu_seconds(scheduler.pid),
            "peakRSSBytes": 1024 * status_kib(scheduler.pid, "VmHWM"),
            "serverPeakRSSBytes": 1024 * status_kib(server.pid, "VmHWM"),
        }
    finally:
        for p in reversed(programs):
            p.terminate()
        for p in programs:
            p.wait()


# ---- showing ------------------------------------------------------------------------------------


def micros(us):
    return (
        "-"
        if us is None
        else "%.1f us" % us
        if us < 1000
        else "%.1f ms" % (us / 1e3)
        if us < 1e6
        else "%.1f s" % (us / 1e6)
    )


def mib(n):
    return "%d MiB" % round(n / (1 << 20))


def table(rows):
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    for r in rows:
        print(
            "  "
            + "  ".join(c.ljust(w) if i in (0, 1) else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths))).rstrip()
        )


# Lines of the picture: name, class, and points, which are either given (nodes, microseconds) because they were measured
# elsewhere, or are arguments by number of nodes.
MEASURED_LINES = [
    ("Kubernetes 1.29, plain pods", "k129", [(1000, 8_400), (5000, 57_000)]),
    ("Kubernetes 1.10, plain pods", "k110", [(1000, 5_800), (5000, 46_100)]),
]
OWN_LINES = [
    ("claims bound late, 4 local volumes a node", "worst", "wffc-local {nodes} 500 V=4", (1000, 5000, 20000)),
    ("each pod with requests of its own", "own", "own-req {nodes} 1000", (1000, 5000, 20000)),
    (
        "mixed pods, 400 kinds",
        "mixed",
        "--nodes {nodes} --pods 1000 --preload 2 --like w5",
        (1000, 5000, 20000, 100000),
    ),
]


def lines(results, runs):
    """Returns the lines of the picture: (name, class, points), the slowest first."""
    out = list(MEASURED_LINES)
    for name, kind, arguments, sizes in OWN_LINES:
        points = []
        for n in sizes:
            print("measuring for the picture: %s, %d nodes" % (name, n), file=sys.stderr)
            text = arguments.format(nodes=n)
            path = make_input(name, text) if text.startswith("--") else make_shape(text)
            points.append((n, measure(path, min(runs, 3))["cpuMicros"]))
        out.append((name, kind, points))
    plain = [(results[k]["nodes"], results[k]["cpuMicros"]) for k in SCALING if k in results]
    return out + ([("plain pods, 100 kinds", "plain", plain)] if plain else [])


STYLE = """<style>
text { fill: #333 } .grid { stroke: #ddd } .line { fill: none; stroke-width: 2 } .k110, .k129 { stroke-dasharray: 6 4 }
.k129 { stroke: #b3261e } .k110 { stroke: #d2691e } .worst { stroke: #6a4c93 } .own { stroke: #1982c4 }
.mixed { stroke: #00796b } .plain { stroke: #2e7d32 }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #444 } .k129 { stroke: #ff8a80 }
.k110 { stroke: #ffb74d } .worst { stroke: #ce93d8 } .own { stroke: #64b5f6 }
.mixed { stroke: #4db6ac } .plain { stroke: #81c784 } }
</style>"""


def svg(drawn):
    """Draws CPU per decision over the number of nodes, both logarithmic. Readable on light and dark backgrounds."""
    import math

    left, top, width, height = 64, 34, 620, 300
    points = [p for _, _, line in drawn for p in line]
    x0, x1 = 2.9, max(5.1, math.log10(max(n for n, _ in points)) + 0.1)
    y0, y1 = 0, math.ceil(math.log10(max(us for _, us in points)) + 0.1)

    def x(n):
        return left + width * (math.log10(n) - x0) / (x1 - x0)

    def y(us):
        return top + height * (1 - (math.log10(us) - y0) / (y1 - y0))

    bottom = top + height
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 %d" font-family="sans-serif" font-size="12">'
        % (bottom + 60 + 20 * ((len(drawn) + 1) // 2)),
        STYLE,
        '<text x="%d" y="20" font-size="15">CPU for one decision, every node scored</text>' % left,
    ]
    for e in range(y0, y1 + 1):
        out.append(
            '<line class="grid" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>' % (left, y(10**e), left + width, y(10**e))
        )
        out.append(
            '<text x="%d" y="%.1f" text-anchor="end">%s</text>'
            % (left - 8, y(10**e) + 4, "%d \u00b5s" % 10**e if e < 3 else "%d ms" % 10 ** (e - 3))
        )
    for n in (1000, 5000, 20000, 100000, 1000000):
        if math.log10(n) < x1:
            out.append('<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>' % (x(n), top, x(n), bottom))
            out.append('<text x="%.1f" y="%d" text-anchor="middle">%s</text>' % (x(n), bottom + 18, "{:,}".format(n)))
    out.append('<text x="%d" y="%d" text-anchor="middle">nodes</text>' % (left + width // 2, bottom + 38))
    labels = []
    for i, (name, kind, line) in enumerate(drawn):
        out.append(
            '<polyline class="line %s" points="%s"/>' % (kind, " ".join("%.1f,%.1f" % (x(n), y(us)) for n, us in line))
        )
        n, us = line[-1]
        at = y(us) + 4
        while any(n == m and abs(at - other) < 13 for m, other in labels):
            at += 1
        labels.append((n, at))
        out.append('<text x="%.1f" y="%.1f">%s</text>' % (x(n) + 5, at, micros(us).replace("us", "\u00b5s")))
        at_x, at_y = left + 330 * (i % 2), bottom + 60 + 20 * (i // 2)
        out.append(
            '<line class="line %s" x1="%d" y1="%d" x2="%d" y2="%d"/><text x="%d" y="%d">%s</text>'
            % (kind, at_x, at_y - 4, at_x + 24, at_y - 4, at_x + 30, at_y, name)
        )
    return "\n".join(out) + "\n</svg>\n"


def main():
    p = argparse.ArgumentParser(
        usage="bench.py [--runs N] [--only NAME,...] [--big] [--svg FILE] [-o FILE] [WORKLOAD ...]"
    )
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--only", default="")
    p.add_argument("--big", action="store_true")
    p.add_argument("--svg")
    p.add_argument("-o", default=os.path.join(OUT, "bench", "results.json"))
    p.add_argument("workloads", nargs="*")
    args = p.parse_args()
    only = set(filter(None, args.only.split(",")))
    cases = [c for c in CASES + ([BIG] if args.big else []) if not only or c[0] in only]
    shapes = [s for s in SHAPES if not only or s[0] in only or "shapes" in only]
    extenders = [e for e in EXTENDERS if not only or e[0] in only or "shapes" in only]
    later = [c for c in LATER_CASES if not only or c[0] in only or "1.29" in only]
    known = (
        {c[0] for c in CASES + LATER_CASES}
        | {"1.29"}
        | {s[0] for s in SHAPES + EXTENDERS}
        | {s[0] for s in SIMULATED}
        | {
            BIG[0],
            "e2e",
            "start",
            "record",
            "living",
            "steady",
            "sampled",
            "shapes",
            "simulate",
            "waiting",
            "drawn",
            "day",
        }
    )
    if only - known:
        p.error("--only: %s: known are %s" % (", ".join(sorted(only - known)), ", ".join(sorted(known))))
    months = [m for m in SIMULATED if not only or m[0] in only or "simulate" in only]
    if (
        only
        and not cases
        and not later
        and not shapes
        and not extenders
        and not months
        and not only & {"e2e", "start", "record", "living", "steady", "sampled", "waiting", "drawn", "day"}
        and not args.workloads
    ):
        p.error("--only leaves nothing to measure")

    results = {"schedsim": {}, "shapes": {}, "simulate": {}, "daemon": {}, "cpu": cpu_name(), "cores": os.cpu_count()}
    for name, what, arguments, goal, reference in cases:
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        results["schedsim"][name] = {
            "what": what,
            "goalMicros": goal,
            "referenceMicros": reference,
            **measure(make_input(name, arguments), 1 if name == "1m" else args.runs),
        }
    for name, what, arguments, goal, reference in later:
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        results["schedsim"][name] = {
            "what": what,
            "goalMicros": goal,
            "referenceMicros": reference,
            **measure(make_input(name, arguments), args.runs, flags=["--emulated-version=1.29"]),
        }
    for name, what, arguments, goal in shapes:
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        # Only -o json runs preemption.
        output = "json" if arguments.startswith("preempt") else "placements"
        results["shapes"][name] = {
            "what": what,
            "goalMicros": goal,
            **measure(make_shape(arguments), min(args.runs, 3), output),
        }
    for name, what, knows_nodes, goal in extenders:
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        results["shapes"][name] = {"what": what, "goalMicros": goal, **measure_extender(knows_nodes, min(args.runs, 3))}
    for name, what, arguments, flags, goal, most in months:
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        results["simulate"][name] = {
            "what": what,
            "goalSeconds": goal,
            "goalBytes": most,
            **simulated(make_input(name, arguments), flags, min(args.runs, 3)),
        }
    for path in args.workloads:
        name = re.sub(r"\.json(\.gz)?$", "", os.path.basename(path))
        print("measuring %s" % name, file=sys.stderr)
        results["schedsim"][name] = {
            "what": "given",
            "goalMicros": None,
            "referenceMicros": None,
            **measure(path, args.runs),
        }
    for name, what, nodes, bound, pending in (
        ("e2e", "5,000 nodes, 50,000 pods to bind (goal 10,000 a second)", 5000, 0, 50000),
        ("start", "5,000 nodes, 150,000 pods bound already (goal 3 s, 300 MiB)", 5000, 30, 1000),
    ):
        if (only and name not in only) or not os.access(os.path.join(OUT, "bin/hollow-apiserver"), os.X_OK):
            continue
        print("measuring %s: %s" % (name, what), file=sys.stderr)
        results["daemon"][name] = {"what": what, **end_to_end(nodes, bound, pending)}

    if not only or "living" in only:
        print("measuring living: simulated controllers and kubelets", file=sys.stderr)
        nodes, bound = make_input("living", "--nodes 5000 --pods 1"), make_input(
            "living", "--nodes 5000 --pods 1 --preload 10"
        )
        results["living"] = living.measure(os.path.join(OUT, "bin"), nodes, bound, 50000)
    if not only or "waiting" in only:
        print("measuring waiting: pods that wait for ever in simulated time", file=sys.stderr)
        results["waiting"] = waiting.measure(os.path.join(OUT, "bin"))
    if not only or "steady" in only:
        print("measuring steady: pods that arrive one at a time, over TLS", file=sys.stderr)
        nodes = make_input("steady", "--nodes 1000 --pods 0 --preload 10")
        results["steady"] = steady.measure(os.path.join(OUT, "bin"), nodes, min(args.runs, 3))
        results["steadyTogether"] = steady.measure(
            os.path.join(OUT, "bin"), nodes, min(args.runs, 3), [steady.TOGETHER]
        )
    if not only or "sampled" in only:
        print("measuring sampled: the nodes that the release would look at", file=sys.stderr)
        results["sampled"] = sampled.measure(os.path.join(OUT, "bin/schedsim"), make_input, args.runs)
    if not only or "drawn" in only:
        print("measuring drawn: shapes that nothing was tuned for", file=sys.stderr)
        results["drawn"] = churn.drawn()
    if not only or "day" in only:
        print("measuring day: 1,000,000 pods of 100,000 templates come and go", file=sys.stderr)
        results["day"] = churn.day(OUT)
    if not only or "record" in only:
        print(
            "measuring record: what --record-dir costs (goal less than 10 % more CPU, 300 bytes a pod)", file=sys.stderr
        )
        results["recording"] = recording(args.runs)

    print("\nMeasured on %s, %d cores" % (results["cpu"], results["cores"]))
    if results["schedsim"]:
        print("\nCPU for one decision (schedsim, median of %d runs, all nodes scored)\n" % args.runs)
    rows = [
        ("work", "what", "nodes", "pods", "CPU", "lowest", "highest", "p99", "goal", "Kubernetes", "faster", "memory")
    ]
    for name, r in results["schedsim"].items():
        ref = r["referenceMicros"]
        rows.append(
            (
                name,
                r["what"],
                "{:,}".format(r["nodes"]),
                "{:,}".format(r["pods"]),
                micros(r["cpuMicros"]),
                micros(r["cpuMicrosLow"]),
                micros(r["cpuMicrosHigh"]),
                micros(r["p99Micros"]),
                micros(r["goalMicros"]),
                micros(ref),
                "{:,.0f}x".format(ref / r["cpuMicros"]) if ref else "-",
                mib(r["peakRSSBytes"]),
            )
        )
    if len(rows) > 1:
        table(rows)
    if results["shapes"]:
        print("\nOther shapes of clusters (hack/gen-shape)\n")
        rows = [("shape", "what", "nodes", "pods", "CPU", "goal", "")]
        for name, r in results["shapes"].items():
            missed = "missed" if r["cpuMicros"] > r["goalMicros"] else ""
            rows.append(
                (
                    name,
                    r["what"],
                    "{:,}".format(r["nodes"]),
                    "{:,}".format(r["pods"]),
                    micros(r["cpuMicros"]),
                    micros(r["goalMicros"]),
                    missed,
                )
            )
        table(rows)
    if results["simulate"]:
        print("\nDays and months in simulated time (schedsim simulate, release 1.29, the whole command)\n")
        rows = [("work", "what", "pods", "CPU", "goal", "memory", "")]
        for name, r in results["simulate"].items():
            missed = (
                r["goalSeconds"] is not None
                and r["cpuSeconds"] > r["goalSeconds"]
                or r["peakRSSBytes"] > r["goalBytes"]
            )
            rows.append(
                (
                    name,
                    r["what"],
                    "{:,}".format(r["pods"]),
                    "%.2f s" % r["cpuSeconds"],
                    "%d s" % r["goalSeconds"] if r["goalSeconds"] is not None else "-",
                    mib(r["peakRSSBytes"]),
                    "missed" if missed else "",
                )
            )
        table(rows)
    if "waiting" in results:
        print("\nPods that wait for ever while 600 others come and go in an hour of simulated time\n")
        table(waiting.rows(results["waiting"]))
    if results["daemon"]:
        print("\nkube-scheduler against hollow-apiserver, both on this machine\n")
        rows = [("work", "what", "start", "binds/s", "memory", "server's memory")]
        for name, r in results["daemon"].items():
            rows.append(
                (
                    name,
                    r["what"],
                    "%.2f s" % r["startSeconds"] if r["startSeconds"] is not None else "-",
                    "{:,.0f}".format(r["bindsPerSecond"]) if name == "e2e" else "-",
                    mib(r["peakRSSBytes"]),
                    mib(r["serverPeakRSSBytes"]),
                )
            )
        table(rows)
    if "living" in results:
        print("\nhollow-apiserver with simulated controllers and kubelets, release 1.36\n")
        rows = [("work", "what", "measured", "goal", "")]
        for name, value in results["living"].items():
            what, goal, unit = living.GOALS[name]
            rows.append(
                (
                    name,
                    what,
                    "{:,.1f} {}".format(value, unit),
                    "{:,} {}".format(goal, unit),
                    "missed" if living.is_missed(name, value) else "",
                )
            )
        table(rows)
    if "steady" in results:
        print("\nkube-scheduler with pods that arrive one at a time over TLS, release 1.36, for each pod\n")
        rows = [("what", "measured", "with " + steady.TOGETHER)]
        for name, what, unit in steady.FIGURES:
            values = [results[r][name] for r in ("steady", "steadyTogether")]
            rows.append((what, *("{:,.1f} {}".format(v, unit) if v is not None else "-" for v in values)))
        table(rows)
    if "sampled" in results:
        print("\nCPU for one decision that looks at the nodes which its release would look at, and at all nodes\n")
        rows = [("work", "release", "all", "sampled", "times", "goal", "")]
        for r in results["sampled"]:
            rows.append(
                (
                    r["work"],
                    r["release"],
                    micros(r["cpuMicros"]),
                    micros(r["sampledMicros"]),
                    "%.2f" % r["ratio"],
                    "%.1f" % sampled.GOAL,
                    "missed" if r["ratio"] > sampled.GOAL else "",
                )
            )
        table(rows)
    if "drawn" in results:
        print("\nDrawn shapes (hack/draw-shape): CPU for one decision, of all shapes of a kind\n")
        rows = [("shapes", "what", "release", "median", "p90", "most", "goal", "")]
        for r in results["drawn"]:
            rows.append(
                (
                    r["name"],
                    r["what"],
                    r["release"],
                    *(micros(r[k]) for k in ("median", "p90", "most", "goal")),
                    "missed" if r["median"] > r["goal"] else "",
                )
            )
        table(rows)
    if "day" in results:
        r = results["day"]
        print(
            "\nA day of churn, %s pods: %s of memory after a fifth, %s at the end, %.1f %% more (goal %.0f %%)%s"
            % (
                "{:,}".format(r["pods"]),
                mib(r["firstBytes"]),
                mib(r["lastBytes"]),
                100 * r["grown"],
                100 * churn.MOST_GROWTH,
                ", missed" if r["grown"] > churn.MOST_GROWTH else "",
            )
        )
    if "recording" in results:
        r = results["recording"]
        print(
            "\nA recording (--record-dir) of 50,000 pods on 5,000 nodes costs the daemon %.0f %% more CPU: %s a pod "
            "instead of %s;"
            " %.0f bytes a pod."
            % (r["morePercent"], micros(r["recordedCpuMicros"]), micros(r["cpuMicros"]), r["bytesPerPod"])
        )
    os.makedirs(os.path.dirname(os.path.abspath(args.o)), exist_ok=True)
    with open(args.o, "w") as f:
        json.dump(results, f, indent=1)
    if args.svg or not only:
        picture = args.svg or os.path.join(OUT, "bench", "scaling.svg")
        with open(picture, "w") as f:
            f.write(svg(lines(results["schedsim"], args.runs)))
        print("\nThe picture is %s." % os.path.relpath(picture, os.getcwd()))
    print("\nAlso in %s." % os.path.relpath(args.o))


def cpu_name():
    with open("/proc/cpuinfo") as f:
        return next((line.split(":")[1].strip() for line in f if line.startswith("model name")), "unknown processor")


main()
