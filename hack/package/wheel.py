#!/usr/bin/env python3
"""Makes a wheel of the module berth with its library: usage: hack/package/wheel.py OUT [FOLDER] (OUT: the folder with
python/; the wheel comes into FOLDER, OUT/package). `pip install --no-index --no-deps FILE` needs no network; the
library needs the Debian packages that libberth1 needs."""
import base64
import hashlib
import os
import platform
import re
import sys
import zipfile

OUT, DEST = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else os.path.join(sys.argv[1], "package")
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MOMENT = (1980, 1, 1, 0, 0, 0)  # of all members, so that equal content makes equal wheels


def version():
    """Returns the version as Python writes it: v1.10.0-berth.1 is 1.10.0+berth.1."""
    with open(os.path.join(HERE, "hack", "version")) as f:
        return re.sub("-", "+", f.read().strip().lstrip("v"), count=1)


def main():
    name, tag = "berth-" + version(), "py3-none-linux_" + platform.machine()
    folder = os.path.join(OUT, "python", "berth")
    members = {
        "berth/" + f: os.path.join(folder, f)
        for f in sorted(os.listdir(folder))
        if f.endswith((".py", ".typed", ".so.1"))
    }
    if "berth/libberth.so.1" not in members:
        sys.exit("wheel.py: %s has no libberth.so.1; run make python" % folder)
    texts = {
        "METADATA": "Metadata-Version: 2.1\nName: berth\nVersion: %s\n"
        "Summary: The decisions of kube-scheduler, release by release\n"
        "License: Apache-2.0\nRequires-Python: >=3.9\nRequires-Dist: numpy\n" % version(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: berth\nRoot-Is-Purelib: false\nTag: %s\n" % tag,
    }
    os.makedirs(DEST, exist_ok=True)
    path = os.path.join(DEST, "%s-%s.whl" % (name, tag))
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(member, data, mode):
            info = zipfile.ZipInfo(member, MOMENT)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(info, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append("%s,sha256=%s,%d" % (member, digest, len(data)))

        for member, source in members.items():
            with open(source, "rb") as f:
                add(member, f.read(), 0o100755 if member.endswith(".so.1") else 0o100644)
        for member, text in texts.items():
            add("%s.dist-info/%s" % (name, member), text.encode(), 0o100644)
        last = "%s.dist-info/RECORD" % name
        wheel.writestr(zipfile.ZipInfo(last, MOMENT), "\n".join(record + [last + ",,"]) + "\n")
    print("wheel: %s, %d bytes" % (path, os.path.getsize(path)))


main()
