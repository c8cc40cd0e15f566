"""What is wrong with an object's metadata, in the server's words and as often as it says so.

A real server checks metadata for all kinds alike and then again with the kind, which has rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kubewright.api.label_rules import label_value_problems, qualified_name_problems
from kubewright.devcluster.finalizers import STANDARD_FINALIZERS
from kubewright.schema.errors import FieldError, forbidden, invalid, required, too_long
from kubewright.schema.go_text import json_text, quoted

if TYPE_CHECKING:
    from kubewright.api import ResourceInfo

__all__ = ["create_errors", "update_errors"]

NameErrors = Callable[..., list[str]]

_key_problems = lru_cache(4096)(qualified_name_problems)
_value_problems = lru_cache(4096)(label_value_problems)
"""The same few names and values come again and again."""

_ANNOTATIONS_LIMIT = 256 * 1024


class _Again(NamedTuple):
    """How often a kind checks metadata itself when an object is updated."""

    as_change: int = 1
    as_whole: int = 1
    qualified: bool = True
    """Whether its finalizers need a domain."""


_CUSTOM = _Again(as_whole=0, qualified=False)
_NOT = _Again(0, 0, qualified=False)
_AS_CHANGE = _Again(1, 0)
_AS_WHOLE = _Again(0, 1)
_PLAIN = _Again(qualified=False)
_RBAC = "rbac.authorization.k8s.io"
_KINDS: Mapping[tuple[str, str], _Again] = {
    ("", "Event"): _NOT,
    ("", "LimitRange"): _AS_WHOLE,
    ("", "PersistentVolume"): _Again(0, 2),
    ("", "PersistentVolumeClaim"): _Again(1, 2),
    ("", "PodTemplate"): _AS_CHANGE,
    ("apps", "Deployment"): _AS_CHANGE,
    ("autoscaling", "HorizontalPodAutoscaler"): _AS_CHANGE,
    ("batch", "CronJob"): _AS_CHANGE,
    ("coordination.k8s.io", "Lease"): _CUSTOM,
    ("discovery.k8s.io", "EndpointSlice"): _AS_WHOLE,
    ("events.k8s.io", "Event"): _NOT,
    ("node.k8s.io", "RuntimeClass"): _PLAIN,
    ("policy", "PodDisruptionBudget"): _NOT,
    (_RBAC, "ClusterRole"): _Again(1, 2),
    (_RBAC, "ClusterRoleBinding"): _Again(1, 2),
    (_RBAC, "Role"): _Again(1, 2),
    (_RBAC, "RoleBinding"): _Again(1, 2),
    ("scheduling.k8s.io", "PriorityClass"): _AS_CHANGE,
}
_GROUPS: Mapping[str, _Again] = {
    "admissionregistration.k8s.io": _Again(0, 1, qualified=False),
    "apiextensions.k8s.io": _PLAIN,
    "apiregistration.k8s.io": _PLAIN,
}


def _again(info: ResourceInfo, *, custom: bool) -> _Again:
    if custom:
        return _CUSTOM
    return _KINDS.get((info.group, info.kind)) or _GROUPS.get(info.group) or _Again()


def create_errors(
    info: ResourceInfo, metadata: Mapping[str, Any], name_errors: NameErrors, *, custom: bool
) -> list[FieldError]:
    """What is wrong with a new object's metadata. ``name_errors`` is the kind's rule, `Strategy.name_errors`."""
    errors = []
    if prefix := metadata.get("generateName"):
        errors += [invalid("metadata.generateName", prefix, each) for each in name_errors(prefix, prefix=True)]
    if name := metadata.get("name"):
        errors += [invalid("metadata.name", name, each) for each in name_errors(name, prefix=False)]
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    errors += _shared_errors(metadata) + _finalizer_errors(metadata)
    return errors + (_unqualified_errors(metadata) if _again(info, custom=custom).qualified else [])


def update_errors(
    info: ResourceInfo, new: Mapping[str, Any], old: Mapping[str, Any], *, custom: bool
) -> list[FieldError]:
    """What is wrong with an updated object's metadata. ``old`` was found right when it was written."""
    shared = [] if all(new.get(key) is old.get(key) for key in _SHARED) else _shared_errors(new)
    finalizers, changes = _finalizer_errors(new), _change_errors(new, old)
    again = _again(info, custom=custom)
    unqualified = _unqualified_errors(new) if again.qualified else []
    if not (shared or finalizers or changes or unqualified):
        return []
    whole = shared + finalizers
    errors = whole + changes + shared
    return errors + again.as_change * (changes + shared + unqualified) + again.as_whole * (whole + unqualified)


