#!/usr/bin/env bash
# Tests what `make check` chooses (the packages with unit tests that changed since the commit before, and scripts of every
# kind), and what clang-tidy reads.
set -euo pipefail
root=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
git init --quiet .
git config user.email nobody@example.com && git config user.name nobody
mkdir -p hack pkg/util pkg/api/deep pkg/http cmd/schedsim
cp "$root"/hack/check.sh hack/
touch pkg/util/{a.cc,a_test.cc} pkg/api/{a_test.cc,deep/b.h} pkg/http/h.cc cmd/schedsim/{c.cc,c_test.cc} README.md
commit() { git add -A && git commit --quiet -m "$1"; }
commit first

# expect WHAT PACKAGES: what check.sh would test.
expect() {
  local got
  got=$(hack/check.sh --list)
  [[ $got == "packages:$2"$'\n'* ]] || { echo "FAILED: $1: $got"; exit 1; }
  for script in hack/verify.sh test/golden_test.py test/daemon_schedule_test.py; do
    [[ " $got " == *" $script "* ]] || { echo "FAILED: $1: no $script: $got"; exit 1; }
  done
}
expect "the first commit, and no change" ""
echo 1 >README.md
commit document
expect "a document changed" ""
echo 1 >pkg/api/deep/b.h
expect "a header that is not committed" " pkg/api"
commit header
echo 1 >pkg/util/new.cc
expect "a commit, and a new file" " pkg/api pkg/util"
commit new
echo 1 >pkg/http/h.cc
echo 1 >cmd/schedsim/c.cc
expect "a package without tests is left out" " cmd/schedsim pkg/util"
commit more
expect "what was committed before the last commit has been checked" " cmd/schedsim"
BASE=HEAD~2 expect "BASE" " cmd/schedsim pkg/util"

# What clang's tools read has no options that only g++ knows: with them clang-tidy fails on every file.
mkdir -p plugin test
commands=$("$root"/hack/compile-commands.sh "g++ -O3 --param ggc-min-heapsize=2000000 --param ggc-min-expand=1000 -I.")
grep -q '"command":"g++ -O3 -I. -Wno-unknown-warning-option -c pkg/util/a.cc"' <<<"$commands" || { echo "FAILED: $commands"; exit 1; }
echo "make check chooses what changed"
