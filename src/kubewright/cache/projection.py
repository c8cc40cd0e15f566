"""`Projection`: how much of each object is kept in memory."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from kubewright.api import DecodeError, ObjectMeta, Resource, decode
from kubewright.cache.entry import Entry
from kubewright.cache.narrow import Steps

__all__ = ["METADATA", "WHOLE", "NotHeld", "Projection", "decode_metadata", "held"]

R = TypeVar("R", bound=Resource)

_JSON = "application/json"
_METADATA_OF = f"{_JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{_JSON}"
_METADATA_OF_ALL = f"{_JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{_JSON}"

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])


class NotHeld(LookupError):
    """A whole object was asked of a cache that keeps only metadata."""


class Projection(Struct, frozen=True):
    """`WHOLE`, `METADATA`, or chosen fields (`of`); apiVersion, kind and metadata are always kept.

    With `METADATA` the server sends no more than that. Chosen fields are cut out here; an object that is read then lacks
    the others, as if the server had not set them.
    """

    fields: tuple[str, ...] | None = None
    """Dotted paths through objects; a list is kept as a whole. None keeps everything."""

    @classmethod
    def of(cls, *fields: str) -> Projection:
        """Keeps only the named fields, such as ``spec.replicas``. Raises ValueError for what is no path."""
        for path in fields:
            if not all(path.split(".")):
                raise ValueError(f"{path!r} is no path of fields: write it as spec.replicas")
        if not fields:
            raise ValueError("which fields? Name some, or use METADATA")
        wanted = set(fields)
        return cls(tuple(sorted(path for path in wanted if not any(path.startswith(f"{other}.") for other in wanted))))

    @property
    def metadata_only(self) -> bool:
        return self.fields == ()

    def keeps(self, steps: Steps) -> bool:
        """Whether all that a path leads to is kept."""
        kept = [path.split(".") for path in self.fields or ()]
        return self.fields is None or steps[0] == "metadata" or any(list(steps[: len(path)]) == path for path in kept)

    @property
    def of_one(self) -> str:
        """The media types to ask for where objects come one by one, as in a watch."""
        return _METADATA_OF if self.metadata_only else _JSON

    @property
    def of_list(self) -> str:
        return _METADATA_OF_ALL if self.metadata_only else _JSON

    def cut(self, parts: Mapping[str, msgspec.Raw]) -> dict[str, object]:
        """What is kept of an object's members, metadata aside."""
        if self.fields is None:
            return dict(parts)
        return _pick(parts, _tree(self.fields))


WHOLE = Projection()
METADATA = Projection(())


def held(entry: Entry, kind: type[R], projection: Projection) -> R:
    """The object of an entry, decoded anew. Raises `NotHeld` for a cache of metadata, and `DecodeError`."""
    if projection.metadata_only:
        raise NotHeld(
            f"only the metadata of {kind.__name__} is cached: read it with Informer.metadata, or the object with Client.get"
        )
    return decode(entry.text, kind)  # of all other projections the whole of it


def decode_metadata(entry: Entry) -> ObjectMeta:
    """Raises `DecodeError`."""
    try:
        return decode(_metadata.decode(entry.raw).metadata, ObjectMeta)
    except msgspec.DecodeError as error:
        raise DecodeError(f"{entry.namespace}/{entry.name}: {error}") from error


class _Object(Struct):
    metadata: msgspec.Raw


_metadata = msgspec.json.Decoder(_Object)


@lru_cache(64)
def _tree(fields: tuple[str, ...]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in fields:
        node = tree
        for name in path.split("."):
            node = node.setdefault(name, {})
    return tree


def _pick(parts: Mapping[str, msgspec.Raw], tree: Mapping[str, Any]) -> dict[str, object]:
    kept: dict[str, object] = {}
    for name, below in tree.items():
        value = parts.get(name)
        if value is None:
            continue
        inner = bytes(value) if below else b""
        kept[name] = _pick(_parts.decode(inner), below) if inner.startswith(b"{") else value
    return kept
