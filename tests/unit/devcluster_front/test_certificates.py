from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from kubewright.devcluster.certificates import new_credentials
from kubewright.devcluster.credentials import load_or_create
from kubewright.devcluster.kubeconfig_file import write_kubeconfig

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def test_the_serving_certificate_is_good_for_loopback_and_for_service_names() -> None:
    certificate = x509.load_pem_x509_certificate(new_credentials(NOW).server)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert {str(each) for each in names.get_values_for_type(x509.IPAddress)} == {"127.0.0.1", "::1"}
    assert {"localhost", "kubernetes.default.svc"} <= set(names.get_values_for_type(x509.DNSName))


def test_each_cluster_has_its_own_token_and_authority() -> None:
    first, second = new_credentials(NOW), new_credentials(NOW)
    assert first.token != second.token
    assert first.ca != second.ca


def test_kept_credentials_are_used_again(tmp_path: Path) -> None:
    assert load_or_create(tmp_path, NOW) == load_or_create(tmp_path, NOW + timedelta(days=100))


def test_credentials_that_end_soon_are_made_anew(tmp_path: Path) -> None:
    assert load_or_create(tmp_path, NOW) != load_or_create(tmp_path, NOW + timedelta(days=350))


@pytest.mark.parametrize("file", ["ca.crt", "server.pem", "token"])
def test_broken_credentials_are_made_anew(tmp_path: Path, file: str) -> None:
    before = load_or_create(tmp_path, NOW)
    (tmp_path / file).write_bytes(b"")
    after = load_or_create(tmp_path, NOW)
    assert after.token != before.token
    assert after == load_or_create(tmp_path, NOW)


def test_an_authority_of_another_cluster_is_noticed(tmp_path: Path) -> None:
    before = load_or_create(tmp_path, NOW)
    (tmp_path / "ca.crt").write_bytes(new_credentials(NOW).ca)
    assert load_or_create(tmp_path, NOW).token != before.token


def test_nobody_else_can_read_keys_tokens_or_the_kubeconfig(tmp_path: Path) -> None:
    credentials = load_or_create(tmp_path, NOW)
    write_kubeconfig(tmp_path / "kubeconfig", "https://127.0.0.1:6443", credentials)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {
        "ca.crt": 0o600,
        "server.pem": 0o600,
        "token": 0o600,
        "kubeconfig": 0o600,
    }


def test_the_kubeconfig_names_server_authority_and_token(tmp_path: Path) -> None:
    credentials = new_credentials(NOW)
    path = tmp_path / "new" / "kubeconfig"
    write_kubeconfig(path, "https://127.0.0.1:6443", credentials)
    found = yaml.safe_load(path.read_text())
    assert found["current-context"] == found["contexts"][0]["name"] == "kubewright"
    assert found["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:6443"
    assert found["users"][0]["user"] == {"token": credentials.token}


def test_writing_the_kubeconfig_again_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    for port in (1, 2):
        write_kubeconfig(path, f"https://127.0.0.1:{port}", new_credentials(NOW))
    assert yaml.safe_load(path.read_text())["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:2"
    assert [each.name for each in tmp_path.iterdir()] == ["kubeconfig"]
