#!/usr/bin/env python3
"""Tests the engine as a library: the module berth, the C ABI by an example in C, and what the library exports."""
import gzip
import os
import subprocess

import harness
from harness import ROOT, check, check_equal, run, scratch

# Builds with sanitizers have no library of their own.
BUILT = next((p for p in (os.environ["OUT"], os.path.join(ROOT, "_output")) if os.path.isdir(os.path.join(p, "python"))), None)
assert BUILT, "run make python"
LIB = os.path.join(BUILT, "lib")


def python():
    """Returns a Python that has NumPy: Debian's, if the first one in the path is another."""
    for p in ("python3", "/usr/bin/python3"):
        if subprocess.run([p, "-c", "import numpy"], capture_output=True).returncode == 0:
            return p
    raise AssertionError("no python3 has NumPy; hack/install-deps.sh python installs it")


def test_module():
    environment = dict(os.environ, PYTHONPATH=os.path.join(BUILT, "python"), PYTHONDONTWRITEBYTECODE="1")
    code, out, err = run(python(), "pkg/python/tests/test_berth.py", env=environment, timeout=600)
    check("the tests of the module", code == 0, err[-1900:])
    check_equal("what the library writes to standard output", out, "")


def test_example_in_c():
    program = scratch("example")
    code, _, err = run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", os.path.join(BUILT, "include"),
                       "pkg/capi/example.c", "-L", LIB, "-lberth", "-o", program)
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
    check_equal("exported functions that berth.h lacks", [n for n in names if n.startswith("berth_") and n + "(" not in header], [])
    code, out, err = run("readelf", "-d", os.path.join(LIB, "libberth.so.1"))
    check("its name", "Library soname: [libberth.so.1]" in out, out)


harness.main(globals())
