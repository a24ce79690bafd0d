#!/usr/bin/env bash
# hack/man.sh: a page for each program, without a word of roff in what one reads.
set -euo pipefail
bin=${OUT:-_output}/bin
for p in kube-scheduler schedsim hollow-apiserver; do
  page=$(hack/man.sh "$bin/$p")
  [ "$(sed -n 1p <<<"$page" | cut -d' ' -f1-3)" = ".TH ${p^^} 8" ] || { echo "FAILED: the title of $p: $page" | head -3; exit 1; }
  grep -q "^$p \\\\- " <<<"$page" || { echo "FAILED: $p has no name"; exit 1; }
  # Every line but our own macros is text: none begins as a macro would.
  bad=$(grep -nE "^[.']" <<<"$page" | grep -vE ':\.(TH|SH|nf|fi)( |$)' || true)
  [ -z "$bad" ] || { echo "FAILED: $p: $bad"; exit 1; }
  # Back from roff it is what --help says.
  shown=$(sed -e '1,/^\.nf$/d' -e '/^\.fi$/d' -e 's/\\-/-/g' -e 's/^\\&//' -e 's/\\e/\\/g' <<<"$page" | tr -s ' \n' '\n')
  [ "$shown" = "$("$bin/$p" --help | tr -s ' \n' '\n')" ] || { echo "FAILED: $p's page differs from its --help"; exit 1; }
done
! hack/man.sh /bin/ls >/dev/null 2>&1 || { echo "FAILED: a page for a stranger"; exit 1; }
echo "manual pages are as they should be"
