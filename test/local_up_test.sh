#!/usr/bin/env bash
# Tests that hack/local-up.sh starts a cluster that places a pod, stops on SIGTERM, and reports when a program ends by
# itself.
set -euo pipefail
dir=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; wait; rm -rf "$dir"' EXIT
export PORT=0 SCHEDULER_PORT=0 TMPDIR=$dir
fail() { echo "FAILED: $*"; cat "$dir/out"; exit 1; }
# until_true WHAT COMMAND...: within 30 seconds
until_true() {
  local what=$1 deadline=$((SECONDS + 30))
  shift
  until "$@"; do
    [ $SECONDS -lt $deadline ] || fail "$what"
    sleep 0.05
  done
}
up() {
  : >"$dir/out"  # removes output of an earlier run
  hack/local-up.sh "$@" >"$dir/out" 2>&1 &
  pid=$!
  until_true "it comes up" grep -q 'Ctrl-C stops both' "$dir/out"
  url=$(grep -o 'http://127[0-9.:]*' "$dir/out" | head -n 1)
}

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

SCHEDULER_PORT=$(free_port)
up
page=$(grep -o 'http://127[0-9.:]*/ui/' "$dir/out")
until_true "the page is served" curl -sf -o "$dir/page" "$page"
grep -q '<title>' "$dir/page" || fail "$page is no page"
SCHEDULER_PORT=0
kubectl --server="$url" create -f test/testdata/demo/pod.yaml >"$dir/created"
placed() { [ -n "$(kubectl --server="$url" get pod hello -o jsonpath='{.spec.nodeName}')" ]; }
until_true "the pod is placed" placed
kill -TERM "$pid"
code=0; wait "$pid" || code=$?
pid=
[ $code -eq 0 ] || fail "on SIGTERM it exits with $code"
! curl -s "$url/healthz" >/dev/null || fail "the API server is still there"

# Release 1.29 has its own fields and order of writes.
SCHEDULER_ARGS=--secure-port=0 up --emulated-version=1.29
kubectl --server="$url" run gated --image=busybox --overrides='{"spec":{"schedulingGates":[{"name":"example.com/hold"}]}}' >"$dir/created"
kubectl --server="$url" create -f test/testdata/demo/pod.yaml >"$dir/created"
until_true "the pod is placed" placed
reason=$(kubectl --server="$url" get pod gated -o jsonpath='{.status.conditions[0].reason}')
[ "$reason" = SchedulingGated ] || fail "the gated pod has the reason $reason"
kill -TERM "$pid"
code=0; wait "$pid" || code=$?
pid=
[ $code -eq 0 ] || fail "on SIGTERM it exits with $code"

up test/testdata/demo/nodes.yaml test/testdata/demo/pod.yaml
scheduler=$(sed -n 's/.*Processes: [0-9]* \([0-9]*\)\..*/\1/p' "$dir/out")
kill -KILL "$scheduler"
code=0; wait "$pid" || code=$?
pid=
[ $code -eq 1 ] || fail "without a scheduler it exits with $code"
grep -q 'a program ended' "$dir/out" || fail "it does not say that a program ended"

code=0; hack/local-up.sh /nonexistent.yaml >"$dir/out" 2>&1 || code=$?
[ $code -eq 1 ] || fail "a file that is not there gives exit $code"
grep -q '/nonexistent.yaml' "$dir/out" || fail "the file is not named"
echo "local-up.sh comes up and goes down"

code=0
hack/local-up.sh --emulated-version=1.11 >"$dir/out" 2>&1 || code=$?
[ $code -eq 1 ] || fail "an unknown release is refused with 1, not $code"
grep -q '1.11.*1.10.*1.29.*1.36' "$dir/out" || fail "the right values are named"
code=0
hack/local-up.sh --release=1.29 >"$dir/out" 2>&1 || code=$?
[ $code -eq 1 ] || fail "an unknown argument is refused with 1, not $code"
grep -q 'unknown argument --release=1.29; the only one is --emulated-version=RELEASE' "$dir/out" || fail "the right argument is named"
