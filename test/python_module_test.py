#!/usr/bin/env python3
"""Tests the engine as a library: the C ABI by an example in C, what the library exports, and examples and packages of
the module berth, whose unit tests python_unit_test.py runs."""
import base64
import gzip
import hashlib
import os
import re
import zipfile

import harness
from harness import run, scratch
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
    assert code == 0, ("a program in C compiles", err)
    environment = dict(os.environ, LD_LIBRARY_PATH=LIB)
    for release, folder in (("1.10", ""), ("1.29", "placements-1.29")):
        code, out, err = run(program, "test/testdata/traces/openb.json.gz", release, env=environment)
        assert (code, err) == (0, ""), "its exit status and what is on standard error"
        with gzip.open(os.path.join("test/testdata/traces", folder, "openb.placements.gz"), "rt") as f:
            assert out == f.read(), ("placements of openb in C, release " + release, out[:300])
    code, out, err = run(program, "/nowhere.json", env=environment)
    assert code == 1 and "/nowhere.json" in err, "an error names the file"


def test_exports():
    code, out, err = run("nm", "-D", "--defined-only", os.path.join(LIB, "libberth.so.1"))
    names = [line.split()[-1].split("@")[0] for line in out.splitlines()]
    assert "berth_open" in names, ("the library exports functions", err)
    assert [n for n in names if not n.startswith(("berth_", "BERTH_"))] == [], "what it exports besides berth_*"
    with open("pkg/capi/berth.h") as f:
        header = f.read()
    assert [
        n for n in names if n.startswith("berth_") and n + "(" not in header
    ] == [], "exported functions that berth.h lacks"
    code, out, err = run("readelf", "-d", os.path.join(LIB, "libberth.so.1"))
    assert "Library soname: [libberth.so.1]" in out, "its name"


def test_abi():
    code, out, err = run("hack/capi-abi.py")
    assert code == 0, ("the binary interface is the promised one", out + err)
    with open("pkg/capi/berth.h") as f:
        declared = set(re.findall(r"\b(berth_\w+)\(", re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)))
    _, out, _ = run("nm", "-D", "--defined-only", os.path.join(LIB, "libberth.so.1"))
    assert (
        sorted(declared - {line.split()[-1].split("@")[0] for line in out.splitlines()}) == []
    ), "functions of berth.h that the library lacks"
    _, out, _ = run("readelf", "-d", os.path.join(LIB, "libberth.so.1"))
    assert "libglog" not in out, "the library has logging of its own"


def test_examples():
    folder = "plugin/examples/python"
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILT, "python"), PYTHONDONTWRITEBYTECODE="1")
    examples = sorted(f for f in os.listdir(folder) if f.endswith(".py"))
    for name in examples:
        with open(os.path.join(folder, name)) as f:
            assert len(f.readlines()) <= 80, "%s has at most 80 lines" % name
        if name == "openb.py":
            continue
        curve = scratch("curve.csv")
        code, out, err = run(
            python(), os.path.join(folder, name), "--pods", "150", "--curve", curve, env=environment, timeout=600
        )
        assert (code, err) == (0, ""), "%s: exit status and standard error" % name
        assert "placed" in out or "allocated" in out, "%s: what it says" % name
    with open(scratch("curve.csv")) as f:
        assert len(f.readlines()) == 151, "lines of a curve"


def test_wheel():
    folder = scratch("wheel")
    code, out, err = run("hack/package/wheel.py", BUILT, folder)
    assert code == 0, ("make wheel", out + err)
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
            assert (digest, int(size)) == (expected, len(data)), "RECORD of " + member
        assert len(wheel.namelist()) == len(wheel.read(record).decode().splitlines()), "members that RECORD lacks"
    code, out, err = run(
        python(),
        "-c",
        "import berth; print(berth.__file__)",
        env=dict(os.environ, PYTHONPATH=os.path.join(folder, "site")),
    )
    assert code == 0 and folder in out, ("the module of the wheel", out + err)


def test_debian_packages():
    folder = scratch("debs")
    code, out, err = run(
        "hack/package/library-debs.sh", BUILT, folder, env=dict(os.environ, DPKG_DEB_COMPRESSOR_LEVEL="0")
    )
    assert code == 0, ("the packages are made", out + err)
    packages = sorted(os.path.join(folder, f) for f in os.listdir(folder))
    assert [os.path.basename(p).split("_")[0] for p in packages] == [
        "libberth-dev",
        "libberth1",
        "python3-berth",
    ], "packages"
    code, out, err = run("lintian", "--fail-on", "error", "--allow-root", *packages, timeout=300)
    assert code == 0, ("lintian", out + err)
    root = os.path.join(folder, "root")
    for p in packages:
        code, out, err = run("dpkg-deb", "-x", p, root)
        assert code == 0, ("the files of " + p, out + err)
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
    assert code == 0, ("a program is linked with the packages", err)
    code, out, err = run(
        python(),
        "-c",
        "import berth; print(berth.version())",
        env=dict(os.environ, LD_LIBRARY_PATH=library, PYTHONPATH=os.path.join(root, "usr/lib/python3/dist-packages")),
    )
    assert code == 0 and out.strip(), ("the module of the package", out + err)


harness.main(globals())
