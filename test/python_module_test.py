#!/usr/bin/env python3
"""Tests the engine as a library: the C ABI by an example in C, what the library exports, and examples and packages of
the module berth, whose unit tests python_unit_test.py runs."""
import base64
import gzip
import hashlib
import os
import re
import subprocess
import zipfile

import harness
from harness import check, check_equal, run, scratch
from harness.library import library_build, python

BUILT = library_build()
LIB = os.path.join(BUILT, "lib")


def test_example_in_c():
    program = scratch("example")
    code, _, err = run(
        "cc",
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Wpedantic",
        "-Werror",
        "-I",
        os.path.join(BUILT, "include"),
        "pkg/capi/example.c",
        "-L",
        LIB,
        "-lberth",
        "-o",
        program,
    )
    check("a program in C compiles", code == 0, err)
    environment = dict(os.environ, LD_LIBRARY_PATH=LIB)
    for release, folder in (("1.10", ""), ("1.29", "placements-1.29")):
        code, out, err = run(program, "test/testdata/traces/openb.json.gz", release, env=environment)
        check_equal("its exit status and what is on standard error", (code, err), (0, ""))
        with gzip.open(os.path.join("test/testdata/traces", folder, "openb.placements.gz"), "rt") as f:
            check("placements of openb in C, release " + release, out == f.read(), out[:300])
    code, out, err = run(program, "/nowhere.json", env=environment)
    check("an error names the file", code == 1 and "/nowhere.json" in err, err)


def test_exports():
    code, out, err = run("nm", "-D", "--defined-only", os.path.join(LIB, "libberth.so.1"))
    names = [line.split()[-1].split("@")[0] for line in out.splitlines()]
    check("the library exports functions", "berth_open" in names, err)
    check_equal("what it exports besides berth_*", [n for n in names if not n.startswith(("berth_", "BERTH_"))], [])
    with open("pkg/capi/berth.h") as f:
        header = f.read()
    check_equal(
        "exported functions that berth.h lacks",
        [n for n in names if n.startswith("berth_") and n + "(" not in header],
        [],
    )
    code, out, err = run("readelf", "-d", os.path.join(LIB, "libberth.so.1"))
    check("its name", "Library soname: [libberth.so.1]" in out, out)


def test_abi():
    code, out, err = run("hack/capi-abi.py")
    check("the binary interface is the promised one", code == 0, out + err)
    with open("pkg/capi/berth.h") as f:
        declared = set(re.findall(r"\b(berth_\w+)\(", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)))
    _, out, _ = run("nm", "-D", "--defined-only", os.path.join(LIB, "libberth.so.1"))
    check_equal(
        "functions of berth.h that the library lacks",
        sorted(declared - {line.split()[-1].split("@")[0] for line in out.splitlines()}),
        [],
    )
    _, out, _ = run("readelf", "-d", os.path.join(LIB, "libberth.so.1"))
    check("the library has logging of its own", "libglog" not in out, out)


def test_examples():
    folder = "plugin/examples/python"
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILT, "python"), PYTHONDONTWRITEBYTECODE="1")
    examples = sorted(f for f in os.listdir(folder) if f.endswith(".py"))
    for name in examples:
        with open(os.path.join(folder, name)) as f:
            check("%s has at most 80 lines" % name, len(f.readlines()) <= 80)
        if name == "openb.py":
            continue
        curve = scratch("curve.csv")
        code, out, err = run(
            python(), os.path.join(folder, name), "--pods", "150", "--curve", curve, env=environment, timeout=600
        )
        check_equal("%s: exit status and standard error" % name, (code, err), (0, ""))
        check("%s: what it says" % name, "placed" in out or "allocated" in out, out)
    with open(scratch("curve.csv")) as f:
        check_equal("lines of a curve", len(f.readlines()), 151)


def test_wheel():
    folder = scratch("wheel")
    code, out, err = run("hack/package/wheel.py", BUILT, folder)
    check("make wheel", code == 0, out + err)
    (name,) = [f for f in os.listdir(folder) if f.endswith(".whl")]
    with zipfile.ZipFile(os.path.join(folder, name)) as wheel:
        wheel.extractall(os.path.join(folder, "site"))
        (record,) = [n for n in wheel.namelist() if n.endswith("/RECORD")]
        for line in wheel.read(record).decode().splitlines():
            member, digest, size = line.split(",")
            if member == record:
                continue
            data = wheel.read(member)
            expected = "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            check_equal("RECORD of " + member, (digest, int(size)), (expected, len(data)))
        check_equal("members that RECORD lacks", len(wheel.namelist()), len(wheel.read(record).decode().splitlines()))
    code, out, err = run(
        python(),
        "-c",
        "import berth; print(berth.__file__)",
        env=dict(os.environ, PYTHONPATH=os.path.join(folder, "site")),
    )
    check("the module of the wheel", code == 0 and folder in out, out + err)


def test_debian_packages():
    folder = scratch("debs")
    code, out, err = run(
        "hack/package/library-debs.sh", BUILT, folder, env=dict(os.environ, DPKG_DEB_COMPRESSOR_LEVEL="0")
    )
    check("the packages are made", code == 0, out + err)
    packages = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    check_equal(
        "packages",
        [os.path.basename(p).split("_")[0] for p in packages],
        ["libberth-dev", "libberth1", "python3-berth"],
    )
    code, out, err = run("lintian", "--fail-on", "error", "--allow-root", *packages, timeout=300)
    check("lintian", code == 0, out + err)
    root = os.path.join(folder, "root")
    for p in packages:
        code, out, err = run("dpkg-deb", "-x", p, root)
        check("the files of " + p, code == 0, out + err)
    (library,) = [d for d, _, files in os.walk(root) if "libberth.so.1" in files]
    program = os.path.join(folder, "example")
    code, _, err = run(
        "cc",
        "-I",
        os.path.join(root, "usr/include"),
        os.path.join(root, "usr/share/doc/libberth-dev/examples/example.c"),
        "-L",
        library,
        "-lberth",
        "-o",
        program,
    )
    check("a program is linked with the packages", code == 0, err)
    code, out, err = run(
        python(),
        "-c",
        "import berth; print(berth.version())",
        env=dict(os.environ, LD_LIBRARY_PATH=library, PYTHONPATH=os.path.join(root, "usr/lib/python3/dist-packages")),
    )
    check("the module of the package", code == 0 and out.strip(), out + err)


harness.main(globals())
