#!/usr/bin/env bash
# Two results of hack/bench.py side by side, or two builds measured now.
# usage: bench-compare.sh OLD NEW [arguments of bench.py ...]   (each a results.json, or an output folder like _output)
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 2; }
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
python3 - "$old_json" "$new_json" <<'PY'
import json, sys
old, new = (json.load(open(p))["schedsim"] for p in sys.argv[1:])
print("%-12s %14s %14s %9s" % ("work", "old us", "new us", "change"))
for name in old:
    if name in new:
        a, b = old[name]["cpuMicros"], new[name]["cpuMicros"]
        # Where the ranges of the runs overlap the difference may be chance.
        apart = old[name]["cpuMicrosLow"] > new[name]["cpuMicrosHigh"] or new[name]["cpuMicrosLow"] > old[name]["cpuMicrosHigh"]
        print("%-12s %14.2f %14.2f %+8.1f%%%s" % (name, a, b, 100 * (b - a) / a, "" if apart else "  (may be chance)"))
PY
