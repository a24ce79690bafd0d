#!/usr/bin/env bash
# Writes a manual page from a program's own texts: its --help and, for schedsim, the help of each command.
# usage: hack/man.sh PROGRAM >PROGRAM.8     (a path to it)
set -euo pipefail
program=$1 name=$(basename "$1")
case $name in
  kube-scheduler) is="gives each pod of a Kubernetes cluster a node" ;;
  schedsim) is="decides where pods would go, without a cluster" ;;
  hollow-apiserver) is="a Kubernetes API server in memory" ;;
  *) echo "man.sh: $name is none of ours" >&2; exit 1 ;;
esac

# A backslash has a meaning in roff, and so have a dot and an apostrophe at the beginning of a line.
section() {
  printf '.SH %s\n.nf\n' "$1"
  sed -e 's/\\/\\e/g' -e "s/^[.']/\\\\\&&/" -e 's/-/\\-/g' | fold -s -w 120
  printf '.fi\n'
}

help=$("$program" --help)
printf '.TH %s 8 "" "Berth %s" "Berth"\n' "${name^^}" "$(cat "$(dirname "$0")/version")"
printf '.SH NAME\n%s \\- %s\n' "$name" "$is"
section DESCRIPTION <<<"$help"
for command in $(sed -n "s/^  $name \([a-z][a-z-]*\) .*/\1/p" <<<"$help"); do
  text=$("$program" help "$command")
  section "${command^^}" <<<"$text"
done
