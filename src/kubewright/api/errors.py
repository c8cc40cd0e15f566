"""API errors: one class per reason that a caller would tell apart, each carrying the server's `Status`."""

from __future__ import annotations

import re
from typing import ClassVar

from kubewright.api.meta import Status, StatusCause

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Conflict",
    "Expired",
    "Forbidden",
    "Gone",
    "InternalError",
    "Invalid",
    "MethodNotAllowed",
    "NotAcceptable",
    "NotFound",
    "RequestEntityTooLarge",
    "ServerTimeout",
    "ServiceUnavailable",
    "StoreReadError",
    "Timeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
    "api_error",
]


_PATCHED = re.compile(r' "" is invalid: patch: Invalid value: "(?:[^"\\]|\\.)*": ', re.DOTALL)


def _said(status: Status) -> str | None:
    """The server's message without the object that it repeats where a patch makes nonsense of it: it may be a Secret."""
    return status.message and _PATCHED.sub("the patch makes an invalid object: ", status.message, count=1)


class ApiError(Exception):
    """The API server refused a request; `status` is its answer, whole.

    See "Error response" in
    https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
    """

    reason: ClassVar[str] = ""
    code: ClassVar[int] = 500

    def __init__(self, status: Status) -> None:
        super().__init__(_said(status) or status.reason or f"HTTP {status.code}")
        self.status = status

    @property
    def causes(self) -> list[StatusCause]:
        """Field by field, what was refused."""
        return (self.status.details.causes if self.status.details else None) or []

    @property
    def retry_after(self) -> float | None:
        """Seconds the server asks to wait, where it asks."""
        return self.status.details.retry_after_seconds if self.status.details else None


class BadRequest(ApiError):
    """The request makes no sense to the server; sending it again can't help."""

    reason, code = "BadRequest", 400


class Unauthorized(ApiError):
    """The server does not know who asks; credentials were renewed once already."""

    reason, code = "Unauthorized", 401


class Forbidden(ApiError):
    """The server knows who asks, and a role is missing."""

    reason, code = "Forbidden", 403


class NotFound(ApiError):
    reason, code = "NotFound", 404


class MethodNotAllowed(ApiError):
    """The resource knows no such verb."""

    reason, code = "MethodNotAllowed", 405


class NotAcceptable(ApiError):
    """The server has none of the media types that were asked for."""

    reason, code = "NotAcceptable", 406


class AlreadyExists(ApiError):
    reason, code = "AlreadyExists", 409


class Conflict(ApiError):
    """The object changed since it was read, or another field manager owns a field."""

    reason, code = "Conflict", 409


class Gone(ApiError):
    """Something the server no longer has, and did not move."""

    reason, code = "Gone", 410


class Expired(Gone):
    """A resource version or continue token that the server no longer has; list again."""

    reason = "Expired"


class RequestEntityTooLarge(ApiError):
    """The body is larger than the server takes (3 MiB, or 1.5 MiB for etcd)."""

    reason, code = "RequestEntityTooLarge", 413


class UnsupportedMediaType(ApiError):
    """The server does not read this content type here, such as a strategic merge patch of a custom resource."""

    reason, code = "UnsupportedMediaType", 415


class Invalid(ApiError):
    """Validation failed; `causes` names each field."""

    reason, code = "Invalid", 422

    @property
    def fields(self) -> dict[str, list[str]]:
        """What is wrong with which field, by its path (``spec.replicas``); under "" what names no field."""
        found: dict[str, list[str]] = {}
        for cause in self.causes:
            found.setdefault(cause.field or "", []).append(cause.message or cause.reason or "is not valid")
        return found


class TooManyRequests(ApiError):
    """The server throttles, or a disruption budget refuses an eviction; `retry_after` says when to come back."""

    reason, code = "TooManyRequests", 429


class InternalError(ApiError):
    """The server failed, or an admission webhook did."""

    reason, code = "InternalError", 500


class ServerTimeout(ApiError):
    """The server could not do it in time and did nothing, as far as it knows; `retry_after` says when to come back."""

    reason, code = "ServerTimeout", 500


class StoreReadError(ApiError):
    """The object can't be read from the server's storage, as after its encryption key was lost."""

    reason, code = "StoreReadError", 500


class ServiceUnavailable(ApiError):
    """The server, or what it passed the request on to, is not there at the moment."""

    reason, code = "ServiceUnavailable", 503


class Timeout(ApiError):
    """The server gave up; it may still do what was asked."""

    reason, code = "Timeout", 504


_CLASSES: tuple[type[ApiError], ...] = (
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    Conflict,
    AlreadyExists,
    Gone,
    Expired,
    RequestEntityTooLarge,
    UnsupportedMediaType,
    Invalid,
    TooManyRequests,
    InternalError,
    ServerTimeout,
    StoreReadError,
    ServiceUnavailable,
    Timeout,
)
_BY_REASON = {cls.reason: cls for cls in _CLASSES}
_BY_CODE = {cls.code: cls for cls in reversed(_CLASSES)}
"""Of classes that share a code, the first one."""


def api_error(status: Status) -> ApiError:
    """The most specific class for a `Status`: by reason, else by code."""
    cls = _BY_REASON.get(status.reason or "") or _BY_CODE.get(status.code or 0, ApiError)
    return cls(status)
