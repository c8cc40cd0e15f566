"""Resource versions as numbers, and the bookmarks that carry them."""

from __future__ import annotations

import msgspec

from kubewright.api import DecodeError

__all__ = ["Bookmark", "read_bookmark", "version_number"]


class Bookmark(msgspec.Struct, rename="camel"):
    """How far a watch has told everything."""

    resource_version: str
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct):
    metadata: Bookmark


_bookmark = msgspec.json.Decoder(_Object)


def read_bookmark(raw: msgspec.Raw | bytes) -> Bookmark:
    """Raises `DecodeError`."""
    try:
        return _bookmark.decode(raw).metadata
    except msgspec.DecodeError as error:
        raise DecodeError(f"not a bookmark: {error} ({len(raw)} bytes)") from error


def version_number(version: str | None) -> int:
    """Versions are comparable as integers (KEP-5504). Raises `DecodeError` for what is none."""
    try:
        return int(version or "")
    except ValueError as error:
        raise DecodeError(
            f"resource version {version!r} is no number: this server's objects can't be cached"
        ) from error
