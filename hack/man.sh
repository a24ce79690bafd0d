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

# Flags become tagged paragraphs and sentences become paragraphs, which fill whatever width the reader has. Other lines
# that are indented, such as examples, stay as they are, but for long ones. A backslash has a meaning in roff, and so have
# a dot and an apostrophe at the beginning of a line.
section() {
  printf '.SH %s\n' "$1"
  awk '
    function text(s) {
      gsub(/\\/, "\\e", s)
      gsub(/-/, "\\-", s)
      if (s ~ /^[.'"'"']/) s = "\\&" s
      return s
    }
    # Ends a paragraph, or lines that stay as they are.
    function begin(kind) {
      if (mode == "as-is" && kind != "as-is") print ".fi"
      if (kind == "as-is" && mode != "as-is") { if (mode != "") print ".PP"; print ".nf" }
      mode = kind
    }
    # Prints a line in pieces of at most 70 letters, the further ones indented more.
    function pieces(s,   indent, cut) {
      match(s, /^ */)
      indent = substr(s, 1, RLENGTH) "    "
      while (length(s) > 70) {
        cut = 70
        while (cut > length(indent) && substr(s, cut, 1) != " ") cut--
        if (cut <= length(indent)) break
        print text(substr(s, 1, cut - 1))
        s = indent substr(s, cut + 1)
      }
      print text(s)
    }
    /^ *$/ { begin("blank"); next }
    # Texts of flags go on far to the right.
    /^ +-/ && match($0, /^ */) && RLENGTH <= 8 {
      begin("flag")
      match($0, /^ */)
      flag_indent = RLENGTH
      rest = substr($0, RLENGTH + 1)
      print ".TP"
      if (match(rest, /   */)) {
        print text(substr(rest, 1, RSTART - 1))
        print text(substr(rest, RSTART + RLENGTH))
      } else {
        print text(rest)
      }
      next
    }
    mode == "flag" && match($0, /^ */) && RLENGTH > flag_indent {
      rest = substr($0, RLENGTH + 1)
      # A list, such as that of the feature gates.
      if (rest ~ /^[A-Za-z]+=true\|false/) print ".br"
      print text(rest)
      next
    }
    /^ / { begin("as-is"); pieces($0); next }
    { if (mode != "text") { begin("text"); print ".PP" } print text($0) }
    END { begin("") }'
}

help=$("$program" --help)
printf '.TH %s 8 "" "Berth %s" "Berth"\n' "${name^^}" "$(cat "$(dirname "$0")/version")"
printf '.SH NAME\n%s \\- %s\n' "$name" "$is"
section DESCRIPTION <<<"$help"
for command in $(sed -n "s/^  $name \([a-z][a-z-]*\) .*/\1/p" <<<"$help"); do
  text=$("$program" help "$command")
  section "${command^^}" <<<"$text"
done
