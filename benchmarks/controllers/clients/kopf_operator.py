"""Kopf: an operator with one handler of events, which keeps nothing in annotations: one request for a status."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import kopf
from kopf._cogs.structs import references

from benchmarks.cache.resources import SENT, WIDGETS
from benchmarks.controllers.access import Access
from benchmarks.controllers.handled import READY, Handled

__all__ = ["Kopf"]

_BACKBONE = [
    ("", "v1", "namespaces", "Namespace"),
    ("", "v1", "events", "Event"),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
]
"""What Kopf waits for before it starts, and the stub does not have."""
_Handler = Callable[..., Awaitable[None]]


def _resource(group: str, version: str, plural: str, kind: str) -> Any:
    verbs = frozenset({"list", "watch"})
    return references.Resource(group, version, plural, kind=kind, namespaced=False, preferred=True, verbs=verbs)


class Kopf:
    def __init__(self, access: Access, workers: int) -> None:
        self._access = access
        self._workers = workers

    async def reconcile(self, handled: Handled) -> None:
        async def changed(**_: Any) -> None:
            handled.began()
            handled()

        await self._run(changed)

    async def hear(self, handled: Handled) -> None:
        async def changed(annotations: Any, **_: Any) -> None:
            handled.delayed(lambda: annotations[SENT])

        await self._run(changed)

    async def write(self, handled: Handled) -> None:
        """What it wrote it is told of as an event, which is when it counts: what it sends it does not tell."""

        async def changed(status: Any, patch: Any, **_: Any) -> None:
            handled.began()
            if status.get("phase") == READY:
                handled()
            else:
                patch.status.update(observedGeneration=1, readyReplicas=3, phase=READY)

        await self._run(changed)

    async def _run(self, changed: _Handler) -> None:
        logging.getLogger("kopf").setLevel(logging.WARNING)
        registry = kopf.OperatorRegistry()
        access = self._access
        authority = access.authority

        @kopf.on.login(registry=registry)  # type: ignore[untyped-decorator]  # Kopf is not typed against
        def login(**_: Any) -> Any:
            if authority is None:
                return kopf.ConnectionInfo(server=access.url)
            path = Path(tempfile.mkstemp(suffix=".pem")[1])
            path.write_bytes(authority)
            return kopf.ConnectionInfo(server=access.url, token=access.token, ca_path=str(path))

        kopf.on.event(WIDGETS.group, WIDGETS.version, WIDGETS.plural, registry=registry)(changed)
        settings = kopf.OperatorSettings()
        settings.scanning.disabled = True
        settings.posting.enabled = False
        settings.queueing.worker_limit = None
        insights = references.Insights()
        await insights.backbone.fill(resources=[_resource(*each) for each in _BACKBONE])
        await kopf.operator(registry=registry, settings=settings, insights=insights, standalone=True, clusterwide=True)
