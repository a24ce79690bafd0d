#!/usr/bin/env bash
# The systemd unit: systemd knows all that is in it, and its sandbox leaves little to lose.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The unit names the program where it is installed; any program that is there stands for it.
sed 's|^ExecStart=/usr/local/bin/kube-scheduler|ExecStart=/bin/true|' hack/deploy/kube-scheduler.service >"$work/kube-scheduler.service"
complaints=$(systemd-analyze verify --man=no "$work/kube-scheduler.service" 2>&1) || { echo "FAILED: systemd-analyze verify: $complaints"; exit 1; }
! grep -i 'unknown\|ignoring' <<<"$complaints" || { echo "FAILED: systemd does not know all of it"; exit 1; }
# In tenths: 100 is no protection at all. Below 15 there is nothing left but the network.
systemd-analyze security --offline=true --threshold=15 "$work/kube-scheduler.service" >"$work/security" ||
  { echo "FAILED: the unit is too exposed"; tail -n 1 "$work/security"; grep '^✗' "$work/security"; exit 1; }
# The test itself must be able to fail.
sed '/^ProtectSystem\|^SystemCall\|^Private\|^Protect/d' "$work/kube-scheduler.service" >"$work/open.service"
! systemd-analyze security --offline=true --threshold=15 "$work/open.service" >/dev/null 2>&1 || { echo "FAILED: an open unit passes"; exit 1; }
tail -n 1 "$work/security"
