"""Objects on their way in: a request's body, or a patched object, as the kind reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kubewright.devcluster.bodies import (
    BODY_TYPES,
    JSON,
    YAML,
    load_json,
    load_merged,
    media_type,
    not_an_object,
    unrecognized,
    unsupported,
)
from kubewright.devcluster.builtin.definitions import definition_names
from kubewright.devcluster.object_meta import read_metadata
from kubewright.devcluster.objects import Object, metadata_of, name_of, with_metadata
from kubewright.devcluster.statuses import StatusError, bad_request
from kubewright.devcluster.yaml_bodies import load_yaml
from kubewright.schema.errors import invalid, invalid_status
from kubewright.schema.go_text import json_text, quoted

if TYPE_CHECKING:
    from kubewright.api import ResourceInfo
    from kubewright.devcluster.catalog import ServedResource
    from kubewright.devcluster.options import FieldValidation

__all__ = ["load_object", "object_of_body", "object_of_patch", "placed"]


@dataclass(frozen=True)
class Duplicates:
    """What a body has twice: as warnings, and as parts of an error."""

    warnings: Sequence[str] = ()
    parts: Sequence[str] = ()


_ONCE = Duplicates()


def load_object(
    headers: Mapping[str, str], body: bytes, kind: str, *, duplicates: bool, merged: bool = False
) -> tuple[Object, Duplicates]:
    """A body's JSON object, and its fields that appear twice; ``merged``: where both are objects, both count."""
    found = media_type(headers) or JSON
    twice = _ONCE
    try:
        if found == JSON:
            value, paths = load_json(body, duplicates=duplicates)
            if paths:
                texts = [f"duplicate field {quoted(path)}" for path in paths]
                twice = Duplicates(texts, texts)
                value = load_merged(body) if merged else value
        elif found == YAML:
            value, lines = load_yaml(body, duplicates=duplicates)
            if lines:
                twice = Duplicates(lines, ["yaml: " + "\n  ".join(["unmarshal errors:", *lines])])
        else:
            raise unsupported(BODY_TYPES)
    except ValueError as error:
        why = str(error) if found == YAML else f"couldn't get version/kind; json parse error: {error}"
        raise unrecognized(kind, why, body) from error
    if value is None:
        value = {}  # which Go's decoder makes of null
    if not isinstance(value, dict):
        raise not_an_object(kind, value, body)
    return value, twice


def object_of_body(
    resource: ServedResource, headers: Mapping[str, str], body: bytes, validation: FieldValidation
) -> tuple[Object, list[str]]:
    """The object in a create's or update's body, and warnings about it."""
    info = resource.info
    wanted = validation != "Ignore"
    merged = not resource.custom
    value, twice = load_object(headers, body, info.kind, duplicates=wanted or merged, merged=merged)
    obj = _of_kind(resource, value, body)
    try:
        known, unknown = _known(resource, obj)
    except ValueError as error:
        raise _not_handled(info, str(error)) from error
    problems = [f"unknown field {quoted(path)}" for path in unknown]
    if validation == "Strict" and (problems or twice.parts):
        raise _not_handled(info, f"strict decoding error: {', '.join([*twice.parts, *problems])}")
    known, warnings = _owners_once(known)
    return known, ([*twice.warnings, *problems] if validation == "Warn" else []) + warnings


def object_of_patch(
    resource: ServedResource,
    obj: Any,
    validation: FieldValidation,
    refusal: Callable[[str], tuple[str, str]] | None = None,
    twice: Sequence[str] = (),
    before: Object | None = None,
) -> tuple[Object, list[str]]:
    """A patched object, and warnings about it; ``before`` is the object that was patched.

    ``refusal`` makes of the reason the value and the reason that a refusal gives; without it the object is the value.
    ``twice``: what is wrong with the patch already.
    """
    try:
        if not isinstance(obj, dict):
            raise ValueError("cannot restore struct from: " + json_text(obj))  # noqa: TRY301, TRY004
        if resource.custom and not obj.get("kind"):
            raise ValueError(_KINDLESS)  # noqa: TRY301
        known, unknown = _known(resource, obj, before)
        problems = [*twice, *(f"unknown field {quoted(path)}" for path in unknown)]
        if problems and validation == "Strict":
            raise ValueError(f"strict decoding error: {', '.join(problems)}")  # noqa: TRY301
    except (ValueError, StatusError) as error:
        why = str(error).rpartition(f"cannot be handled as a {resource.info.kind}: ")[2]
        text, why = refusal(why) if refusal is not None else (json_text(obj), why)
        if why == _KINDLESS:
            why = f"{_KINDLESS} in '{text}'"
        refused = invalid("patch", text, why)
        raise StatusError.of(invalid_status([refused], kind="", group="", name="")) from error
    _check_patched_identity(resource, known)
    known, warnings = _owners_once(known, when=" after mutating admission happens")
    return known, (problems if validation == "Warn" else []) + warnings


