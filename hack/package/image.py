#!/usr/bin/env python3
"""Makes an OCI image of kube-scheduler from nothing but the program and the libraries that it needs.

usage: hack/package/image.py OUT [FOLDER]      (OUT: the folder with bin/; FOLDER: OUT/image)

Writes FOLDER/oci, an OCI image layout, and FOLDER/berth-VERSION.tar, the same as an archive, which podman load,
skopeo and containerd (ctr image import) take. The same input gives the same bytes.
"""
import gzip, hashlib, io, json, os, re, shutil, subprocess, sys, tarfile, tempfile

LIMIT_BYTES = 40 * 1000 * 1000  # of the unpacked root file system
USER = 65532  # the user that distroless images name "nonroot"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"


def closure(program):
    """Returns the program's shared libraries and the dynamic linker, as the paths that the program asks for."""
    text = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    if "not found" in text:
        sys.exit("image.py: %s: a library is missing:\n%s" % (program, text))
    return sorted(set(re.findall(r"(?:=> )?(/\S+) \(0x", text)))


def commit():
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def commit_time():
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 and done.stdout.strip() else int(os.stat("hack/version").st_mtime)


class Layer:
    """Makes a tar file whose entries belong to root and have the same time."""

    def __init__(self, mtime):
        self.bytes, self.mtime, self.seen, self.content = io.BytesIO(), mtime, set(), 0
        self.tar = tarfile.open(fileobj=self.bytes, mode="w", format=tarfile.PAX_FORMAT)

    def _add(self, name, kind, mode, data=b"", link=""):
        name = name.strip("/")
        parent = os.path.dirname(name)
        if parent and parent not in self.seen:
            self._add(parent, tarfile.DIRTYPE, 0o755)
        if name in self.seen:
            return
        self.seen.add(name)
        info = tarfile.TarInfo(name)
        info.type, info.mode, info.size, info.linkname, info.mtime = kind, mode, len(data), link, self.mtime
        self.tar.addfile(info, io.BytesIO(data))
        self.content += len(data)

    def file(self, name, data, mode=0o644):
        self._add(name, tarfile.REGTYPE, mode, data)

    def directory(self, name, mode=0o755):
        self._add(name, tarfile.DIRTYPE, mode)

    def close(self):
        self.tar.close()
        return self.bytes.getvalue()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def stripped(path):
    with tempfile.NamedTemporaryFile() as f:
        subprocess.run(["strip", "-o", f.name, path], check=True)
        return read(f.name)


def make_layer(program, mtime):
    layer = Layer(mtime)
    layer.file("/usr/bin/kube-scheduler", stripped(program), 0o755)
    for path in closure(program):
        # Libraries are put where the linker finds them without a cache or configuration.
        layer.file(
            path if "/ld-linux" in path else "/usr/lib/" + os.path.basename(path), read(os.path.realpath(path)), 0o755
        )
    layer.file(
        "/etc/passwd", b"root:x:0:0:root:/:/sbin/nologin\nnonroot:x:%d:%d:nonroot:/:/sbin/nologin\n" % (USER, USER)
    )
    layer.file("/etc/group", b"root:x:0:\nnonroot:x:%d:\n" % USER)
    layer.file("/etc/nsswitch.conf", b"hosts: files dns\n")
    layer.file(CERTIFICATES, read(CERTIFICATES))
    layer.directory("/tmp", 0o1777)
    if layer.content > LIMIT_BYTES:
        sys.exit("image.py: the root file system has %d bytes, more than %d" % (layer.content, LIMIT_BYTES))
    return layer


class Layout:
    def __init__(self, root):
        self.root = root
        os.makedirs(os.path.join(root, "blobs", "sha256"))

    def blob(self, data, media_type):
        digest = hashlib.sha256(data).hexdigest()
        with open(os.path.join(self.root, "blobs", "sha256", digest), "wb") as f:
            f.write(data)
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(data)}

    def json(self, value, media_type):
        return self.blob(json.dumps(value, sort_keys=True, separators=(",", ":")).encode(), media_type)


def main(out, folder=None):
    version = read("hack/version").decode().strip()
    program = os.path.join(out, "bin", "kube-scheduler")
    if not os.path.exists(program):
        sys.exit("image.py: %s is not there; run make first" % program)
    mtime = commit_time()
    created = subprocess.run(
        ["date", "-u", "-d", "@%d" % mtime, "+%Y-%m-%dT%H:%M:%SZ"], check=True, capture_output=True, text=True
    ).stdout.strip()
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    layer = make_layer(program, mtime)
    tar = layer.close()
    folder = folder or os.path.join(out, "image")
    shutil.rmtree(folder, ignore_errors=True)
    layout = Layout(os.path.join(folder, "oci"))
    layer_blob = layout.blob(gzip.compress(tar, 6, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    config = layout.json(
        {
            "created": created,
            "architecture": machine,
            "os": "linux",
            "config": {
                "User": "%d:%d" % (USER, USER),
                "Entrypoint": [],
                "Cmd": ["kube-scheduler"],
                "WorkingDir": "/",
                "Env": ["PATH=/usr/bin"],
                "ExposedPorts": {"10251/tcp": {}, "10259/tcp": {}},
                "StopSignal": "SIGTERM",
                "Labels": {
                    "org.opencontainers.image.title": "kube-scheduler (Berth)",
                    "org.opencontainers.image.version": version,
                    "org.opencontainers.image.revision": commit(),
                    "org.opencontainers.image.licenses": "Apache-2.0",
                },
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
            "history": [{"created": created, "created_by": "hack/package/image.py"}],
        },
        "application/vnd.oci.image.config.v1+json",
    )
    manifest = layout.json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": config,
            "layers": [layer_blob],
        },
        "application/vnd.oci.image.manifest.v1+json",
    )
    manifest["platform"] = {"architecture": machine, "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": "berth/kube-scheduler:" + version}
    with open(os.path.join(layout.root, "index.json"), "w") as f:
        json.dump(
            {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [manifest]}, f
        )
    with open(os.path.join(layout.root, "oci-layout"), "w") as f:
        json.dump({"imageLayoutVersion": "1.0.0"}, f)
    archive = os.path.join(folder, "berth-%s.tar" % version)

    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        info.mtime = mtime
        return info

    with tarfile.open(archive, "w", format=tarfile.PAX_FORMAT) as t:
        for name in sorted(os.listdir(layout.root)):
            t.add(os.path.join(layout.root, name), name, filter=plain)
    print("image: %s, %d bytes; its root file system has %d bytes" % (archive, os.path.getsize(archive), layer.content))


if len(sys.argv) not in (2, 3):
    sys.exit(__doc__)
main(*sys.argv[1:])
