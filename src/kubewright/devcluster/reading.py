"""Reading objects: one, many, in pages, as they are or as they were.

See "Resource versions" and "Retrieving large results sets in chunks" in
https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kubewright.api import FieldSelector, Selector, SelectorError
from kubewright.devcluster.bodies import load_json
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.devcluster.store import Compacted
from kubewright.devcluster.versions import from_storage
from kubewright.schema.errors import invalid
from kubewright.schema.go_text import quoted

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import ListOptions
    from kubewright.devcluster.store import Store

__all__ = ["check_not_future", "list_objects", "parse_revision", "selection"]

_KEY_VERSION = "meta.k8s.io/v1"
_INCONSISTENT = -1
_EXPIRED_KEY = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list."
)


def parse_revision(text: str) -> int:
    """A resource version of a query as a number, 0 for none. Raises ValueError in the server's words."""
    if not text:
        return 0
    if not text.isdigit():
        problem = f"strconv.ParseUint: parsing {quoted(text)}: invalid syntax"
        raise ValueError(str(invalid("resourceVersion", text, problem)))
    return int(text)


def check_not_future(store: Store, revision: int) -> None:
    """Refuses a revision that does not exist yet. A real server first waits for it a while."""
    if revision > store.revision:
        message = f"Timeout: Too large resource version: {revision}, current: {store.revision}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        raise StatusError(status_body(504, "Timeout", message, details=details), headers={"retry-after": "1"})


def selection(resource: ServedResource, options: ListOptions) -> Callable[[Object], bool] | None:
    """Whether an object matches the label and field selectors; None where there are none."""
    try:
        labels = Selector.parse(options.label_selector)
        fields = FieldSelector.parse(options.field_selector)
    except SelectorError as error:
        raise bad_request(str(error)) from error
    for path in fields.fields:
        if path not in {"", "metadata.name", "metadata.namespace", *resource.selectable_fields}:
            raise bad_request(_no_such_field(resource, path))
    if not labels.requirements and not fields.terms:
        return None

    def matches(obj: Object) -> bool:
        def value_of(path: str) -> str:
            match path:
                case "metadata.name":
                    return name_of(obj)
                case "metadata.namespace":
                    return namespace_of(obj)
                case "":
                    return ""
            return resource.strategy.selectable(obj, path)

        return labels.matches(metadata_of(obj).get("labels")) and fields.matches(value_of)

    return matches


def _no_such_field(resource: ServedResource, path: str) -> str:
    if resource.custom or resource.selectable_fields:
        return f"field label not supported: {path}"
    return f'{quoted(path)} is not a known field selector: only "metadata.name", "metadata.namespace"'


def list_objects(store: Store, resource: ServedResource, namespace: str, options: ListOptions) -> Object:
    """A list of objects in the version of ``resource``: all of it, or a page."""
    matches = selection(resource, options)
    revision, start = _where(store, options)
    try:
        found = store.list(resource.storage, namespace, at=revision)
    except Compacted as error:
        raise _expired(start) from error
    if start:
        found = [obj for obj in found if _key(obj, namespace) >= start]
    objects = [from_storage(resource, obj) for obj in found]
    if matches is not None:
        objects = [obj for obj in objects if matches(obj)]
    metadata: dict[str, Any] = {"resourceVersion": str(store.revision if revision is None else revision)}
    if options.limit and len(objects) > options.limit:
        rest = len(objects) - options.limit
        objects = objects[: options.limit]
        at = store.revision if revision is None else revision
        metadata["continue"] = _token(at, _key(objects[-1], namespace) + "\0")
        if matches is None:
            metadata["remainingItemCount"] = rest
    elif resource.custom:
        metadata["continue"] = ""
    return {
        "kind": resource.listed_kind,
        "apiVersion": resource.info.api_version,
        "metadata": metadata,
        "items": _items(resource, objects),
    }


def _items(resource: ServedResource, objects: Sequence[Object]) -> Sequence[Object]:
    """Items of built-in lists do not say what they are."""
    if resource.custom:
        return objects
    return [{key: value for key, value in obj.items() if key not in {"apiVersion", "kind"}} for obj in objects]


def _where(store: Store, options: ListOptions) -> tuple[int | None, str]:
    """The revision to list at, None for now, and the key to begin at."""
    if options.continue_token:
        if options.resource_version not in {"", "0"}:
            raise bad_request("specifying resource version is not allowed when using continue")
        revision, start = _read_token(options.continue_token)
        return (None if revision == _INCONSISTENT else revision), start
    try:
        revision = parse_revision(options.resource_version)
    except ValueError as error:
        raise bad_request(f"invalid resource version: {error}") from error
    check_not_future(store, revision)
    # without a match rule, a version with a limit means exactly that version: the page is the first of a list at it
    exact = options.exact or (options.limit > 0 and revision > 0)
    return (revision if exact else None), ""


def _key(obj: Object, namespace: str) -> str:
    """Where an object stands in a list, relative to the list's namespace."""
    return name_of(obj) if namespace or not namespace_of(obj) else f"{namespace_of(obj)}/{name_of(obj)}"


def _token(revision: int, start: str) -> str:
    body = msgspec.json.encode({"v": _KEY_VERSION, "rv": revision, "start": f"/{start}"})
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def _read_token(text: str) -> tuple[int, str]:
    problem = "invalid continue token: continue key is not valid: "
    try:
        body = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        token, _ = load_json(body)
    except (binascii.Error, ValueError) as error:
        raise bad_request(f"{problem}{error}") from error
    if not isinstance(token, dict) or token.get("v") != _KEY_VERSION:
        version = token.get("v", "") if isinstance(token, dict) else ""
        raise bad_request(f"{problem}server does not recognize this encoded version {version}")
    revision, start = token.get("rv"), token.get("start")
    if not isinstance(revision, int) or not isinstance(start, str) or not start:
        raise bad_request(f"{problem}incorrect encoded start resourceVersion")
    return revision, start.removeprefix("/")


def _expired(start: str) -> StatusError:
    if not start:
        return StatusError(status_body(410, "Expired", "The resourceVersion for the provided list is too old."))
    body = status_body(410, "Expired", _EXPIRED_KEY)
    body["metadata"] = {"continue": _token(_INCONSISTENT, start)}
    return StatusError(body)
