#!/usr/bin/env bash
# Prints the units of compilation: "FILE.cc=UNIT", one source a line. A unit is made of up to $1 neighbours of one package,
# so that what their headers declare and instantiate is compiled once for all of them. Plugins, FILE_plugin.cc, have names
# of the rules of before, as have the descriptions of templates of newer releases, and tests see another precompiled header;
# none of them share a unit with the others. Nor do the folders reference and testing, so that nothing in them is linked
# into a program. The benchmarks of all packages are linked into one program, and make one unit. Files that are linked alone
# or have flags of their own are units of themselves, and so are plugins in plugin/, which people copy and put beside one
# another.
#
# With $2, the folder of the objects, a source that has changed since its unit was compiled leaves it, and with it the unit
# falls apart into what stands before and behind the source. That is compiled once more, all at the same time; from then on
# a change of the source compiles nothing else. $3 is the file that remembers which sources have left. When many have changed
# at once, as after a change of branches, all are back in their units. With $4 the units are as they were found last.
# usage: units.sh MOST [FOLDER OF OBJECTS, FILE TO REMEMBER IN [found]]
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
many=8

units() {
  find pkg cmd plugin test -name '*.cc' | sort | awk -v most="$1" '
    { alone = most + 0 <= 1 || /\/main\.cc$|^plugin\/|^pkg\/(util\/version|release\/list|releases\/folders|ui\/assets|capi\/glog_standin)\.cc$/ }
    /^test\/fuzz\/(fuzz|replay|mutate|libfuzzer)\.cc$/ { alone = 1 }
    alone {
      print $0 "=" substr($0, 1, length($0) - 3)
      next
    }
    {
      split($0, part, "/")
      folder = part[1] "/" part[2]
      if (index($0, "pkg/scheduler/algorithm/noderesources/") == 1) folder = "pkg/scheduler/algorithm/noderesources"
      if (match($0, /^.*\/(reference|testing)\//)) folder = substr($0, 1, RLENGTH - 1)
      if (/_bench\.cc$/) folder = part[1]
      kind = /_bench\.cc$/ ? "_bench" : /_test\.cc$/ ? "_test" : ""
      if (/\/algorithm\/.*_plugins?\.cc$/) kind = "_plugin"
      if (/\/describe_with_[a-z]*\.cc$/) kind = "_describe"
      key = folder kind
      if (count[key]++ % most == 0) unit[key] = folder "/unit-" ++units[key] kind
      print $0 "=" unit[key]
    }'
}

# Takes the sources of the file $1 out of the units that it reads.
without() {
  awk -F = -v left="$1" '
    BEGIN { while ((getline source < left) > 0) out[source] = 1 }
    { number = ++sources[$2] }
    number == 1 { name[$2] = $2 }
    $1 in out && $2 != substr($1, 1, length($1) - 3) {
      print $1 "=" substr($1, 1, length($1) - 3)
      name[$2] = ""
      next
    }
    name[$2] == "" {  # the first behind one that has left: unit-3_test becomes unit-3.7_test
      name[$2] = $2
      sub(/unit-[0-9]+/, "&." number, name[$2])
    }
    { print $1 "=" name[$2] }'
}

if [ $# -lt 3 ]; then
  units "$1"
  exit
fi
units=$(units "$1")
left=
if [ -e "$3" ]; then left=$(<"$3"); fi
if [ -n "${4-}" ]; then
  without <(echo "$left") <<<"$units"
  exit
fi
changed=()
while IFS='=' read -r source unit; do
  [ "${source%.cc}" != "$unit" ] && [ "$source" -nt "$2/$unit.o" ] && [ -e "$2/$unit.o" ] && changed+=("$source")
done < <(without <(echo "$left") <<<"$units")
if [ ${#changed[@]} -gt $many ]; then
  left=
elif [ ${#changed[@]} -gt 0 ]; then
  left+=$'\n'$(printf '%s\n' "${changed[@]}")
fi
if [ -d "$2" ]; then
  mkdir -p "$(dirname "$3")"
  echo "$left" >"$3"
fi
without <(echo "$left") <<<"$units"
