#!/usr/bin/env python3
"""Tests every flag of kube-scheduler with a wrong value: one line names flag and value, the exit status is 1, and
nothing else happens. Also tests mistakes in configuration files, kubeconfigs and certificates that only a process
finds."""
import re
import subprocess

import harness
from harness import BIN, scratch, write_file

PROGRAM = f"{BIN}/kube-scheduler"
HEAD = "apiVersion: componentconfig/v1alpha1\nkind: KubeSchedulerConfiguration\n"


# A wrong value of each flag, the text that names it, and further flags without which it is not checked. Flags that
# accept any text are below.
NOT_THERE = scratch("not/there")
GARBAGE = write_file("garbage", "no PEM, no JSON: [")
HTTPS = ["--secure-port=1"]
WRONG = {
    "address": ("10.0.0.1:80", '--address: invalid value "10.0.0.1:80"'),
    "algorithm-provider": ("Nope", "couldn't create scheduler using provider \"Nope\""),
    "alsologtostderr": ("maybe", None),
    "bind-address": ("localhost", None),
    "cert-dir": (NOT_THERE, f"--cert-dir: cannot write {NOT_THERE}", *HTTPS),
    "check-decisions": ("1.5", None),
    "client-ca-file": (GARBAGE, f"--client-ca-file: {GARBAGE}: ", *HTTPS),
    "config": (GARBAGE, f"{GARBAGE}: line 1"),
    "contention-profiling": ("maybe", None),
    "enable-ui": ("maybe", None),
    "feature-gates": ("Nope=true", None),
    "hard-pod-affinity-symmetric-weight": ("101", "invalid hardPodAffinitySymmetricWeight: 101"),
    "help": ("maybe", None),
    "ignore-unknown-fields": ("maybe", None),
    "kube-api-burst": ("-1", "--kube-api-burst: invalid value -1"),
    "kube-api-qps": ("NaN", "--kube-api-qps: invalid value NaN"),
    "kubeconfig": (GARBAGE, f'Error loading config file "{GARBAGE}"'),
    "leader-elect": ("maybe", None),
    "leader-elect-lease-duration": ("1s", "--leader-elect-lease-duration is 1s"),
    "leader-elect-renew-deadline": ("15s", "--leader-elect-renew-deadline 15s"),
    "leader-elect-resource-lock": ("stone", "Invalid lock-type stone (--leader-elect-resource-lock"),
    "leader-elect-resource-name": ("a/b", '--lock-object-name: invalid value "a/b"'),
    "leader-elect-resource-namespace": ("A", '--lock-object-namespace: invalid value "A"'),
    "leader-elect-retry-period": ("9s", "--leader-elect-retry-period 9s"),
    "lock-object-name": ("", '--lock-object-name: invalid value ""'),
    "lock-object-namespace": ("a.b", '--lock-object-namespace: invalid value "a.b"'),
    "log-backtrace-at": ("here", None),
    "log-dir": (NOT_THERE, f"--log-dir: cannot write log files to {NOT_THERE}", "--logtostderr=false"),
    "log-flush-frequency": ("-1s", "--log-flush-frequency: invalid value -1s"),
    "logging-format": ("xml", None),
    "logtostderr": ("maybe", None),
    "context": ("there", '--context: invalid value "there": contexts are in a kubeconfig, and none is given'),
    "master": ("ftp://h", '--master: unsupported protocol scheme "ftp" in "ftp://h"'),
    "pod-max-in-unschedulable-pods-duration": ("-1s", "--pod-max-in-unschedulable-pods-duration: invalid value -1s"),
    "percentage-of-nodes-to-score": ("most", "must be a number or release"),
    "policy-config-file": (NOT_THERE, f"missing policy config file {NOT_THERE}"),
    "kept-answers-max-bytes": ("1", "must be 0 or a quantity of at least 1Mi"),
    "min-sync-period": ("2s", "must be a duration from 0 to 1s, such as 50ms"),
    "record-max-bytes": ("many", 'invalid argument "many" for "--record-max-bytes" flag'),
    "port": ("65536", "--port: invalid value 65536"),
    "profiling": ("maybe", None),
    "secure-port": ("-1", "--secure-port: invalid value -1"),
    "stderrthreshold": ("LOUD", None),
    "tls-cert-file": (GARBAGE, f"--tls-cert-file: {GARBAGE}: ", *HTTPS, f"--tls-private-key-file={GARBAGE}"),
    "tls-private-key-file": (
        NOT_THERE,
        "--tls-private-key-file: open " + NOT_THERE,
        *HTTPS,
        f"--tls-cert-file={GARBAGE}",
    ),
    "use-legacy-policy-config": ("maybe", None),
    "v": ("loud", None),
    "version": ("maybe", None),
    "vmodule": ("x=y", None),
    "emulated-version": ("1.11", '--emulated-version: invalid value "1.11": must be 1.8'),
    "write-config-to": (NOT_THERE, f"--write-config-to: cannot write {NOT_THERE}"),
    # flags of releases after 1.10
    **{
        name: ("maybe", None)
        for name in (
            "add-dir-header",
            "authentication-skip-lookup",
            "authentication-tolerate-lookup-failure",
            "disable-http2-serving",
            "experimental-logging-sanitization",
            "log-json-split-stream",
            "log-text-split-stream",
            "one-output",
            "permit-address-sharing",
            "permit-port-sharing",
            "skip-headers",
            "skip-log-headers",
        )
    },
    "allow-metric-labels": ("a", None),
    "authentication-token-webhook-cache-ttl": ("5", None),
    "authorization-always-allow-paths": ("/a*b", None),
    "authorization-webhook-cache-authorized-ttl": ("5", None),
    "authorization-webhook-cache-unauthorized-ttl": ("5", None),
    "http2-max-streams-per-connection": ("1.5", None),
    "log-file-max-size": ("1.5", None),
    "log-json-info-buffer-size": ("many", None),
    "log-text-info-buffer-size": ("many", None),
    "tls-cipher-suites": ("NOPE", None),
    "tls-min-version": ("VersionTLS9", None),
    "tls-sni-cert-key": ("cert-without-key", None),
}
# Flags of releases after 1.10 whose value only the emulated release can judge: a wrong value, the text that names it,
# and the release.
OF_LATER = {
    "authentication-kubeconfig": (
        GARBAGE,
        f'--authentication-kubeconfig: Error loading config file "{GARBAGE}"',
        "1.29",
    ),
    "authorization-kubeconfig": (GARBAGE, f'--authorization-kubeconfig: Error loading config file "{GARBAGE}"', "1.29"),
    "requestheader-client-ca-file": (GARBAGE, f"--requestheader-client-ca-file: {GARBAGE}: no PEM", "1.29"),
    "show-hidden-metrics-for-version": (
        "1.27",
        'invalid value "1.27": must be omitted or have the value "1.28"',
        "1.29",
    ),
}
# Texts that mean nothing to any release, or whose meaning only others know.
OF_LATER_ANY_TEXT = {
    "allow-metric-labels-manifest": "ignored",
    "azure-container-registry-config": "ignored",
    "disabled-metrics": "ignored",
    "log-file": "ignored",
    "min-compatibility-version": "ignored",
    "tls-curve-preferences": "ignored",
    "requestheader-allowed-names": "is compared with what certificates say",
    "requestheader-extra-headers-prefix": "a header of any name",
    "requestheader-group-headers": "a header of any name",
    "requestheader-uid-headers": "a header of any name",
    "requestheader-username-headers": "a header of any name",
}
ANY_TEXT = {
    "failure-domains": "has no effect any more",
    "kube-api-content-type": "is only shown",
    "policy-configmap": "only the API server knows",
    "policy-configmap-namespace": "only the API server knows",
    "record-dir": "a folder of any name can be made",
    "scheduler-name": "is compared with what pods ask for",
}
# A value that is not valid for each type of flag.
BY_TYPE = {"int32": "1.5", "float32": "1,5", "duration": "5", "Level": "1.5", "ip": "300.0.0.1", "severity": "4"}


