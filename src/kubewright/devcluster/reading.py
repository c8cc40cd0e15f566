"""Reading objects: one, many, in pages, as they are or as they were.

See "Resource versions" and "Retrieving large results sets in chunks" in
https://kubernetes.io/docs/reference/using-api/api-concepts/
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kubewright.api import FieldSelector, Selector, SelectorError
from kubewright.api.selector_parser import parse_field_terms
from kubewright.devcluster.continue_tokens import INCONSISTENT, continue_token, read_continue_token
from kubewright.devcluster.objects import Object, metadata_of, name_of, namespace_of
from kubewright.devcluster.statuses import StatusError, bad_request, status_body
from kubewright.devcluster.store import Compacted
from kubewright.devcluster.versions import from_storage
from kubewright.schema.errors import invalid
from kubewright.schema.go_text import quoted

if TYPE_CHECKING:
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import ListOptions
    from kubewright.devcluster.store import State, Store

__all__ = [
    "FutureRevisionError",
    "Page",
    "check_not_future",
    "item_of_built_in",
    "list_objects",
    "list_page",
    "parse_revision",
    "selection",
    "whole_list",
]

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
    digits = text.isascii() and text.isdigit()
    if digits and int(text) < 2**64:
        return int(text)
    problem = f"strconv.ParseUint: parsing {quoted(text)}: {'value out of range' if digits else 'invalid syntax'}"
    raise ValueError(str(invalid("resourceVersion", text, problem)))


class FutureRevisionError(StatusError):
    """A revision was asked for that does not exist yet; it may soon."""

    def __init__(self, revision: int, present: int) -> None:
        message = f"Timeout: Too large resource version: {revision}, current: {present}"
        cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        details = {"causes": [cause], "retryAfterSeconds": 1}
        super().__init__(status_body(504, "Timeout", message, details=details), headers={"retry-after": "1"})


def check_not_future(store: Store, revision: int) -> None:
    """Raises `FutureRevisionError`."""
    if revision > store.revision:
        raise FutureRevisionError(revision, store.revision)


def selection(resource: ServedResource, options: ListOptions) -> Callable[[Object], bool] | None:
    """Whether an object matches the label and field selectors; None where there are none."""
    try:
        labels = Selector.parse(options.label_selector)
        fields = FieldSelector(tuple(term for term in parse_field_terms(options.field_selector) if term[0] or term[2]))
    except SelectorError as error:
        raise bad_request(str(error)) from error
    for path in fields.fields:
        if path not in _selectable(resource):
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
            return resource.strategy.selectable(obj, path)

        return labels.matches(metadata_of(obj).get("labels")) and fields.matches(value_of)

    return matches


def _selectable(resource: ServedResource) -> tuple[str, ...]:
    """Every object has a namespace to select by, unless its kind says by itself what it can be selected by."""
    if resource.info.namespaced or not (resource.custom or resource.selectable_fields):
        return ("metadata.name", "metadata.namespace", *resource.selectable_fields)
    return ("metadata.name", *resource.selectable_fields)


def _no_such_field(resource: ServedResource, path: str) -> str:
    if resource.custom or resource.selectable_fields:
        return f"field label not supported: {path}"
    return f'{quoted(path)} is not a known field selector: only "metadata.name", "metadata.namespace"'


class Page(NamedTuple):
    """A list, or a page of one, as it is stored."""

    metadata: dict[str, Any]
    states: Sequence[State]


def list_objects(store: Store, resource: ServedResource, namespace: str, options: ListOptions) -> Object:
    """A list of objects in the version of ``resource``: all of it, or a page."""
    return whole_list(resource, list_page(store, resource, namespace, options))


def whole_list(resource: ServedResource, page: Page) -> Object:
    """A page in the version of ``resource``."""
    objects = [from_storage(resource, state.obj) for state in page.states]
    return {
        "kind": resource.listed_kind,
        "apiVersion": resource.info.api_version,
        "metadata": page.metadata,
        "items": objects if resource.custom else [item_of_built_in(obj) for obj in objects],
    }


def item_of_built_in(obj: Object) -> Object:
    """Items of built-in lists do not say what they are."""
    return {key: value for key, value in obj.items() if key not in {"apiVersion", "kind"}}


def list_page(store: Store, resource: ServedResource, namespace: str, options: ListOptions) -> Page:
    """What a list shows: all objects that match, or some of them."""
    matches = selection(resource, options)
    revision, start = _where(store, options)
    try:
        found = store.states(resource.storage, namespace, at=revision)
    except Compacted as error:
        raise _expired(start) from error
    if start:
        found = found[bisect_left(found, start, key=lambda state: _key(state.obj, namespace)) :]
    limit = 0 if options.resource_version == "0" and not start else options.limit  # any version: no pages of it
    shown, rest = _page(resource, found, matches, limit)
    metadata: dict[str, Any] = {"resourceVersion": str(store.revision if revision is None else revision)}
    if rest:
        at = store.revision if revision is None else revision
        metadata["continue"] = continue_token(at, f"/{_key(shown[-1].obj, namespace)}\0")
        if matches is None:
            metadata["remainingItemCount"] = rest
    elif resource.custom:
        metadata["continue"] = ""
    return Page(metadata, shown)


def _page(
    resource: ServedResource, found: Sequence[State], matches: Callable[[Object], bool] | None, limit: int
) -> tuple[Sequence[State], int]:
    """The first ``limit`` objects that match, 0 for all of them, and how many more there are (at least)."""
    if matches is None:
        shown = found[:limit] if limit else found
        return shown, len(found) - len(shown)
    states: list[State] = []
    for state in found:
        if matches(from_storage(resource, state.obj)):
            if limit and len(states) == limit:
                return states, 1
            states.append(state)
    return states, 0


def _where(store: Store, options: ListOptions) -> tuple[int | None, str]:
    """The revision to list at, None for now, and the key to begin at."""
    if options.continue_token:
        if options.resource_version not in {"", "0"}:
            raise bad_request("specifying resource version is not allowed when using continue")
        revision, start = read_continue_token(options.continue_token)
        return (None if revision == INCONSISTENT else revision), start
    try:
        revision = parse_revision(options.resource_version)
    except ValueError as error:
        raise bad_request(f"invalid resource version: {error}") from error
    check_not_future(store, revision)
    # without a match rule, a version with a limit means exactly that version: the page is the first of a list at it
    exact = options.match == "Exact" or (not options.match and options.limit > 0 and revision > 0)
    return (revision if exact else None), ""


def _key(obj: Object, namespace: str) -> str:
    """Where an object stands in a list, relative to the list's namespace."""
    return name_of(obj) if namespace or not namespace_of(obj) else f"{namespace_of(obj)}/{name_of(obj)}"


def _expired(start: str) -> StatusError:
    if not start:
        return StatusError(status_body(410, "Expired", "The resourceVersion for the provided list is too old."))
    body = status_body(410, "Expired", _EXPIRED_KEY)
    body["metadata"] = {"continue": continue_token(INCONSISTENT, start)}
    return StatusError(body)
