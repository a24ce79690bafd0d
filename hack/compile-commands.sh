#!/usr/bin/env bash
# Writes compile_commands.json to stdout. usage: compile-commands.sh "COMPILER AND FLAGS"
set -euo pipefail
dir=$(pwd)
printf '['
sep=''
while read -r f; do
  printf '%s\n{"directory":"%s","file":"%s","command":"%s -c %s"}' "$sep" "$dir" "$f" "$1" "$f"
  sep=','
done < <(find pkg cmd plugin test -name '*.cc' | sort)
printf '\n]\n'
