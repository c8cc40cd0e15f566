"""How sets of owned fields change when an object is written."""

from __future__ import annotations

from kubewright.patch.comparison import Comparison
from kubewright.patch.field_tree import LEAF, Tree, with_self
from kubewright.patch.fields import NOTHING, FieldSet
from kubewright.patch.managed import NEVER_OWNED, Books, ManagerKey
from kubewright.patch.merging import remove
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["applied_fields", "conflicts_with", "fitted", "pruned", "restricted", "yielded"]


def restricted(fields: FieldSet, *, ignored: FieldSet, only: FieldSet | None) -> FieldSet:
    """Leaves out what a write at this endpoint doesn't touch, such as ``status`` at the main resource."""
    if only is not None:
        fields = fields.within(only)
    return fields.without(ignored) if ignored else fields


def applied_fields(
    applied: Object, shape: Shape, *, ignored: FieldSet = NOTHING, only: FieldSet | None = None
) -> FieldSet:
    """What its manager will own after ``applied`` is applied.

    The digest of this, compared with the digest of the manager's entry in the live object, tells whether an apply would
    change who owns what, without asking the server.
    """
    fields = restricted(FieldSet.of(applied, shape.as_resource()), ignored=ignored, only=only)
    return fields.difference(NEVER_OWNED)


def conflicts_with(books: Books, own: ManagerKey, changes: Comparison) -> dict[ManagerKey, FieldSet]:
    """The fields of other managers that a write changes."""
    changed = changes.modified.union(changes.added)
    if changed.is_empty():
        return {}
    found = {key: entry.fields.intersection(changed) for key, entry in books.items() if key != own}
    return {key: fields for key, fields in found.items() if not fields.is_empty()}


def yielded(books: Books, own: ManagerKey | None, changes: Comparison) -> Books:
    """The books after everyone but ``own`` gave up what the write changed or removed; who owns nothing is not listed."""
    lost = changes.modified.union(changes.added).union(changes.removed)
    left: Books = {}
    for key, entry in books.items():
        fields = entry.fields if key == own or lost.is_empty() else entry.fields.difference(lost)
        if not fields.is_empty():
            left[key] = entry if fields is entry.fields else entry._replace(fields=fields)
    return left


def pruned(merged: Object, books: Books, last: FieldSet, shape: Shape) -> Object:
    """``merged`` without what a manager applied last time (``last``), applies no more, and nobody else owns.

    ``books`` has what the manager applies now. Maps and list items go with their last owned field, unless they have
    content that nobody owns.
    """
    owned = NOTHING
    for entry in books.values():
        owned = owned.union(entry.fields)
    if last.difference(owned).is_empty():
        return merged
    last_named, owned_named, all_named = (_named(fields, shape) for fields in (last, owned, FieldSet.of(merged, shape)))
    without_last = remove(merged, last_named.tree, shape)
    left_named = _named(FieldSet.of(without_last, shape), shape)
    unowned = all_named.difference(left_named.union(owned_named))
    without_unowned = remove(merged, unowned.tree, shape)
    # What nobody owns but was never this manager's either stays: take away only what is the manager's to take.
    gone = all_named.difference(_named(FieldSet.of(without_unowned, shape), shape)).intersection(last_named)
    return remove(merged, gone.tree, shape)


def _named(fields: FieldSet, shape: Shape) -> FieldSet:
    """The set with all declared fields on the way to its paths; keys of maps are not among them."""
    return FieldSet.of_tree(_with_named(fields.tree, shape))


def _with_named(tree: Tree, shape: Shape) -> Tree:
    named: Tree = {}
    for element, node in tree.items():
        if not node:
            named[element] = node
        elif element.startswith("f:"):
            name = element[2:]
            below = _with_named(node, shape.child(name))
            named[element] = with_self(below) if shape.declares(name) else below
        else:
            named[element] = _with_named(node, shape.items)
    return named


def fitted(fields: FieldSet, shape: Shape) -> FieldSet:
    """The set after a schema change made a map or list atomic: whoever owned something in it now owns it all."""
    if fields.fits(shape):
        return fields
    tree = _fit(fields.tree, shape)
    return fields.known_to_fit(shape) if tree is fields.tree else FieldSet.of_tree(tree)


def _fit(tree: Tree, shape: Shape) -> Tree:
    changed: Tree = {}
    for element, node in tree.items():
        if not node:
            continue
        child = shape.child(element[2:]) if element.startswith("f:") else shape.items
        atomic = (child.type == "object" and child.map_type == "atomic") or (
            child.type == "array" and child.list_type == "atomic"
        )
        fit = LEAF if atomic else _fit(node, child)
        if fit is not node:
            changed[element] = fit
    return {**tree, **changed} if changed else tree
