"""JSON Merge Patch (RFC 7386): objects merge key by key, null removes, everything else replaces.

https://datatracker.ietf.org/doc/html/rfc7386
"""

from __future__ import annotations

from kubewright.api import JSON
from kubewright.patch.errors import PatchError
from kubewright.patch.go_text import json_kind
from kubewright.patch.values import Object, same

__all__ = ["apply", "difference"]


def apply(doc: Object, patch: JSON) -> Object:
    """``doc`` after the patch. Raises `PatchError` where the patch is no object, and so would replace the document."""
    if patch is None:
        raise PatchError("error decoding patch: unexpected end of JSON input", code=400)
    if not isinstance(patch, dict):
        wrong = f"json: cannot unmarshal {json_kind(patch)} into Go value of type map[string]interface {{}}"
        raise PatchError(f"error decoding patch: {wrong}", code=400)
    return _merge(doc, patch)


def _merge(doc: Object, patch: Object) -> Object:
    merged = dict(doc)
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        elif isinstance(before := merged.get(key), dict):
            merged[key] = _merge(before, value) if isinstance(value, dict) else value
        else:
            merged[key] = _without_nulls(value)
    return merged


def _without_nulls(value: JSON) -> JSON:
    """New objects have no nulls, in lists either, where the RFC would keep them and API servers don't."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def difference(before: Object, after: Object) -> Object:
    """The patch that makes ``after`` of ``before``.

    Caveats: a null in ``after`` can't be told from a missing key, and lists are replaced whole, with all that a typed
    model did not know of their items; `kubewright.patch.json_patch.difference` has neither flaw.
    """
    patch: Object = {key: None for key in before if key not in after}
    for key, value in after.items():
        if key not in before:
            patch[key] = value
            continue
        old = before[key]
        if isinstance(old, dict) and isinstance(value, dict):
            if changes := difference(old, value):
                patch[key] = changes
        elif not same(old, value):
            patch[key] = value
    return patch
