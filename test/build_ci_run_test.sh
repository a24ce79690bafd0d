#!/usr/bin/env bash
# Tests .ci/run with a make that only prints numbers: it adds up all runs, and fails if any of them does. Late, it leaves out
# a part of what the sanitizers do, and says which.
set -euo pipefail
unset ALL_SANITIZERS_UNTIL_S
root=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/{.ci,hack,bin,pkg/util,pkg/client,pkg/ui}
cp .ci/run "$dir/.ci/run"
touch "$dir"/pkg/{util,client,ui}/x_test.cc
printf '#!/bin/bash\nexit ${VERIFY:-0}\n' >"$dir/hack/verify.sh"
printf '#!/bin/bash\n' >"$dir/hack/install-deps.sh"
printf '#!/bin/bash\necho "${HEAD_IS:-1}"\n' >"$dir/bin/git"
cat >"$dir/bin/make" <<'X'
#!/bin/bash
echo "make $*" >>"$CALLS"
case "$*" in
  deps | deb | image | -j*\ *programs*) ;;
  simulate\ * | fuzz-asan\ *) echo "some worlds"; exit ${BESIDE_RC:-0} ;;
  "") exit ${BUILD_RC:-0} ;;
  test) echo "some words"; echo "${TESTS:-10 passed, 0 failed}"; [[ ${TESTS:-} != *" 1 failed" ]] ;;
  *SAN=asan*) echo "${ASAN:-5 passed, 0 failed}"; [ "${ASAN:-ok}" != "crashed" ] ;;
  *SAN=tsan*) echo "${TSAN:-3 passed, 0 failed}"; [[ ${TSAN:-} != *" 1 failed" ]] || { echo "make: *** [Makefile:67: test] Error 1" >&2; exit 2; } ;;
  *) exit 9 ;;
esac
X
chmod +x "$dir"/bin/{make,git} "$dir"/hack/{verify,install-deps}.sh
# expect WHAT LAST_LINE EXIT VARIABLES...
expect() {
  local what=$1 line=$2 wanted=$3 code=0
  shift 3
  : >"$dir/calls"
  env "$@" CALLS="$dir/calls" PATH="$dir/bin:$PATH" "$dir/.ci/run" >"$dir/out" 2>"$dir/err" || code=$?
  [ "$(tail -n 1 "$dir/out")" = "$line" ] && [ $code -eq "$wanted" ] ||
    { echo "FAILED: $what: exit $code, last line $(tail -n 1 "$dir/out")"; cat "$dir/out" "$dir/err"; exit 1; }
}
expect "all is well" "32 passed, 0 failed" 0 A=1
grep -q 'SAN=tsan PACKAGE=pkg/util pkg/client pkg/ui WHAT=cmd/kube-scheduler cmd/hollow-apiserver SCRIPTS=test/daemon_schedule_test.py ' "$dir/calls" ||
  { echo "FAILED: what goes under the thread sanitizer"; cat "$dir/calls"; exit 1; }
expect "a test fails" "31 passed, 1 failed" 1 TESTS="9 passed, 1 failed"
expect "a sanitizer's run ends without a total" "22 passed, 2 failed" 1 ASAN=crashed
expect "a test fails under the thread sanitizer" "31 passed, 1 failed" 1 TSAN="2 passed, 1 failed"
expect "what ran beside the tests fails" "30 passed, 2 failed" 1 BESIDE_RC=2
grep -q '^FAILED simulate$' "$dir/out" && grep -q 'some worlds' "$dir/out" || { echo "FAILED: what says that it failed"; cat "$dir/out"; exit 1; }
expect "the build fails" "31 passed, 1 failed" 1 BUILD_RC=2
expect "verify fails" "31 passed, 1 failed" 1 VERIFY=1
# left_out WHAT REGEX: says that WHAT is left out, and calls nothing that REGEX matches.
left_out() {
  grep -q "^==== left out: $1, because " "$dir/out" || { echo "FAILED: what says what is left out"; cat "$dir/out"; exit 1; }
  ! grep -qE "$2" "$dir/calls" || { echo "FAILED: it is not left out"; cat "$dir/calls"; exit 1; }
}
late=ALL_SANITIZERS_UNTIL_S=-1
expect "late, at an odd commit" "20 passed, 0 failed" 0 $late HEAD_IS=12ab34c1
left_out "the address sanitizer" SAN=asan
expect "late, at a commit that ends with e" "28 passed, 0 failed" 0 $late HEAD_IS=12ab34ce
left_out "the thread sanitizer, and the lower packages under the address sanitizer" 'SAN=tsan|PACKAGE=.*pkg/util'
grep -q 'SAN=asan PACKAGE=pkg/ui SCRIPTS=test/' "$dir/calls" || { echo "FAILED: the upper packages and scripts"; cat "$dir/calls"; exit 1; }
grep -q "SAN=asan PACKAGE=pkg/lab pkg/recording TESTARGS='contracts\*' test" "$dir/calls" ||
  { echo "FAILED: contracts that are tested alone"; cat "$dir/calls"; exit 1; }
expect "late, at a commit that ends with c" "22 passed, 0 failed" 0 $late HEAD_IS=12ab34cc
left_out "the thread sanitizer, and the upper packages and the scripts under the address sanitizer" \
  'SAN=tsan|PACKAGE=.*pkg/ui|fuzz|SCRIPTS=[^ ]'
grep -q 'SAN=asan PACKAGE=pkg/util pkg/client SCRIPTS= test' "$dir/calls" || { echo "FAILED: the lower packages"; cat "$dir/calls"; exit 1; }
cd "$root"
echo ".ci/run sums up"
