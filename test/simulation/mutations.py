#!/usr/bin/env python3
"""Proves that the simulation finds mistakes: puts one after another into a copy of the sources, builds it, and runs
seeds until one fails.

usage: test/simulation/mutations.py [--seconds=60] [--folder=DIR] [NUMBER...]

A mistake that is not found within --seconds of CPU time is reported. Exit status 0 only when all are found. DIR keeps
what was built, so that a second run is faster; default: a temporary folder."""
import os, shutil, subprocess, sys, tempfile, time

# What is broken; file; the text, which must occur once; what replaces it.
MUTATIONS = [
    (
        "a bind whose answer was lost is given up at once",
        "pkg/scheduler/scheduler_attempt.cc",
        "  if (settled) return BindFailed(",
        "  (void)settled;\n  return BindFailed(",
    ),
    (
        "a lost answer is taken for a refusal",
        "pkg/scheduler/scheduler_attempt.cc",
        "a.kind == Answer::Kind::kServerError || a.kind == Answer::Kind::kLost ||",
        "a.kind == Answer::Kind::kServerError ||",
    ),
    (
        "a server error is taken for a refusal",
        "pkg/scheduler/scheduler_attempt.cc",
        "a.kind == Answer::Kind::kServerError || a.kind == Answer::Kind::kLost ||",
        "a.kind == Answer::Kind::kLost ||",
    ),
    (
        "a pod whose bind failed stays assumed",
        "pkg/scheduler/cache/cache.cc",
        "  return RemovePod(pod);\n}",
        "  return absl::OkStatus();\n}",
    ),
    (
        "assumed pods expire at once",
        "pkg/scheduler/cache/cache.cc",
        "kAssumedPodTtl = absl::Seconds(30)",
        "kAssumedPodTtl = absl::Milliseconds(1)",
    ),
    (
        "a lease is taken from its holder",
        "pkg/client/leaderelection.cc",
        "observed_at_ + options_.lease > steady",
        "observed_at_ + options_.retry > steady",
    ),
    (
        "a bind that the watch shows first is forgotten",
        "pkg/scheduler/scheduler.cc",
        "      p->confirmed = true;  // BindAnswered does the rest\n",
        "      s_.Erase(*p);\n",
    ),
    (
        "a node that is removed stays",
        "pkg/scheduler/scheduler.cc",
        "    s_.cache->RemoveNode(c.before->meta.name);\n",
        "    ;\n",
    ),
    (
        "a node that changes is not looked at",
        "pkg/scheduler/scheduler.cc",
        "c.before != nullptr && c.before->SchedulesLike(*c.after)",
        "c.before != nullptr",
    ),
    (
        "a deletion that a watch shows is ignored",
        "pkg/client/informer.h",
        "    if (change == Change::kDeleted) {",
        "    if (false) {",
    ),
    ("what a list no longer has stays", "pkg/client/informer.h", "if (s.listed != list_)", "if (false)"),
    (
        "a stale list is believed",
        "pkg/client/reflector.cc",
        "return !consistent_ && version < newest_;",
        "return false && version < newest_;",
    ),
    (
        "a pod that changed while it was read again is lost",
        "pkg/scheduler/after_failure_refetch.cc",
        "  if (changed) {\n    s_.Enqueue(p);",
        "  if (changed) {\n    ;",
    ),
    (
        "a pod that changed in its back-off is lost",
        "pkg/scheduler/scheduler.cc",
        "      if (changed) s_.TryAgainNow(*p);\n",
        "      ;\n",
    ),
    (
        "one pod too many fits",
        "pkg/scheduler/algorithm/noderesources/pod_fits_resources.cc",
        "    if (c.pod_count[row] + 1 > c.alloc_pods[row]) return false;",
        "    if (c.pod_count[row] > c.alloc_pods[row]) return false;",
    ),
    (
        "host ports never conflict",
        "pkg/scheduler/cache/cache.cc",
        "return used.port == p.port && used.protocol",
        "return used.port == -1 && used.protocol",
    ),
    (
        "a victim may be as important as the preemptor",
        "pkg/scheduler/core/preemption.cc",
        "if (p.info->priority < limit)",
        "if (p.info->priority <= limit)",
    ),
    ("the uid of a pod to bind is not sent", "pkg/client/requests.cc", "  if (!b.uid.empty()) {", "  if (false) {"),
    (
        "a pod that was replaced under its name is kept",
        "pkg/scheduler/scheduler.cc",
        "(c.after == nullptr || c.after->meta.uid != c.before->meta.uid)",
        "(c.after == nullptr)",
    ),
    (
        "5xx answers are taken for refusals by the client",
        "cmd/kube-scheduler/api_actions.cc",
        "e.code >= 500",
        "e.code >= 5000",
    ),
    (
        "a broken connection is taken for a refusal by the client",
        "cmd/kube-scheduler/api_actions.cc",
        "if (e.maybe_done) a.kind",
        "if (false) a.kind",
    ),
    (
        "the condition of a pod is not written",
        "pkg/scheduler/after_failure_refetch.cc",
        "  s_.actions->UpdatePodCondition(pending_.Ask(RequestKind::kCondition, &p), p.pod, c);",
        "  ConditionDone(p);",
    ),
    (
        "a budget that allows nothing is no budget",
        "pkg/scheduler/core/preemption.cc",
        "budget->disruptions_allowed <= 0;",
        "budget->disruptions_allowed < 0;",
    ),
    (
        "a pod does not wait for its claims",
        "pkg/scheduler/claim_writes_before_binding.cc",
        "  if (!completed) return;\n",
        "  (void)completed;\n",
    ),
    (
        "a volume stays reserved when a watch shows that it is free",
        "pkg/scheduler/claim_writes_before_assuming.cc",
        "    if (s_.volume_binder != nullptr) s_.volume_binder->VolumeChanged((c.after ? c.after : "
        "c.before)->meta.name);\n",
        "    (void)c;\n",
    ),
    (
        "a claim that is bound does not wake its pod",
        "pkg/scheduler/claim_writes_before_binding.cc",
        "      if (p->place == Place::kWritingVolumes) LookAtClaims(*p);",
        "      (void)p;",
    ),
    (
        "what is left of a torn event is read before the next watch",
        "pkg/client/reflector.cc",
        "    values_ = ValueFramer();\n",
        "",
    ),
]


