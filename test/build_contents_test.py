#!/usr/bin/env python3
"""Tests that code which only tests use is in no program, that its folders share no unit of compilation with others, and
that a source which changes leaves its unit."""
import os
import shutil
import subprocess
import tempfile

import harness
from harness import BIN, ROOT

TESTS_ONLY = ("reference", "testing")


def units(root, *size):
    listed = subprocess.run(
        [os.path.join(root, "hack", "units.sh"), *size], check=True, stdout=subprocess.PIPE
    ).stdout.decode()
    pairs = [line.split("=") for line in listed.split("\n") if line]
    return {unit: {path for path, u in pairs if u == unit} for _, unit in pairs}


def folder_of_tests(path):
    """Returns the folder up to "reference" or "testing", or nothing for code of the product."""
    parts = path.split("/")
    return next(("/".join(parts[: i + 1]) for i, part in enumerate(parts) if part in TESTS_ONLY), "")


def test_no_program_has_code_of_tests():
    for program in ("kube-scheduler", "schedsim", "hollow-apiserver"):
        symbols = subprocess.run(
            ["nm", "-C", os.path.join(BIN, program)], check=True, stdout=subprocess.PIPE
        ).stdout.decode()
        assert "berth::" in symbols, "%s has symbols" % program
        found = [
            line
            for line in symbols.split("\n")
            if any("::%s::" % folder in line for folder in TESTS_ONLY) and "berth::" in line
        ]
        assert not found, ("%s has no symbols of tests" % program, found[:5])


def test_no_unit_mixes_code_of_tests_with_the_product():
    for size in ("12", "30"):
        for unit, sources in units(ROOT, size).items():
            folders = {folder_of_tests(s) for s in sources}
            assert len(folders) == 1, ("%s of %s has one kind of folder" % (unit, size), sources)


def make_tree(root, names):
    """Makes a tree with hack/units.sh and these sources of pkg/x."""
    os.makedirs(root + "/hack")
    shutil.copy(os.path.join(ROOT, "hack", "units.sh"), root + "/hack")
    for folder in ("cmd", "plugin", "test"):
        os.makedirs(os.path.join(root, folder))
    for name in names:
        path = os.path.join(root, "pkg/x", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").close()


def test_sources_with_equal_names_share_no_unit():
    with tempfile.TemporaryDirectory() as root:
        names = ["algorithm/a.cc", "algorithm/a_plugin.cc", "b_plugin.cc", "cache/describe_with_x.cc", "cache/b.cc"]
        make_tree(root, [*names, "reference/c.cc", "b_test.cc"])
        shared = sorted(sorted(s[len("pkg/x/") :] for s in sources) for sources in units(root, "12").values())
        assert shared == [
            ["algorithm/a.cc", "b_plugin.cc", "cache/b.cc"],
            ["algorithm/a_plugin.cc"],
            ["b_test.cc"],
            ["cache/describe_with_x.cc"],
            ["reference/c.cc"],
        ], "the units"


def test_sources_that_change_leave_their_units():
    with tempfile.TemporaryDirectory() as root:
        names = [letter + ".cc" for letter in "abcdefghijkl"]
        make_tree(root, names)
        objects = os.path.join(root, "obj/pkg/x")
        os.makedirs(objects)

        def shown(*changed):
            """Compiles everything, changes these sources, and returns the units."""
            for name in names:
                os.utime(f"{root}/pkg/x/{name}", (1000, 1000))
            for unit in units(root, "12", root + "/obj", root + "/notes/changed"):
                open(os.path.join(root, "obj", unit + ".o"), "w").close()
                os.utime(os.path.join(root, "obj", unit + ".o"), (2000, 2000))
            for letter in changed:
                os.utime(f"{root}/pkg/x/{letter}.cc", (3000, 3000))
            listed = units(root, "12", root + "/obj", root + "/notes/changed")
            return {u[6:]: "".join(sorted(s[6] for s in sources)) for u, sources in listed.items()}

        assert shown() == {"unit-1": "abcdefghijkl"}
        assert shown("c") == {"unit-1": "ab", "c": "c", "unit-1.4": "defghijkl"}
        assert shown("c") == {"unit-1": "ab", "c": "c", "unit-1.4": "defghijkl"}, "it has left already"
        before = units(root, "12", root + "/obj", root + "/notes/changed")
        os.utime(root + "/pkg/x/k.cc", (4000, 4000))
        meanwhile = units(root, "12", root + "/obj", root + "/notes/changed", "found")
        assert meanwhile == before, "what a make that another one has started builds"
        assert shown("a", "g") == {
            "a": "a",
            "unit-1.2": "b",
            "c": "c",
            "unit-1.4": "def",
            "g": "g",
            "unit-1.8": "hijkl",
        }
        assert shown(*"bdefhijkl") == {"unit-1": "abcdefghijkl"}, "many at once"


harness.main(globals())
