#!/usr/bin/env python3
"""The Debian package: lintian has no complaint, and in a bare Debian root it can be installed, started, upgraded,
removed and purged. Without root the same happens in a user namespace.

BARE_ROOT=DIR is the root to use (made by debootstrap --variant=minbase, with what the package depends on; .ci/run does
that). Without it a root is put together from the essential packages of this very machine, which needs no network."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess

import harness
from harness import Api, scratch, wait_until

UNSHARE = [] if os.getuid() == 0 else ["/usr/bin/unshare", "--map-root-user"]
PROGRAMS = ("kube-scheduler", "schedsim", "hollow-apiserver")
VERSIONS = ("1.10.0+berth.1", "1.10.0+berth.2")
packages = {}


def sh(*command, check=True, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **kwargs)
    assert not check or done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def test_build():
    # Less compression takes a quarter of the time, and what is in the package is the same.
    environment = {**os.environ, "DPKG_DEB_COMPRESSOR_LEVEL": "0"}
    for version in VERSIONS:
        done = sh(
            "hack/package/deb.sh",
            os.environ.get("OUT", "_output"),
            scratch("deb"),
            env={**environment, "VERSION": version},
        )
        last = done.stdout.splitlines()[-1]
        said = re.fullmatch(r"deb: \S+\.deb, \d+ bytes; the programs in it have (\d+) bytes", last)
        assert said and int(said[1]) < 17_000_000, last
        (packages[version],) = glob.glob(scratch("deb") + f"/berth_{version}_*.deb")
    done = sh("lintian", "--fail-on", "error,warning", "--allow-root", packages[VERSIONS[0]], check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def installed_closure(names):
    """Returns the installed ones among these packages and their dependencies."""
    show = sh(
        "dpkg-query", "-W", "-f", "${Package}|${Essential}|${Pre-Depends}, ${Depends}|${Provides}|${db:Status-Abbrev}\n"
    ).stdout
    needs, todo, provider = {}, list(names), {}
    for line in show.splitlines():
        name, essential, depends, provides, status = (
            line.split("|", 4) if line.count("|") == 4 else (line.split("|")[0], "no", "", "", "")
        )
        if line.count("|") != 4:  # alternatives: "a | b"
            name, essential, rest = line.split("|", 2)
            depends, provides, status = rest.rsplit("|", 2)
        if not status.startswith("ii"):
            continue
        needs[name] = [a.split()[0].split(":")[0] for d in depends.split(",") for a in d.split("|") if a.strip()]
        for p in provides.split(","):
            if p.strip():
                provider.setdefault(p.split()[0], name)
        if essential == "yes":
            todo.append(name)
    found = set()
    while todo:
        name = todo.pop()
        name = name if name in needs else provider.get(name)
        if name and name not in found:
            found.add(name)
            todo += needs[name]
    return sorted(found)


def make_root(root):
    """Makes a Debian root from the files that dpkg knows."""
    depends = sh("dpkg-deb", "-f", packages[VERSIONS[0]], "Depends").stdout
    names = installed_closure([d.split()[0] for d in depends.split(",")])
    for link in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if os.path.islink("/" + link):
            os.makedirs(os.path.join(root, os.readlink("/" + link)), exist_ok=True)
            os.symlink(os.readlink("/" + link), os.path.join(root, link))
    paths = set(sh("dpkg-query", "-L", *names).stdout.splitlines())
    paths = {
        p
        for p in paths
        if p.startswith("/") and not p.startswith(("/usr/share/doc", "/usr/share/man", "/usr/share/locale"))
    }
    wanted = "".join(
        p[1:] + "\n" for p in sorted(paths) if os.path.lexists(p) and (os.path.islink(p) or os.path.isfile(p))
    )
    wanted += "etc/passwd\netc/group\netc/ssl/certs/ca-certificates.crt\n"
    tar = subprocess.Popen(
        ["tar", "-C", "/", "--ignore-failed-read", "--no-recursion", "-cf", "-", "-T", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    unpack = subprocess.Popen(
        ["tar", "-C", root, "--keep-directory-symlink", "--no-same-owner", "-xf", "-"], stdin=tar.stdout
    )
    tar.stdin.write(wanted.encode())
    tar.stdin.close()
    assert unpack.wait() == 0
    tar.wait()
    info = os.path.join(root, "var/lib/dpkg/info")
    for d in ("info", "updates", "triggers", "alternatives", "parts"):
        os.makedirs(os.path.join(root, "var/lib/dpkg", d), exist_ok=True)
    for d in ("tmp", "proc", "dev", "run", "var/log", "var/cache", "root"):
        os.makedirs(os.path.join(root, d), exist_ok=True)
    with open("/var/lib/dpkg/status") as f:
        stanzas = f.read().split("\n\n")
    with open(os.path.join(root, "var/lib/dpkg/status"), "w") as f:
        for s in stanzas:
            if s.startswith("Package: ") and s.splitlines()[0][9:] in names:
                f.write(s + "\n\n")
    for name in names:
        for listing in glob.glob(f"/var/lib/dpkg/info/{name}.list") + glob.glob(f"/var/lib/dpkg/info/{name}:*.list"):
            shutil.copy(listing, info)
    sh(*UNSHARE, "/usr/sbin/chroot", root, "/sbin/ldconfig", check=False)


def in_root(root, *command, check=True):
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root", "LC_ALL": "C"}
    return sh(*UNSHARE, "/usr/sbin/chroot", root, *command, check=check, env={**env})


def files(root):
    """Returns everything but dpkg's own files."""
    found = set()
    for folder, _, names in os.walk(root):
        at = folder[len(root) :]
        if at.startswith(("/var/lib/dpkg", "/dev", "/var/log", "/proc", "/tmp", "/var/cache")):
            continue
        found.add(at)
        found.update(at + "/" + n for n in names)
    return found


