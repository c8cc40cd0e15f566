"""Which cluster and which identity come out of which files."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from kubewright.client import BasicAuth, ClusterConfig, ConfigError
from kubewright.client.credentials import TokenFile
from kubewright.client.kubeconfig import KubeconfigError, in_cluster, load, load_kubeconfig

PEM = b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"
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
        server="https://c:6443", ca=PEM, tls_server_name="inner", token="t", namespace="ns", source=str(path)
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
    assert (config.ca, config.client_certificate, config.client_key) == (PEM, PEM, PEM)
    assert config.token_file == tmp_path / "pki" / "token"


def test_users_may_have_passwords_and_act_as_others(tmp_path: Path) -> None:
    user = "username: joe, password: pw, as: admin, as-groups: [a, b], as-user-extra: {Reason: [r]}"
    config = load(kubeconfig(tmp_path / "config", user=user))
    assert config.basic == BasicAuth("joe", "pw")
    assert config.impersonate == {
        "impersonate-user": ("admin",),
        "impersonate-group": ("a", "b"),
        "impersonate-extra-reason": ("r",),
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


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"cluster": "server: c"}, r"clusters\[c\]\.cluster\.server is 'c': it should be an address such as https"),
        ({"cluster": "server: 'https://[::1'"}, r"server is 'https://\[::1' \(Invalid IPv6 URL\)"),
        ({"cluster": "server: 'https://c:99999'"}, r"server is 'https://c:99999' \(Port out of range"),
        ({"cluster": "server: 'https://'"}, r"server is 'https://': it should be an address"),
        ({"cluster": "server: 'https://me:secret@c'"}, r"server has a user name in it: credentials belong under users"),
        ({"user": 'token: "a\\nb"'}, r"users\[u\]\.user\.token has blanks or line breaks in it"),
        ({"cluster": "server: https://c, proxy-url: http://p"}, r"cluster\.proxy-url: proxies are not supported"),
        ({"user": "exec: {command: x}"}, r"users\[u\]\.user\.exec: credential plugins are not supported"),
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
    assert (config.server, config.ca, config.namespace) == ("https://[fd00::1]:6443", PEM, "ns")
    assert config.token_file == service_account / "token"


def test_what_a_pod_lacks_is_named(service_account: Path) -> None:
    with pytest.raises(ConfigError, match="KUBERNETES_SERVICE_HOST is not set"):
        in_cluster(environ={}, service_account=service_account)
    (service_account / "token").unlink()
    with pytest.raises(ConfigError, match="token does not exist: is automountServiceAccountToken off"):
        in_cluster(environ={"KUBERNETES_SERVICE_HOST": "h"}, service_account=service_account)


def test_a_token_file_is_read_again_when_it_is_old_or_was_refused(service_account: Path) -> None:
    path = service_account / "token"
    file = TokenFile(path)
    assert file.token(0.0) == "t"
    path.write_text("t2")
    assert file.token(59.0) == "t"
    assert file.token(60.0) == "t2"
    path.write_text("t3")
    file.refused()
    assert file.token(61.0) == "t3"
    path.unlink()  # it is being replaced
    assert file.token(200.0) == "t3"


def test_a_token_file_must_hold_a_token(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nope: No such file"):
        TokenFile(tmp_path / "nope").token(0.0)
    with pytest.raises(ConfigError, match="is empty"):
        TokenFile(write(tmp_path / "empty", "\n")).token(0.0)