_SHARED = ("labels", "annotations", "ownerReferences")


def _shared_errors(metadata: Mapping[str, Any]) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, value in sorted((metadata.get("labels") or {}).items()):
        errors += [invalid("metadata.labels", key, each) for each in _key_problems(key)]
        errors += [invalid("metadata.labels", value, each) for each in _value_problems(value)]
    annotations = metadata.get("annotations") or {}
    for key in sorted(annotations):
        errors += [invalid("metadata.annotations", key, each) for each in _key_problems(key.lower())]
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        errors.append(too_long("metadata.annotations", _ANNOTATIONS_LIMIT))
    return errors + _owner_errors(metadata.get("ownerReferences") or [])


def _finalizer_errors(metadata: Mapping[str, Any]) -> list[FieldError]:
    return [
        invalid("metadata.finalizers", finalizer, each)
        for finalizer in metadata.get("finalizers") or ()
        for each in _key_problems(finalizer)
    ]


def _unqualified_errors(metadata: Mapping[str, Any]) -> list[FieldError]:
    message = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"metadata.finalizers[{index}]", finalizer, message)
        for index, finalizer in enumerate(metadata.get("finalizers") or ())
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS
    ]


_OWNER = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")


def _invalid_owners(value: Mapping[str, Any] | list[Mapping[str, Any]], why: str) -> FieldError:
    """Shown in the order in which the server encodes them."""
    owners = value if isinstance(value, list) else [value]
    ordered = [{key: owner[key] for key in _OWNER if key in owner} for owner in owners]
    shown = json_text(ordered if isinstance(value, list) else ordered[0], in_order=True)
    return FieldError("FieldValueInvalid", "metadata.ownerReferences", f"Invalid value: {shown}: {why}")


def _owner_errors(owners: list[Mapping[str, Any]]) -> list[FieldError]:
    errors: list[FieldError] = []
    controller: Mapping[str, Any] | None = None
    for owner in owners:
        where = "metadata.ownerReferences"
        group_version = owner.get("apiVersion") or ""
        if not group_version.rpartition("/")[2] or group_version.count("/") > 1:
            errors.append(invalid(f"{where}.apiVersion", group_version, "version must not be empty"))
        errors += [
            invalid(f"{where}.{field}", "", "must not be empty")
            for field in ("kind", "name", "uid")
            if not owner.get(field)
        ]
        if (group_version, owner.get("kind")) == ("v1", "Event"):
            errors.append(_invalid_owners(owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            if controller is not None:
                names = f"{controller.get('kind')}/{controller.get('name')} and {owner.get('kind')}/{owner.get('name')}"
                text = f"Only one reference can have Controller set to true. Found {quoted('true')} in references for {names}"
                errors.append(_invalid_owners(owners, text))
                break
            controller = owner
    return errors


_IMMUTABLE = ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


def _change_errors(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    if old.get("deletionTimestamp"):
        held = set(old.get("finalizers") or [])
        added = [each for each in new.get("finalizers") or [] if each not in held]
        if added:
            listed = ", ".join(map(quoted, sorted(added)))
            text = "no new finalizers can be added if the object is being deleted, found new finalizers "
            errors.append(forbidden("metadata.finalizers", f"{text}[]string{{{listed}}}"))
    for field in _IMMUTABLE:
        if new.get(field) != old.get(field):
            errors.append(invalid(f"metadata.{field}", new.get(field), "field is immutable"))  # noqa: PERF401
    return errors
