"""What is planted: wrong answers that a server could well give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import msgspec

from kubewright.client import HttpRequest, HttpResponse, StreamingResponse
from kubewright.devcluster.api_server import ApiServer

__all__ = ["DEVIATIONS", "Deviation"]

_DEVCLUSTER = "kubewright.devcluster"


@dataclass(frozen=True)
class Deviation:
    """``subject``: the cases that are asked first."""

    name: str
    subject: str
    planted: Callable[[], AbstractContextManager[Any]]


def _replaced(target: str, value: Any) -> Callable[[], AbstractContextManager[Any]]:
    """One function of the server does something else."""
    return lambda: patch(f"{_DEVCLUSTER}.{target}", value)


def _around(target: str, change: Callable[..., Any]) -> Callable[[], AbstractContextManager[Any]]:
    """One function of the server, called by ``change(original, *arguments)``."""

    @contextmanager
    def planted() -> Iterator[None]:
        module, _, name = f"{_DEVCLUSTER}.{target}".rpartition(".")
        original = getattr(_resolve(module), name)

        def changed(*arguments: Any, **options: Any) -> Any:
            return change(original, *arguments, **options)

        with patch(f"{_DEVCLUSTER}.{target}", changed):
            yield

    return planted


def _resolve(path: str) -> Any:
    import importlib

    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(_resolve(module), name)


Sent = Callable[[HttpRequest], HttpRequest]
Answered = Callable[[HttpRequest, HttpResponse], HttpResponse]


def _asked(change: Sent) -> Callable[[], AbstractContextManager[Any]]:
    """The server reads every request as ``change`` makes it."""
    original = ApiServer.answer

    def answer(server: ApiServer, request: HttpRequest) -> HttpResponse | StreamingResponse:
        return original(server, change(request))

    return lambda: patch.object(ApiServer, "answer", answer)


def _answered(change: Answered) -> Callable[[], AbstractContextManager[Any]]:
    """The server's answers, streams aside, leave as ``change`` makes them."""
    original = ApiServer.answer

    def answer(server: ApiServer, request: HttpRequest) -> HttpResponse | StreamingResponse:
        response = original(server, request)
        return change(request, response) if isinstance(response, HttpResponse) else response

    return lambda: patch.object(ApiServer, "answer", answer)


def _without(*parameters: str, methods: str = "") -> Callable[[], AbstractContextManager[Any]]:
    """Query parameters that the server does not know."""

    def change(request: HttpRequest) -> HttpRequest:
        if methods and request.method not in methods.split():
            return request
        kept = tuple((name, value) for name, value in request.query if name not in parameters)
        return msgspec.structs.replace(request, query=kept)

    return _asked(change)


