#!/usr/bin/env python3
"""A small file that unpacks to more than there is memory is an error that names it, not a crash."""
import gzip
import os
import resource
import subprocess
import tempfile

BIN = os.path.join(os.environ.get("OUT", "_output"), "bin")
LIMIT = 700 << 20
# Sanitizers reserve terabytes of addresses.
if subprocess.run([f"{BIN}/schedsim", "--version"], capture_output=True, timeout=60,
                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))).returncode == 0:
    with tempfile.TemporaryDirectory() as directory:
        bomb = os.path.join(directory, "bomb.gz")
        with gzip.open(bomb, "wb") as f:
            for _ in range(1024):
                f.write(b" " * (1 << 20))
        for command in ([f"{BIN}/schedsim", "run", bomb], [f"{BIN}/hollow-apiserver", "--insecure-port=0", f"--load={bomb}"]):
            p = subprocess.run(command, capture_output=True, text=True, timeout=120,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)))
            assert p.returncode == 1, (command, p)
            assert f"{bomb}: it does not fit into memory" in p.stderr, (command, p.stderr[-500:])
print("all agrees")
