#!/usr/bin/env bash
# To be run by contributors before they commit, and by CI before it builds. Takes seconds and needs no compiler.
# Checks includes, lengths of files and functions, scripts, and the format of changed C++ and Python (where clang-format and
# black are installed).
# usage: verify.sh             (in the project's root; BASE=COMMIT: files that have changed since then are checked)
#        verify.sh --places    prints each place outside pkg/releases that names or compares a release of Kubernetes
#        verify.sh --files     prints for each release which files outside its folder state something of it
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --places ]; then exec hack/release-places.py; fi
if [ "${1:-}" = --files ]; then exec hack/release-places.py --files; fi
problems=0
problem() { echo "verify: $*" >&2; problems=$((problems + 1)); }
sources() { find pkg cmd plugin test hack -name '*.cc' -o -name '*.h' | sort; }

# ---- includes run down the layers (hack/build/layers.mk) ----
declare -A below may
while read -r package _ list; do below[$package]=$list; done < <(sed -n 's/^below\.//p' hack/build/layers.mk)
may_include() {  # fills may[$1]: what it may include, between blanks
  [ -n "${may[$1]+known}" ] && return
  local all=" $1 " other
  for other in ${below[$1]-}; do may_include "$other"; all+=${may[$other]}; done
  may[$1]=$all
}
for package in "${!below[@]}"; do may_include "$package"; done
may_include none
while IFS=: read -r file line include; do
  [[ $file =~ ^(pkg/[a-z]+|cmd/[a-z-]+|test/[a-z_]+|plugin)/ ]] || continue
  package=${BASH_REMATCH[1]}
  [[ $include =~ \"(pkg/[a-z]+|cmd/[a-z-]+|test/[a-z_]+|plugin)/ ]] || { problem "$file:$line: $include: include by the path from the project's root"; continue; }
  target=${BASH_REMATCH[1]}
  allowed=${may[$package]-}
  [[ $file =~ (_test\.cc|_bench\.cc|/testing/.*\.h)$ ]] && allowed+=${may[$package/tests]-}
  [[ $allowed == *" $target "* ]] || problem "$file:$line: $package must not include from $target (hack/build/layers.mk)"
done < <(grep -rnE '^#include "' --include='*.cc' --include='*.h' pkg cmd plugin test | grep -vE '^[^:]*_(test|bench)\.cc:[0-9]+:#include "test/')

# ---- inside pkg/scheduler, includes run along this order, and the engine includes no rule ----
layers=(cache queue volumebinder algorithm algorithm/family policy extender registry configuration core/incremental core factory . assembly)
layer() {  # prints the place of a folder of pkg/scheduler in the order; nothing for those that may include everything
  case $1 in
    reference* | testing*) return 0 ;;
    algorithm/?*) set -- algorithm/family ;;
  esac
  local i
  for i in "${!layers[@]}"; do
    [ "${layers[i]}" = "${1:-.}" ] && { echo "$i"; return; }
  done
  problem "pkg/scheduler/$1 is not in the order of folders in hack/verify.sh"
}
while IFS=: read -r file line include; do
  from=${file#pkg/scheduler/} to=${include#*\"pkg/scheduler/}
  from=${from%"${from##*/}"} to=${to%"${to##*/}"}
  from=${from%/} to=${to%/}
  [ "$from" = "$to" ] && continue
  a=$(layer "$from") b=$(layer "$to")
  [ -z "$a" ] && continue
  [ -n "$b" ] && [ "$b" -le "$a" ] || problem "$file:$line: pkg/scheduler/$from must not include from pkg/scheduler/$to (hack/verify.sh)"
  [[ $from == core* && $to == algorithm/* ]] && problem "$file:$line: the engine includes no rule"
done < <(grep -rnE '^#include "pkg/scheduler/' --include='*.cc' --include='*.h' pkg/scheduler | grep -vE '^[^:]*_(test|bench)\.cc:')

# ---- what only tests use is in folders named testing ----
while IFS= read -r f; do problem "$f: helpers of tests live in a folder named testing"; done < <(find pkg cmd plugin -name '*test*.h' -not -path '*/testing/*')

# ---- sizes and marks ----
while read -r lines file; do
  [ "$lines" -le 700 ] || problem "$file: $lines lines; split what is longer than 700"
done < <(sources | xargs wc -l | grep -v ' total$')
long=$(sources | xargs hack/long-functions.py) || problem "shorten these functions, or say above them why not (hack/long-functions.py):
$long"
while IFS= read -r f; do problem "$f: no #pragma once"; done < <(sources | grep '\.h$' | xargs grep -L '^#pragma once')
marks='TO''DO|FIX''ME|XX''X'
status=0
hits=$(grep -rnE "\b($marks)\b" pkg cmd plugin hack test Makefile -I --exclude-dir=testdata) || status=$?
[ "$status" -eq 1 ] || problem "finish these or leave them out (grep's exit status is $status):
$hits"

# ---- a release is data: places that name or compare one may only become fewer ----
most_places=0
places=$(hack/release-places.py | wc -l)
[ "$places" -le "$most_places" ] || problem "$places places outside pkg/releases name or compare a release, $((places - most_places)) more than before: read a named field instead (hack/verify.sh --places)"
[ "$places" -ge "$most_places" ] || echo "verify: only $places places name a release; lower most_places in hack/verify.sh from $most_places"

# ---- a release is a folder, and rows in few tables (pkg/releases/README.md) ----
most_files=4
files=$(hack/release-places.py --files)
while read -r release number paths; do
  number=${number%:}
  [ "$number" -le "$most_files" ] || problem "$number files outside its folder state something of release $release, more than $most_files: name a span in pkg/release/history.h instead: $paths"
done <<<"$files"
echo "verify: files outside its folder that state something of a release: $(sed -E 's/^(\S+) ([0-9]+):.*/\1: \2/' <<<"$files" | paste -sd, | sed 's/,/, /g') (--files)"

# ---- scripts ----
while IFS= read -r f; do
  IFS= read -r first <"$f"
  case $first in
    *bash*) bash -n "$f" || problem "$f: bash does not parse it" ;;
    *python3*) ;;  # hack/python-form.py parses it
    *) continue ;;
  esac
  [ -x "$f" ] || problem "$f: begins with #! but is not executable"
