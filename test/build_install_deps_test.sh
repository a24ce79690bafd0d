#!/usr/bin/env bash
# Tests hack/install-deps.sh on machines that are simulated by substitutes for dpkg-query, apt-get, id and sudo.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin"
stub() { printf '#!/bin/bash\n%s\n' "$2" >"$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
fail() { echo "FAILED: $*"; cat "$dir/out" "$dir/calls" 2>/dev/null; exit 1; }
# The script finds only these commands.
for c in bash sed grep mktemp cat rm env python3 ccache curl kubectl openssl git; do
  ln -s "$(command -v "$c" || echo /bin/true)" "$dir/bin/$c"
done
run() { : >"$dir/calls"; code=0; PATH=$dir/bin CALLS=$dir/calls hack/install-deps.sh >"$dir/out" 2>&1 || code=$?; }
all='for p in "$@"; do case $p in -*|*Status*) ;; *) echo "ii  $p" ;; esac; done'
stub apt-get 'echo "apt-get $*" >>"$CALLS"'
stub dpkg-query "$all"
stub id 'echo 0'

run
[ $code -eq 0 ] && [ ! -s "$dir/out" ] && [ ! -s "$dir/calls" ] || fail "nothing is missing, and it is not silent"

stub dpkg-query "$all | grep -v -e libyaml -e '^ii  make\$'"
run
[ $code -eq 0 ] || fail "root: exit $code"
grep -q '^apt-get install .* make libyaml-cpp-dev$' "$dir/calls" || fail "root: not exactly what is missing is installed"

rm "$dir/bin/kubectl"
stub dpkg-query "$all"
run
grep -q '^apt-get install .* kubernetes-client$' "$dir/calls" || fail "kubectl is missing: its package is installed"
ln -s /bin/true "$dir/bin/kubectl"

stub dpkg-query 'exit 1'
stub id 'echo 1000'
run
[ $code -eq 1 ] || fail "not root, no sudo: exit $code"
grep -q 'missing: g++ make .*become root, or install sudo' "$dir/out" || fail "not root, no sudo: what to do is not said"
[ ! -s "$dir/calls" ] || fail "not root, no sudo: apt-get was called"

stub sudo 'echo "sudo" >>"$CALLS"; exec "$@"'
run
[ $code -eq 0 ] && [ "$(grep -c sudo "$dir/calls")" -eq 2 ] || fail "not root: apt-get update and install go through sudo"

stub apt-get 'echo "E: no network"; exit 100'
run
[ $code -eq 1 ] || fail "apt-get fails: exit $code"
grep -q 'E: no network' "$dir/out" && grep -q 'could not install: g++' "$dir/out" || fail "apt-get fails: it is not reported"
echo "install-deps.sh installs what is missing"
