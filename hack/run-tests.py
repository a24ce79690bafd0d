#!/usr/bin/env python3
"""Runs the unit test programs and the test scripts; the last line is "N passed, N failed".

usage: run-tests.py [--scripts=LIST] PROGRAM... -- [ARGUMENTS FOR THE PROGRAMS]

N counts the test cases of all programs, plus one for each script in test/ named *_test.sh or *_test.py, or those of
LIST, which blanks separate and which may be empty. A program that crashes, hangs or reports nothing counts as one
failed.

TEST_JOBS (default: three times the number of processors, at least 7, as many tests mostly wait) programs and scripts
run at a time, those that took longest in the last run first, so that none of them is left alone at the end. Before
there was a run, the times in test/long-tests.json count. Each prints one line when it ends; what it wrote is shown only
when it failed, and once more before the last line, shortened to its end. Whatever a program or script leaves running in
its session is killed when it ends. After TEST_SECONDS (default 900) it is killed and has failed.
"""
import concurrent.futures
import functools
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree

SECONDS = float(os.environ.get("TEST_SECONDS", "900"))
JOBS = int(os.environ.get("TEST_JOBS") or max(7, 3 * (os.cpu_count() or 1)))
LONG_TESTS = os.path.join(
    "test", "long-tests.json"
)  # seconds by name, as in test-seconds.json, of the tests that take longest
LOG_BYTES = 200_000  # the number of bytes at the end of a failed test's output that are shown
DEAREST = 20  # the number of tests that are listed with their CPU time
LAST_LINES = 12  # the number of lines at the end of it that are shown once more when all tests have ended

running = set()
cpu = threading.local()  # cpu.seconds: what the programs that this thread has run took, with what they started
lock = threading.Lock()  # guards `running` and standard output


def end_session(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run(command, output):
    """Returns the exit status, or None if the time is over. Raises OSError if the command cannot be started."""
    with lock:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        running.add(process)
    late = threading.Event()

    def end_late():
        late.set()
        end_session(process)

    timer = threading.Timer(SECONDS, end_late)
    timer.start()
    try:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        cpu.seconds += usage.ru_utime + usage.ru_stime
        return None if late.is_set() else process.returncode
    finally:
        timer.cancel()
        end_session(process)
        with lock:
            running.discard(process)


def describe(code):
    if code is None:
        return "still running after %g s" % SECONDS
    return "killed by %s" % signal.Signals(-code).name if code < 0 else "exit %d" % code


def failures(case):
    """Yields a line for each failed expression of a Catch2 test case."""
    for e in case.iter():
        text = " ".join(" ".join(t.split()) for t in e.itertext() if t.strip())
        where = "%s:%s: " % (e.get("filename"), e.get("line")) if e.get("filename") else ""
        if e.tag == "Expression" and e.get("success") == "false":
            yield where + "%s(%s)" % (e.get("type"), text)
        elif e.tag in ("Failure", "FatalErrorCondition", "Exception", "Info"):
            yield where + "%s: %s" % (e.tag, text)


def read_report(report, code):
    """Returns what a unit test program reported: passed, failed, and the lines that say what failed."""
    try:
        cases = list(ElementTree.parse(report).getroot().iter("TestCase"))
    except (OSError, ElementTree.ParseError):
        return 0, 1, ["%s and no report" % describe(code)]
    passed, lines, failed = 0, [], 0
    for case in cases:
        result = case.find("OverallResult")
        if result is not None and result.get("success") == "true":
            passed += 1
            continue
        failed += 1
        lines.append("FAILED: %s" % case.get("name"))
        lines += ["  " + line for line in failures(case)]
    if not cases or (code != 0 and failed == 0):
        lines.append("%s with %d test cases passed" % (describe(code), passed))
        failed += 1
    return passed, failed, lines


def run_program(path, args, output):
    report = path + ".xml"
    if os.path.exists(report):
        os.remove(report)
    code = run([path, "-r", "xml", "-o", report, *args], output)
    if code is None:
        return 0, 1, [describe(code)]
    return read_report(report, code)


def run_script(path, output):
    code = run([path], output)
    return (1, 0, []) if code == 0 else (0, 1, ["FAILED, " + describe(code)])


def run_test(name, work):
    """Runs one program or script and prints its line. Returns passed, failed, seconds, CPU seconds, and lines that say
    how it failed."""
    start, cpu.seconds = time.monotonic(), 0.0
    with tempfile.TemporaryFile() as output:
        try:
            passed, failed, lines = work(output)
        except OSError as e:
            passed, failed, lines = 0, 1, [str(e)]
        seconds = time.monotonic() - start
        log = b""
        if failed:
            end = output.seek(0, os.SEEK_END)
            output.seek(max(0, end - LOG_BYTES))
            log = output.read()
    with lock:
        print(
            "%s: %s (%.0f s)"
            % (name, "%d passed, %d failed" % (passed, failed) if failed else "%d passed" % passed, seconds)
        )
        for line in lines:
            print("  %s: %s" % (name, line))
        if log:
            print(
                "  ---- what %s wrote ----\n%s\n  ---- end of %s ----"
                % (name, log.decode(errors="replace").rstrip("\n"), name)
            )
        sys.stdout.flush()
    return (
        passed,
        failed,
        seconds,
        cpu.seconds,
        lines + log.decode(errors="replace").rstrip("\n").split("\n")[-LAST_LINES:],
    )


def read_seconds(path):
    """Returns what the file says how long tests took, or nothing if it is missing or damaged."""
    try:
        with open(path) as f:
            return {str(name): float(seconds) for name, seconds in json.load(f).items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def stop(number, frame):
    for process in list(running):
        end_session(process)
    os._exit(128 + number)


def cpu_seconds(result):
    return result[1][3]


def main(argv):
    split = argv.index("--") if "--" in argv else len(argv)
    programs, args = argv[:split], argv[split + 1 :]
    only = [p.split("=", 1)[1].split() for p in programs if p.startswith("--scripts=")]
    programs = [p for p in programs if not p.startswith("--scripts=")]
    scripts = (
        only[-1]
        if only
        else sorted(glob.glob("test/**/*_test.sh", recursive=True) + glob.glob("test/**/*_test.py", recursive=True))
    )
    tests = [(os.path.basename(p), functools.partial(run_program, p, args)) for p in programs]
    tests += [(s, functools.partial(run_script, s)) for s in scripts]
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, stop)
    durations = os.path.join(
        os.path.dirname(programs[0]) if programs else os.environ.get("OUT") or ".", "test-seconds.json"
    )
    seconds = read_seconds(durations)
    expected = {**read_seconds(LONG_TESTS), **seconds}
    tests.sort(key=lambda t: -expected.get(t[0], 0))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = dict(zip([t[0] for t in tests], pool.map(lambda t: run_test(*t), tests)))
    seconds.update({name: round(r[2], 1) for name, r in results.items()})
    try:
        with open(durations, "w") as f:
            json.dump(seconds, f, indent=0, sort_keys=True)
    except OSError as e:
        print(
            "run-tests: %s: %s; the next run does not know what takes long" % (durations, e.strerror), file=sys.stderr
        )
    passed, failed = sum(r[0] for r in results.values()), sum(r[1] for r in results.values())
    if len(results) > DEAREST:
        print("%.0f s of CPU time, most of it in" % sum(r[3] for r in results.values()))
        for name, r in sorted(results.items(), key=cpu_seconds, reverse=True)[:DEAREST]:
            print("%7.1f s %s" % (r[3], name))
    for name, r in results.items():
        for line in filter(None, r[4] if r[1] else ()):
            print("FAILED %s: %s" % (name, line))
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
