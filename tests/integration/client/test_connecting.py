"""`Client.connect`: the client that users make."""

from __future__ import annotations

from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from kubewright.api import NotFound, ObjectMeta
from kubewright.client import Client, CredentialError, TransportError
from kubewright.client.kubeconfig import KubeconfigError
from kubewright.devcluster.cluster import DevCluster, Https
from kubewright.kinds import core_v1

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
    return write(tmp_path / "config", KUBECONFIG)


def write(file: Path, text: str) -> Path:
    file.write_text(text)
    return file


async def test_a_client_talks_to_the_cluster_until_it_is_left() -> None:
    async with DevCluster(https=Https(), controllers=lambda _: ()) as cluster:
        async with Client.connect(kubeconfig=cluster.kubeconfig, field_manager="me") as client:
            namespace = await client.create(core_v1.Namespace(metadata=ObjectMeta(name="mine")))
            assert [entry.manager for entry in namespace.metadata.managed_fields or []] == ["me"]
        with pytest.raises(RuntimeError, match="closed"):
            await client.get(core_v1.Namespace, "mine")


async def test_warnings_are_seen_where_no_log_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with DevCluster(https=Https(), controllers=lambda _: ()) as cluster:
        unverified = cluster.kubeconfig.read_text().split("certificate-authority", 1)
        rest_of_it = unverified[1].split("\n", 1)[1]
        kubeconfig = write(tmp_path / "config", f"{unverified[0]}insecure-skip-tls-verify: true\n{rest_of_it}")
        async with Client.connect(kubeconfig=kubeconfig) as client:
            await client.get(core_v1.Namespace, "default")
    assert capsys.readouterr().err.count("anybody may pose as the server") == 1


@pytest.mark.parametrize(("context", "address"), [(None, "127.0.0.1:1"), ("there", "127.0.0.2:1")])
async def test_a_server_that_does_not_answer_is_told_with_its_address_and_where_that_is_from(
    kubeconfig: Path, context: str | None, address: str
) -> None:
    with pytest.raises(
        TransportError, match=f"no API server answers at http://{address} .*{kubeconfig}.*refused.*context"
    ):
        async with Client.connect(kubeconfig=kubeconfig, context=context):
            raise AssertionError("there is no server")


async def test_what_is_no_api_server_is_told_to_be_none(kubeconfig: Path) -> None:
    async def greet(_request: web.Request) -> web.Response:
        return web.Response(text="<html>Log in</html>", content_type="text/html")

    application = web.Application()
    application.router.add_get("/version", greet)
    async with TestServer(application) as server:
        address = str(server.make_url("")).rstrip("/")
        write(kubeconfig, KUBECONFIG.replace("http://127.0.0.1:1", address))
        with pytest.raises(TransportError, match=f"what answers at {address} .*{kubeconfig}.* is no API server"):
            async with Client.connect(kubeconfig=kubeconfig):
                raise AssertionError("there is no API server")


async def test_the_environment_says_where_the_cluster_is(kubeconfig: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
    with pytest.raises(TransportError, match="127.0.0.1:1"):
        async with Client.connect():
            raise AssertionError("there is no server")
    with pytest.raises(KubeconfigError, match="there is no context 'nowhere'; there is: here, there"):
        async with Client.connect(context="nowhere"):
            raise AssertionError("there is no context")


async def test_no_cluster_is_an_error_that_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(KubeconfigError, match=r"no cluster configured: .*; name a file, or set KUBECONFIG"):
        async with Client.connect():
            raise AssertionError("there is no cluster")
    with pytest.raises(KubeconfigError, match=r"missing\.yaml"):
        async with Client.connect(kubeconfig=tmp_path / "missing.yaml"):
            raise AssertionError("there is no file")


async def test_a_missing_credential_is_not_taken_for_a_missing_server(kubeconfig: Path) -> None:
    plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, command: /nowhere/plugin, interactiveMode: Never}"
    write(kubeconfig, KUBECONFIG.replace("token: t", plugin))
    with pytest.raises(CredentialError, match="/nowhere/plugin"):
        async with Client.connect(kubeconfig=kubeconfig):
            raise AssertionError("there is no credential")


async def test_a_server_that_does_not_tell_its_version_is_there_all_the_same(kubeconfig: Path) -> None:
    async def refuse(_request: web.Request) -> web.Response:
        status = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no"}
        return web.json_response(status, status=403)

    application = web.Application()
    application.router.add_get("/version", refuse)
    async with TestServer(application) as server:
        write(kubeconfig, KUBECONFIG.replace("http://127.0.0.1:1", str(server.make_url("")).rstrip("/")))
        async with Client.connect(kubeconfig=kubeconfig) as client:
            with pytest.raises(NotFound):
                await client.get(core_v1.Namespace, "default")
