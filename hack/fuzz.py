#!/usr/bin/env python3
"""Runs each fuzz target for SECONDS, several at a time, and prints what was found.

usage: hack/fuzz.py [--standalone] [--seed=N] PROGRAM SECONDS [TARGET...]

A run begins with the corpus in test/fuzz/corpus/TARGET and with the inputs that earlier runs kept in OUT/fuzz-corpus.
Inputs that crash, take longer than 10 s or use more than 1 GiB are written to OUT/fuzz-found; fix the error and add
them to the corpus. With --seed=N each target makes its inputs in the same order every time, from the corpus in the tree
alone, and an input may take 60 s, so that the run does not fail by chance on a slow machine. With --standalone, PROGRAM
is fuzz-replay, which needs no libFuzzer. It changes the inputs of the corpus at random, measures no coverage, and keeps
only the inputs that fail. The last line sums up. The exit status is 0 only if nothing was found."""
import concurrent.futures, os, re, shutil, subprocess, sys

arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
standalone = "--standalone" in sys.argv
seed = next((a.split("=")[1] for a in sys.argv[1:] if a.startswith("--seed=")), None)
program, seconds, wanted = os.path.abspath(arguments[0]), int(arguments[1]), arguments[2:]
out = os.path.dirname(os.path.dirname(program))
if standalone:
    targets = subprocess.run([program, "--list"], capture_output=True, text=True).stdout.split()
else:
    listing = subprocess.run([program], capture_output=True, text=True, env={**os.environ, "FUZZ_TARGET": "-"})
    targets = listing.stderr.split(":")[-1].split()
if not targets or set(wanted) - set(targets):
    sys.exit("fuzz: there are %s, and no %s" % (", ".join(targets), ", ".join(set(wanted) - set(targets))))
targets = sorted(wanted or targets)


def run(target):
    """Returns the number of executions, the coverage, and the report of what was found ("" if nothing)."""
    corpus, found = os.path.join(out, "fuzz-corpus" if seed is None else "fuzz-corpus-of-seed", target), os.path.join(
        out, "fuzz-found", target
    )
    if seed is not None:
        shutil.rmtree(corpus, ignore_errors=True)
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    before = set(os.listdir(found))
    command = [
        program,
        corpus,
        os.path.join("test/fuzz/corpus", target),
        "-max_total_time=%d" % seconds,
        *(["-timeout=10"] if seed is None else ["-timeout=60", "-seed=" + seed]),
        "-rss_limit_mb=1024",
        "-max_len=8192",
        "-dict=test/fuzz/json.dict",
        "-artifact_prefix=%s/" % found,
        "-print_final_stats=1",
        "-verbosity=1",
    ]
    environment = {
        **os.environ,
        "FUZZ_TARGET": target,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    }
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", env=environment, timeout=seconds * 3 + 300
    )
    runs = (
        re.findall(r"stat::number_of_executed_units: (\d+)", done.stderr)
        or re.findall(r"^#(\d+)", done.stderr, re.M)
        or ["0"]
    )
    coverage = re.findall(r"cov: (\d+)", done.stderr) or ["0"]
    new = sorted(set(os.listdir(found)) - before)
    report = (
        ""
        if done.returncode == 0 and not new
        else "exit %d, %s\n%s"
        % (done.returncode, ", ".join(os.path.join(found, n) for n in new) or "no input kept", done.stderr[-6000:])
    )
    return int(runs[-1]), int(coverage[-1]), report


def run_standalone(target):
    """Like run(), with a coverage of 0."""
    found, corpus = os.path.join(out, "fuzz-found", target), os.path.join("test/fuzz/corpus", target)
    os.makedirs(os.path.dirname(found), exist_ok=True)
    if os.path.exists(found):
        os.remove(found)
    command = [
        program,
        "--seed=" + (seed or "1"),
        "--seconds=%d" % seconds,
        target,
        *sorted(os.path.join(corpus, n) for n in os.listdir(corpus)),
    ]
    environment = {
        **os.environ,
        "FUZZ_FOUND": found,
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1:handle_abort=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1:abort_on_error=1",
    }
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, timeout=seconds * 3 + 600
        )
    except subprocess.TimeoutExpired:
        return 0, 0, "it did not end"
    runs = re.search(r": (\d+) inputs", done.stdout)
    report = (
        ""
        if done.returncode == 0
        else "exit %d, %s\n%s"
        % (done.returncode, found if os.path.exists(found) else "no input kept", done.stderr[-6000:])
    )
    return int(runs[1]) if runs else 0, 0, report


total = bad = 0
with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
    for target, (runs, coverage, report) in zip(targets, pool.map(run_standalone if standalone else run, targets)):
        total += runs
        bad += bool(report) or not runs
        coverage_text = "" if standalone else ", coverage %6d" % coverage
        print(
            "%-18s %10d executions%s%s" % (target, runs, coverage_text, ", FOUND: " + report if report else ""),
            flush=True,
        )
print("fuzz: %d targets, %d executions, %d found" % (len(targets), total, bad))
sys.exit(1 if bad else 0)
