"""`Call`: what a request asks of the API, in the API's words, and `Match`: which calls are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from kubewright.api import Resource, resource_info
from kubewright.devcluster.routing import route

if TYPE_CHECKING:
    from kubewright.client import HttpRequest

__all__ = ["EVERYTHING", "READS", "WATCHES", "WRITES", "Call", "Match"]

READS = ("get", "list", "watch")
WATCHES = ("list", "watch")
WRITES = ("create", "update", "patch", "apply", "delete", "deletecollection")
_VERBS = (*READS, *WRITES, "other")
_APPLY = "application/apply-patch"


class Call(Struct, frozen=True):
    """A request by verb and resource; what the path lacks is empty. ``verb`` is ``other`` for what is no resource."""

    verb: str
    resource: str
    """``statefulsets.apps``, ``pods``."""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @classmethod
    def of(cls, request: HttpRequest) -> Call:
        found = route(request.method, request.path, request.query)
        if found is None or found.verb is None:
            return cls("other", request.path)
        applied = found.verb == "patch" and request.headers.get("content-type", "").startswith(_APPLY)
        resource = f"{found.plural}.{found.group}" if found.group else found.plural
        name = found.name or (_name_of(request.body) if found.verb == "create" else "")
        return cls("apply" if applied else found.verb, resource, found.namespace, name, found.subresource)

    @property
    def writes(self) -> bool:
        return self.verb in WRITES

    def __str__(self) -> str:
        path = "/".join(part for part in (self.namespace, self.name, self.subresource) if part)
        return f"{self.verb} {self.resource} {path}".rstrip()


class _Metadata(Struct):
    name: str = ""


class _Named(Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def _name_of(body: bytes) -> str:
    try:
        return msgspec.json.decode(body, type=_Named).metadata.name
    except msgspec.DecodeError:
        return ""


class Match(Struct, frozen=True, kw_only=True):
    """Which calls, or which events of a watch, a rule is about. What is not given does not matter.

    Raises ValueError or TypeError for what no call is ever like: a rule that strikes nothing would test nothing.
    """

    verbs: tuple[str, ...] = ()
    kind: type[Resource] | None = None
    name: str | None = None
    namespace: str | None = None
    subresource: str | None = None
    """Empty: only the main resource."""

    def __post_init__(self) -> None:
        if isinstance(self.verbs, str):
            raise TypeError(f"Match(verbs={self.verbs!r}): give a tuple of verbs, such as ({self.verbs!r},)")
        for verb in self.verbs:
            if verb not in _VERBS:
                raise ValueError(f"Match(verbs={self.verbs!r}): there is no verb {verb!r}, only {', '.join(_VERBS)}")
        if self.kind is not None:
            resource_info(self.kind)

    def takes(self, call: Call) -> bool:
        return (
            (not self.verbs or call.verb in self.verbs)
            and (self.kind is None or call.resource == resource_info(self.kind).qualified_plural)
            and (self.name is None or call.name == self.name)
            and (self.namespace is None or call.namespace == self.namespace)
            and (self.subresource is None or call.subresource == self.subresource)
        )


EVERYTHING = Match()
