#!/usr/bin/env bash
# Prints the units of compilation: "FILE.cc=UNIT", one source a line. A unit is made of up to $1 neighbours of one package,
# so that what their headers declare and instantiate is compiled once for all of them. Plugins, FILE_plugin.cc, have names
# of the rules of before, as have the descriptions of templates of newer releases, and tests see another precompiled header;
# none of them share a unit with the others. Nor do the folders reference and testing, so that nothing in them is linked
# into a program. The benchmarks of all packages are linked into one program, and make one unit. Files that are linked alone
# or have flags of their own are units of themselves, and so are plugins in plugin/, which people copy and put beside one
# another.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C
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
