"""Large answers leave compressed where the client takes gzip."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping

__all__ = ["THRESHOLD", "compressed", "compressed_stream", "takes_gzip"]

THRESHOLD = 128 * 1024
"""From how many bytes on, as on a real server: below, compressing costs more than it saves."""

_FASTEST = 1
_GZIP_FORMAT = 31  # zlib's number for gzip's header, with the largest window


def takes_gzip(headers: Mapping[str, str]) -> bool:
    """Whether the request says so in the one way that a real server understands: ``gzip`` without a weight."""
    accepted = headers.get("accept-encoding")
    return accepted is not None and any(each.strip() == "gzip" for each in accepted.split(","))


def compressed(body: bytes) -> bytes:
    """``body`` in gzip's format."""
    compressor = zlib.compressobj(_FASTEST, zlib.DEFLATED, _GZIP_FORMAT)
    return compressor.compress(body) + compressor.flush()


def compressed_stream(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same of a body that comes in pieces."""
    compressor = zlib.compressobj(_FASTEST, zlib.DEFLATED, _GZIP_FORMAT)
    for chunk in chunks:
        if found := compressor.compress(chunk):
            yield found
    yield compressor.flush()