def unit_command(root):
    """Returns the command that the unit starts, with its environment file, as systemd would compose it."""
    with open(root + "/lib/systemd/system/kube-scheduler.service") as f:
        unit = f.read()
    (start,) = re.findall(r"^ExecStart=(.*)$", unit, re.M)
    (environment,) = re.findall(r"^EnvironmentFile=-(.*)$", unit, re.M)
    with open(root + environment) as f:
        (own,) = re.findall(r'^KUBE_SCHEDULER_ARGS="(.*)"$', f.read(), re.M)
    start = start.replace("${CREDENTIALS_DIRECTORY}", "/tmp/credentials")
    return [a for word in shlex.split(start) for a in (shlex.split(own) if word == "$KUBE_SCHEDULER_ARGS" else [word])]


def starts(root, api, name):
    os.makedirs(root + "/tmp/credentials", exist_ok=True)
    with open(root + "/tmp/credentials/kubeconfig", "w") as f:
        json.dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
                "clusters": [{"name": "k", "cluster": {"server": api.url}}],
                "users": [{"name": "u", "user": {}}],
            },
            f,
        )
    with open(scratch(name + ".log"), "w") as log:
        p = subprocess.Popen(
            [*UNSHARE, "/usr/sbin/chroot", root, *unit_command(root), "--port=0"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={"PATH": "/usr/bin"},
        )
    try:
        api.add_pod(name)

        def placed():
            assert p.poll() is None, f"it ended with {p.returncode}: " + open(scratch(name + ".log")).read()
            return api.placements()[name]

        assert wait_until("the pod to be placed", placed) == "n1"
    finally:
        p.terminate()
        status = p.wait(60)
    assert status == 0, f"it ended with {status}: " + open(scratch(name + ".log")).read()


def test_life_of_a_package():
    if not packages:
        test_build()
    root = os.environ.get("BARE_ROOT")
    if not root:
        root = scratch("root")
        os.mkdir(root)
        make_root(root)
    api = Api.start()
    api.add_node("n1")
    before = files(root)
    shutil.copy(packages[VERSIONS[0]], root + "/tmp/one.deb")
    shutil.copy(packages[VERSIONS[1]], root + "/tmp/two.deb")
    in_root(root, "dpkg", "-i", "/tmp/one.deb")
    # One file contains all three programs: each link behaves as its program, and the file itself explains its usage.
    executables = [os.path.join(d, f) for d, _, fs in os.walk(root + "/usr/bin") for f in fs] + glob.glob(
        root + "/usr/lib/berth/*"
    )
    own = [f for f in executables if os.path.basename(f) in PROGRAMS + ("berth",) and not os.path.islink(f)]
    assert own == [root + "/usr/lib/berth/berth"] and os.path.getsize(own[0]) < 17_000_000, own
    for program in PROGRAMS:
        version = in_root(root, program, "--version").stdout
        assert {"kube-scheduler": "emulates the scheduler"}.get(program, program) in version, version
        assert version == in_root(root, "/usr/lib/berth/berth", program, "--version").stdout
    assert "1.10" in in_root(root, "kube-scheduler", "--version").stdout
    alone = in_root(root, "/usr/lib/berth/berth", "--version", check=False)
    assert alone.returncode == 2 and all(program in alone.stderr for program in PROGRAMS), alone
    starts(root, api, "first")

    own = 'KUBE_SCHEDULER_ARGS="-v=2"\n'
    with open(root + "/etc/default/kube-scheduler", "w") as f:
        f.write(own)
    in_root(root, "dpkg", "--force-confold", "-i", "/tmp/two.deb")
    assert VERSIONS[1] in in_root(root, "dpkg-query", "-W", "berth").stdout
    assert open(root + "/etc/default/kube-scheduler").read() == own, "an upgrade changed the owner's configuration"
    starts(root, api, "second")
    assert (
        "FLAG: --v" in open(scratch("second.log")).read()
    ), "the flags of /etc/default/kube-scheduler are not in force"

    in_root(root, "dpkg", "--remove", "berth")
    assert not os.path.exists(root + "/usr/bin/kube-scheduler") and os.path.exists(root + "/etc/default/kube-scheduler")
    in_root(root, "dpkg", "--purge", "berth")
    left = files(root) - before
    assert not left, f"purged, and still there: {sorted(left)}"


harness.main(globals())
