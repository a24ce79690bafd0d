#!/usr/bin/env python3
"""Runs the unit tests of the module berth: wrong uses, callbacks that fail, and what comes out. With the address
and undefined behaviour sanitizers they check the library, which Python loads, too."""
import os
import subprocess

import harness
from harness import run
from harness.library import library_build, python, sanitizer

BUILT = library_build(sanitized=True)


def environment():
    """Returns the variables with which Python finds the module and, if its library needs it, the sanitizer."""
    variables = dict(os.environ, PYTHONPATH=os.path.join(BUILT, "python"), PYTHONDONTWRITEBYTECODE="1")
    library = sanitizer(BUILT)
    if library:
        # The sanitizer comes before all other libraries, and finds __cxa_throw in that of C++. Python's own allocator
        # would hide objects from it, and what Python itself leaves allocated at its end is no leak of ours.
        name = ["c++", "-print-file-name=libstdc++.so"]
        standard = subprocess.run(name, capture_output=True, text=True, check=True).stdout.strip()
        options = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "detect_leaks=0")))
        variables.update(LD_PRELOAD=library + " " + standard, PYTHONMALLOC="malloc", ASAN_OPTIONS=options)
    return variables


def test_module():
    for tests in ("test_berth.py", "test_wrong_use.py"):
        code, out, err = run(python(), "pkg/python/tests/" + tests, env=environment(), timeout=600)
        assert code == 0, ("the tests of the module in " + tests, err[-1900:])
        assert "\nRan " in err, ("unittest says how many tests ran in " + tests, err[-1900:])
        assert out == "", "what the library writes to standard output"


harness.main(globals())
