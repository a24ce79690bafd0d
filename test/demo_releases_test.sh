#!/usr/bin/env bash
# Tests the demo of release 1.29: what it prints is what happened.
set -euo pipefail
out=$(RELEASE=1.29 OUT=${OUT:-_output} hack/demo.py) || { echo "FAILED: the demo ends with $?: $out"; exit 1; }
for line in 'zone-a +#### 4' 'zone-c +#### 4' 'with the gate: +0 of 3 bound' 'without the gate: 3 of 3 bound' '252 Insufficient cpu'; do
  grep -qE "$line" <<<"$out" || { echo "FAILED: no line like $line: $out"; exit 1; }
done
code=0
RELEASE=1.2 OUT=${OUT:-_output} hack/demo.py 2>/dev/null || code=$?
[ "$code" = 1 ] || { echo "FAILED: RELEASE=1.2 is taken: exit $code"; exit 1; }
echo "the demo of release 1.29 shows what it says"
