#!/usr/bin/env python3
"""Runs the unit test programs and the test scripts; the last line is "N passed, N failed".

usage: run-tests.py [--no-scripts] PROGRAM... -- [ARGUMENTS FOR THE PROGRAMS]

N counts the test cases of all programs, plus one for each script in test/ named *_test.sh or *_test.py.
A program that crashes, hangs or reports nothing counts as one failed.
"""
import glob, os, subprocess, sys, time
import xml.etree.ElementTree as ElementTree

PROGRAM_SECONDS, SCRIPT_SECONDS = 900, 900


def run_program(path, args):
    report = path + ".xml"
    if os.path.exists(report):
        os.remove(report)
    try:
        code = subprocess.run([path, "-r", "junit", "-o", report, *args], stdin=subprocess.DEVNULL, timeout=PROGRAM_SECONDS).returncode
    except subprocess.TimeoutExpired:
        print("%s: still running after %d s" % (path, PROGRAM_SECONDS))
        return 0, 1
    except OSError as e:
        print("%s: %s" % (path, e))
        return 0, 1
    try:
        suite = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        print("%s: exit %d and no report" % (path, code))
        return 0, 1
    cases = {}
    for case in suite.iter("testcase"):
        # A section is reported as CASE/SECTION under the same class; the case fails when any of them does.
        name = case.get("name", "").split("/")[0]
        bad = [x for x in case if x.tag in ("failure", "error")]
        cases[name] = cases.get(name, True) and not bad
        for x in bad:
            print("FAILED %s: %s\n%s" % (os.path.basename(path), case.get("name"), (x.get("message") or "") + (x.text or "")))
    passed = sum(cases.values())
    failed = len(cases) - passed
    if not cases or (code != 0 and failed == 0):
        print("%s: exit %d with %d test cases passed" % (path, code, passed))
        failed += 1
    print("%s: %d passed, %d failed" % (os.path.basename(path), passed, failed), flush=True)
    return passed, failed


def run_script(path):
    start = time.monotonic()
    try:
        done = subprocess.run([path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SCRIPT_SECONDS)
        output, ok = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired as e:
        output, ok = (e.stdout or b"") + b"\n(still running after %d s)\n" % SCRIPT_SECONDS, False
    except OSError as e:
        output, ok = str(e).encode(), False
    print("%s: %s (%.0f s)" % (path, "passed" if ok else "FAILED", time.monotonic() - start), flush=True)
    if not ok:
        print(output.decode(errors="replace"), flush=True)
    return (1, 0) if ok else (0, 1)


def main(argv):
    split = argv.index("--") if "--" in argv else len(argv)
    programs, args = argv[:split], argv[split + 1:]
    scripts = "--no-scripts" not in programs
    programs = [p for p in programs if p != "--no-scripts"]
    results = [run_program(p, args) for p in programs]
    if scripts:
        results += [run_script(s) for s in sorted(glob.glob("test/**/*_test.sh", recursive=True) + glob.glob("test/**/*_test.py", recursive=True))]
    passed, failed = sum(r[0] for r in results), sum(r[1] for r in results)
    print("%d passed, %d failed" % (passed, failed), flush=True)
    return 1 if failed or not passed else 0


sys.exit(main(sys.argv[1:]))
