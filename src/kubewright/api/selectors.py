"""Label and field selectors as the API server reads them from a query string.

Grammar: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#api
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kubewright.api.meta import LabelSelector
from kubewright.api.selector_parser import Operator, SelectorError, parse_field_terms, parse_requirements

__all__ = ["FieldSelector", "LabelRequirement", "Selector", "SelectorError", "format_labels"]


@dataclass(frozen=True)
class LabelRequirement:
    """One comma-separated part of a label selector."""

    key: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value is not None and value in self.values
            case "NotIn":
                return value is None or value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                bound = int(next(iter(self.values)))
                if value is None or not re.fullmatch(r"-?\d+", value):
                    return False
                return int(value) > bound if self.operator == "Gt" else int(value) < bound

    def __str__(self) -> str:
        values = sorted(self.values)
        match self.operator:
            case "In" if len(values) == 1:
                return f"{self.key}={values[0]}"
            case "NotIn" if len(values) == 1:
                return f"{self.key}!={values[0]}"
            case "In" | "NotIn":
                return f"{self.key} {self.operator.lower()} ({','.join(values)})"
            case "Exists":
                return self.key
            case "DoesNotExist":
                return f"!{self.key}"
            case "Gt" | "Lt":
                return f"{self.key}{'>' if self.operator == 'Gt' else '<'}{values[0]}"


@dataclass(frozen=True)
class Selector:
    """A label selector: all its requirements must hold; none at all matches everything."""

    requirements: tuple[LabelRequirement, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Selector:
        """Reads ``app=web,tier in (a,b),!canary``; raises `SelectorError`."""
        return cls(tuple(LabelRequirement(*found) for found in parse_requirements(text)))

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> Selector:
        return cls(tuple(LabelRequirement(key, "In", frozenset({value})) for key, value in sorted(labels.items())))

    @classmethod
    def from_object(cls, selector: LabelSelector) -> Selector:
        """The selector in an object's spec, such as a StatefulSet's."""
        expressions = tuple(
            LabelRequirement(expression.key, expression.operator, frozenset(expression.values or ()))
            for expression in selector.match_expressions or ()
        )
        return cls(cls.from_labels(selector.match_labels or {}).requirements + expressions)

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        have = labels or {}
        return all(requirement.matches(have) for requirement in self.requirements)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


@dataclass(frozen=True)
class FieldSelector:
    """A field selector: ``metadata.name=x,status.phase!=Running``; which fields a kind offers is the server's business."""

    terms: tuple[tuple[str, bool, str], ...] = ()

    @classmethod
    def parse(cls, text: str) -> FieldSelector:
        """Raises `SelectorError` for what does not parse."""
        return cls(parse_field_terms(text))

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(path for path, _, _ in self.terms)

    def matches(self, value_of: Callable[[str], str]) -> bool:
        """``value_of`` gives a field's text, empty where the object lacks it."""
        return all((value_of(path) == value) is equal for path, equal, value in self.terms)

    def __str__(self) -> str:
        return ",".join(f"{path}{'=' if equal else '!='}{_escaped(value)}" for path, equal, value in self.terms)


def _escaped(value: str) -> str:
    return re.sub(r"[\\,=]", r"\\\g<0>", value)


def format_labels(labels: Mapping[str, str]) -> str:
    """``app=web,tier=a``, for a query or a message."""
    return str(Selector.from_labels(labels))
