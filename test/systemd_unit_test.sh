#!/usr/bin/env bash
# Tests the systemd unit: systemd knows all its settings, and its sandbox leaves few privileges.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The unit names the installed program; any existing program can replace it here.
sed 's|^ExecStart=/usr/local/bin/kube-scheduler|ExecStart=/bin/true|' hack/deploy/kube-scheduler.service >"$work/kube-scheduler.service"
complaints=$(systemd-analyze verify --man=no "$work/kube-scheduler.service" 2>&1) || { echo "FAILED: systemd-analyze verify: $complaints"; exit 1; }
! grep -i 'unknown\|ignoring' <<<"$complaints" || { echo "FAILED: systemd does not know all of it"; exit 1; }
# In tenths: 100 means no protection at all. Below 15 only the network is left.
systemd-analyze security --offline=true --threshold=15 "$work/kube-scheduler.service" >"$work/security" ||
  { echo "FAILED: the unit is too exposed"; tail -n 1 "$work/security"; grep '^✗' "$work/security"; exit 1; }
# Shows that this test can fail.
sed '/^ProtectSystem\|^SystemCall\|^Private\|^Protect/d' "$work/kube-scheduler.service" >"$work/open.service"
! systemd-analyze security --offline=true --threshold=15 "$work/open.service" >/dev/null 2>&1 || { echo "FAILED: an open unit passes"; exit 1; }
tail -n 1 "$work/security"
