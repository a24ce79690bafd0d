#!/usr/bin/env bash
# hack/bench.py and hack/bench-compare.sh: numbers in a table and in a file, and two results side by side; and
# hack/bench/beside.py: two builds at the same time.
set -euo pipefail
cd "$(dirname "$0")/.."
export OUT=${OUT:-_output}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "FAILED: $1"; exit 1; }

hack/gen-workload --nodes 20 --pods 30 --like claims -o "$dir/small.json"
hack/gen-workload --nodes 20 --pods 1 --like w1 -o "$dir/one.json"
hack/bench.py --only 'w1' --runs 1 -o "$dir/a.json" "$dir/small.json" "$dir/one.json" >"$dir/table" 2>/dev/null
for name in w1 small one; do
  grep -qE "^ +$name .* us .* MiB$" "$dir/table" || fail "no row of $name: $(cat "$dir/table")"
done
python3 - "$dir/a.json" <<'PY' || fail "results: $(cat "$dir/a.json")"
import json, sys
r = json.load(open(sys.argv[1]))["schedsim"]
ok = r["w1"]["scheduled"] == r["w1"]["pods"] == 1000 and r["small"]["scheduled"] == 30
sys.exit(not (ok and all(0 < x["cpuMicros"] < 1e9 and x["cpuMicrosLow"] <= x["cpuMicrosHigh"] for x in r.values())))
PY

sed 's/"cpuMicros": \([0-9.]*\)/"cpuMicros": 1\1/' "$dir/a.json" >"$dir/b.json"
hack/bench-compare.sh "$dir/a.json" "$dir/a.json" >"$dir/same"
grep -qE '^w1 .* \+0\.0%' "$dir/same" || fail "equal results differ"
hack/bench-compare.sh "$dir/a.json" "$dir/b.json" >"$dir/slower"
grep -qE '^w1 .* \+[0-9]{2,}\.[0-9]%' "$dir/slower" || fail "a slower result is not reported"

code=0; hack/bench-compare.sh "$dir/a.json" >/dev/null 2>"$dir/err" || code=$?
[ "$code" = 2 ] && grep -q '^usage: ' "$dir/err" || fail "one argument: exit $code, $(cat "$dir/err")"
code=0; hack/bench-compare.sh "$dir/none" "$dir/a.json" >/dev/null 2>"$dir/err" || code=$?
[ "$code" = 1 ] && grep -q "none: neither a file nor a folder" "$dir/err" || fail "no such file: exit $code, $(cat "$dir/err")"
code=0; hack/bench.py --only nothing >/dev/null 2>"$dir/err" || code=$?
[ "$code" = 2 ] && grep -q "known are .*claims" "$dir/err" || fail "bench.py --only nothing: exit $code, $(cat "$dir/err")"

hack/bench/beside.py "$OUT" "$OUT" --rounds 1 --pods 3 >"$dir/beside" || fail "beside.py: exit $?"
grep -qE '^old [0-9]+ us, new [0-9]+ us: [+-][0-9]+ % \(rounds: ' "$dir/beside" || fail "beside.py: $(cat "$dir/beside")"
code=0; hack/bench/beside.py "$dir" "$OUT" >/dev/null 2>"$dir/err" || code=$?
[ "$code" = 1 ] && grep -q "there is no bin/kube-scheduler" "$dir/err" || fail "no build: exit $code, $(cat "$dir/err")"
echo "benchmarks say what they measured"