def refused(*flags, named):
    """Checks for exit status 1 and exactly one line that begins as errors do. No server is reached."""
    r = subprocess.run([PROGRAM, "--port=-1", *flags], capture_output=True, text=True, timeout=60)
    assert r.returncode == 1, (flags, r.returncode, r.stderr[-800:])
    errors = [line for line in r.stderr.splitlines() if line.lower().startswith("error")]
    assert len(errors) == 1 and named in errors[0], (flags, named, errors, r.stderr[-800:])
    assert not r.stdout, (flags, r.stdout[:300])
    others = [line for line in r.stderr.splitlines() if re.match("[EF][0-9]{4} ", line)]
    assert not others, (flags, others)


def flags_in_help():
    """Returns the names and types of all flags; the type of a boolean is ""."""
    text = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, timeout=60).stdout
    found = dict(re.findall(r"^ {2,6}(?:-\w, )?--([a-z0-9-]+) ?(?:(\S+))?", text, re.M))
    assert len(found) > 40, text
    return found


def test_every_flag():
    # Two flags are not in the help because they are deprecated.
    flags = {**flags_in_help(), "hard-pod-affinity-symmetric-weight": "int32", "failure-domains": "string"}
    tested = {*WRONG, *ANY_TEXT, *OF_LATER, *OF_LATER_ANY_TEXT}
    assert set(flags) == tested, set(flags) ^ tested
    for name, kind in flags.items():
        if name in WRONG:
            value, named, *others = WRONG[name]
            # The parser's message has both names.
            named = named or f'invalid argument "{value}" for "' + (
                "-v, " if name == "v" else "-h, " if name == "help" else ""
            )
            master = [] if name in ("master", "kubeconfig") else ["--master=http://127.0.0.1:1"]
            refused(*master, *others, f"--{name}={value}", named=named)
        if kind in BY_TYPE:
            refused(f"--{name}={BY_TYPE[kind]}", named=f'invalid argument "{BY_TYPE[kind]}" for "')
    for name in ANY_TEXT:
        for text in ("", "%s%n", "a\tb\x7f\xff"):
            refused(
                f"--{name}={text}",
                "--use-legacy-policy-config",
                f"--policy-config-file={NOT_THERE}",
                "--master=http://127.0.0.1:1",
                named=NOT_THERE,
            )  # it comes as far as with any other value


