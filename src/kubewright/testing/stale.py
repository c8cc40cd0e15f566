"""Answers from the past: lists as of a revision, and watches that begin with one."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from kubewright.client import HttpRequest, Transport, TransportError

__all__ = ["exactly_at", "starting_at"]

_OF_THE_VERSION = ("resourceVersion", "resourceVersionMatch", "sendInitialEvents", "watch", "timeoutSeconds")
_OF_WATCHES = ("allowWatchBookmarks",)


def exactly_at(request: HttpRequest, revision: str) -> HttpRequest:
    """The list as of ``revision``; its further pages are of that revision by themselves."""
    if any(key == "continue" for key, _ in request.query):
        return request
    query = tuple(pair for pair in request.query if pair[0] not in _OF_THE_VERSION + _OF_WATCHES)
    at = (("resourceVersion", revision), ("resourceVersionMatch", "Exact"))
    return replace(request, query=query + at)


async def starting_at(inner: Transport, request: HttpRequest, revision: str) -> tuple[HttpRequest, bytes]:
    """For a streaming list: the watch from ``revision`` on, and the lines that come before. Other watches stay as they are."""
    if ("sendInitialEvents", "true") not in request.query:
        return request, b""
    answer = await inner.request(exactly_at(replace(request, headers={"accept": "application/json"}), revision))
    if answer.status != 200:
        raise TransportError(f"no state at {revision} to show: {answer.body.decode()}", may_be_applied=False)
    listed: dict[str, Any] = msgspec.json.decode(answer.body)
    head = {"apiVersion": listed["apiVersion"], "kind": str(listed["kind"]).removesuffix("List")}
    events = [{"type": "ADDED", "object": {**head, **item}} for item in listed["items"]]
    metadata = {"resourceVersion": revision, "annotations": {"k8s.io/initial-events-end": "true"}}
    events.append({"type": "BOOKMARK", "object": {**head, "metadata": metadata}})
    query = tuple(pair for pair in request.query if pair[0] not in {"sendInitialEvents", "resourceVersionMatch"})
    query = (*(pair for pair in query if pair[0] != "resourceVersion"), ("resourceVersion", revision))
    return replace(request, query=query), b"".join(msgspec.json.encode(event) + b"\n" for event in events)