def _body(change: Callable[[dict[str, Any]], None]) -> Callable[[], AbstractContextManager[Any]]:
    """JSON objects in answers, edited in place."""

    def edited(_request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            body = json.loads(response.body)
        except ValueError:
            return response
        if isinstance(body, dict):
            change(body)
        return msgspec.structs.replace(response, body=json.dumps(body).encode())

    return _answered(edited)


def _status(code: int, becomes: int) -> Callable[[], AbstractContextManager[Any]]:
    def change(_request: HttpRequest, response: HttpResponse) -> HttpResponse:
        return msgspec.structs.replace(response, status=becomes) if response.status == code else response

    return _answered(change)


def _reason(reason: str, becomes: str) -> Callable[[], AbstractContextManager[Any]]:
    def change(body: dict[str, Any]) -> None:
        if body.get("reason") == reason:
            body["reason"] = becomes

    return _body(change)


def _no_causes(body: dict[str, Any]) -> None:
    if isinstance(body.get("details"), dict):
        body["details"].pop("causes", None)


def _one_manager_less(body: dict[str, Any]) -> None:
    managers = body.get("metadata", {}).get("managedFields") if isinstance(body.get("metadata"), dict) else None
    if managers and len(managers) > 1:
        managers.pop()


def _one_more_remains(body: dict[str, Any]) -> None:
    if "remainingItemCount" in (body.get("metadata") or {}):
        body["metadata"]["remainingItemCount"] += 1


def _one_column_less(body: dict[str, Any]) -> None:
    if body.get("kind") == "Table" and len(body["columnDefinitions"] or ()) > 1:
        body["columnDefinitions"].pop()
        for row in body["rows"]:
            row["cells"].pop()


def _backwards(body: dict[str, Any]) -> None:
    if isinstance(body.get("items"), list):
        body["items"].reverse()


def _no_warnings(_request: HttpRequest, response: HttpResponse) -> HttpResponse:
    headers = {name: value for name, value in response.headers.items() if name != "warning"}
    return msgspec.structs.replace(response, headers=headers)


def _plain_errors(_request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if response.status < 400:
        return response
    return msgspec.structs.replace(response, headers={**response.headers, "content-type": "text/plain"})


def _same_generation(original: Any, strategy: Any, new: Any, old: Any, **options: Any) -> Any:
    found = original(strategy, new, old, **options)
    generation = old["metadata"].get("generation")
    return {**found, "metadata": {**found["metadata"], "generation": generation}}


def _generation_of_status(original: Any, strategy: Any, new: Any, old: Any, **options: Any) -> Any:
    found = original(strategy, new, old, **options)
    if options.get("subresource") != "status":
        return found
    return {**found, "metadata": {**found["metadata"], "generation": old["metadata"].get("generation", 0) + 1}}


def _status_by_the_way(original: Any, strategy: Any, new: Any, old: Any, **options: Any) -> Any:
    found = original(strategy, new, old, **options)
    return {**found, "status": new["status"]} if "status" in new else found


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return value


def _lines(drop: bytes = b"", instead: bytes = b"") -> Callable[..., Any]:
    def change(original: Any, *arguments: Any, **options: Any) -> Any:
        line = original(*arguments, **options)
        if line is None or drop not in line[:40]:
            return line
        return line.replace(drop, instead, 1) if instead else None

    return change


DEVIATIONS = [
    Deviation("a name that is taken is a Conflict", "writing", _reason("AlreadyExists", "Conflict")),
    Deviation("a stale update is an AlreadyExists", "updating", _reason("Conflict", "AlreadyExists")),
    Deviation("what is invalid is a BadRequest", "writing", _reason("Invalid", "BadRequest")),
    Deviation("what is created is answered with 200", "writing", _status(201, 200)),
    Deviation("what is gone is answered with 400", "paging", _status(410, 400)),
    Deviation("the causes of a refusal are lost", "writing", _body(_no_causes)),
    Deviation("a manager is lost", "applying", _body(_one_manager_less)),
    Deviation("a page says that one more remains", "paging", _body(_one_more_remains)),
    Deviation("a table lacks its last column", "tables", _body(_one_column_less)),
    Deviation("lists come backwards", "paging", _body(_backwards)),
    Deviation("warnings are lost", "validating_requests", _answered(_no_warnings)),
    Deviation("errors are plain text", "writing", _answered(_plain_errors)),
    Deviation("dryRun is ignored", "validating_requests", _without("dryRun")),
    Deviation("fieldValidation is ignored", "validating_requests", _without("fieldValidation")),
    Deviation("label selectors are ignored", "selecting", _without("labelSelector")),
    Deviation("field selectors are ignored", "selecting", _without("fieldSelector")),
    Deviation("resourceVersionMatch is ignored", "versions", _without("resourceVersionMatch")),
    Deviation("force is ignored", "applying", _without("force")),
    Deviation(
        "the resource version of an update is ignored",
        "updating",
        _replaced("registry.Registry._check_preconditions", lambda *_, **__: None),
    ),
    Deviation(
        "the preconditions of a delete are ignored",
        "deleting",
        _replaced("deletion._check_preconditions", lambda *_, **__: None),
    ),
    Deviation("a namespace need not exist", "writing", _replaced("registry.check_namespace", lambda *_, **__: None)),
    Deviation(
        "nobody keeps books of managers", "writing", _replaced("registry.track_update", lambda _old, new, **_: new)
    ),
    Deviation(
        "custom resources are not validated",
        "custom_validation",
        _replaced("custom_strategy.CustomStrategy.validate", lambda *_, **__: []),
    ),
    Deviation(
        "custom resources get no defaults",
        "writing",
        _replaced("custom_strategy.CustomStrategy.default", lambda _strategy, obj: obj),
    ),
    Deviation(
        "the generation never moves",
        "updating",
        _around("custom_strategy.CustomStrategy.prepare_update", _same_generation),
    ),
    Deviation(
        "the generation moves with the status",
        "updating",
        _around("custom_strategy.CustomStrategy.prepare_update", _generation_of_status),
    ),
    Deviation(
        "an update of the object writes its status",
        "updating",
        _around("custom_strategy.CustomStrategy.prepare_update", _status_by_the_way),
    ),
    Deviation(
        "null in a merge patch removes nothing",
        "patching",
        _around("patching.merge_patch.apply", lambda original, doc, change: original(doc, _without_nulls(change))),
    ),
    Deviation("watches lose deletions", "watching", _around("watching._Watch.line", _lines(drop=b"DELETED"))),
    Deviation(
        "watches call what is new modified",
        "watching",
        _around("watching._Watch.line", _lines(drop=b'"ADDED"', instead=b'"MODIFIED"')),
    ),
]
