#!/usr/bin/env python3
"""Runs each fuzz target for a while, some at a time, and says what was found.

usage: hack/fuzz.py PROGRAM SECONDS [TARGET...]

Begins with the corpus in test/fuzz/corpus/TARGET and what earlier runs found worth keeping in OUT/fuzz-corpus. Inputs that
crash, hang (10 s) or eat memory (1 GiB) are written to OUT/fuzz-found, to be fixed and kept in the corpus.
The last line sums up. Exit status: 0 only when nothing was found."""
import concurrent.futures, os, re, subprocess, sys

program, seconds, wanted = os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
out = os.path.dirname(os.path.dirname(program))
listing = subprocess.run([program], capture_output=True, text=True, env={**os.environ, "FUZZ_TARGET": "-"})
targets = listing.stderr.split(":")[-1].split()
if not targets or set(wanted) - set(targets):
    sys.exit("fuzz: there are %s, and no %s" % (", ".join(targets), ", ".join(set(wanted) - set(targets))))
targets = sorted(wanted or targets)


def run(target):
    """Returns the executions, the coverage, and what was found."""
    corpus, found = os.path.join(out, "fuzz-corpus", target), os.path.join(out, "fuzz-found", target)
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    before = set(os.listdir(found))
    command = [program, corpus, os.path.join("test/fuzz/corpus", target), "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=1024",
               "-max_len=8192", "-dict=test/fuzz/json.dict", "-artifact_prefix=%s/" % found, "-print_final_stats=1", "-verbosity=1"]
    environment = {**os.environ, "FUZZ_TARGET": target, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1"}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment, timeout=seconds * 3 + 300)
    runs = re.findall(r"stat::number_of_executed_units: (\d+)", done.stderr) or re.findall(r"^#(\d+)", done.stderr, re.M) or ["0"]
    coverage = re.findall(r"cov: (\d+)", done.stderr) or ["0"]
    new = sorted(set(os.listdir(found)) - before)
    report = "" if done.returncode == 0 and not new else "exit %d, %s\n%s" % (done.returncode, ", ".join(os.path.join(found, n) for n in new) or "no input kept", done.stderr[-6000:])
    return int(runs[-1]), int(coverage[-1]), report


total = bad = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for target, (runs, coverage, report) in zip(targets, pool.map(run, targets)):
        total += runs
        bad += bool(report) or not runs
        print("%-18s %10d executions, coverage %6d%s" % (target, runs, coverage, ", FOUND: " + report if report else ""), flush=True)
print("fuzz: %d targets, %d executions, %d found" % (len(targets), total, bad))
sys.exit(1 if bad else 0)
