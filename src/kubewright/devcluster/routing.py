"""Which object or collection a request is about, and what it wants of it.

See "Resource URIs" in https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from sys import intern
from typing import Literal, NamedTuple

from kubewright.devcluster.options import flag

__all__ = ["Route", "Verb", "route"]

Verb = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"]

_WITH_NAME: dict[str, Verb] = {"GET": "get", "HEAD": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_WITHOUT_NAME: dict[str, Verb] = {"GET": "list", "HEAD": "list", "DELETE": "deletecollection"}


class Route(NamedTuple):
    """The parts of a resource's path; empty where the path lacks them. ``verb`` is None for a method that fits nothing."""

    verb: Verb | None
    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    beyond: bool = False
    """Whether the path goes on after the subresource; for custom resources that has no meaning."""


def route(method: str, path: str, query: tuple[tuple[str, str], ...]) -> Route | None:
    """The route of a request; None where the path is not that of a resource."""
    match path.strip("/").split("/"):
        case ["api", version, *rest] if rest and all(rest):
            return _route(method, "", version, rest, query)
        case ["apis", group, version, *rest] if rest and all(rest):
            return _route(method, group, version, rest, query)
    return None


def _route(method: str, group: str, version: str, parts: list[str], query: tuple[tuple[str, str], ...]) -> Route | None:
    old_watch = parts[0] == "watch" and len(parts) > 1
    if old_watch:
        parts = parts[1:]
    namespace = ""
    # a namespace is itself an object with subresources: namespaces/x/status, but namespaces/x/pods
    if parts[0] == "namespaces" and len(parts) > 2 and not (len(parts) == 3 and parts[2] in {"status", "finalize"}):
        namespace, parts = intern(parts[1]), parts[2:]  # which every object in it will hold
    plural, name, subresource = (*parts, "", "")[:3]
    verb = _verb(method, name, query)
    if old_watch and verb in {"get", "list"}:
        verb = "watch"
    return Route(verb, group, version, plural, namespace, name, subresource, len(parts) > 3)


def _verb(method: str, name: str, query: tuple[tuple[str, str], ...]) -> Verb | None:
    if method == "POST":
        return "create"
    if name:
        return _WITH_NAME.get(method)
    verb = _WITHOUT_NAME.get(method)
    if verb == "list" and any(key == "watch" and flag(value) for key, value in query):
        return "watch"
    return verb
