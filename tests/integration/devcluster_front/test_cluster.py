"""The assembled cluster: what is inside its block, and how the block ends."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import ssl
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from kubewright.client.transport import HttpRequest
from kubewright.devcluster.cluster import DevCluster, Https, Runnable
from kubewright.devcluster.errors import ClusterError
from tests.integration.left_open import closed_again, open_files


class Recorded:
    """A controller that says when it runs and when it ended."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.running = asyncio.Event()
        self.ended = asyncio.Event()
        self._failure = failure

    async def run(self) -> None:
        self.running.set()
        try:
            if self._failure:
                raise self._failure
            await asyncio.Event().wait()
        finally:
            self.ended.set()


def only(controller: Runnable) -> Callable[[DevCluster], Sequence[Runnable]]:
    return lambda _cluster: [controller]


def nothing(_cluster: DevCluster) -> Sequence[Runnable]:
    return ()


CREATED: dict[str, Any] = {
    "/api/v1/namespaces": {"metadata": {"name": "mine"}},
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": {
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                }
            ],
        },
    },
}


async def everything_in(cluster: DevCluster) -> list[Any]:
    """What a cluster says it has and serves, without what differs from one to the next."""
    paths = ("/api/v1/namespaces", "/apis", "/apis/example.com/v1", "/openapi/v2", "/openapi/v3")
    answers = [await cluster.transport().request(HttpRequest("GET", path)) for path in paths]
    names = [item["metadata"]["name"] for item in json.loads(answers[0].body)["items"]]
    return [names, *((each.status, each.body) for each in answers[1:])]


async def get_with(kubeconfig: dict[str, Any], path: str, *, decoded: bool = True) -> tuple[int, Any]:
    """One request with nothing but what the kubeconfig says."""
    cluster, user = kubeconfig["clusters"][0]["cluster"], kubeconfig["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    headers = {"Authorization": f"Bearer {user['token']}"}
    url = cluster["server"] + path
    async with aiohttp.ClientSession(headers=headers) as session, session.get(url, ssl=context) as response:
        return response.status, await (response.json() if decoded else response.text())


def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


async def test_a_cluster_in_process_answers_without_a_port() -> None:
    async with DevCluster(controllers=nothing) as cluster:
        response = await cluster.transport().request(HttpRequest("GET", "/api/v1/namespaces"))
    assert response.status == 200
    with pytest.raises(ClusterError, match="does not listen"):
        _ = cluster.kubeconfig


async def test_the_kubeconfig_lets_in(tmp_path: Path) -> None:
    async with DevCluster(https=Https(kubeconfig=tmp_path / "kubeconfig"), controllers=nothing) as cluster:
        assert cluster.kubeconfig == tmp_path / "kubeconfig"
        status, found = await get_with(load(cluster.kubeconfig), "/api/v1/namespaces")
    assert status == 200
    assert "default" in {item["metadata"]["name"] for item in found["items"]}


async def test_a_kubeconfig_without_a_place_lives_as_long_as_the_cluster() -> None:
    async with DevCluster(https=Https(), controllers=nothing) as cluster:
        path = cluster.kubeconfig
        assert path.exists()
    assert not path.exists()


async def test_clusters_of_one_process_do_not_see_each_other() -> None:
    """What they share, such as the built-in kinds, is never changed."""
    async with DevCluster() as one, DevCluster() as other:
        before = await everything_in(other)
        for path, body in CREATED.items():
            answer = await one.transport().request(
                HttpRequest("POST", path, headers={"content-type": "application/json"}, body=json.dumps(body).encode())
            )
            assert answer.status == 201, answer.body
        assert await everything_in(one) != before
        assert await everything_in(other) == before
        async with DevCluster() as later:
            assert await everything_in(later) == before


async def test_a_cluster_leaves_nothing_behind() -> None:
    files, tasks = open_files(), asyncio.all_tasks()
    async with DevCluster(https=Https()) as cluster:
        assert (await get_with(load(cluster.kubeconfig), "/readyz", decoded=False))[0] == 200
        assert len(asyncio.all_tasks()) > len(tasks)
        server = weakref.ref(cluster.server)
    del cluster
    assert asyncio.all_tasks() == tasks
    await closed_again(files)
    gc.collect()
    assert server() is None


async def test_discovery_names_the_address_it_was_asked_at() -> None:
    async with DevCluster(https=Https(), controllers=nothing) as cluster:
        _, found = await get_with(load(cluster.kubeconfig), "/api")
    assert f"https://{found['serverAddressByClientCIDRs'][0]['serverAddress']}" == cluster.server_url


async def test_discovery_works_in_process_too() -> None:
    async with DevCluster(controllers=nothing) as cluster:
        response = await cluster.transport().request(HttpRequest("GET", "/apis/apps/v1"))
    assert b'"statefulsets"' in response.body


async def test_controllers_run_inside_the_block_and_end_with_it() -> None:
    controller = Recorded()
    async with DevCluster(controllers=only(controller)):
        await asyncio.wait_for(controller.running.wait(), 5)
        assert not controller.ended.is_set()
    assert controller.ended.is_set()


async def test_an_error_inside_the_block_comes_out_as_it_is() -> None:
    controller = Recorded()
    with pytest.raises(ZeroDivisionError):
        async with DevCluster(https=Https(), controllers=only(controller)):
            raise ZeroDivisionError
    assert controller.ended.is_set()


async def test_a_controller_that_fails_ends_the_block() -> None:
    async def wait_in_the_block() -> None:
        async with DevCluster(controllers=only(Recorded(RuntimeError("boom")))):
            await asyncio.Event().wait()

    with pytest.RaisesGroup(RuntimeError):
        await asyncio.wait_for(wait_in_the_block(), 5)


async def test_a_port_that_is_taken_is_an_error_and_nothing_keeps_running() -> None:
    controller = Recorded()
    async with DevCluster(https=Https(), controllers=nothing) as first:
        port = int(first.server_url.rpartition(":")[2])
        with pytest.raises(ClusterError, match=f"port {port} on 127.0.0.1 is in use"):
            async with DevCluster(https=Https(port=port), controllers=only(controller)):
                pass
    assert controller.ended.is_set() or not controller.running.is_set()


async def test_a_port_that_is_only_a_wish_gives_way_to_a_free_one() -> None:
    async with DevCluster(https=Https(), controllers=nothing) as first:
        port = int(first.server_url.rpartition(":")[2])
        async with DevCluster(https=Https(port=port, port_is_a_wish=True), controllers=nothing) as second:
            assert second.server_url != first.server_url
