"""Moving from kubectl's client-side apply to server-side apply, which the server helps with.

https://kubernetes.io/docs/reference/using-api/server-side-apply/#upgrading-from-client-side-apply-to-server-side-apply
"""

from __future__ import annotations

import msgspec

from kubewright.patch.comparison import compare
from kubewright.patch.fields import FieldSet
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["LAST_APPLIED", "last_applied_fields", "with_last_applied"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_json = msgspec.json.Encoder(order="deterministic").encode


def _annotations(obj: Object) -> Object:
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def last_applied_fields(live: Object, shape: Shape, api_version: str) -> FieldSet:
    """The fields that are as kubectl last applied them from the client's side: kubectl may take these over."""
    text = _annotations(live).get(LAST_APPLIED)
    if not isinstance(text, str) or not text:
        return FieldSet()
    try:
        applied = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return FieldSet()
    if not isinstance(applied, dict) or applied.get("apiVersion") != api_version:
        return FieldSet()
    changes = compare(applied, live, shape)
    fields = FieldSet.of(applied, shape)
    return fields.difference(changes.modified).difference(changes.added).difference(changes.removed)


def with_last_applied(obj: Object, applied: Object) -> Object:
    """``obj`` with its annotation, if it has one, brought up to date with what is applied now."""
    annotations = _annotations(obj)
    metadata = obj.get("metadata")
    if not annotations.get(LAST_APPLIED) or not isinstance(metadata, dict):
        return obj
    applied_metadata = applied.get("metadata")
    if isinstance(applied_metadata, dict) and LAST_APPLIED in _annotations(applied):
        rest = {key: value for key, value in _annotations(applied).items() if key != LAST_APPLIED}
        applied = {**applied, "metadata": {**applied_metadata, "annotations": rest}}
    text = _json(applied).decode() + "\n"
    return {**obj, "metadata": {**metadata, "annotations": {**annotations, LAST_APPLIED: text}}}
