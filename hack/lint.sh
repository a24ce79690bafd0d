#!/usr/bin/env bash
# clang-tidy over the sources that changed since BASE (a commit), or over all of them. usage: lint.sh [OUT]
set -euo pipefail
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "lint: clang-tidy is not installed (apt-get install clang-tidy)" >&2; exit 1; }
if [ -n "${BASE:-}" ]; then
  mapfile -t files < <(git diff --name-only --diff-filter=d "$BASE" -- 'pkg/**.cc' 'cmd/**.cc' 'plugin/**.cc' | grep -v '_test\.cc$' | sort)
else
  mapfile -t files < <(git ls-files 'pkg/**.cc' 'cmd/**.cc' 'plugin/**.cc' | grep -v '_test\.cc$')
fi
[ ${#files[@]} -gt 0 ] || { echo "lint: nothing changed"; exit 0; }
printf '%s\0' "${files[@]}" | xargs -0 -P "$(nproc)" -n 4 clang-tidy --quiet -p "${1:-${OUT:-_output}}"
