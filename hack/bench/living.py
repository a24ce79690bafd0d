"""What simulated controllers and kubelets cost (`bench.py --only living`): hollow-apiserver of release 1.36 with 5,000
nodes, at rest, with a Deployment of 10,000 pods that kube-scheduler binds, and with 50,000 pods that are bound
already."""
import http.client, json, os, subprocess, time

SECONDS = 600
RELEASE = "--emulated-version=1.36"
SIMULATE = ["--simulate=kubelets,controllers", "--pod-start-delay=0s"]
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
# name, what, goal and its unit
GOALS = {
    "idle": ("5,000 nodes at rest", 10, "% of a core"),
    "deployment": ("a Deployment of 10,000 pods runs", 20, "s"),
    "stages": ("pods from bound to Running on one core", 10000, "pods a second"),
}


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Server:
    """hollow-apiserver over a file of objects, and perhaps kube-scheduler."""

    def __init__(self, bin_dir, load, *flags, scheduler=False):
        self.processes = [
            subprocess.Popen(
                [os.path.join(bin_dir, "hollow-apiserver"), RELEASE, "--insecure-port=0", "--load=" + load, *flags],
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        ]
        line = self.processes[0].stdout.readline()
        self.port = int(line.rsplit(":", 1)[1])
        if scheduler:
            self.processes.append(
                subprocess.Popen(
                    [
                        os.path.join(bin_dir, "kube-scheduler"),
                        RELEASE,
                        "--master=http://127.0.0.1:%d" % self.port,
                        "--leader-elect=false",
                        "--secure-port=0",
                        "--kube-api-qps=1e6",
                        "--kube-api-burst=1000000",
                    ],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for p in reversed(self.processes):
            p.terminate()
        for p in self.processes:
            p.wait()

    def cpu(self):
        return cpu_seconds(self.processes[0].pid)

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, path, answer.status, text[:300]))
        return json.loads(text)

    def wait(self, what, function, *args, equals):
        end = time.monotonic() + SECONDS
        while function(*args) != equals:
            if time.monotonic() > end or any(p.poll() is not None for p in self.processes):
                raise RuntimeError("still waiting for " + what)
            time.sleep(0.1)


def is_ready(node):
    ready = (c for c in node["status"]["conditions"] if c["type"] == "Ready" and c["status"] == "True")
    return any(c.get("lastHeartbeatTime") for c in ready)


def idle(bin_dir, load):
    with Server(bin_dir, load, *SIMULATE) as s:

        def not_ready():
            nodes = s.call("GET", "/api/v1/nodes")["items"]
            return [n["metadata"]["name"] for n in nodes if not is_ready(n)]

        s.wait("ready nodes", not_ready, equals=[])
        begin, cpu = time.monotonic(), s.cpu()
        time.sleep(20)  # what is measured: two renewals of each lease, four looks of the node monitor
        return 100 * (s.cpu() - cpu) / (time.monotonic() - begin)


def deployment(bin_dir, load):
    n = 10000
    with Server(bin_dir, load, *SIMULATE, scheduler=True) as s:
        begin = time.monotonic()
        s.call(
            "POST",
            DEPLOYMENTS,
            {
                "metadata": {"name": "web"},
                "spec": {
                    "replicas": n,
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {
                            "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "10m"}}}]
                        },
                    },
                },
            },
        )

        def ready():
            return s.call("GET", DEPLOYMENTS + "/web").get("status", {}).get("readyReplicas")

        s.wait("ready pods", ready, equals=n)
        return time.monotonic() - begin


def stages(bin_dir, load, pods):
    """CPU of a server that runs the pods, less that of one that only reads them."""

    def pending(s):
        return s.call("GET", "/api/v1/pods?limit=1&fieldSelector=status.phase%3DPending,spec.nodeName%21%3D")["items"]

    used = []
    for flags in ([], SIMULATE):
        with Server(bin_dir, load, *flags) as s:
            if flags:
                s.wait("running pods", pending, s, equals=[])
            used.append(s.cpu())
    return pods / (used[1] - used[0])


def measure(bin_dir, nodes, bound, pods):
    """`nodes` and `bound` are files of objects; in `bound` so many pods have a node. Returns a number for each of
    GOALS."""
    return {
        "idle": idle(bin_dir, nodes),
        "deployment": deployment(bin_dir, nodes),
        "stages": stages(bin_dir, bound, pods),
    }


def is_missed(name, value):
    return value < GOALS[name][1] if name == "stages" else value > GOALS[name][1]
