#!/usr/bin/env python3
"""Tests that a small file that unpacks to more than the available memory is an error that names it, not a crash."""
import gzip
import resource

import harness
from harness import BIN, run, scratch

LIMIT = 700 << 20


def limited(*command):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))

    return run(*command, preexec_fn=limit)


def test_a_file_that_does_not_fit():
    if limited(f"{BIN}/schedsim", "--version")[0] != 0:
        return  # sanitizers reserve terabytes of addresses
    bomb = scratch("bomb.gz")
    with gzip.open(bomb, "wb") as f:
        for _ in range(1024):
            f.write(b" " * (1 << 20))
    for command in (
        [f"{BIN}/schedsim", "run", bomb],
        [f"{BIN}/hollow-apiserver", "--insecure-port=0", f"--load={bomb}"],
    ):
        status, _, err = limited(*command)
        assert status == 1 and f"{bomb}: it does not fit into memory" in err, (command, status, err[-500:])


harness.main(globals())
