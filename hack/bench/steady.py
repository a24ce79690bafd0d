"""What a pod costs kube-scheduler when pods arrive one at a time (`bench.py --only steady`): hollow-apiserver over TLS
with a CA made by openssl, 1,000 nodes with 10 pods each, and a client that creates a plain pod every few milliseconds.
Each pod is a watch event, a decision, a bind, the event Scheduled, and the watch event of the bound pod; nothing can be
done for many pods at once. Counted is kube-scheduler alone."""
import http.client, json, os, re, shutil, socket, statistics, subprocess, tempfile, time

RELEASE = "--emulated-version=1.36"
RATE = 100  # pods a second
TOGETHER = "--min-sync-period=50ms"
WARM_UP, PODS = 100, 800
LIMIT_S = 120
# name, what, unit; all of them for one pod, but the connections
FIGURES = [
    ("cpuMicros", "CPU", "us"),
    ("kernelMicros", "of which in the kernel", "us"),
    ("switches", "times that a thread waited and was woken", ""),
    ("systemCalls", "system calls", ""),
    ("bytes", "bytes sent and received", ""),
    ("connections", "connections in all", ""),
]


def make_authority(folder):
    """Makes ca.pem, and server.pem and client.pem with their keys, all by openssl; returns nothing."""

    def openssl(*arguments):
        subprocess.run(
            ["openssl", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

    new_key = ["-newkey", "rsa:2048", "-nodes"]
    openssl("req", "-x509", *new_key, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=bench-ca")
    for name, subject, extension in (
        ("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth"),
        ("client", "/CN=system:kube-scheduler", "extendedKeyUsage=clientAuth"),
    ):
        openssl("req", *new_key, "-keyout", name + ".key", "-out", name + ".csr", "-subj", subject)
        with open(os.path.join(folder, name + ".ext"), "w") as f:
            f.write(extension + "\n")
        signed_by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", name + ".ext"]
        openssl("x509", "-req", "-in", name + ".csr", *signed_by, "-out", name + ".pem")


def write_kubeconfig(folder, port):
    user = {"client-certificate": "client.pem", "client-key": "client.key"}
    cluster = {"server": "https://127.0.0.1:%d" % port, "certificate-authority": "ca.pem"}
    path = os.path.join(folder, "kubeconfig")
    with open(path, "w") as f:
        json.dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            },
            f,
        )
    return path


class Server:
    """hollow-apiserver with a port for the scheduler, with TLS, and one for this client, without."""

    def __init__(self, bin_dir, folder, load, release=RELEASE):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.secure_port = s.getsockname()[1]
        self.process = subprocess.Popen(
            [
                os.path.join(bin_dir, "hollow-apiserver"),
                release,
                "--insecure-port=0",
                "--bind-address=127.0.0.1",
                "--secure-port=%d" % self.secure_port,
                "--tls-cert-file=" + os.path.join(folder, "server.pem"),
                "--tls-private-key-file=" + os.path.join(folder, "server.key"),
                "--client-ca-file=" + os.path.join(folder, "ca.pem"),
                "--load=" + load,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        address = self.process.stdout.readline()
        if not address:
            raise RuntimeError("hollow-apiserver ended with %d" % self.process.wait())
        self.connection = http.client.HTTPConnection("127.0.0.1", int(address.rsplit(":", 1)[1]))

    def call(self, method, path, body=None, content_type="application/json"):
        self.connection.request(method, path, body, {"Content-Type": content_type})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, path, answer.status, text[:300]))
        return json.loads(text)

    def count(self, resource):
        return len(self.call("GET", "/api/v1/namespaces/default/" + resource)["items"])


def start_scheduler(bin_dir, folder, server, flags, release=RELEASE, under=()):
    """`under` is a program with arguments that runs the scheduler, such as valgrind."""
    return subprocess.Popen(
        [
            *under,
            os.path.join(bin_dir, "kube-scheduler"),
            release,
            "--kubeconfig=" + write_kubeconfig(folder, server.secure_port),
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=5000",
            "--kube-api-burst=5000",
            *flags,
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def await_events(server, count):
    """Waits until so many events are written."""
    end = time.monotonic() + LIMIT_S
    while server.count("events") < count:
        if time.monotonic() > end:
            raise RuntimeError("not all pods were bound")
        time.sleep(0.2)


def pod_of(number):
    """Returns a plain pod as a real server has it since 1.21: with the volume of a token, whose name is random."""
    token = "kube-api-access-%05d" % (number * 7919 % 100000)
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {
            "downwardAPI": {
                "items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]
            }
        },
    ]
    container = {
        "name": "c",
        "image": "x",
        "resources": {"requests": {"cpu": "10m", "memory": "10Mi"}},
        "volumeMounts": [
            {"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
        ],
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "steady-%d" % number, "labels": {"app": "steady"}},
        "spec": {
            "volumes": [{"name": token, "projected": {"sources": sources}}],
            "containers": [container],
            "serviceAccountName": "default",
        },
    }


def apply(server, number):
    """Applies a pod, so that it has metadata.managedFields, as all pods of a real server have."""
    pod = pod_of(number)
    path = "/api/v1/namespaces/default/pods/%s?fieldManager=bench" % pod["metadata"]["name"]
    server.call("PATCH", path, json.dumps(pod), "application/apply-patch+yaml")


def arrive(server, first, count):
    """Applies pods in the rhythm of RATE, and waits until each is bound and its event written."""
    begin = time.monotonic()
    for i in range(count):
        time.sleep(max(0, begin + i / RATE - time.monotonic()))
        apply(server, first + i)
    await_events(server, first + count)


class Use:
    """What a process has used so far."""

    def __init__(self, pid):
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        tick = os.sysconf("SC_CLK_TCK")
        self.user, self.kernel, self.run, self.switches = int(fields[11]) / tick, int(fields[12]) / tick, 0, 0
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
                self.run += int(f.read().split()[0])
            with open("/proc/%d/task/%s/status" % (pid, task)) as f:
                self.switches += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", f.read(), re.M).group(1))


def sockets_to(port):
    """Returns the number of connections to the port, and the bytes sent and received on them; None without `ss`."""
    if shutil.which("ss") is None:
        return None, None
    shown = subprocess.run(["ss", "-tinH", "dport", "=", ":%d" % port], stdout=subprocess.PIPE, text=True).stdout
    sizes = re.findall(r"\bbytes_(?:sent|received):(\d+)", shown)
    return len(re.findall(r"^ESTAB", shown, re.M)), sum(int(n) for n in sizes)


class SystemCalls:
    """Counts the system calls of a process by `perf stat`, which does not slow it down. None where it is forbidden."""

    def __init__(self, pid):
        self.perf = None
        if shutil.which("perf") is not None:
            self.perf = subprocess.Popen(
                ["perf", "stat", "-x,", "-e", "raw_syscalls:sys_enter", "-p", str(pid)],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )

    def end(self):
        if self.perf is None:
            return None
        self.perf.send_signal(2)
        found = re.search(r"^(\d+),.*sys_enter", self.perf.communicate()[1], re.M)
        return int(found.group(1)) if found else None


def one_run(bin_dir, load, flags):
    folder = tempfile.TemporaryDirectory()
    make_authority(folder.name)
    server, scheduler = None, None
    try:
        server = Server(bin_dir, folder.name, load)
        scheduler = start_scheduler(bin_dir, folder.name, server, flags)
        arrive(server, 0, WARM_UP)
        calls = SystemCalls(scheduler.pid)
        before, bytes_before = Use(scheduler.pid), sockets_to(server.secure_port)[1]
        arrive(server, WARM_UP, PODS)
        after, (connections, bytes_after) = Use(scheduler.pid), sockets_to(server.secure_port)
        made = calls.end()
        run = (after.run - before.run) / 1e3 / PODS
        kernel, user = after.kernel - before.kernel, after.user - before.user
        return {
            "cpuMicros": run,
            "kernelMicros": run * kernel / max(kernel + user, 1e-9),
            "switches": (after.switches - before.switches) / PODS,
            "systemCalls": made / PODS if made is not None else None,
            "bytes": (bytes_after - bytes_before) / PODS if bytes_after is not None else None,
            "connections": connections,
        }
    finally:
        for p in (scheduler, server and server.process):
            if p is not None:
                p.terminate()
                p.wait()
        folder.cleanup()


def measure(bin_dir, load, runs, flags=()):
    """`load` is a file with nodes and bound pods. Returns the median of the runs for each of FIGURES."""
    got = [one_run(bin_dir, load, flags) for _ in range(runs)]

    def median(name):
        values = [g[name] for g in got if g[name] is not None]
        return statistics.median(values) if values else None

    return {name: median(name) for name, _, _ in FIGURES}
