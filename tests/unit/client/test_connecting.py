"""`Client.connect`: the client that users make."""

from __future__ import annotations

from pathlib import Path

import pytest

from kubewright.api import NotFound
from kubewright.client import Client, TransportError
from kubewright.client.kubeconfig import KubeconfigError

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: here, context: {cluster: one, user: me}}
- {name: there, context: {cluster: two, user: me}}
clusters:
- {name: one, cluster: {server: "http://127.0.0.1:1"}}
- {name: two, cluster: {server: "http://127.0.0.2:1"}}
users:
- {name: me, user: {token: t}}
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)
    return file


@pytest.mark.parametrize(("context", "address"), [(None, "127.0.0.1:1"), ("there", "127.0.0.2:1")])
async def test_a_client_is_of_the_context_that_is_named(
    kubeconfig: Path, slept: list[float], context: str | None, address: str
) -> None:
    async with Client.connect(kubeconfig=kubeconfig, context=context, field_manager="me") as client:
        assert client.field_manager == "me"
        with pytest.raises(TransportError, match=address):
            await client.rest.version()


async def test_the_environment_says_where_the_cluster_is(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    async with Client.connect():
        pass
    with pytest.raises(KubeconfigError, match="there is no context 'nowhere'; there is: here, there"):
        Client.connect(context="nowhere")


async def test_no_cluster_is_an_error_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(KubeconfigError, match=r"no cluster configured: .*; name a file, or set KUBECONFIG"):
        Client.connect()
    with pytest.raises(KubeconfigError, match="missing.yaml"):
        Client.connect(kubeconfig=tmp_path / "missing.yaml")


async def test_a_client_is_closed_when_it_is_left(kubeconfig: Path) -> None:
    with pytest.raises(NotFound):
        async with Client.connect(kubeconfig=kubeconfig) as client:
            raise _not_found()
    with pytest.raises((TransportError, RuntimeError)):
        await client.rest.version()


def _not_found() -> NotFound:
    from kubewright.api import Status

    return NotFound(Status(message="no"))
