"""`Scope`: which objects an informer is about, decided here for own writes as the server decides it for watches."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from kubewright.api import FieldSelector, Selector
from kubewright.cache.entry import Entry
from kubewright.client.requests import Fields, Labels, as_field_selector, as_selector

__all__ = ["Scope"]


class Scope(Struct, frozen=True):
    """A namespace (None for all) and selectors; hashable, so that equal scopes share an informer."""

    namespace: str | None
    labels: Selector
    fields: FieldSelector

    @classmethod
    def of(cls, namespace: str | None, labels: Labels | None, fields: Fields | None) -> Scope:
        """The same for selections that are written in another order."""
        requirements = () if labels is None else as_selector(labels).requirements
        terms = () if fields is None else as_field_selector(fields).terms
        return cls(namespace, Selector(tuple(sorted(requirements, key=str))), FieldSelector(tuple(sorted(terms))))

    def covers(self, namespace: str) -> bool:
        return self.namespace is None or namespace == self.namespace

    def selects(self, entry: Entry) -> bool:
        """Whether the selectors take the object; its namespace is another matter."""
        if not self.labels.matches(entry.labels):
            return False
        if not self.fields.terms:
            return True
        document = msgspec.json.decode(entry.raw)
        return self.fields.matches(lambda path: _text_at(document, path))


def _text_at(document: object, path: str) -> str:
    """A field as the server's selectors see it: text, empty where it is not there."""
    value = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
