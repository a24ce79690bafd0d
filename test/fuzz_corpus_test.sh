#!/usr/bin/env bash
# Every input of the fuzz corpus, as it is, cut off, and with bytes changed, through its target: no sanitizer, no fuzzer.
set -euo pipefail
replay=${OUT:-_output}/test/fuzz-replay
targets=$("$replay" --list)
[ "$(sort <<<"$targets")" = "$(ls test/fuzz/corpus)" ] || { echo "FAILED: targets and folders of the corpus differ: $targets"; exit 1; }
for target in $targets; do
  "$replay" "$target" test/fuzz/corpus/"$target"/*
done
code=0
"$replay" no-such-target x 2>/dev/null || code=$?
[ $code -eq 2 ] || { echo "FAILED: a target that is not there: exit $code"; exit 1; }
