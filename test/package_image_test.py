#!/usr/bin/env python3
"""The OCI image: its digests are right, equal input makes equal bytes, there is no shell and no root in it, and what it
runs works with nothing but its own root file system."""
import gzip
import hashlib
import json
import os
import re
import subprocess
import tarfile

import harness
from harness import Api, scratch

OUT = os.environ.get("OUT", "_output")


def make_image(where):
    done = subprocess.run(["hack/package/image.py", OUT, where], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"image: \S+\.tar, \d+ bytes; its root file system has \d+ bytes\n", done.stdout), done.stdout
    return done.stdout.split()[1].rstrip(",")


def blob(layout, descriptor):
    with open(os.path.join(layout, "blobs", *descriptor["digest"].split(":")), "rb") as f:
        data = f.read()
    assert (
        len(data) == descriptor["size"] and "sha256:" + hashlib.sha256(data).hexdigest() == descriptor["digest"]
    ), descriptor
    return data


def test_image():
    archive = make_image(scratch("image"))
    with open(archive, "rb") as a, open(make_image(scratch("again")), "rb") as b:
        assert a.read() == b.read(), "the same input makes other bytes"
    layout = scratch("unpacked")
    with tarfile.open(archive) as t:
        t.extractall(layout)
    assert json.load(open(layout + "/oci-layout"))["imageLayoutVersion"] == "1.0.0"
    manifest = json.loads(blob(layout, json.load(open(layout + "/index.json"))["manifests"][0]))
    config = json.loads(blob(layout, manifest["config"]))
    assert config["config"]["User"] == "65532:65532" and config["config"]["Cmd"] == ["kube-scheduler"], config
    (layer,) = manifest["layers"]
    tar = gzip.decompress(blob(layout, layer))
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(tar).hexdigest()]
    root = scratch("rootfs")
    open(scratch("layer.tar"), "wb").write(tar)
    with tarfile.open(scratch("layer.tar")) as t:
        names = t.getnames()
        assert all(
            m.uid == 0 and not m.mode & 0o6000 for m in t.getmembers()
        ), "another owner than root, or a set-id bit"
        t.extractall(root)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(root) for f in fs)
    assert size < 40_000_000, size
    assert not [n for n in names if os.path.basename(n) in ("sh", "bash", "dash", "busybox")], names
    programs = [n for n in names if n.startswith(("usr/bin/", "bin/"))]
    assert programs == ["usr/bin/kube-scheduler"], programs
    runs(root)


def runs(root):
    """Runs a program as a container would: with that root, that user and no other file. Without root privileges, root
    of a user namespace is used."""
    enter = (
        ["/usr/sbin/chroot", "--userspec=65532:65532", root]
        if os.getuid() == 0
        else ["/usr/bin/unshare", "--map-root-user", "/usr/sbin/chroot", root]
    )
    os.chmod(root, 0o755)
    os.chmod(os.path.dirname(root), 0o755)
    done = subprocess.run(
        [*enter, "/usr/bin/kube-scheduler", "--version"], capture_output=True, text=True, env={"PATH": "/usr/bin"}
    )
    assert done.returncode == 0 and done.stdout.startswith("Kubernetes v1."), done
    api = Api.start()
    api.add_node("n1")
    api.add_pod("p")
    with open(scratch("inside.log"), "w") as log:
        p = subprocess.Popen(
            [
                *enter,
                "/usr/bin/kube-scheduler",
                f"--master={api.url}",
                "--address=127.0.0.1",
                "--port=0",
                "--leader-elect=false",
                "--logtostderr",
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/bin"},
        )
    try:
        api.wait_placed("p", on="n1")
    finally:
        p.terminate()
        assert p.wait(60) == 0, open(scratch("inside.log")).read()


harness.main(globals())
