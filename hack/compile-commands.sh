#!/usr/bin/env bash
# Writes compile_commands.json to stdout. usage: compile-commands.sh "COMPILER AND FLAGS"
set -euo pipefail
dir=$(pwd)
# clang's tools do not know every warning of g++, nor its parameters. g++ itself ignores unknown options that begin with
# -Wno-.
command="$(sed -E 's/ --param [^ ]+//g' <<<"$1") -Wno-unknown-warning-option"
printf '['
sep=''
while read -r f; do
  printf '%s\n{"directory":"%s","file":"%s","command":"%s -c %s"}' "$sep" "$dir" "$f" "$command" "$f"
  sep=','
done < <(find pkg cmd plugin test -name '*.cc' | sort)
printf '\n]\n'
