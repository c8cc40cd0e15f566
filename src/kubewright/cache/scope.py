"""`Scope`: which objects an informer is about, decided here for own writes as the server decides it for watches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from kubewright.api import FieldSelector, Selector
from kubewright.api.selectable import selected_text
from kubewright.cache.entry import Entry
from kubewright.client.requests import Fields, Labels, as_field_selector, as_selector

__all__ = ["Scope", "labelled"]


class Scope(Struct, frozen=True):
    """Namespaces (None for all) and selectors; hashable, so that equal scopes share an informer."""

    namespaces: tuple[str, ...] | None
    labels: Selector
    fields: FieldSelector

    @classmethod
    def of(cls, namespaces: str | Iterable[str] | None, labels: Labels | None, fields: Fields | None) -> Scope:
        """The same for selections that are written in another order."""
        requirements = () if labels is None else as_selector(labels).requirements
        terms = () if fields is None else as_field_selector(fields).terms
        names = (namespaces,) if isinstance(namespaces, str) else namespaces
        return cls(
            None if names is None else tuple(sorted(set(names))),
            Selector(tuple(sorted(requirements, key=str))),
            FieldSelector(tuple(sorted(terms))),
        )

    def within(self, namespace: str | None) -> Scope:
        """The same selection in one namespace, or in all."""
        return Scope(None if namespace is None else (namespace,), self.labels, self.fields)

    def covers(self, namespace: str) -> bool:
        return self.namespaces is None or namespace in self.namespaces

    @property
    def is_selective(self) -> bool:
        """Whether an object may leave the selection without being deleted."""
        return bool(self.labels.requirements or self.fields.terms)

    def selects(self, entry: Entry, whole: bytes | None = None) -> bool:
        """Whether the selectors take the object; its namespace is another matter.

        ``whole`` is the object's JSON where the entry holds only a part of it.
        """
        if self.labels.requirements and not self.labels.matches(entry.labels):
            return False
        if not self.fields.terms:
            return True
        document: dict[str, Any] = msgspec.json.decode(entry.raw if whole is None else whole)
        group = document.get("apiVersion", "").rpartition("/")[0]
        kind = document.get("kind", "")
        return self.fields.matches(lambda path: selected_text(group, kind, document, path))


def labelled(entries: Iterable[Entry], selector: Selector) -> list[Entry]:
    """The entries whose labels match.

    What can't match is told from its bytes: a value that must be there is looked for first, since no encoder writes the
    characters of a label's value in another way.
    """
    for requirement in selector.requirements:
        if requirement.operator == "In" and len(requirement.values) == 1:
            value = next(iter(requirement.values)).encode()
            entries = [entry for entry in entries if value in entry.text]
    return [entry for entry in entries if selector.matches(entry.labels)]
