"""The kinds of patch that a server takes, apart from server-side apply, which `Client.apply` sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from kubewright.api import JSON

__all__ = ["JsonPatch", "MergePatch", "Patch", "StrategicMergePatch"]


class JsonPatch(Struct, frozen=True):
    """RFC 6902: operations, all of which apply or none."""

    operations: Sequence[Mapping[str, JSON]]

    @property
    def content_type(self) -> str:
        return "application/json-patch+json"

    @property
    def body(self) -> JSON:
        return [dict(operation) for operation in self.operations]


class MergePatch(Struct, frozen=True):
    """RFC 7386: maps are merged, null removes, lists are replaced whole."""

    document: Mapping[str, JSON]

    @property
    def content_type(self) -> str:
        return "application/merge-patch+json"

    @property
    def body(self) -> JSON:
        return dict(self.document)


class StrategicMergePatch(Struct, frozen=True):
    """A merge patch that knows the keys of lists; built-in kinds only."""

    document: Mapping[str, JSON]

    @property
    def content_type(self) -> str:
        return "application/strategic-merge-patch+json"

    @property
    def body(self) -> JSON:
        return dict(self.document)


Patch: TypeAlias = JsonPatch | MergePatch | StrategicMergePatch
