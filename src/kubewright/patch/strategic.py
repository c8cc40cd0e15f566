"""Strategic merge patch: a merge patch that knows from the schema which lists merge, and has directives.

Built-in kinds only; API servers refuse it for custom resources.
https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from kubewright.api import JSON
from kubewright.patch.errors import PatchError
from kubewright.patch.go_text import json_kind, plain
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["apply"]

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_SET_ORDER = "$setElementOrder"
_DIRECTIVES = (_RETAIN_KEYS, _DELETE_FROM, _SET_ORDER)

Identity: TypeAlias = Callable[[JSON], Hashable]


def apply(doc: Object, patch: JSON, shape: Shape) -> Object:
    """``doc`` after the patch, merged as ``shape`` says.

    Lists with patch strategy ``merge`` merge by merge key, or as sets if their items are scalars; other lists are
    replaced. Null removes. Directives: ``$patch: replace`` and ``$patch: delete`` in objects and list items,
    ``$retainKeys``, ``$deleteFromPrimitiveList/<list>``, ``$setElementOrder/<list>``.

    Raises `PatchError` with the server's words: code 400 for directives of the wrong form, 500 for what can't be
    merged.
    """
    if patch is None:
        raise PatchError("unexpected end of JSON input", code=400)
    if not isinstance(patch, dict):
        wrong = f"json: cannot unmarshal {json_kind(patch)} into Go value of type map[string]interface {{}}"
        raise PatchError(wrong, code=400)
    return _merge_maps(doc, patch, shape)


def _merge_maps(live: Object, patch: Object, shape: Shape) -> Object:
    if _DIRECTIVE in patch:
        if patch[_DIRECTIVE] == "replace":
            return {key: value for key, value in patch.items() if key != _DIRECTIVE}
        if patch[_DIRECTIVE] == "delete":
            return {}
        raise _unknown_directive(patch)
    merged = _retained(live, patch)
    handled = {_RETAIN_KEYS}
    for key, order in patch.items():
        if key.startswith(_SET_ORDER):
            handled |= {key, _target(key, "invalid patch format of setElementOrder list")}
            _set_order(merged, patch, key, order, shape)
    for key, value in patch.items():
        if key in handled:
            continue
        if key.startswith(_DELETE_FROM):
            _delete_from(merged, key, value)
        elif value is None:
            merged.pop(key, None)
        elif key in merged:
            merged[key] = _merge(merged[key], value, shape.child(key))
        elif not _is_dropped(value):
            merged[key] = _cleaned(value)
    return merged


def _merge(live: JSON, value: JSON, shape: Shape) -> JSON:
    if isinstance(live, dict) and isinstance(value, dict):
        return value if "replace" in shape.patch_strategy else _merge_maps(live, value, shape)
    if isinstance(live, list) and isinstance(value, list):
        return _merge_lists(live, value, shape) if "merge" in shape.patch_strategy else value
    return None if _is_dropped(value) else _cleaned(value)


def _unknown_directive(patch: Object) -> PatchError:
    return PatchError(f"unknown patch type: {plain(patch[_DIRECTIVE])} in map: {plain(patch)}", code=500)


def _target(key: str, wrong: str) -> str:
    """The list that a directive is about: what stands after its slash."""
    _, slash, name = key.partition("/")
    if not slash or not name:
        raise PatchError(wrong, code=400)
    return name


def _is_dropped(value: JSON) -> bool:
    """New objects that are nothing but a directive about old ones."""
    return isinstance(value, dict) and _DIRECTIVE in value


def _cleaned(value: JSON) -> JSON:
    """A new field's value: no nulls, no directives, and no objects that are only a directive."""
    if isinstance(value, dict):
        return {
            key: _cleaned(item)
            for key, item in value.items()
            if item is not None and not _is_dropped(item) and not key.startswith(_DIRECTIVES)
        }
    if isinstance(value, list):
        return [_cleaned(item) for item in value if not _is_dropped(item)]
    return value


def _bare(value: JSON) -> JSON:
    """A new item of a merging list: no nulls and no directives, which say nothing in what is new."""
    if isinstance(value, dict):
        return {
            key: _bare(item)
            for key, item in value.items()
            if item is not None and not key.startswith((_DIRECTIVE, *_DIRECTIVES))
        }
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return value


def _retained(live: Object, patch: Object) -> Object:
    """What ``$retainKeys`` leaves of the live object."""
    if _RETAIN_KEYS not in patch:
        return dict(live)
    keys = patch[_RETAIN_KEYS]
    wrong = PatchError("invalid patch format of retainKeys", code=400)
    if not isinstance(keys, list):
        raise wrong
    for key, value in patch.items():
        if value is not None and key not in keys and not key.startswith(_DIRECTIVES):
            raise wrong
    return {key: value for key, value in live.items() if key in keys}


def _delete_from(merged: Object, key: str, values: JSON) -> None:
    wrong = "invalid patch format of primitive list"
    name = _target(key, wrong)
    live = merged.get(name)
    if isinstance(live, list) and isinstance(values, list):
        gone = {_scalar(value) for value in values}
        merged[name] = [item for item in live if _scalar(item) not in gone]


