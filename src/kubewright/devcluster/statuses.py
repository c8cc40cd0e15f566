"""`StatusError`: a request refused, with the `Status` body that a real server would answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kubewright.api import to_dict

if TYPE_CHECKING:
    from kubewright.api import ResourceInfo, Status

__all__ = ["PageNotFoundError", "StatusError", "already_exists", "bad_request", "conflict", "not_found", "status_body"]


class PageNotFoundError(Exception):
    """Ends the handling of a request for a path that nothing serves; the answer is a line of text, and no Status."""


class StatusError(Exception):
    """Ends the handling of a request; `body` is the answer, ``headers`` what goes with it."""

    def __init__(self, body: dict[str, Any], *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(body.get("message", ""))
        self.body = body
        self.headers = headers or {}

    @classmethod
    def of(cls, status: Status) -> StatusError:
        body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, **to_dict(status)}
        if "details" in body:
            body["details"] = {key: value for key, value in body["details"].items() if value}
        return cls(body)

    @property
    def code(self) -> int:
        code: int = self.body["code"]
        return code


def status_body(
    code: int,
    reason: str,
    message: str,
    *,
    details: Mapping[str, Any] | None = None,
    status: str = "Failure",
) -> dict[str, Any]:
    """A ``Status`` with the keys in the server's order; empty parts are left out."""
    body: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": status}
    if message:
        body["message"] = message
    if reason:
        body["reason"] = reason
    found = {key: value for key, value in (details or {}).items() if value}
    if found or details is not None:
        body["details"] = found
    body["code"] = code
    return body


def _details(info: ResourceInfo, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "group": info.group, "kind": info.plural, **more}


def bad_request(message: str) -> StatusError:
    return StatusError(status_body(400, "BadRequest", message))


def not_found(info: ResourceInfo, name: str, *, subresource: str = "") -> StatusError:
    """``subresource``: where the server names it too."""
    plural, qualified = _named(info, subresource)
    message = f'{qualified} "{name}" not found'
    return StatusError(status_body(404, "NotFound", message, details={**_details(info, name), "kind": plural}))


def _named(info: ResourceInfo, subresource: str) -> tuple[str, str]:
    """A resource, or its subresource, without and with its group."""
    plural = f"{info.plural}/{subresource}" if subresource else info.plural
    return plural, f"{plural}.{info.group}" if info.group else plural


def already_exists(info: ResourceInfo, name: str) -> StatusError:
    message = f'{info.qualified_plural} "{name}" already exists'
    return StatusError(status_body(409, "AlreadyExists", message, details=_details(info, name)))


def conflict(
    info: ResourceInfo, name: str, why: str, *, causes: Sequence[Mapping[str, str]] = (), subresource: str = ""
) -> StatusError:
    plural, qualified = _named(info, subresource)
    message = f'Operation cannot be fulfilled on {qualified} "{name}": {why}'
    details = {**_details(info, name, causes=list(causes)), "kind": plural}
    return StatusError(status_body(409, "Conflict", message, details=details))