done < <(find hack test .ci -type f ! -path '*/testdata/*.gz' ! -name '*.pyc' -exec grep -lI '^#!' {} + | sort)

# ---- format ----
base=${BASE:-$(git merge-base HEAD origin/main 2>/dev/null || git rev-parse HEAD~1 2>/dev/null || true)}
if command -v clang-format >/dev/null 2>&1 && [ -n "$base" ]; then
  while IFS= read -r f; do
    [ -f "$f" ] || continue
    clang-format --dry-run -Werror "$f" >/dev/null 2>&1 || problem "$f: not formatted; run make fmt"
  done < <({ git diff --name-only "$base" -- '*.cc' '*.h'; git ls-files --others --exclude-standard -- '*.cc' '*.h'; } | sort -u)
fi

# ---- Python: it parses, 120 columns, functions with names, one form of tests, and black's format ----
status=0
form=$(hack/python-sources.sh | xargs hack/python-form.py) || status=$?
[ "$status" -eq 0 ] || problem "mend the form of these (hack/python-form.py):
$form"
if command -v black >/dev/null 2>&1 && [ -n "$base" ]; then
  mapfile -t python < <(comm -12 <(hack/python-sources.sh) <({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | sort -u))
  [ ${#python[@]} -eq 0 ] || black --quiet --check "${python[@]}" || problem "not formatted; run make fmt: $(black --check "${python[@]}" 2>&1 | sed -n 's/^would reformat //p' | xargs)"
fi

# ---- cases of test/text: commands have 120 columns; inputs and outputs are as they are ----
long=$(awk '!given && (on || /^\$ /) { on = /\\$/; if (length > 120) print FILENAME ":" FNR ": a command of more than 120 columns" }
            /^----/ { given = !/^----$/ }' test/text/*.test)
[ -z "$long" ] || problem "break these with a \\ at the end of a line:
$long"

if [ "$problems" -gt 0 ]; then
  echo "verify: $problems problems" >&2
  exit 1
fi
echo "verify: includes, lengths, scripts and format are as they should be; $places places name a release (--places)"
