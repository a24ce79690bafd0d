#!/usr/bin/env bash
# Prints the tree's sources in Python, with and without a suffix, one a line. Two examples are left out: they are at most 80
# lines long, which black would make more.
set -euo pipefail
cd "$(dirname "$0")/.."
{ git ls-files --cached --others --exclude-standard '*.py'; git grep --untracked -lIE '^#!.*python3' -- hack test .ci plugin pkg; } | sort -u | while IFS= read -r f; do
  [ -f "$f" ] || continue
  case $f in
    plugin/examples/python/fgd.py | plugin/examples/python/openb.py) ;;
    *.py) echo "$f" ;;
    *) case $(head -c 64 "$f" | head -n 1) in '#!'*python3*) echo "$f" ;; esac ;;
  esac
done
