"""`StreamingLists`: which servers are known to have none."""

from __future__ import annotations

from kubewright.api import ResourceInfo

__all__ = ["StreamingLists"]


class StreamingLists:
    """Which API groups of one server were found to have no streaming lists; an aggregated group is a server of its own."""

    def __init__(self) -> None:
        self._without: set[str] = set()

    def available(self, info: ResourceInfo) -> bool:
        return info.api_version not in self._without

    def rule_out(self, info: ResourceInfo) -> None:
        self._without.add(info.api_version)