_KINDLESS = "Object 'Kind' is missing"


def _check_patched_identity(resource: ServedResource, obj: Object) -> None:
    """Custom resources answer otherwise than to a body of another version."""
    info, given = resource.info, obj.get("apiVersion") or ""
    if resource.custom and given != resource.api_version:
        refused = invalid("apiVersion", given, f"must be {info.api_version}")
        group = given.rpartition("/")[0]
        raise StatusError.of(invalid_status([refused], kind=str(obj.get("kind")), group=group, name=name_of(obj)))
    _check_identity(resource, obj)


def _owners_once(obj: Object, *, when: str = "") -> tuple[Object, list[str]]:
    """``obj`` without owner references that say the same twice, and a warning about them."""
    owners = metadata_of(obj).get("ownerReferences")
    if not owners or len(owners) == 1:
        return obj, []
    once: list[Any] = []
    for owner in owners:
        if owner not in once:
            once.append(owner)
    if len(once) == len(owners):
        return obj, []
    twice = sorted({owner.get("uid") or "" for owner in owners if owners.count(owner) > 1})
    warning = (
        f".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and "
        "may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
    )
    return with_metadata(obj, ownerReferences=once), [warning + ", ".join(twice)]


def _known(resource: ServedResource, obj: Object, before: Object | None = None) -> tuple[Object, list[str]]:
    given = obj.get("metadata") or {}
    if before is not None and given is before.get("metadata"):
        known, more = resource.strategy.read(obj)
        unknown: list[str] = []
    else:
        metadata, unknown = read_metadata(given, {} if before is None else metadata_of(before))
        known, more = resource.strategy.read({**obj, "metadata": metadata})
    if not unknown and not more:
        return known, []
    if resource.custom:
        return known, sorted(unknown) + sorted(more)
    if not unknown:
        return known, more
    order = {key: place for place, key in enumerate(obj)}  # built-in kinds tell of fields as they read them
    return known, sorted(unknown + more, key=lambda path: order[re.split(r"[.[]", path, maxsplit=1)[0]])


def _not_handled(info: ResourceInfo, why: str) -> StatusError:
    return bad_request(f"{info.kind} in version {quoted(info.version)} cannot be handled as a {info.kind}: {why}")


def _of_kind(resource: ServedResource, value: Object, body: bytes) -> Object:
    """``value`` as an object of the kind that the path says; built-in kinds may leave out what they are."""
    info = resource.info
    if resource.custom:
        if not value.get("kind"):
            text = body.decode(errors="replace")
            raise unrecognized(info.kind, f"Object 'Kind' is missing in '{text}'", body)
    else:
        value = {
            **value,
            "apiVersion": value.get("apiVersion") or info.api_version,
            "kind": value.get("kind") or info.kind,
        }
    _check_identity(resource, value)
    return value


def _check_identity(resource: ServedResource, obj: Object) -> None:
    info = resource.info
    given, kind = obj.get("apiVersion") or "", obj.get("kind")
    if given == resource.api_version and kind == info.kind:
        return
    if not resource.custom:
        raise _of_other_kind(info, given, kind)
    if given != resource.api_version:
        raise bad_request(
            f"the API version in the data ({given}) does not match the expected API version ({info.api_version})"
        )
    refused = invalid("kind", kind, f"must be {info.kind}")
    status = invalid_status([refused], kind=str(kind), group=info.group, name=name_of(obj))
    raise StatusError.of(status)


def _of_other_kind(info: ResourceInfo, given: str, kind: Any) -> StatusError:
    """The answer to a built-in kind's body of another kind; Go's names of packages tell the kinds apart."""
    group, _, version = given.rpartition("/")
    if (group, version, kind) not in definition_names():
        scheme = 'in scheme "pkg/api/legacyscheme/scheme.go:30"'
        why = f"no kind {quoted(str(kind))} is registered for version {quoted(given)} {scheme}"
        return bad_request(f"{kind} in version {quoted(version)} cannot be handled as a {info.kind}: {why}")
    package = info.group.partition(".")[0] or "core"
    return bad_request(
        f"{kind} in version {quoted(version)} cannot be handled as a {info.kind}: "
        f"converting ({version}.{kind}) to ({package}.{info.kind}): unknown conversion"
    )


def placed(obj: Object, *, namespace: str, name: str | None = None) -> Object:
    """``obj`` in the namespace, and of the name, that the path says. Raises `StatusError` where it says otherwise."""
    metadata = dict(obj.get("metadata") or {})
    if name is not None:
        own = metadata.get("name")
        if not own:
            text = f"the name of the object ({name} based on URL) was undeterminable: name must be provided"
            raise bad_request(text)
        if own != name:
            raise bad_request(f"the name of the object ({own}) does not match the name on the URL ({name})")
    if not namespace:
        metadata.pop("namespace", None)  # also where the caller gave one
    elif metadata.setdefault("namespace", namespace) != namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    return {**obj, "metadata": metadata}
