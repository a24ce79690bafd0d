#!/usr/bin/env python3
"""Compares the binary interface of pkg/capi/berth.h with the one that was promised, pkg/capi/berth.abi.

usage: hack/capi-abi.py [--update]

Exit status 1 when they differ. A function or a constant that is added is promised by --update; anything else that
changes breaks programs that exist, and takes a new SONAME. The library itself has no debug data of types, so a library
of empty functions is made of the header; that libberth.so exports the functions of the header is the matter of
test/python_module_test.py."""
import os
import re
import subprocess
import sys
import tempfile

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
HEADER, PROMISED = "pkg/capi/berth.h", "pkg/capi/berth.abi"


def empty_functions():
    with open(HEADER) as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    made = []
    for returns, rest in re.findall(r"^(\w[\w ]*[ *]+)(berth_\w+\([^;{]*\));", text, flags=re.M):
        made.append("%s%s { return 0; }" % (returns, rest))
    assert len(made) > 20, made
    return '#include "%s"\n%s\n' % (HEADER, "\n".join(made))


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, library = os.path.join(folder, "berth.c"), os.path.join(folder, "libberth.so.1")
        with open(source, "w") as f:
            f.write(empty_functions())
        subprocess.run(
            [
                "gcc",
                "-std=c99",
                "-g",
                "-O0",
                "-fPIC",
                "-shared",
                "-I.",
                "-w",
                "-Wl,-soname,libberth.so.1",
                source,
                "-o",
                library,
            ],
            check=True,
        )
        if sys.argv[1:] == ["--update"]:
            subprocess.run(
                ["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file", PROMISED, library],
                check=True,
            )
            return 0
        done = subprocess.run(["abidiff", "--no-show-locs", PROMISED, library], capture_output=True, text=True)
        if done.returncode == 0:
            return 0
        print(
            done.stdout
            + done.stderr
            + "berth.h is not what pkg/capi/berth.abi promises (hack/capi-abi.py says what to do)"
        )
        return 1


sys.exit(main())
