#!/usr/bin/env bash
# Two results of hack/bench.py side by side, or two builds measured now.
# usage: bench-compare.sh OLD NEW [arguments of bench.py ...]   (each a results.json, or an output folder like _output)
# Of two folders with bin/bench, google-benchmark's are compared too: those that KERNELS, a regex, leaves (all).
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
cd "$(dirname "$0")/.."
old=$1 new=$2
shift 2
results() {
  if [ -d "$1" ]; then
    OUT=$1 hack/bench.py -o "$1/bench/compare.json" "${@:2}" >/dev/null
    echo "$1/bench/compare.json"
  elif [ -f "$1" ]; then
    echo "$1"
  else
    echo "bench-compare: $1: neither a file nor a folder" >&2
    exit 1
  fi
}
old_json=$(results "$old" "$@")
new_json=$(results "$new" "$@")
kernels=()
if [ -x "$old/bin/bench" ] && [ -x "$new/bin/bench" ]; then
  for d in "$old" "$new"; do
    "$d/bin/bench" --benchmark_filter="${KERNELS:-.}" --benchmark_repetitions=5 --benchmark_format=json >"$d/bench/compare-kernels.json" 2>/dev/null
    kernels+=("$d/bench/compare-kernels.json")
  done
fi
python3 - "$old_json" "$new_json" "${kernels[@]}" <<'PY'
import collections, json, statistics, sys
old, new = (json.load(open(p))["schedsim"] for p in sys.argv[1:3])
print("%-12s %14s %14s %9s" % ("work", "old us", "new us", "change"))
for name in old:
    if name in new:
        a, b = old[name]["cpuMicros"], new[name]["cpuMicros"]
        # If the ranges of the runs overlap, the difference may be due to chance.
        apart = old[name]["cpuMicrosLow"] > new[name]["cpuMicrosHigh"] or new[name]["cpuMicrosLow"] > old[name]["cpuMicrosHigh"]
        print("%-12s %14.2f %14.2f %+8.1f%%%s" % (name, a, b, 100 * (b - a) / a, "" if apart else "  (may be chance)"))


def kernels(path):
    runs = collections.defaultdict(list)
    for b in json.load(open(path))["benchmarks"]:
        if b["run_type"] == "iteration" and "error_occurred" not in b:
            runs[b["name"], b["time_unit"]].append(b["cpu_time"])
    return runs


if len(sys.argv) > 3:
    old, new = map(kernels, sys.argv[3:])
    print("\n%-40s %14s %14s %9s" % ("kernel", "old CPU", "new CPU", "change"))
    for name, unit in old:
        a, b = old[name, unit], new.get((name, unit))
        if b:
            x, y = statistics.median(a), statistics.median(b)
            chance = "" if min(a) > max(b) or min(b) > max(a) else "  (may be chance)"
            print("%-40s %11.3f %s %11.3f %s %+8.1f%%%s" % (name, x, unit, y, unit, 100 * (y - x) / x, chance))
PY
