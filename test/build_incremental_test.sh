#!/usr/bin/env bash
# Tests the Makefile on a small tree of its own: it builds what changed, only that, and nothing if nothing changed.
set -euo pipefail
root=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir -p hack/build pkg/util pkg/release pkg/api pkg/http pkg/scheduler cmd/schedsim cmd/kube-scheduler cmd/hollow-apiserver plugin test
cp "$root"/Makefile .
cp "$root"/hack/build/*.mk hack/build/
cp "$root"/hack/{install-deps.sh,compile-commands.sh,units.sh,version,test_logging.cc} hack/
echo '#include <string>' | tee hack/pch.h >hack/pch_test.h
echo 'int Two();' >pkg/util/two.h
printf '#include "pkg/util/two.h"\nint Two() { return 2; }\n' >pkg/util/two.cc
echo '// empty' >pkg/util/empty.h
printf '#include "pkg/util/empty.h"\nint Unused() { return 0; }\n' >pkg/util/unused.cc
printf '#include "pkg/util/two.h"\nint Api() { return Two(); }\n' >pkg/api/api.cc
echo 'int Http() { return 1; }' >pkg/http/http.cc
echo 'int Release() { return 1; }' >pkg/release/list.cc
printf '#include "pkg/util/two.h"\nint main() { return Two(); }\n' >cmd/schedsim/main.cc
echo 'int main() {}' | tee cmd/kube-scheduler/main.cc >cmd/hollow-apiserver/main.cc
unset MAKEFLAGS MAKELEVEL OUT SAN WHAT PACKAGE BUILD
export UNIT=1  # each source by itself

build() { make BUILD=debug "$@" >log 2>&1 || { cat log; echo "FAILED: make $*"; exit 1; }; }
# expect WHAT LINES...: the last build did exactly this.
expect() {
  local what=$1
  shift
  diff <(printf '%s\n' "$@" | sort) <(sed -nE 's/^  (PCH|CXX|AR|LINK) +//p' log | sed "s|_output/debug/||" | sort) >d ||
    { echo "FAILED: $what (< wanted, > done)"; cat d log; exit 1; }
}
quiet() { build; [ ! -s log ] || { echo "FAILED: $1: make is not silent"; cat log; exit 1; }; }
result() { local code=0; _output/debug/bin/schedsim || code=$?; [ $code -eq "$1" ] || { echo "FAILED: $2: schedsim gives $code, not $1"; exit 1; }; }
programs=(bin/schedsim bin/kube-scheduler bin/hollow-apiserver)

build
[ -s _output/debug/compile_commands.json ] || { echo "FAILED: no compile_commands.json"; exit 1; }
result 2 "first build"
quiet "nothing changed"

printf '#include "pkg/util/two.h"\nint Two() { return 3; }\n' >pkg/util/two.cc
build
expect "a source changed" pkg/util/two.cc lib/libpkg-util.a "${programs[@]}"
result 3 "a source changed"

echo 'int Two();  // again' >pkg/util/two.h
build
expect "a header changed" pkg/util/two.cc pkg/api/api.cc cmd/schedsim/main.cc lib/libpkg-util.a lib/libpkg-api.a "${programs[@]}"
quiet "after a header changed"

rm pkg/util/empty.h
printf 'int Unused() { return 1; }\n' >pkg/util/unused.cc
build
expect "a header is gone" pkg/util/unused.cc lib/libpkg-util.a "${programs[@]}"

rm pkg/util/unused.cc
build
expect "a source is gone" lib/libpkg-util.a "${programs[@]}"
! ar t _output/debug/lib/libpkg-util.a | grep -q unused || { echo "FAILED: the library keeps what is gone"; exit 1; }

printf 'int Four();\nint main() { return Four(); }\n' >cmd/schedsim/main.cc
echo 'int Four() { return 4; }' >cmd/schedsim/four.cc
build
expect "a source came" cmd/schedsim/main.cc cmd/schedsim/four.cc bin/schedsim
result 4 "a source came"
grep -q cmd/schedsim/four.cc _output/debug/compile_commands.json || { echo "FAILED: compile_commands.json is stale"; exit 1; }
grep -q 'compile_commands' <(readlink compile_commands.json) || { echo "FAILED: no compile_commands.json in the root"; exit 1; }

echo 'int plugin_is_linked = 1;' >plugin/mine.cc
build
expect "a plugin came" plugin/mine.cc bin/schedsim bin/kube-scheduler
quiet "after a plugin came"

build CPPFLAGS='-I. -DNEW'
expect "flags changed" hack/pch.h pkg/util/two.cc pkg/api/api.cc pkg/http/http.cc pkg/release/list.cc lib/libpkg-{http,release}.a cmd/schedsim/main.cc cmd/schedsim/four.cc cmd/kube-scheduler/main.cc \
  cmd/hollow-apiserver/main.cc plugin/mine.cc lib/libpkg-util.a lib/libpkg-api.a "${programs[@]}"

build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "units of one file" pkg/{util/two,api/api,http/http}.cc cmd/schedsim/four.cc lib/libpkg-{util,api,http}.a "${programs[@]}"
echo 'int Five() { return 5; }' >pkg/util/five.cc
printf '#include "pkg/util/two.h"\nint Also() { return Two(); }\n' >pkg/util/six.cc
touch -d '1 hour ago' pkg/util/{five,six}.cc  # not changed since the unit was compiled
build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "a unit" "pkg/util/five.cc pkg/util/six.cc pkg/util/two.cc" lib/libpkg-util.a "${programs[@]}"
echo '#define CHANGED' >>pkg/util/two.h
build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "a header of a unit changed" "pkg/util/five.cc pkg/util/six.cc pkg/util/two.cc" pkg/api/api.cc lib/libpkg-{util,api}.a "${programs[@]}"
echo 'int Also() { return 7; }' >pkg/util/six.cc
build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "a source changed and leaves its unit" pkg/util/{five,six,two}.cc lib/libpkg-util.a "${programs[@]}"
echo 'int Also() { return 8; }' >pkg/util/six.cc
build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "it changed again" pkg/util/six.cc lib/libpkg-util.a "${programs[@]}"
rm pkg/util/six.cc
build UNIT=12 CPPFLAGS='-I. -DNEW'
expect "a source is gone, and the others are together again" "pkg/util/five.cc pkg/util/two.cc" lib/libpkg-util.a "${programs[@]}"
result 4 "units"

printf 'int main() { return 5; }\n' >cmd/schedsim/main.cc
printf 'this does not compile' >cmd/kube-scheduler/main.cc
build UNIT=12 WHAT=cmd/schedsim CPPFLAGS='-I. -DNEW'
expect "WHAT" cmd/schedsim/main.cc bin/schedsim
if make UNIT=12 BUILD=debug CPPFLAGS='-I. -DNEW' >log 2>&1; then echo "FAILED: a broken source goes unnoticed"; exit 1; fi
make SAN=nonsense help >log 2>&1 && { echo "FAILED: SAN=nonsense goes unnoticed"; exit 1; }
make help >log
grep -q '^  make test ' log || { echo "FAILED: make help does not list make test"; exit 1; }
make BUILD=debug clean >/dev/null
[ ! -e _output/debug ] || { echo "FAILED: make clean leaves things behind"; exit 1; }
echo "the Makefile builds what it should"