def _scalar(value: JSON) -> Hashable:
    """A scalar's identity, in which 1 and True are two."""
    return None if isinstance(value, dict | list) else (type(value), value)


def _by_key(merge_key: str) -> Identity:
    def identity(item: JSON) -> Hashable:
        if not isinstance(item, dict) or merge_key not in item:
            raise PatchError(f"map: {plain(item)} does not contain declared merge key: {merge_key}", code=500)
        return _scalar(item[merge_key])

    return identity


def _identity(live: list[JSON], patch: list[JSON], shape: Shape) -> Identity:
    """What tells the items apart, which all have to be of one type."""
    types = {type(item) for item in (*live, *patch)}
    if list in types:
        raise PatchError("lists of lists are not supported", code=422)
    if len(types) > 1:
        raise PatchError(f"list element types are not identical: {plain([live, patch])}", code=500)
    if types != {dict}:
        return _scalar
    if shape.patch_merge_key is None:
        raise PatchError("cannot merge lists without merge key", code=500)
    return _by_key(shape.patch_merge_key)


def _merge_lists(live: list[JSON], patch: list[JSON], shape: Shape) -> list[JSON]:
    if not live and not patch:
        return live
    identity = _identity(live, patch, shape)
    kept, wanted = _special(live, patch, identity)
    merged = _merged_items(kept, wanted, identity, shape)
    return _ordered(merged, order=wanted, live=kept, identity=identity)


def _special(live: list[JSON], patch: list[JSON], identity: Identity) -> tuple[list[JSON], list[JSON]]:
    """Carries out the items of the patch that are directives: what is left of the live list, and of the patch."""
    wanted = [item for item in patch if not _is_dropped(item)]
    kept = live
    replace = False
    for item in patch:
        if not isinstance(item, dict) or _DIRECTIVE not in item:
            continue
        match item[_DIRECTIVE]:
            case "delete":
                gone = identity(item)
                kept = [other for other in kept if identity(other) != gone]
            case "replace":
                replace = True
            case "merge":
                raise PatchError("merging lists cannot yet be specified in the patch", code=500)
            case _:
                raise _unknown_directive(item)
    return ([_bare(item) for item in wanted], []) if replace else (kept, wanted)


def _merged_items(live: list[JSON], wanted: list[JSON], identity: Identity, shape: Shape) -> list[JSON]:
    places = {identity(item): index for index, item in reversed([*enumerate(live)])}
    merged = list(live)
    for item in wanted:
        mark = identity(item)
        place = places.get(mark)
        if place is None:
            places[mark] = len(merged)
            merged.append(_bare(item))
        else:
            before = merged[place]
            if isinstance(before, dict) and isinstance(item, dict):
                merged[place] = _merge_maps(before, item, shape.items)
    return merged


def _ordered(items: list[JSON], *, order: list[JSON], live: list[JSON], identity: Identity) -> list[JSON]:
    """The items in the order given, with the others put in where they stand in the live list, as well as that goes."""
    rank = {identity(item): index for index, item in reversed([*enumerate(order)])}
    place = {identity(item): index for index, item in reversed([*enumerate(live)])}
    named = sorted((item for item in items if identity(item) in rank), key=lambda item: rank[identity(item)])
    others = sorted(
        (item for item in items if identity(item) not in rank), key=lambda item: place.get(identity(item), len(live))
    )
    merged: list[JSON] = []
    while named and others:
        other, next_named = place.get(identity(others[0])), place.get(identity(named[0]))
        comes_first = other is not None and next_named is not None and other < next_named
        merged.append((others if comes_first else named).pop(0))
    return [*merged, *named, *others]


def _set_order(merged: Object, patch: Object, key: str, order: JSON, shape: Shape) -> None:
    """Merges the list that the directive is about, and puts it into the order given."""
    name = _target(key, "invalid patch format of setElementOrder list")
    if not isinstance(order, list):
        wanted = {"object": "map[string]interface {}", "number": "float64"}.get(json_kind(order), json_kind(order))
        raise PatchError(f"expected a []interface {{}}, but received a {wanted}", code=500)
    live, wanted_items = merged.get(name), patch.get(name)
    for value in (live, wanted_items):
        if value is not None and not isinstance(value, list):
            raise PatchError("invalid patch format of setElementOrder list", code=400)
    earlier = live if isinstance(live, list) else []
    later = wanted_items if isinstance(wanted_items, list) else []
    if name in patch and wanted_items is None:
        merged.pop(name, None)
        return
    if not earlier and not later:
        return
    child = shape.child(name)
    identity = _identity(earlier, later, child)
    _check_order(later, order, identity)
    items = _merge_lists(earlier, later, child) if later else earlier
    merged[name] = _ordered(items, order=order, live=earlier, identity=identity)


def _check_order(items: list[JSON], order: list[JSON], identity: Identity) -> None:
    """The order has to name all items of the patch's list, in their own order."""
    marks = iter([identity(item) for item in order])
    for item in items:
        if not _is_dropped(item) and identity(item) not in marks:
            raise PatchError(
                f"The order in patch list:\n{plain([*items])}\n doesn't match {_SET_ORDER} list:\n{plain([*order])}\n",
                code=500,
            )
