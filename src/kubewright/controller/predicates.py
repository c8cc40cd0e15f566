"""Predicates: which changes of an object are worth a reconcile. A predicate is a function of an informer's event.

Those of this module combine with ``&``, ``|`` and ``~``, with each other and with plain functions; `predicate` makes a
plain function combine too. Where several must hold between one state and the next (``generation_changed |
labels_changed``), an object that is new or gone passes each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from kubewright.api import ResourceInfo, Selector
from kubewright.api.callables import is_async, takes
from kubewright.cache import Entry, Event
from kubewright.controller.field_paths import FieldPath
from kubewright.telemetry import shown

__all__ = [
    "Combinable",
    "Predicate",
    "annotations_changed",
    "any_change",
    "appeared",
    "changed",
    "check_predicate",
    "default_predicate",
    "deletion",
    "edited",
    "finalizers_changed",
    "generation_changed",
    "labels_changed",
    "predicate",
    "resource_version_changed",
    "selected",
]

Predicate: TypeAlias = Callable[[Event[Any]], bool]

_MAKERS = frozenset({"changed", "predicate", "selected"})


class Combinable:
    """A predicate that combines with others."""

    __slots__ = ("_name", "_passes")

    def __init__(self, passes: Predicate, name: str) -> None:
        self._passes = passes
        self._name = name

    def __call__(self, event: Event[Any]) -> bool:
        return self._passes(event)

    def __and__(self, other: Predicate) -> Combinable:
        check_predicate(other, what=f"{self} & …")
        return Combinable(lambda event: self(event) and other(event), f"({self} & {_name(other)})")

    def __or__(self, other: Predicate) -> Combinable:
        check_predicate(other, what=f"{self} | …")
        return Combinable(lambda event: self(event) or other(event), f"({self} | {_name(other)})")

    def __rand__(self, other: Predicate) -> Combinable:
        check_predicate(other, what=f"… & {self}")
        return Combinable(lambda event: other(event) and self(event), f"({_name(other)} & {self})")

    def __ror__(self, other: Predicate) -> Combinable:
        check_predicate(other, what=f"… | {self}")
        return Combinable(lambda event: other(event) or self(event), f"({_name(other)} | {self})")

    def __invert__(self) -> Combinable:
        return Combinable(lambda event: not self(event), f"~{self}")

    def __repr__(self) -> str:
        return self._name


def _name(passes: Callable[..., object]) -> str:
    return repr(passes) if isinstance(passes, Combinable) else getattr(passes, "__qualname__", repr(passes))


def check_predicate(given: object, *, what: str) -> None:
    """Raises TypeError, naming ``what``, for what can't tell which changes matter."""
    if not callable(given):
        raise TypeError(f"{what}: {shown(given)} is no predicate: give a function of an event, such as labels_changed")
    if getattr(given, "__module__", "") == __name__ and (name := _name(given)) in _MAKERS:
        raise TypeError(f"{what}: {name} makes predicates and is none: call it, {name}(…)")
    if is_async(given):
        raise TypeError(
            f"{what}: {_name(given)} is a coroutine function: a predicate answers at once, define it with `def`"
        )
    if not takes(given, 1):
        raise TypeError(f"{what}: {_name(given)} must take one argument: the event")


def predicate(passes: Predicate) -> Combinable:
    """Makes a function of an event combine with ``&``, ``|`` and ``~``; also as a decorator."""
    check_predicate(passes, what="predicate")
    return Combinable(passes, _name(passes))


def _differs(what: Callable[[Entry], object], name: str) -> Combinable:
    """An object that is new or gone differs, and so does one that took the place of another of its name."""

    def passes(event: Event[Any]) -> bool:
        old, new = event.old_entry, event.new_entry
        return old is None or new is None or what(old) != what(new)

    return Combinable(passes, name)


any_change = Combinable(lambda _event: True, "any_change")
"""Everything, also what changed only for the server."""

generation_changed = _differs(lambda entry: entry.generation, "generation_changed")
"""The spec changed. Not for kinds without a generation (ConfigMap, Secret, …): theirs never does. Neither labels,
annotations, finalizers nor a deletion timestamp count; `edited` takes them too."""

labels_changed = _differs(lambda entry: dict(entry.labels), "labels_changed")
annotations_changed = _differs(lambda entry: dict(entry.annotations), "annotations_changed")
finalizers_changed = _differs(lambda entry: entry.finalizers, "finalizers_changed")

resource_version_changed = _differs(lambda entry: entry.resource_version, "resource_version_changed")
"""The server wrote the object; what a later list merely shows again does not pass."""


@predicate
def edited(event: Event[Any]) -> bool:
    """Generation, labels, annotations, finalizers or the deletion timestamp changed; so did an added or deleted object:
    what a person or another controller changes, as opposed to the status that our own runs write.
    """
    old, new = event.old_entry, event.new_entry
    if old is None or new is None or old.generation != new.generation:
        return True
    marks, before = new.marks, old.marks
    if marks is not before and (marks.deleting != before.deleting or marks.finalizers != before.finalizers):
        return True
    return not old.is_labelled_as(new)


@predicate
def deletion(event: Event[Any]) -> bool:
    """The object is gone, or its deletion began."""
    old, new = event.old_entry, event.new_entry
    return new is None or (new.deleting and (old is None or not old.deleting))


@predicate
def appeared(event: Event[Any]) -> bool:
    """The object is new, to the server or to us: what the first list finds is new as well."""
    return event.old_entry is None


def selected(selector: Selector | str | Mapping[str, str]) -> Combinable:
    """The object's labels match, or did before the change: who leaves a selection is heard of once more.

    ``selector`` is ``"app=web,tier!=cache"`` or the labels that must be there.
    """
    wanted = selector
    if isinstance(wanted, str):
        wanted = Selector.parse(wanted)
    elif not isinstance(wanted, Selector):
        wanted = Selector.from_labels(wanted)
    return Combinable(
        lambda event: any(
            entry is not None and wanted.matches(entry.labels) for entry in (event.new_entry, event.old_entry)
        ),
        f"selected({str(wanted)!r})",
    )


def changed(*paths: str) -> Combinable:
    """One of the fields changed, such as ``changed(".spec.replicas", '.metadata.labels["app"]')``; a part of an object
    or a list counts as a whole. Raises ValueError for what is no path.

    Where only metadata is cached, other fields may have changed with every change of the object, which then passes.
    """
    if not paths:
        raise ValueError("changed() of which fields? Name some, such as changed('.spec.replicas')")
    fields = [FieldPath.parse(path) for path in paths]
    unseen = any(field.steps[0] != "metadata" for field in fields)

    def passes(event: Event[Any]) -> bool:
        old, new = event.old, event.new
        if old is None or new is None:
            return True
        if unseen and event.projection.metadata_only and resource_version_changed(event):
            return True
        return old != new and FieldPath.read_all(fields, old) != FieldPath.read_all(fields, new)

    return Combinable(passes, f"changed({', '.join(map(repr, paths))})")


def default_predicate(info: ResourceInfo) -> Predicate:
    """`edited` for a custom resource with a status subresource, whose generation tells spec from status; else all."""
    return edited if info.custom and info.has_status else any_change
