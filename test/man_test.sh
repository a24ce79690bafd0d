#!/usr/bin/env bash
# Tests hack/man.sh: it writes a page for each program, whose text contains no roff commands.
set -euo pipefail
bin=${OUT:-_output}/bin
awkward=$(mktemp -d)
trap 'rm -rf "$awkward"' EXIT
# A program whose help is full of text that roff would interpret.
printf '#!/bin/sh\ncat <<"END"\n.TP of it\n.SHout\n'"'"'quoted'"'"' a\\b -c\n.\nEND\n' >"$awkward/schedsim"
chmod +x "$awkward/schedsim"

for program in "$bin"/{kube-scheduler,schedsim,hollow-apiserver} "$awkward/schedsim"; do
  p=$(basename "$program")
  page=$(hack/man.sh "$program")
  [ "$(sed -n 1p <<<"$page" | cut -d' ' -f1-3)" = ".TH ${p^^} 8" ] || { echo "FAILED: the title of $p: $page" | head -3; exit 1; }
  grep -q "^$p \\\\- " <<<"$page" || { echo "FAILED: $p has no name"; exit 1; }
  # Every line except our own macros is text: none begins as a macro would.
  bad=$(awk "/^[.']/ && !/^\\.(TH|SH|nf|fi|TP|PP|br)( |\$)/ { print NR \":\" \$0 }" <<<"$page")
  [ -z "$bad" ] || { echo "FAILED: $program: $bad"; exit 1; }
  # Formatted again, it is the text of --help and, for schedsim, of each command's help.
  said=$("$program" --help)
  for command in $(sed -n "s/^  schedsim \([a-z][a-z-]*\) .*/\1/p" <<<"$said"); do
    said+=" ${command^^} "$("$program" help "$command")
  done
  shown=$(sed -e '1,/^\.SH DESCRIPTION$/d' -e '/^\.fi$/d' -e '/^\.nf$/d' -e '/^\.TP$/d' -e '/^\.PP$/d' -e '/^\.br$/d' -e 's/^\.SH //' -e 's/\\-/-/g' -e 's/^\\&//' -e 's/\\e/\\/g' <<<"$page" | tr -s ' \n' '\n')
  [ "$shown" = "$(tr -s ' \n' '\n' <<<"$said")" ] || { echo "FAILED: $program's page differs from its help"; exit 1; }
  # Paragraphs fill; lines that stay as they are leave room for the margin of 7 columns within 80.
  long=$(awk '/^\.nf$/ { asis = 1 } /^\.fi$/ { asis = 0 } { gsub(/\\-/, "-") } asis && length($0) > 73' <<<"$page")
  [ -z "$long" ] || { echo "FAILED: $p's page has lines that do not fit: $long"; exit 1; }
done
# It has every flag of every command that completion knows.
page=$(hack/man.sh "$bin/schedsim" | sed -e 's/\\-/-/g')
commands=0
while read -r command; do
  commands=$((commands + 1))
  text=$(awk -v want=".SH ${command^^}" '/^\.SH / { on = $0 == want } on' <<<"$page")
  for flag in $("$bin/schedsim" completion bash | sed -n "/^    $command\( .*\)\?)\$/,/;;/s/.*flags=\"\(.*\)\"/\1/p"); do
    grep -q -e "$flag" <<<"$text" || { echo "FAILED: the manual page has no $flag of $command"; exit 1; }
  done
done < <("$bin/schedsim" --help | sed -n 's/^  schedsim \([a-z][a-z-]*\) .*/\1/p')
[ "$commands" -ge 12 ] || { echo "FAILED: only $commands commands in the help"; exit 1; }
page=$(hack/man.sh "$awkward/schedsim")
grep -qxF "\\&'quoted' a\\eb \\-c" <<<"$page" || { echo "FAILED: roff's own letters are not escaped: $page"; exit 1; }
! hack/man.sh /bin/ls >/dev/null 2>&1 || { echo "FAILED: a page for a stranger"; exit 1; }
echo "manual pages are as they should be"
