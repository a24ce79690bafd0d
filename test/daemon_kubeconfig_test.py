#!/usr/bin/env python3
"""Tests kube-scheduler and schedsim snapshot with realistic kubeconfigs: credential plugins, token files, server names,
proxies, impersonation, contexts and several files."""
import json
import os
import socket
import threading

import harness
from harness import TLS, Api, Scheduler, node, schedsim, scratch, secure_flags, wait_until, write_file, write_objects


def secure_api():
    """Starts a hollow-apiserver that accepts only the token "good"."""
    tokens = write_file("tokens.csv", 'good,scheduler,1,"system:masters"\n')
    api = Api.start(write_objects("cluster.json", [node("n0")]), flags=secure_flags(f"--token-auth-file={tokens}"))
    return api, f"https://127.0.0.1:{api.secure_port()}"


def kubeconfig(server, user, name="kubeconfig", context="c", **cluster):
    return write_file(
        name,
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [{"name": context, "context": {"cluster": context, "user": context}}],
            "clusters": [
                {"name": context, "cluster": {"server": server, "certificate-authority": f"{TLS}/ca.crt", **cluster}}
            ],
            "users": [{"name": context, "user": user}],
        },
    )


def plugin(name, script, version="v1", **more):
    """Returns a kubeconfig user with a credential plugin: a shell script that is written to a file."""
    path = write_file(name, "#!/bin/sh\n" + script)
    os.chmod(path, 0o755)
    return {
        "exec": {
            "apiVersion": f"client.authentication.k8s.io/{version}",
            "command": path,
            "interactiveMode": "Never",
            **more,
        }
    }


def credential(version="v1", **status):
    return json.dumps(
        {"apiVersion": f"client.authentication.k8s.io/{version}", "kind": "ExecCredential", "status": status}
    )


def places(api, name, *schedulers):
    api.add_pod(name)
    api.wait_placed(name)


def test_a_plugin_gives_the_token():
    """The plugin is run without a shell, with its arguments, its environment and information about the cluster."""
    for version in ("v1", "v1beta1"):
        api, server = secure_api()
        runs = scratch(f"runs-{version}")
        script = f'echo "$# $1 $WHO $KUBERNETES_EXEC_INFO" >> {runs}\ncat <<X\n{credential(version, token="good")}\nX\n'
        user = plugin(
            f"plugin-{version}",
            script,
            version,
            args=["$(not a shell); x"],
            env=[{"name": "WHO", "value": "me"}],
            provideClusterInfo=True,
        )
        s = Scheduler(None, f"--kubeconfig={kubeconfig(server, user)}")
        places(api, "p", s)
        with open(runs, encoding="utf8") as f:
            (ran,) = f.read().splitlines()
        words, _, info = ran.partition("{")
        assert words == "1 $(not a shell); x me ", ran
        info = json.loads("{" + info)
        assert (
            info["apiVersion"] == f"client.authentication.k8s.io/{version}" and info["spec"]["interactive"] is False
        ), info
        assert (
            info["spec"]["cluster"]["server"] == server and info["spec"]["cluster"]["certificate-authority-data"]
        ), info
        assert "good" not in s.log() and s.stop() == 0


def test_a_plugin_is_run_again():
    """The credential is renewed after a 401 and before it expires, but not for each request."""
    api, server = secure_api()
    runs = scratch("runs-again")
    first, second = (
        credential(token=token, expirationTimestamp="2099-01-01T00:00:00Z") for token in ("revoked", "good")
    )
    script = f'echo run >> {runs}\nif [ $(wc -l < {runs}) = 1 ]; then echo \'{first}\'; else echo \'{second}\'; fi\n'
    s = Scheduler(None, f"--kubeconfig={kubeconfig(server, plugin('again', script))}")
    places(api, "p", s)
    places(api, "q", s)

    def count():
        if not os.path.exists(runs):
            return 0
        with open(runs, encoding="utf8") as f:
            return len(f.readlines())

    assert count() == 2, count()
    assert s.stop() == 0
    # A credential that has expired already is used for the requests that wait for it, and then obtained again.
    os.remove(runs)
    script = f"echo run >> {runs}\necho '{credential(token='good', expirationTimestamp='2020-01-01T00:00:00Z')}'\n"
    s = Scheduler(None, f"--kubeconfig={kubeconfig(server, plugin('expired', script))}")
    wait_until("several runs", count, at_least=2)


