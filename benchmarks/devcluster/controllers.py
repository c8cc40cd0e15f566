"""What the controllers cost when much is asked of them at once."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import msgspec

from kubewright.client import HttpRequest
from kubewright.devcluster.api_server import ApiServer
from kubewright.devcluster.cluster import DevCluster
from kubewright.devcluster.store import GroupResource

__all__ = ["statefulsets"]

_HEADERS = {"content-type": "application/json", "user-agent": "bench/1"}
_STATEFULSETS = GroupResource("apps", "statefulsets")


def _create(server: ApiServer, path: str, obj: dict[str, Any]) -> None:
    answer = server.answer(HttpRequest("POST", path, (), _HEADERS, msgspec.json.encode(obj)))
    if answer.status != 201:
        raise RuntimeError(f"POST {path} is answered with {answer.status}")


def _create_set(server: ApiServer, name: str) -> None:
    labels = {"app": name}
    service = {"selector": labels, "ports": [{"port": 5432}]}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    spec = {
        "replicas": 2,
        "serviceName": name,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "db", "image": "postgres"}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}],
    }
    _create(server, "/api/v1/namespaces/default/services", {"metadata": {"name": name}, "spec": service})
    _create(server, "/apis/apps/v1/namespaces/default/statefulsets", {"metadata": {"name": name}, "spec": spec})


async def statefulsets(total: int) -> float:
    """Seconds of processor time until so many sets of two pods with volumes and Services, created at once, are ready."""
    async with DevCluster() as cluster:
        server = cluster.server
        await asyncio.sleep(0.5)
        store, written = server.store, asyncio.Event()
        seen, ready = store.revision, set[str]()
        store.subscribe(written.set, resource=_STATEFULSETS)
        begin = time.process_time()
        for number in range(total):
            _create_set(server, f"db-{number:04}")
        while len(ready) < total:
            await written.wait()
            written.clear()
            for change in store.changes(seen, resource=_STATEFULSETS):
                seen = change.revision
                if (change.new.get("status") or {}).get("readyReplicas") == 2:
                    ready.add(change.name)
        return time.process_time() - begin
