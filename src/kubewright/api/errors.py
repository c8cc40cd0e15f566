"""API errors: one class per reason that a caller would tell apart, each carrying the server's `Status`."""

from __future__ import annotations

from typing import ClassVar

from kubewright.api.meta import Status, StatusCause

__all__ = [
    "AlreadyExists",
    "ApiError",
    "BadRequest",
    "Conflict",
    "Forbidden",
    "Gone",
    "Invalid",
    "MethodNotAllowed",
    "NotFound",
    "ServerTimeout",
    "TooManyRequests",
    "Unauthorized",
    "UnsupportedMediaType",
    "api_error",
]


class ApiError(Exception):
    """The API server refused a request; `status` is its answer.

    See "Error response" in
    https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
    """

    reason: ClassVar[str] = ""
    code: ClassVar[int] = 500

    def __init__(self, status: Status) -> None:
        super().__init__(status.message or status.reason or f"HTTP {status.code}")
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
    reason, code = "BadRequest", 400


class Unauthorized(ApiError):
    reason, code = "Unauthorized", 401


class Forbidden(ApiError):
    reason, code = "Forbidden", 403


class NotFound(ApiError):
    reason, code = "NotFound", 404


class MethodNotAllowed(ApiError):
    reason, code = "MethodNotAllowed", 405


class AlreadyExists(ApiError):
    reason, code = "AlreadyExists", 409


class Conflict(ApiError):
    """The object changed since it was read, or another field manager owns a field."""

    reason, code = "Conflict", 409


class Gone(ApiError):
    """A resource version or continue token that the server no longer has; list again."""

    reason, code = "Expired", 410


class UnsupportedMediaType(ApiError):
    reason, code = "UnsupportedMediaType", 415


class Invalid(ApiError):
    """Validation failed; `causes` names each field."""

    reason, code = "Invalid", 422


class TooManyRequests(ApiError):
    reason, code = "TooManyRequests", 429


class ServerTimeout(ApiError):
    reason, code = "ServerTimeout", 504


_CLASSES: tuple[type[ApiError], ...] = (
    BadRequest,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    AlreadyExists,
    Conflict,
    Gone,
    UnsupportedMediaType,
    Invalid,
    TooManyRequests,
    ServerTimeout,
)
_BY_REASON = {cls.reason: cls for cls in _CLASSES} | {"Gone": Gone, "Timeout": ServerTimeout}
_BY_CODE = {cls.code: cls for cls in _CLASSES if cls is not AlreadyExists}


def api_error(status: Status) -> ApiError:
    """The most specific class for a `Status`: by reason, else by code."""
    cls = _BY_REASON.get(status.reason or "") or _BY_CODE.get(status.code or 0, ApiError)
    return cls(status)
