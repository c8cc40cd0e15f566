"""What the server answered: a body, or an `ApiError`, also where proxies and unknown paths answer in plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus

import msgspec

from kubewright.api import ApiError, DecodeError, Status, StatusDetails, api_error, decode
from kubewright.client.transport import HttpResponse, StreamingResponse
from kubewright.telemetry import without_credentials

__all__ = ["FIRST_REFUSAL", "REASONS", "body_or_error", "is_status", "refused_upgrade", "removed_uid", "stream_error"]

FIRST_REFUSAL = 300
"""Of the HTTP statuses: API servers send nobody elsewhere, it is proxies that want a login who do."""

_LONGEST_ERROR = 64 * 1024

_MARKUP = re.compile(r"<(style|script)\b.*?</\1>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
"""What a proxy's page has between its words."""

REASONS: Mapping[int, str] = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    413: "RequestEntityTooLarge",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    502: "ServiceUnavailable",
    503: "ServiceUnavailable",
    504: "Timeout",
}
"""The API's word for a status that says nothing else."""


class _Kind(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""


class _Identity(msgspec.Struct, rename="camel"):
    uid: str | None = None
    deletion_timestamp: str | None = None


class _Deleted(_Kind, rename="camel"):
    metadata: _Identity | None = None
    details: _Identity | None = None


_kind = msgspec.json.Decoder(_Kind)
_deleted = msgspec.json.Decoder(_Deleted)


def body_or_error(response: HttpResponse) -> bytes:
    if response.status < FIRST_REFUSAL:
        return response.body
    raise api_error(_status(response.status, response.headers, response.body, response.refused_identity))


def refused_upgrade(response: HttpResponse) -> ApiError:
    """The error of an answer where a WebSocket was asked for."""
    if response.status >= FIRST_REFUSAL:
        return api_error(_status(response.status, response.headers, response.body, response.refused_identity))
    message = f"the server answered HTTP {response.status} and opened no WebSocket; is there a proxy that knows none?"
    return api_error(Status(status="Failure", code=response.status, message=message))


async def stream_error(response: StreamingResponse) -> ApiError:
    """The error that a refused stream stands for."""
    body = b""
    async for chunk in response.chunks:
        body += chunk
        if len(body) > _LONGEST_ERROR:
            break
    return api_error(_status(response.status, response.headers, body, response.refused_identity))


def is_status(body: bytes) -> bool:
    """Whether an answer is a ``v1`` Status rather than the object."""
    if b"Status" not in body:  # as in most objects, which need not be looked through for it
        return False
    try:
        head = _kind.decode(body)
    except msgspec.DecodeError:
        return False
    return head.kind == "Status" and head.api_version == "v1"


def removed_uid(body: bytes) -> str | None:
    """The UID of the object that a DELETE has removed at once, from its answer; None where the object is still there.

    Most kinds answer with a Status. Some (ServiceAccount, ResourceQuota, PodTemplate) answer with the object as it was:
    one that still waits for something says since when it is being deleted.
    """
    try:
        answer = _deleted.decode(body)
    except msgspec.DecodeError:
        return None
    gone = answer.details if answer.kind == "Status" and answer.api_version == "v1" else answer.metadata
    return None if gone is None or gone.deletion_timestamp else gone.uid


def _status(code: int, headers: Mapping[str, str], body: bytes, refused_identity: str) -> Status:
    status = _sent_status(body) or _made_up_status(code, headers, body)
    if status.code is None:
        status.code = code
    if refused_identity:
        status.message = f"{refused_identity} (the server says: {status.message or 'nothing'})"
    after = headers.get("retry-after", "")
    if after.isdecimal():
        status.details = status.details or StatusDetails()
        status.details.retry_after_seconds = int(after)
    return status


def _sent_status(body: bytes) -> Status | None:
    if not is_status(body):
        return None
    try:
        return decode(body, Status)
    except DecodeError:
        return None


def _made_up_status(code: int, headers: Mapping[str, str], body: bytes) -> Status:
    """For answers that no API server's handler wrote: unknown paths, proxies, a server that is starting."""
    text = without_credentials(" ".join(_MARKUP.sub(" ", body.decode(errors="replace")).split()))
    if code == 404:
        message = "the server could not find the requested resource"
    else:
        phrase = HTTPStatus(code).phrase if code in HTTPStatus._value2member_map_ else "unknown status"
        message = f"the server answered HTTP {code} ({phrase})"
        if elsewhere := without_credentials(headers.get("location", "")).partition("?")[0]:
            message += f" and points to {elsewhere}: is there a proxy that wants a login?"
        elif text:
            message += f": {text[:300]}"
    return Status(status="Failure", code=code, reason=REASONS.get(code), message=message)
