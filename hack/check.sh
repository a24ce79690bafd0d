#!/usr/bin/env bash
# The tests that are worth their time after each change: the checks of hack/verify.sh, clang-tidy of the sources that changed,
# where it is installed, the unit tests of the packages that changed, recorded decisions of every release, and a daemon that
# schedules. Changed is what differs from the commit BASE, by default the one before the last.
# usage: check.sh [--list]    --list only prints what would be run
set -euo pipefail
cd "$(dirname "$0")/.."
BASE=${BASE:-$(git rev-parse --verify --quiet HEAD~1 || git rev-parse HEAD)}
export BASE
changed=$({ git diff --name-only "$BASE"; git ls-files --others --exclude-standard; } | sort -u)
packages=$(sed -nE 's#^(pkg/[^/]+|cmd/[^/]+|plugin|test)/.*\.(cc|h)$#\1#p' <<<"$changed" | sort -u)
tested=
for package in $packages; do
  if [ -n "$(find "$package" -name '*_test.cc' -print -quit 2>/dev/null)" ]; then tested+=" $package"; fi
done
scripts="hack/verify.sh test/golden_test.py test/daemon_schedule_test.py"
if grep -qE '^(pkg|cmd|plugin)/.*\.cc$' <<<"$changed" && command -v clang-tidy >/dev/null; then scripts+=" hack/lint.sh"; fi
if [ "${1:-}" = --list ]; then
  echo "packages:$tested"
  echo "scripts: $scripts"
  exit 0
fi
exec make --no-print-directory PACKAGE="${tested# }" SCRIPTS="$scripts" test
