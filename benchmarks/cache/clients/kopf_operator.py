"""Kopf: an operator with a handler of events and an index that holds the objects."""

from __future__ import annotations

import logging
from typing import Any

import kopf
from kopf._cogs.structs import references

from benchmarks.cache.resources import SENT, Resource
from benchmarks.cache.told import Told

__all__ = ["Kopf"]


_BACKBONE = [
    ("", "v1", "namespaces", "Namespace"),
    ("", "v1", "events", "Event"),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition"),
]
"""What Kopf waits for before it starts, and the stub does not have."""


def _resource(group: str, version: str, plural: str, kind: str) -> Any:
    verbs = frozenset({"list", "watch"})
    return references.Resource(group, version, plural, kind=kind, namespaced=False, preferred=True, verbs=verbs)


class Kopf:
    def __init__(self, server: str, resource: Resource, _: str) -> None:
        self._server = server
        self._resource = resource

    async def warm(self) -> None:
        """All is loaded with the module; a session is not Kopf's public interface."""

    async def follow(self, told: Told) -> None:
        logging.getLogger("kopf").setLevel(logging.WARNING)
        registry = kopf.OperatorRegistry()
        selected = (self._resource.group, self._resource.version, self._resource.plural)
        if not self._resource.group:
            selected = selected[1:]  # type: ignore[assignment]  # the core group has no name

        @kopf.on.login(registry=registry)  # type: ignore[untyped-decorator]  # Kopf is not typed against
        def login(**_: Any) -> Any:
            return kopf.ConnectionInfo(server=self._server)

        @kopf.index(*selected, registry=registry)  # type: ignore[untyped-decorator]  # Kopf is not typed against
        def objects(namespace: str, name: str, body: Any, **_: Any) -> Any:
            return {(namespace, name): dict(body)}

        @kopf.on.event(*selected, registry=registry)  # type: ignore[untyped-decorator]  # Kopf is not typed against
        def changed(annotations: Any, **_: Any) -> None:
            told(lambda: annotations[SENT])

        settings = kopf.OperatorSettings()
        settings.scanning.disabled = True
        settings.posting.enabled = False
        insights = references.Insights()
        await insights.backbone.fill(resources=[_resource(*each) for each in _BACKBONE])
        await kopf.operator(registry=registry, settings=settings, insights=insights, standalone=True, clusterwide=True)

    async def get(self, _: int) -> object:
        raise NotImplementedError("Kopf leaves that to other clients")
