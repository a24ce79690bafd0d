#!/usr/bin/env python3
"""Runs the unit test programs and the test scripts; the last line is "N passed, N failed".

usage: run-tests.py [--scripts=LIST] PROGRAM... -- [ARGUMENTS FOR THE PROGRAMS]

N counts the test cases of all programs, plus one for each script in test/ named *_test.sh or *_test.py, or those of LIST,
which blanks separate and which may be empty.
A program that crashes, hangs or reports nothing counts as one failed. Whatever a program or script leaves running in its
session is killed when it ends.
"""
import glob, os, signal, subprocess, sys, tempfile, time
import xml.etree.ElementTree as ElementTree

SECONDS = float(os.environ.get("TEST_SECONDS", "900"))  # for each program or script


def run(command, **kwargs):
    """Exit status, or None after SECONDS. An OSError when it cannot be started."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **kwargs)
    try:
        return process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def describe(code):
    return "killed by %s" % signal.Signals(-code).name if code < 0 else "exit %d" % code


def failures(case):
    for e in case.iter():
        text = " ".join(" ".join(t.split()) for t in e.itertext() if t.strip())
        where = "%s:%s: " % (e.get("filename"), e.get("line")) if e.get("filename") else ""
        if e.tag == "Expression" and e.get("success") == "false":
            yield where + "%s(%s)" % (e.get("type"), text)
        elif e.tag in ("Failure", "FatalErrorCondition", "Exception", "Info"):
            yield where + "%s: %s" % (e.tag, text)


def run_program(path, args):
    report = path + ".xml"
    if os.path.exists(report):
        os.remove(report)
    name = os.path.basename(path)
    try:
        code = run([path, "-r", "xml", "-o", report, *args])
    except OSError as e:
        print("%s: %s" % (name, e))
        return 0, 1
    if code is None:
        print("%s: still running after %g s" % (name, SECONDS))
        return 0, 1
    try:
        cases = list(ElementTree.parse(report).getroot().iter("TestCase"))
    except (OSError, ElementTree.ParseError):
        print("%s: %s and no report" % (name, describe(code)))
        return 0, 1
    passed = failed = 0
    for case in cases:
        result = case.find("OverallResult")
        if result is not None and result.get("success") == "true":
            passed += 1
            continue
        failed += 1
        print("FAILED %s: %s" % (name, case.get("name")))
        for line in failures(case):
            print("  " + line)
    if not cases or (code != 0 and failed == 0):
        print("%s: %s with %d test cases passed" % (name, describe(code), passed))
        failed += 1
    print("%s: %d passed, %d failed" % (name, passed, failed), flush=True)
    return passed, failed


def run_script(path):
    start = time.monotonic()
    with tempfile.TemporaryFile() as output:
        try:
            code = run([path], stdout=output, stderr=subprocess.STDOUT)
            problem = "" if code == 0 else "still running after %g s" % SECONDS if code is None else describe(code)
        except OSError as e:
            problem = str(e)
        print("%s: %s (%.0f s)" % (path, "FAILED, " + problem if problem else "passed", time.monotonic() - start), flush=True)
        if problem:
            output.seek(0)
            print(output.read().decode(errors="replace"), flush=True)
    return (0, 1) if problem else (1, 0)


def main(argv):
    split = argv.index("--") if "--" in argv else len(argv)
    programs, args = argv[:split], argv[split + 1:]
    only = [p.split("=", 1)[1].split() for p in programs if p.startswith("--scripts=")]
    programs = [p for p in programs if not p.startswith("--scripts=")]
    found = only[-1] if only else sorted(glob.glob("test/**/*_test.sh", recursive=True) +
                                         glob.glob("test/**/*_test.py", recursive=True))
    results = [run_program(p, args) for p in programs] + [run_script(s) for s in found]
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
