#!/usr/bin/env bash
# Installs the Debian packages that the build needs, and those of the groups that are named. Silent and instant when
# nothing is missing. Needs root or sudo only when something is.
# usage: install-deps.sh [test] [package] [python] [fuzz] [format]
set -euo pipefail

packages=(
  g++ make ca-certificates
  libboost1.81-dev libboost-program-options1.81-dev
  rapidjson-dev libyaml-cpp-dev
  libabsl-dev libgoogle-glog-dev libssl-dev zlib1g-dev libzstd-dev libtcmalloc-minimal4 libgoogle-perftools-dev
  prometheus-cpp-dev
  catch2 librapidcheck-dev libbenchmark-dev python3-jsonschema
)
# What may be installed by other means than Debian's package is looked up as a command.
commands=(python3:python3 ccache:ccache curl:curl kubectl:kubernetes-client openssl:openssl git:git)
for group in "$@"; do
  case $group in
    # promtool and a Prometheus that scrapes the daemon; rsvg-convert renders the pictures of schedsim; systemd-analyze
    # checks the unit and lintian the packages. Tests open the page in a browser. abidiff compares the interface of libberth.so.
    test) commands+=(chromium:chromium zstdcat:zstd promtool:prometheus rsvg-convert:librsvg2-bin systemd-analyze:systemd lintian:lintian abidiff:abigail-tools dpkg-shlibdeps:dpkg-dev strip:binutils) ;;
    package) commands+=(dpkg-shlibdeps:dpkg-dev strip:binutils) ;;
    # Arrays of the module berth (pkg/python/README.md).
    python) packages+=(python3-numpy) ;;
    # make fmt: the formatters of C++ and of Python.
    format) commands+=(clang-format:clang-format black:black) ;;
    fuzz) commands+=(clang++:clang) && packages+=(libclang-rt-14-dev) ;;
    *) echo "install-deps: $group: no such group; there are test, package, python, fuzz and format" >&2 && exit 2 ;;
  esac
done

missing=()
installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^ii  *//p') || true
for p in "${packages[@]}"; do
  grep -qxF -- "$p" <<<"$installed" || missing+=("$p")
done
for c in "${commands[@]}"; do
  command -v "${c%%:*}" >/dev/null 2>&1 || missing+=("${c##*:}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null 2>&1 || { echo "install-deps: missing: ${missing[*]}; become root, or install sudo" >&2; exit 1; }
  as_root=(sudo env DEBIAN_FRONTEND=noninteractive)  # sudo does not pass the environment on
fi
echo "install-deps: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
  cat "$log" >&2
  echo "install-deps: could not install: ${missing[*]}" >&2
  exit 1
fi
