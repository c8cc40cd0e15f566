"""Which cluster and which identity come out of which files."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from kubewright.client import BasicAuth, ClusterConfig, ConfigError, ExecPlugin
from kubewright.client.kubeconfig import KubeconfigError, in_cluster, load, load_kubeconfig

PEM = b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
V1 = "client.authentication.k8s.io/v1"
DATA = base64.b64encode(PEM).decode()


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def kubeconfig(
    path: Path, *, cluster: str = "server: https://c:6443", user: str = "token: t", context: str = ""
) -> Path:
    return write(
        path,
        f"""\
apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{{cluster}}}}}]
users: [{{name: u, user: {{{user}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u{context}}}}}]
current-context: x
""",
    )


def test_a_file_gives_server_identity_and_namespace(tmp_path: Path) -> None:
    path = kubeconfig(
        tmp_path / "config",
        cluster=f"server: 'https://c:6443/', certificate-authority-data: {DATA}, tls-server-name: inner",
        context=", namespace: ns",
    )
    assert load(path) == ClusterConfig(
        server="https://c:6443", ca=PEM, tls_server_name="inner", token="t", namespace="ns", user="u", source=str(path)
    )


def test_files_are_found_beside_the_kubeconfig_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    for name in ("ca.pem", "me.pem", "key.pem"):
        (tmp_path / "pki" / name).write_bytes(PEM)
    config = load(
        kubeconfig(
            tmp_path / "config",
            cluster="server: https://c, certificate-authority: pki/ca.pem",
            user="client-certificate: pki/me.pem, client-key: pki/key.pem, tokenFile: pki/token",
        )
    )
    pki = tmp_path / "pki"
    assert (config.ca_file, config.client_certificate_file, config.client_key_file, config.token_file) == (
        pki / "ca.pem",
        pki / "me.pem",
        pki / "key.pem",
        pki / "token",
    )
    assert (config.ca, config.client_certificate, config.client_key) == (None, None, None)


def test_inline_data_goes_before_a_file(tmp_path: Path) -> None:
    cluster = f"server: https://c, certificate-authority: nope.pem, certificate-authority-data: {DATA}"
    config = load(kubeconfig(tmp_path / "config", cluster=cluster))
    assert (config.ca, config.ca_file) == (PEM, None)


@pytest.mark.parametrize("end", ["\\n", "\\r\\n"])
def test_inline_data_may_be_broken_into_lines(tmp_path: Path, end: str) -> None:
    broken = end.join(DATA[at : at + 16] for at in range(0, len(DATA), 16))
    cluster = f'server: https://c, certificate-authority-data: "{broken}{end}"'
    assert load(kubeconfig(tmp_path / "config", cluster=cluster)).ca == PEM


def test_a_proxy_and_no_compression_may_be_asked_for(tmp_path: Path) -> None:
    cluster = "server: 'https://[fd00::1]:6443', proxy-url: 'https://p:3128', disable-compression: true"
    config = load(kubeconfig(tmp_path / "config", cluster=cluster))
    assert (config.server, config.proxy_url, config.disable_compression) == (
        "https://[fd00::1]:6443",
        "https://p:3128",
        True,
    )


def test_a_plugin_is_found_beside_the_kubeconfig_or_in_path(tmp_path: Path) -> None:
    cluster = "server: https://c, extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: a}}]"
    config = load(
        kubeconfig(
            tmp_path / "config",
            cluster=cluster,
            user="exec: {apiVersion: client.authentication.k8s.io/v1, command: ./bin/log-in, args: [a, b], "
            "env: [{name: K, value: v}], installHint: get it, provideClusterInfo: true, interactiveMode: Never}",
        )
    )
    assert config.exec == ExecPlugin(
        api_version="client.authentication.k8s.io/v1",
        command=str(tmp_path / "bin" / "log-in"),
        args=("a", "b"),
        env=(("K", "v"),),
        install_hint="get it",
        provide_cluster_info=True,
        interactive_mode="Never",
        cluster_extension={"audience": "a"},
    )
    old = load(
        kubeconfig(tmp_path / "old", user="exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: log-in}")
    )
    assert old.exec is not None
    assert (old.exec.command, old.exec.interactive_mode) == ("log-in", "IfAvailable")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    user = (
        "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Never, "
        "args: [hunter2], env: [{name: P, value: hunter2}]}"
    )
    cluster = "server: https://c, proxy-url: 'http://me:hunter2@p'"
    users = (user, "token: hunter2", "username: joe, password: hunter2")
    for each in users:
        config = load(kubeconfig(tmp_path / "config", user=each, cluster=cluster))
        for text in (repr(config), str(config), repr(config.basic), repr(config.exec)):
            assert "hunter2" not in text


def test_broken_yaml_is_not_quoted(tmp_path: Path) -> None:
    path = write(tmp_path / "config", "users: [{name: u, user: {token: hunter2]}\n")
    with pytest.raises(KubeconfigError, match="is not YAML: .*line 1, column") as caught:
        load(path)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_users_may_have_passwords_and_act_as_others(tmp_path: Path) -> None:
    user = (
        "username: joe, password: pw, as: admin, as-uid: '7', as-groups: [a, b], "
        "as-user-extra: {Reason: [r, s], acme.com/project: [p], 'größe %': [l]}"
    )
    config = load(kubeconfig(tmp_path / "config", user=user))
    assert config.basic == BasicAuth("joe", "pw")
    assert config.impersonate == {
        "impersonate-user": ("admin",),
        "impersonate-group": ("a", "b"),
        "impersonate-uid": ("7",),
        "impersonate-extra-reason": ("r", "s"),
        "impersonate-extra-acme.com%2Fproject": ("p",),
        "impersonate-extra-gr%C3%B6%C3%9Fe%20%25": ("l",),
    }


def test_a_context_may_be_chosen(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path / "config", context="}}, {name: other, context: {cluster: c, namespace: elsewhere")
    config = load(path, context="other")
    assert (config.namespace, config.token) == ("elsewhere", None)
    with pytest.raises(KubeconfigError, match="there is no context 'nope'; there is: other, x"):
        load(path, context="nope")


def test_kubeconfig_files_are_merged_and_the_first_to_name_a_thing_wins(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "current-context: x\nusers: [{name: u, user: {token: first}}]\n")
    two = kubeconfig(tmp_path / "two", user="token: second")
    environ = {"KUBECONFIG": os.pathsep.join([str(one), str(tmp_path / "not there"), str(two)])}
    assert load(environ=environ).token == "first"


def test_home_comes_last(tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    kubeconfig(tmp_path / ".kube" / "config", user="token: home")
    assert load(environ={"HOME": str(tmp_path)}).token == "home"
    with pytest.raises(KubeconfigError, match="no cluster configured: .*KUBECONFIG is not set"):
        load(environ={"HOME": str(tmp_path / "nobody")})
    in_a_pod = {"HOME": str(tmp_path / "nobody"), "KUBERNETES_SERVICE_HOST": "10.0.0.1"}
    with pytest.raises(KubeconfigError, match=r"not set, and a pod has no context 'x'; name a file"):
        load(context="x", environ=in_a_pod)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"cluster": "server: c"}, r"clusters\[c\]\.cluster\.server is 'c': it should be an address such as https"),
        ({"cluster": "server: 'https://[::1'"}, r"server is 'https://\[::1' \(Invalid IPv6 URL\)"),
        ({"cluster": "server: 'https://c:99999'"}, r"server is 'https://c:99999' \(Port out of range"),
        ({"cluster": "server: 'https://'"}, r"server is 'https://': it should be an address"),
        ({"cluster": "server: 'https://me:secret@c'"}, r"server has a user name in it: credentials belong under users"),
        ({"user": 'token: "a\\nb"'}, r"users\[u\]\.user\.token has blanks, line breaks or strange char"),
        ({"user": 'token: "é"'}, r"users\[u\]\.user\.token has blanks, line breaks or strange char"),
        ({"user": 'as: "joe\\r\\nimpersonate-group: system:masters"'}, r"users\[u\]\.user: as, as-uid, .*line breaks"),
        (
            {"cluster": "server: https://c, proxy-url: p:3128"},
            r"cluster\.proxy-url can't be used: it should be an addr",
        ),
        (
            {"cluster": f"server: https://c, insecure-skip-tls-verify: true, certificate-authority-data: {DATA}"},
            r"clusters\[c\]\.cluster: certificate-authority and insecure-skip-tls-verify contradict",
        ),
        ({"user": "token: t, username: joe"}, r"users\[u\]\.user: token and username can't both be used"),
        ({"user": "as-groups: [a]"}, r"users\[u\]\.user\.as is missing: as-uid, as-groups"),
        ({"user": "auth-provider: {name: gcp}"}, r"user\.auth-provider 'gcp': .*use an exec plugin instead"),
        ({"user": f"exec: {{apiVersion: {V1}}}"}, r"users\[u\]\.user\.exec\.command is missing"),
        ({"user": "exec: {command: x}"}, r"user\.exec\.apiVersion is missing: it must be one of client\.auth.*/v1, cl"),
        (
            {"user": "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"},
            r"exec\.apiVersion is 'client\.authentication\.k8s\.io/v1alpha1': it must be one of",
        ),
        ({"user": f"exec: {{command: x, apiVersion: {V1}}}"}, r"user\.exec\.interactiveMode is missing: .*/v1 needs"),
        (
            {"user": f"exec: {{command: x, apiVersion: {V1}, interactiveMode: Maybe}}"},
            r"exec\.interactiveMode is 'Maybe': use Never, IfAvailable, Always",
        ),
        (
            {"user": f"exec: {{command: x, apiVersion: {V1}, interactiveMode: Never, env: [{{value: v}}]}}"},
            r"user\.exec\.env\[0\]\.name is missing",
        ),
        ({"user": f"client-certificate-data: {DATA}"}, r"users\[u\]\.user\.client-key is missing"),
        ({"user": "client-key-data: '%%%'"}, r"users\[u\]\.user\.client-key-data is not base64"),
        ({"user": "client-key-data: QUJD"}, r"users\[u\]\.user\.client-key-data holds no PEM"),
        ({"user": "client-certificate: nope.pem"}, r"client-certificate: .*nope\.pem: no such file"),
        ({"user": "token: 7"}, r"is not a kubeconfig: Expected `str \| null`, got `int` - at `\$\.users\[0\]\.user"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_field(tmp_path: Path, parts: dict[str, str], message: str) -> None:
    path = kubeconfig(tmp_path / "config", **parts)
    with pytest.raises(KubeconfigError, match=message) as caught:
        load(path)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "is not YAML: .*line 2, column 1"),
        ("- 1", "is not a kubeconfig"),
        ("", "current-context is not set"),
        ("current-context: x", "there is no context 'x'; there is: none"),
        (
            "current-context: x\ncontexts: [{name: x, context: {user: u}}]",
            r"contexts\[x\]\.context\.cluster is missing",
        ),
        ("current-context: x\ncontexts: [{name: x, context: {cluster: c}}]", "there is no cluster 'c'"),
    ],
)
def test_a_broken_file_is_said_to_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(KubeconfigError, match=message) as caught:
        load(write(tmp_path / "config", text))
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="nope: no such file or directory"):
        load_kubeconfig([tmp_path / "nope"])
    with pytest.raises(KubeconfigError, match="nope: no such file or directory"):
        load(environ={"KUBECONFIG": str(tmp_path / "nope")})


@pytest.fixture
def service_account(tmp_path: Path) -> Path:
    (tmp_path / "ca.crt").write_bytes(PEM)
    (tmp_path / "token").write_text("t\n")
    (tmp_path / "namespace").write_text("ns\n")
    return tmp_path


def test_a_pod_uses_its_service_account(service_account: Path) -> None:
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    config = in_cluster(environ=environ, service_account=service_account)
    assert (config.server, config.namespace) == ("https://[fd00::1]:6443", "ns")
    assert config.ca_file == service_account / "ca.crt"
    assert config.token_file == service_account / "token"


def test_what_a_pod_lacks_is_named(service_account: Path) -> None:
    with pytest.raises(ConfigError, match="KUBERNETES_SERVICE_HOST is not set"):
        in_cluster(environ={}, service_account=service_account)
    (service_account / "token").unlink()
    with pytest.raises(ConfigError, match="token does not exist: is automountServiceAccountToken off"):
        in_cluster(environ={"KUBERNETES_SERVICE_HOST": "h"}, service_account=service_account)


def test_an_entry_is_never_put_together_from_two_files(tmp_path: Path) -> None:
    one = write(tmp_path / "one", "current-context: x\nusers: [{name: u, user: {as: joe}}]\n")
    two = kubeconfig(tmp_path / "two", user="token: second")
    config = load(environ={"KUBECONFIG": f"{one}{os.pathsep}{os.pathsep}{two}"})
    assert (config.token, config.impersonate) == (None, {"impersonate-user": ("joe",)})


def test_files_are_found_beside_the_file_that_won(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    one = write(tmp_path / "a" / "config", "users: [{name: u, user: {tokenFile: token}}]\n")
    two = kubeconfig(tmp_path / "b" / "config")
    config = load(environ={"KUBECONFIG": f"{one}{os.pathsep}{two}"})
    assert config.token_file == tmp_path / "a" / "token"
    assert config.source == str(one)


def test_two_entries_of_one_name_in_one_file_are_ambiguous(tmp_path: Path) -> None:
    """Between files the first wins; within one, kubectl refuses."""
    one = kubeconfig(tmp_path / "one", user="token: t}}, {name: u, user: {token: other")
    with pytest.raises(KubeconfigError, match="one: there are 2 users named 'u'; rename or remove all but one"):
        load(one)
    two = write(tmp_path / "two", "users: [{name: u, user: {token: first}}]\n")
    assert load(environ={"KUBECONFIG": f"{two}{os.pathsep}{one}"}).token == "first"


def test_a_null_is_a_field_that_is_not_set(tmp_path: Path) -> None:
    """As the tools of cloud providers write them."""
    plugin = (
        "apiVersion: client.authentication.k8s.io/v1beta1, command: /bin/login, args: null, env: [{name: P, value: null}], "
        "installHint: null, interactiveMode: null, provideClusterInfo: null"
    )
    cluster = (
        "server: https://c, insecure-skip-tls-verify: null, disable-compression: null, "
        "extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: null}}]"
    )
    path = kubeconfig(tmp_path / "config", cluster=cluster, user=f"token: null, exec: {{{plugin}}}")
    assert load(path).exec == ExecPlugin(
        api_version="client.authentication.k8s.io/v1beta1",
        command="/bin/login",
        env=(("P", ""),),
        cluster_extension={"audience": None},
    )