def test_flags_that_only_a_later_release_judges():
    for name, (value, named, release) in OF_LATER.items():
        flags = [f"--emulated-version={release}", "--master=http://127.0.0.1:1", "--secure-port=1", f"--{name}={value}"]
        r = subprocess.run([PROGRAM, *flags], capture_output=True, text=True, timeout=60)
        # Errors of a release with structured logs are a line of the log.
        errors = [line for line in r.stderr.splitlines() if line.startswith("error: ") or '"command failed"' in line]
        said = [e.replace('\\"', '"') for e in errors]
        assert r.returncode == 1 and len(said) == 1 and named in said[0], (flags, r.returncode, errors, r.stderr[-800:])
    release = {
        "azure-container-registry-config": "1.19",
        "log-file": "1.19",
        "min-compatibility-version": "1.36",
        "tls-curve-preferences": "1.36",
        "requestheader-uid-headers": "1.36",
    }
    for name in OF_LATER_ANY_TEXT:
        for text in ("", "%s%n", "a\tb\x7f\xff"):
            # It comes as far as with any other value.
            r = subprocess.run(
                [
                    PROGRAM,
                    f"--emulated-version={release.get(name, '1.29')}",
                    "--master=http://127.0.0.1:1",
                    f"--{name}={text}",
                    f"--write-config-to={NOT_THERE}",
                ],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert r.returncode == 1 and NOT_THERE in r.stderr.splitlines()[-1], (name, text, r.stderr[-500:])


def test_configuration_files():
    master = "--master=http://127.0.0.1:1"
    for name, text, named in (
        ("c1", "kind: x", "Object 'apiVersion' is missing in 'kind: x'"),
        (
            "c2",
            HEAD + "leaderElection: {leaseDuration: 1s, leaderElect: true}",
            f"{scratch('c2')}: couldn't create leader elector: ",
        ),
        ("c3", HEAD + "clientConnection: {kubeconfig: /not/there}", "stat /not/there: no such file or directory"),
        ("c4", HEAD + "algorithmSource: {provider: Nope}", 'using provider "Nope"'),
        ("c5", HEAD + "algorithmSource: {policy: {file: {path: /not/there}}}", "missing policy config file /not/there"),
        ("c6", HEAD + "hardPodAffinitySymmetricWeight: -1", "invalid hardPodAffinitySymmetricWeight: -1"),
        (
            "c7",
            HEAD + "profiles: [{schedulerName: a}, {schedulerName: a}]",
            'profiles[1].schedulerName: invalid value "a"',
        ),
        ("c8", HEAD + "healthzBindAddress: somewhere", 'healthzBindAddress: invalid value "somewhere"'),
        ("c9", HEAD + "a: [", f"{scratch('c9')}: line "),
    ):
        refused(master, f"--config={write_file(name, text)}", named=named)
    refused(master, "--config=/", named="read /: is a directory")


def test_kubeconfigs():
    def config(cluster, user):
        return (
            "apiVersion: v1\nkind: Config\ncurrent-context: ctx\n"
            f"clusters: [{{name: c, cluster: {cluster}}}]\nusers: [{{name: u, user: {user}}}]\n"
            "contexts: [{name: ctx, context: {cluster: c, user: u}}]\n"
        )

    pem = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCnh4Ci0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"  # BEGIN CERTIFICATE, nonsense
    here = "{server: 'https://127.0.0.1:1'}"
    for name, text, named in (
        ("k1", config("{server: 7}", "{}"), "clusters[0].cluster.server: 7: must be a string"),
        ("k2", config("{server: 'ftp://h'}", "{}"), 'server of cluster "c": unsupported protocol scheme "ftp"'),
        ("k3", config(f"{{server: 'https://h', certificate-authority-data: {pem}}}", "{}"), "certificate-authority"),
        ("k4", config(here, f"{{client-certificate-data: {pem}, client-key-data: {pem}}}"), "client-certificate"),
        ("k5", config(here, "{tokenFile: not/there}"), "unable to read tokenFile for u"),
        ("k6", config(here, '{token: "a\\nb"}'), "users[0].user.token: must be one line"),
        (
            "k7",
            config(here, "{exec: {command: aws, apiVersion: v1}}"),
            'exec plugin of u: apiVersion "v1" is not supported',
        ),
        ("k8", config(here, "{auth-provider: {name: gcp}}"), 'No Auth Provider found for name "gcp"'),
        ("k9", "current-context: nope", "context was not found for specified context: nope"),
        ("k10", config("{}", "{}"), "no configuration has been provided"),
        ("k11", "clusters: [", f'Error loading config file "{scratch("k11")}": '),
    ):
        refused(f"--kubeconfig={write_file(name, text)}", named=named)


harness.main(globals())
