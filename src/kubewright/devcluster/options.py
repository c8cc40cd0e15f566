"""The options of a request: what its query string asks for, checked as a real server checks it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from kubewright.devcluster.statuses import StatusError, bad_request
from kubewright.schema.errors import FieldError, forbidden, invalid, invalid_status, not_supported, required, too_long
from kubewright.schema.go_text import quoted

__all__ = ["DeleteOptions", "FieldValidation", "ListOptions", "WriteOptions", "flag", "list_options", "write_options"]

FieldValidation = Literal["Strict", "Warn", "Ignore"]
Query = Iterable[tuple[str, str]]

_LONGEST_MANAGER = 128
_WHOLE = re.compile(r"[+-]?[0-9]+")
_INT64 = range(-(2**63), 2**63)


def flag(value: str) -> bool:
    """A boolean in a query: anything but ``false`` and ``0`` is true, also nothing at all."""
    return value.lower() not in {"false", "0"}


def _options(query: Query) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in query:
        found.setdefault(key, []).append(value)
    return found


def _first(options: Mapping[str, list[str]], key: str) -> str:
    return options.get(key, [""])[0]


def _integer(options: Mapping[str, list[str]], key: str) -> int | None:
    if key not in options:
        return None
    text = options[key][0]
    if _WHOLE.fullmatch(text) is None:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax")
    if int(text) not in _INT64:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: value out of range")
    return int(text)


def _refuse(errors: list[FieldError], kind: str) -> None:
    if errors:
        raise StatusError.of(invalid_status(errors, kind=kind, group="meta.k8s.io", name=""))


def _dry_run_errors(values: Sequence[str]) -> list[FieldError]:
    return [not_supported("dryRun", list(values), ["All"])] if any(value != "All" for value in values) else []


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """The options of create, update and patch."""

    dry_run: bool = False
    field_manager: str = ""
    field_validation: FieldValidation = "Warn"
    force: bool = False


@lru_cache(256)
def write_options(
    query: tuple[tuple[str, str], ...],
    kind: Literal["CreateOptions", "UpdateOptions", "PatchOptions"],
    *,
    apply: bool = False,
) -> WriteOptions:
    """Reads the options of a write; ``apply`` for a server-side apply, which must name its manager.

    Who writes asks the same of each write, so the latest answers are remembered.
    """
    options = _options(query)
    errors: list[FieldError] = []
    force = _first(options, "force")
    manager = _first(options, "fieldManager")
    if apply and not manager:
        errors.append(required("fieldManager", "is required for apply patch"))
    if force and kind == "PatchOptions" and not apply:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    errors += _manager_errors(manager)
    dry_run = options.get("dryRun", [])
    errors += _dry_run_errors(dry_run)
    validation = _first(options, "fieldValidation")
    if validation not in {"", "Strict", "Warn", "Ignore"}:
        errors.append(not_supported("fieldValidation", validation, ["", "Ignore", "Strict", "Warn"]))
    _refuse(errors, kind)
    return WriteOptions(
        dry_run=bool(dry_run),
        field_manager=manager,
        field_validation=validation or "Warn",  # type: ignore[arg-type]  # checked above
        force=bool(force) and flag(force),
    )


def _manager_errors(manager: str) -> list[FieldError]:
    errors = []
    if len(manager.encode()) > _LONGEST_MANAGER:
        errors.append(too_long("fieldManager", _LONGEST_MANAGER))
    for position, char in enumerate(manager):
        if not char.isprintable():
            message = f"invalid character U+{ord(char):04X} (at position {position})"
            errors.append(invalid("fieldManager", manager, message))
            break
    return errors


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """The options of list, watch and the deletion of a collection. ``resource_version`` is None where none was given."""

    label_selector: str = ""
    field_selector: str = ""
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    match: Literal["", "Exact", "NotOlderThan"] = ""
    timeout_seconds: int | None = None
    bookmarks: bool = False
    send_initial_events: bool | None = None


def list_options(query: Query, *, watch: bool) -> ListOptions:
    options = _options(query)
    version = _first(options, "resourceVersion")
    match = _first(options, "resourceVersionMatch")
    initial = options.get("sendInitialEvents")
    limit = _integer(options, "limit") or 0
    timeout = _integer(options, "timeoutSeconds")
    sends_initial = None if initial is None else flag(initial[0])
    token = _first(options, "continue")
    errors = _watch_errors(match, token, sends_initial) if watch else _list_errors(version, match, token, sends_initial)
    _refuse(errors, "ListOptions")
    return ListOptions(
        label_selector=_first(options, "labelSelector"),
        field_selector=_first(options, "fieldSelector"),
        limit=max(limit, 0),
        continue_token=token,
        resource_version=version,
        match=match,  # type: ignore[arg-type]  # checked above
        timeout_seconds=timeout,
        bookmarks="allowWatchBookmarks" in options and flag(_first(options, "allowWatchBookmarks")),
        send_initial_events=sends_initial,
    )


def _list_errors(version: str, match: str, token: str, initial: bool | None) -> list[FieldError]:
    errors = []
    if match:
        if not version:
            text = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            errors.append(forbidden("resourceVersionMatch", text))
        if token:
            text = "resourceVersionMatch is forbidden when continue is provided"
            errors.append(forbidden("resourceVersionMatch", text))
        if match == "Exact" and version == "0":
            text = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            errors.append(forbidden("resourceVersionMatch", text))
        if match not in {"Exact", "NotOlderThan"}:
            errors.append(not_supported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]))
    if initial is not None:
        errors.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return errors


def _watch_errors(match: str, token: str, initial: bool | None) -> list[FieldError]:
    errors = []
    if initial is not None and match != "NotOlderThan":
        text = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        errors.append(forbidden("resourceVersionMatch", text))
    if match:
        if initial is None:
            text = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            errors.append(forbidden("resourceVersionMatch", text))
        if match != "NotOlderThan":
            errors.append(not_supported("resourceVersionMatch", match, ["NotOlderThan"]))
        if token:
            errors.append(
                forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
            )
    return errors


Propagation = Literal["Orphan", "Foreground", "Background"]


@dataclass(frozen=True, kw_only=True)
class DeleteOptions:
    """The options of a deletion, from its body or else its query."""

    dry_run: bool = False
    grace_period_seconds: int | None = None
    propagation: Propagation | None = None
    uid: str | None = None
    resource_version: str | None = None
    begun_is_accepted: bool = False
    """Whether a deletion that only begins is answered with 202: for who says ``orphanDependents: false``."""

    @classmethod
    def from_query(cls, query: Query) -> DeleteOptions:
        options = _options(query)
        body: dict[str, Any] = {}
        if "dryRun" in options:
            body["dryRun"] = options["dryRun"]
        if (grace := _integer(options, "gracePeriodSeconds")) is not None:
            body["gracePeriodSeconds"] = grace
        if "orphanDependents" in options:
            body["orphanDependents"] = flag(_first(options, "orphanDependents"))
        if policy := _first(options, "propagationPolicy"):
            body["propagationPolicy"] = policy
        body["preconditions"] = {key: options[key][0] for key in ("uid", "resourceVersion") if key in options}
        return cls.from_body(body)

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> DeleteOptions:
        """Reads a decoded ``DeleteOptions``. Raises `StatusError` (400) for values of another type."""
        _check_types(body)
        policy: Any = body.get("propagationPolicy")
        orphan = body.get("orphanDependents")
        dry_run = body.get("dryRun") or []
        errors: list[FieldError] = []
        if orphan is not None and policy is not None:
            text = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(invalid("propagationPolicy", policy, text))
        elif policy not in {None, "Foreground", "Background", "Orphan"}:
            errors.append(not_supported("propagationPolicy", policy, ["Foreground", "Background", "Orphan", "nil"]))
        errors += _dry_run_errors(dry_run)
        _refuse(errors, "DeleteOptions")
        if policy is None and orphan is not None:
            policy = "Orphan" if orphan else "Background"
        preconditions = body.get("preconditions") or {}
        return cls(
            dry_run=bool(dry_run),
            grace_period_seconds=body.get("gracePeriodSeconds"),
            propagation=policy,
            uid=preconditions.get("uid"),
            resource_version=preconditions.get("resourceVersion"),
            begun_is_accepted=orphan is False,
        )


_GO_TYPES: Mapping[str, tuple[type, str]] = {
    "gracePeriodSeconds": (int, "int64"),
    "orphanDependents": (bool, "bool"),
    "propagationPolicy": (str, "v1.DeletionPropagation"),
    "dryRun": (list, "[]string"),
    "preconditions": (dict, "v1.Preconditions"),
}
_GO_TYPES_OF_PRECONDITIONS: Mapping[str, tuple[type, str]] = {
    "uid": (str, "types.UID"),
    "resourceVersion": (str, "string"),
}
_JSON_NAMES = {str: "string", bool: "bool", int: "number", float: "number", list: "array", dict: "object"}


def _check_types(body: Mapping[str, Any]) -> None:
    for key, (expected, go_type) in _GO_TYPES.items():
        _check_type(body.get(key), expected, f"DeleteOptions.{key}", go_type)
    for value in body.get("dryRun") or ():
        _check_type(value, str, "DeleteOptions.dryRun", "string")
    preconditions = body.get("preconditions") or {}
    for key, (expected, go_type) in _GO_TYPES_OF_PRECONDITIONS.items():
        _check_type(preconditions.get(key), expected, f"Preconditions.preconditions.{key}", go_type)


def _check_type(value: Any, expected: type, field: str, go_type: str) -> None:
    if value is not None and type(value) is not expected:
        found = _JSON_NAMES.get(type(value), "value")
        raise bad_request(f"json: cannot unmarshal {found} into Go struct field {field} of type {go_type}")
