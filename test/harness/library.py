"""libberth.so and the Python module over it."""
import os
import subprocess

from harness.running import ROOT


def sanitizer(build):
    """Returns the path of the address sanitizer if the library of this build was made with it, otherwise None."""
    library = os.path.join(build, "lib", "libberth.so.1")
    listed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout.split()
    return next((word for word in listed if word.startswith("/") and "libasan" in word), None)


def library_build(sanitized=False):
    """Returns the folder of the build whose library and module are tested: $OUT, or _output if $OUT has none. Builds
    with sanitizers are left out unless `sanitized`."""
    for build in (os.environ["OUT"], os.path.join(ROOT, "_output")):
        if os.path.isdir(os.path.join(build, "python")) and (sanitized or not sanitizer(build)):
            return build
    raise AssertionError("there is no library; run make python")


def python():
    """Returns a Python that has NumPy: Debian's, if the first one in the path is another."""
    for p in ("python3", "/usr/bin/python3"):
        if subprocess.run([p, "-c", "import numpy"], capture_output=True).returncode == 0:
            return p
    raise AssertionError("no python3 has NumPy; hack/install-deps.sh python installs it")
