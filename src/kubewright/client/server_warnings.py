"""`ServerWarnings`: what API servers warn of, such as the use of a deprecated API.

https://kubernetes.io/blog/2020/09/03/warnings/ and RFC 7234, section 5.5
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubewright.telemetry import Log

__all__ = ["ServerWarnings", "warning_texts"]

_REMEMBERED = 1000
_LONGEST = 1000
_WARNING = re.compile(r'(\d{3}) [^\s",]+ "((?:[^"\\]|\\.)*)"')


class ServerWarnings:
    """Logs each warning once. Of very many, the oldest are forgotten, and would be logged again."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._known: dict[str, None] = {}

    def note(self, header: str) -> None:
        """Takes the ``Warning`` header of an answer."""
        for text in warning_texts(header):
            if text in self._known:
                continue
            if len(self._known) == _REMEMBERED:
                del self._known[next(iter(self._known))]
            self._known[text] = None
            self._log.warning("the API server warns", warning=text)


def warning_texts(header: str) -> Iterator[str]:
    """The texts in a ``Warning`` header with code 299, which Kubernetes uses; caches and proxies use others."""
    for code, text in _WARNING.findall(header):
        if code == "299":
            yield re.sub(r"\\(.)", r"\1", text)[:_LONGEST]