def build(folder):
    done = subprocess.run(["make", "_output/test/simulate"], cwd=folder, capture_output=True, text=True)
    return None if done.returncode == 0 else done.stdout + done.stderr


def found_in(folder, seconds):
    """Returns what the simulation says, or None."""
    command = ["_output/test/simulate", "--seeds=1..1000000", "--seconds=%d" % seconds, "--shrink=0", "--stop"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60 * seconds)
    if done.returncode == 0:
        return None
    lines = [l for l in done.stdout.splitlines() if l.startswith("seed ")]
    return lines[0][:150] if lines else "exit %d: %s" % (done.returncode, done.stderr.strip().splitlines()[-1:] or "")


def main(args):
    seconds = next((int(a.split("=")[1]) for a in args if a.startswith("--seconds=")), 60)
    folder = next((a.split("=", 1)[1] for a in args if a.startswith("--folder=")), None)
    wanted = [int(a) for a in args if a.isdigit()] or range(1, len(MUTATIONS) + 1)
    keep = folder is not None
    folder = folder or tempfile.mkdtemp(prefix="mutations-")
    missed = 0
    try:
        if not os.path.exists(os.path.join(folder, "Makefile")):
            shutil.copytree(".", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("_output*", ".git"))
        problem = build(folder)
        if problem:
            sys.exit("the sources do not build without a mistake:\n" + problem[-3000:])
        for number in wanted:
            what, path, old, new = MUTATIONS[number - 1]
            path = os.path.join(folder, path)
            with open(path) as f:
                right = f.read()
            if right.count(old) != 1:
                print("%2d %s: its text occurs %d times in %s" % (number, what, right.count(old), path), flush=True)
                missed += 1
                continue
            try:
                with open(path, "w") as f:
                    f.write(right.replace(old, new))
                problem = build(folder)
                start = time.monotonic()
                found = None if problem else found_in(folder, seconds)
            finally:
                with open(path, "w") as f:
                    f.write(right)
            missed += not found
            print(
                "%2d %s: %s"
                % (
                    number,
                    what,
                    "does not build: " + problem[-1000:]
                    if problem
                    else "found after %.0f s: %s" % (time.monotonic() - start, found)
                    if found
                    else "NOT FOUND",
                ),
                flush=True,
            )
    finally:
        if not keep:
            shutil.rmtree(folder)
    print("mutations: %d tried, %d not found" % (len(wanted), missed))
    return 1 if missed else 0


sys.exit(main(sys.argv[1:]))
