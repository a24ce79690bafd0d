#!/usr/bin/env bash
# A small soak: all its checks run, the leader changes, the server is killed and comes back.
set -euo pipefail
out=$(hack/soak.py 4000 --period=1 --nodes=10) || { echo "FAILED: $out"; exit 1; }
grep -qE '^4000 pods in [0-9]+ s; [1-9][0-9]* leader changes, .* [1-9][0-9]* server restarts' <<<"$out" || { echo "FAILED: what was done to it: $out"; exit 1; }
[ "$(tail -n 1 <<<"$out")" = "soak: 4000 pods: 0 found" ] || { echo "FAILED: $out"; exit 1; }