def test_a_plugin_that_fails():
    api, server = secure_api()
    for name, script, said in (
        ("fails", "echo 'log in first' >&2; exit 3", "failed with exit code 3: log in first"),
        ("nonsense", "echo nonsense", "decoding stdout"),
    ):
        s = Scheduler(None, f"--kubeconfig={kubeconfig(server, plugin(name, script))}")
        s.wait_for_log("getting credentials: exec: ")
        s.wait_for_log(said)
        assert s.process.poll() is None, "it goes on trying"
        assert s.stop() == 0
    missing = {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "/nonexistent/plugin",
            "interactiveMode": "Never",
            "installHint": "Install it from example.com.",
        }
    }
    s = Scheduler(None, f"--kubeconfig={kubeconfig(server, missing)}")
    s.wait_for_log("exec: executable /nonexistent/plugin not found")
    s.wait_for_log("Install it from example.com.")
    assert s.stop() == 0
    # What can never work is an error at the start.
    for change, said in (
        ({"interactiveMode": "Always"}, "interactiveMode"),
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "v1alpha1"),
    ):
        user = {"exec": {**missing["exec"], **change}}
        s = Scheduler(None, f"--kubeconfig={kubeconfig(server, user)}")
        assert s.process.wait(timeout=30) == 1 and said in s.log(), s.log()


def test_a_token_file_is_read_again():
    api, server = secure_api()
    path = write_file("token", "revoked\n")
    s = Scheduler(None, f"--kubeconfig={kubeconfig(server, {'tokenFile': path})}")
    s.wait_for_log("Unauthorized")
    write_file("token", "good\n")
    places(api, "p", s)
    assert s.stop() == 0


def test_the_name_of_the_server():
    """The certificate is for 127.0.0.1 and localhost."""
    api, server = secure_api()
    s = Scheduler(
        None, f"--kubeconfig={kubeconfig(server, {'token': 'good'}, **{'tls-server-name': 'other.example.com'})}"
    )
    s.wait_for_log("other.example.com")
    assert not s.stop()
    s = Scheduler(None, f"--kubeconfig={kubeconfig(server, {'token': 'good'}, **{'tls-server-name': 'localhost'})}")
    places(api, "p", s)
    assert s.stop() == 0


def test_impersonation():
    """The headers are sent. hollow-apiserver does not impersonate, and says so instead of answering as the sender."""
    api, server = secure_api()
    jane = {"as": "jane", "as-groups": ["a", "b"], "as-user-extra": {"k": ["v"]}}
    s = Scheduler(None, "--kubeconfig=" + kubeconfig(server, {"token": "good", **jane}))
    s.wait_for_log('users "jane" is forbidden: impersonation is not served here')
    assert s.stop() == 0
    # A server that records requests receives all of them.
    listener = socket.create_server(("127.0.0.1", 0))
    heads = []

    def keep():
        c, _ = listener.accept()
        heads.append(c.recv(65536).decode())
        c.close()

    threading.Thread(target=keep, daemon=True).start()
    plain = f"http://127.0.0.1:{listener.getsockname()[1]}"
    s = Scheduler(None, "--kubeconfig=" + kubeconfig(plain, {"as-uid": "7", **jane}))
    wait_until("a request", list, heads)
    for header in (
        "Impersonate-User: jane",
        "Impersonate-Uid: 7",
        "Impersonate-Group: a",
        "Impersonate-Group: b",
        "Impersonate-Extra-K: v",
    ):
        assert header.lower() + "\r\n" in heads[0].lower(), (header, heads[0])


def test_contexts_and_several_files():
    """Tests kube-scheduler --context, and schedsim snapshot with several files in KUBECONFIG, of which the first takes
    precedence."""
    api, server = secure_api()
    other, elsewhere = secure_api()
    api.post("/api/v1/nodes", node("only-here"))
    # One file has the context and another its cluster and user; a third has different entries with the same names.
    mine = kubeconfig(server, {"token": "good"}, name="mine", context="mine")
    theirs = kubeconfig(elsewhere, {"token": "good"}, name="theirs", context="theirs")
    wrong = kubeconfig(elsewhere, {"token": "good"}, name="wrong", context="mine")
    joined = ":".join([mine, theirs, wrong])
    taken = schedsim("snapshot", "--output=json", env={"KUBECONFIG": joined})
    assert taken[0] == 0 and '"only-here"' in taken[1], taken
    taken = schedsim("snapshot", "--output=json", "--context=theirs", env={"KUBECONFIG": joined})
    assert taken[0] == 0 and '"n0"' in taken[1] and '"only-here"' not in taken[1], taken
    both = json.load(open(mine, encoding="utf8"))
    for key, value in json.load(open(theirs, encoding="utf8")).items():
        if isinstance(value, list):
            both[key] += value
    s = Scheduler(None, f"--kubeconfig={write_file('both', both)}", "--context=theirs")
    places(other, "p", s)
    assert s.stop() == 0
    s = Scheduler(None, f"--kubeconfig={write_file('both', both)}", "--context=nowhere")
    assert (
        s.process.wait(timeout=30) == 1 and 'context was not found for specified context: nowhere' in s.log()
    ), s.log()


harness.main(globals())
