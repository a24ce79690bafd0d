#!/usr/bin/env bash
# A cluster on this machine without a container in it: hollow-apiserver with simulated controllers and kubelets, and
# kube-scheduler with its page, until you press Ctrl-C.
# usage: hack/local-up.sh [--emulated-version=RELEASE] [FILE...]
#   RELEASE: one that kube-scheduler knows; 1.10 without it
#   FILE: objects to begin with (kubectl get -o yaml, or your own); default: the demo's nodes
# PORT (8080), SCHEDULER_PORT (10251), SCHEDULER_ARGS (more flags), OUT (_output)
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${OUT:-_output}/bin
port=${PORT:-8080} scheduler_port=${SCHEDULER_PORT:-10251}
release=()
case ${1:-} in
  --emulated-version=*) release=("$1"); shift ;;
  -*) echo "local-up: unknown argument $1; the only one is --emulated-version=RELEASE" >&2; exit 1 ;;
esac
[ $# -gt 0 ] || set -- test/testdata/demo/nodes.yaml
for program in hollow-apiserver kube-scheduler; do
  [ -x "$bin/$program" ] || { echo "local-up: $bin/$program is not there; run make first" >&2; exit 1; }
done

logs=$(mktemp -d)
pids=()
stop() {
  trap - EXIT INT TERM
  for ((i = ${#pids[@]} - 1; i >= 0; i--)); do kill "${pids[i]}" 2>/dev/null && wait "${pids[i]}" || true; done
  echo "local-up: stopped; the logs are in $logs"
}
trap stop EXIT
trap 'exit 0' INT TERM

load=()
for file in "$@"; do load+=("--load=$file"); done
"$bin/hollow-apiserver" --insecure-port="$port" --simulate=kubelets,controllers "${release[@]}" "${load[@]}" >"$logs/serving" 2>"$logs/hollow-apiserver.log" &
pids+=($!)
until grep -q '^Serving' "$logs/serving"; do
  kill -0 "${pids[0]}" 2>/dev/null || { cat "$logs/hollow-apiserver.log" >&2; exit 1; }
  sleep 0.1
done
url=http://$(sed 's/.* on //' "$logs/serving")
# shellcheck disable=SC2086
"$bin/kube-scheduler" --master="$url" --leader-elect=false --address=127.0.0.1 --port="$scheduler_port" --enable-ui --logtostderr -v=2 \
  "${release[@]}" ${SCHEDULER_ARGS:-} 2>"$logs/kube-scheduler.log" &
pids+=($!)

cat <<TEXT
The API server is $url, the scheduler's page http://127.0.0.1:$scheduler_port/ui/
(and /metrics, /healthz, /configz).
  kubectl --server=$url get nodes
  kubectl --server=$url create -f test/testdata/demo/pod.yaml
  kubectl --server=$url create deployment web --image=nginx --replicas=3
  kubectl --server=$url get pods -o wide
Logs: $logs. Processes: ${pids[*]}. Ctrl-C stops both.
TEXT
# `wait -n "${pids[@]}"` would miss a program that has ended already.
while kill -0 "${pids[0]}" 2>/dev/null && kill -0 "${pids[1]}" 2>/dev/null; do
  sleep 1 &
  wait $!  # unlike a sleep in the foreground, a signal ends it at once
done
for i in 0 1; do
  kill -0 "${pids[i]}" 2>/dev/null || { echo "local-up: a program ended; its log ends with" >&2; tail -n 5 "$logs"/*.log >&2; exit 1; }
done
