"""The main function of a test script, waiting, scratch files, and processes that end with the test."""
import errno
import inspect
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from harness import assertions

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Scripts run in the project's root, wherever they were started.
OUT = os.environ["OUT"] = os.path.abspath(os.environ.get("OUT") or os.path.join(ROOT, "_output"))
os.chdir(ROOT)
BIN = os.path.join(OUT, "bin")
TLS = os.path.join(
    ROOT, "test", "testdata", "hollow-tls"
)  # certificates of an authority, a server, a client and a stranger
DEADLINE = 60  # seconds: for anything that should happen soon
# For programs built with SAN=tsan.
os.environ["TSAN_OPTIONS"] = ":".join(
    filter(
        None,
        [
            os.environ.get("TSAN_OPTIONS"),
            "report_thread_leaks=0",
            "suppressions=" + os.path.join(ROOT, "test", "testdata", "daemon.tsan.supp"),
        ],
    )
)
_failed = []
_processes = []
_ports = []  # what keeps other tests from using the ports of this one
_scratch = tempfile.TemporaryDirectory(prefix="berth-test-")


def scratch(name):
    """Returns the path of a file of that name in a folder that is removed when the script ends."""
    return os.path.join(_scratch.name, name)


def write_file(name, content):
    """Writes a text, bytes, or an object as JSON into a scratch file, and returns its path."""
    path = scratch(name)
    if not isinstance(content, (bytes, str)):
        content = json.dumps(content)
    with open(path, "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return path


def start(*command, **how):
    """Starts a process that is killed when the test function ends."""
    p = subprocess.Popen(command, **how)
    _processes.append(p)
    return p


def run(*command, timeout=120, **how):
    """Runs a program to its end; returns exit status, standard output and standard error, all of them as text."""
    r = subprocess.run(command, capture_output=True, text=True, timeout=timeout, **how)
    return r.returncode, r.stdout, r.stderr


def stop_all():
    """Kills what start() has started."""
    while _processes:
        p = _processes.pop()
        if p.poll() is None:
            p.kill()
        p.wait()


def free_port():
    """Returns a port that nobody listens on, and that no other test gets while this script runs. It is none that the
    system gives to connections or to listeners that ask for any port; such a port could be taken again before a program
    listens on it. Nor is it above 65335, which 1.13 and 1.19 refuse.
    """
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        low, high = map(int, f.read().split())
    for port in random.sample([p for p in range(10000, 65336) if not low <= p <= high], 1000):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0berth-test-port-{port}")  # an abstract socket, which ends with the process
            # It is bound, which fails while somebody listens there, but does not listen. Another thread may be starting
            # a program, which holds a copy of the socket for a moment; a copy of one that listens would keep the port
            # from its user.
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError as e:
            claim.close()
            if e.errno != errno.EADDRINUSE:
                raise
            continue
        _ports.append(claim)
        return port
    raise AssertionError("no port is free")


def wait_until(what, function, *args, equals=None, at_least=None, containing=None, deadline=DEADLINE, **kwargs):
    """Polls until function(*args, **kwargs) returns something true, or the value `equals`, or one that is not smaller
    than `at_least`, or one that contains `containing`, and returns that. Raises AssertionError after the deadline, in
    seconds, with what was returned last and what was awaited. A number behind a function without parameters is the
    deadline."""
    if len(args) == 1 and isinstance(args[0], (int, float)) and not inspect.signature(function).parameters:
        deadline, args = args[0], ()
    end = time.monotonic() + deadline
    while True:
        value = function(*args, **kwargs)
        if equals is not None:
            held, awaited = value == equals, f"{equals!r}"
        elif at_least is not None:
            held, awaited = value >= at_least, f"at least {at_least!r}"
        elif containing is not None:
            held, awaited = containing in value, f"what contains {containing!r}"
        else:
            held, awaited = value, "anything that is true"
        if held:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what}", f"seen: {value!r}", f"awaited: {awaited}")
        time.sleep(0.02)


def _logs(since=0.0):
    """Yields name and text of each log in the scratch folder that a program has written to since then (seconds of
    time.time())."""
    for name in sorted(os.listdir(_scratch.name)):
        if name.endswith(".log") and os.stat(scratch(name)).st_mtime >= since:
            with open(scratch(name), errors="replace") as f:
                yield name, f.read()


def _check_sanitizers():
    """Raises AssertionError when a program of SAN=asan or SAN=tsan has written what it found among its log lines."""
    for name, text in _logs():
        found = re.search(r"^(==\d+==ERROR: |=+\nWARNING: ThreadSanitizer|SUMMARY: )", text, re.M)
        assert not found, f"{name}:\n{text[found.start():found.start() + 5000]}"


def _run_test(name, test):
    try:
        test()
        return True
    except AssertionError as e:
        said = assertions.failure(e)
    except Exception:  # noqa: BLE001 - whatever it is, it is a failure of this test
        said = traceback.format_exc()
    _failed.append(name)
    print(f"FAILED: {name}: {said}", flush=True)
    return False


def main(functions, at_once=False, afterwards=None):
    """Runs the test functions among these (a script's globals()), or those that the command line names, and ends the
    process.

    at_once=True runs all at the same time, for tests that mostly wait. `afterwards` is a check of what all tests have
    done together; it does not run when the command line names some.
    """
    assertions.keep_all_values(functions)
    tests = {name: f for name, f in functions.items() if name.startswith("test_") and callable(f)}
    chosen = sys.argv[1:] or list(tests)
    unknown = [name for name in chosen if name not in tests]
    if unknown or not tests:
        sys.exit("%s: there is no test %s; there are: %s" % (sys.argv[0], ", ".join(unknown), " ".join(tests)))
    if at_once:
        threads = [threading.Thread(target=_run_test, args=(name, tests[name])) for name in chosen]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    else:
        for name in chosen:
            began = time.time()
            passed = _run_test(name, tests[name]) and _run_test(name, _check_sanitizers)
            stop_all()
            if not passed:
                print(
                    "".join("---- the end of %s ----\n%s\n" % (log, text[-3000:]) for log, text in _logs(began)),
                    flush=True,
                )
    stop_all()
    _run_test("sanitizers", _check_sanitizers)
    if afterwards and not sys.argv[1:]:
        _run_test(afterwards.__name__, afterwards)
    sys.exit(1 if _failed else 0)
