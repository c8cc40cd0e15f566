"""`FieldError`, one refused field in the API server's words, and the `Status` that carries several.

See "Error response" in
https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from kubewright.api import Status, StatusCause, StatusDetails
from kubewright.schema.go_text import quoted, value_text

__all__ = [
    "NO_FIELD",
    "FieldError",
    "duplicate",
    "forbidden",
    "invalid",
    "invalid_status",
    "not_supported",
    "required",
    "too_long",
    "too_many",
    "type_invalid",
]

NO_FIELD = "<nil>"
"""How the server names the field of an error that concerns the object as a whole."""


class FieldError(Struct, frozen=True):
    """One refused field.

    ``reason`` is the machine-readable cause (``FieldValueInvalid``), ``field`` the path (``spec.ports[0].name``),
    ``detail`` the cause's message (``Invalid value: 0: must be positive``).
    """

    reason: str
    field: str
    detail: str

    def __str__(self) -> str:
        return f"{self.field}: {self.detail}"


def _error(reason: str, field: str, title: str, *parts: str) -> FieldError:
    return FieldError(reason, field or NO_FIELD, ": ".join(part for part in (title, *parts) if part))


def required(field: str, message: str = "") -> FieldError:
    """The field is missing."""
    return _error("FieldValueRequired", field, "Required value", message)


def invalid(field: str, value: Any, message: str) -> FieldError:
    """The value is malformed or out of bounds."""
    return _error("FieldValueInvalid", field, "Invalid value", value_text(value), message)


def type_invalid(field: str, value: Any, message: str) -> FieldError:
    """The value has the wrong type; reads like `invalid`, but carries a reason of its own."""
    return _error("FieldValueTypeInvalid", field, "Invalid value", value_text(value), message)


def not_supported(field: str, value: Any, supported: Sequence[str]) -> FieldError:
    """The value is not one of those allowed."""
    listed = ", ".join(map(quoted, supported))
    return _error(
        "FieldValueNotSupported",
        field,
        "Unsupported value",
        value_text(value),
        f"supported values: {listed}" if listed else "",
    )


def duplicate(field: str, value: Any) -> FieldError:
    """The value, or a list item with the same keys, is there already."""
    return _error("FieldValueDuplicate", field, "Duplicate value", value_text(value))


def forbidden(field: str, message: str) -> FieldError:
    """The field may not be set (or not be changed) here."""
    return _error("FieldValueForbidden", field, "Forbidden", message)


def too_long(field: str, limit: int) -> FieldError:
    """A string with more than ``limit`` characters."""
    unit = "byte" if limit == 1 else "bytes"
    message = f"may not be more than {limit} {unit}" if limit >= 0 else "value is too long"
    return _error("FieldValueTooLong", field, "Too long", message)


def too_many(field: str, count: int, limit: int) -> FieldError:
    """A list or map with more than ``limit`` entries."""
    message = f"must have at most {limit} item{'' if limit == 1 else 's'}" if limit >= 0 else "has too many items"
    return _error("FieldValueTooMany", field, "Too many", str(count), message)


def invalid_status(errors: Iterable[FieldError], *, kind: str, group: str, name: str) -> Status:
    """The 422 answer for an object that failed validation: one message for people, one cause per field for programs."""
    found = list(errors)
    messages = list(dict.fromkeys(map(str, found)))
    subject = f"{kind}.{group}" if group else kind
    message = f"{subject} {quoted(name)} is invalid"
    if messages:
        message += ": " + (messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]")
    causes = [StatusCause(reason=error.reason, message=error.detail, field=error.field) for error in found]
    return Status(
        status="Failure",
        message=message,
        reason="Invalid",
        details=StatusDetails(name=name or None, group=group or None, kind=kind, causes=causes or None),
        code=422,
    )
