#!/usr/bin/env bash
# Runs every input of the fuzz corpus, complete, truncated, and with changed bytes, through its target, without
# sanitizers or a fuzzer.
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

# Makes random changes for a while. The current input is kept if the process crashes.
found=$(mktemp -u)
trap 'rm -f "$found" "$found.out"' EXIT
"$replay" --seed=1 --seconds=1 quantity test/fuzz/corpus/quantity/* >"$found.out"
grep -qE '^quantity: [0-9]{3,} inputs$' "$found.out" || { echo "FAILED: changes of the corpus: $(cat "$found.out")"; exit 1; }
FUZZ_FOUND=$found "$replay" --seed=1 --seconds=60 yaml test/fuzz/corpus/yaml/* &
pid=$!
# It must be the program itself, not the shell on the way to it, and its handlers of fatal signals (4, 6, 7, 8 and 11) must be
# installed.
until [ "$(cat /proc/$pid/comm 2>/dev/null)" = fuzz-replay ] &&
    grep -qE '^SigCgt:\s+[0-9a-f]+[4-7c-f][ef][89a-f]$' "/proc/$pid/status" 2>/dev/null ||
    ! kill -0 $pid 2>/dev/null; do :; done
kill -SEGV $pid
wait $pid 2>/dev/null && { echo "FAILED: a fatal signal was survived"; exit 1; }
[ -e "$found" ] || { echo "FAILED: the input of a process that ended badly was not kept"; exit 1; }
