"""The two resources that the stub serves, and where its objects are."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PODS", "RESOURCES", "SENT", "WIDGETS", "Resource"]

SENT = "bench.example.com/sent"
"""The annotation with the moment at which an event was made: nanoseconds since 1970."""

_NAMESPACES = 20


@dataclass(frozen=True)
class Resource:
    group: str
    version: str
    kind: str
    plural: str
    prefix: str
    """Of the objects' names."""

    @property
    def path(self) -> str:
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def address(self, number: int) -> tuple[str, str]:
        """Namespace and name of an object."""
        return f"team-{number % _NAMESPACES:02}", f"{self.prefix}{number:06}"

    def object_path(self, number: int) -> str:
        namespace, name = self.address(number)
        return f"{self.path}/namespaces/{namespace}/{self.plural}/{name}"


WIDGETS = Resource("example.com", "v1", "Widget", "widgets", "w-")
PODS = Resource("", "v1", "Pod", "pods", "web-7d4b9c6f5d-")
RESOURCES = {each.plural: each for each in (WIDGETS, PODS)}
