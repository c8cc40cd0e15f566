"""`Node`, one schema of an OpenAPI document, read once and resolved on demand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from kubewright.schema.formats import effective_format

__all__ = ["Definitions", "Node", "Schema"]

Schema = dict[str, Any]


class Definitions:
    """The named schemas that ``$ref`` points to; each becomes one `Node`, so recursive types end."""

    def __init__(self, schemas: Mapping[str, Schema] | None = None) -> None:
        self._schemas = schemas or {}
        self._nodes: dict[str, Node] = {}

    def node(self, schema: Schema) -> Node:
        """The node of a schema, of what it refers to, or of the only member of its ``allOf``."""
        reference = schema.get("$ref")
        if reference is None:
            members = schema.get("allOf") or []
            if len(members) == 1 and "$ref" in members[0]:
                return self.node(members[0])
            return Node(schema, self)
        name = reference.rpartition("/")[2]
        if name not in self._nodes:
            if name not in self._schemas:
                raise KeyError(f"the schema refers to {reference}, which is not among its definitions")
            self._nodes[name] = self.node(self._schemas[name])
        return self._nodes[name]


class Node:
    """One schema: what validation, defaulting and pruning ask for, under the names of the keywords."""

    def __init__(self, schema: Schema, definitions: Definitions) -> None:
        self.schema = schema
        self._definitions = definitions
        self.int_or_string = bool(schema.get("x-kubernetes-int-or-string"))
        self.preserve_unknown = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        self.embedded_resource = bool(schema.get("x-kubernetes-embedded-resource"))
        self.types: tuple[str, ...] = ("integer", "string") if self.int_or_string else _types(schema.get("type"))
        self.nullable = bool(schema.get("nullable"))
        self.format = effective_format(schema.get("format") or "", self.types)
        self.enum: list[Any] = schema.get("enum") or []
        self.required: list[str] = schema.get("required") or []
        self.default: Any = schema.get("default")
        self.list_type: str | None = schema.get("x-kubernetes-list-type")
        self.list_map_keys: list[str] = schema.get("x-kubernetes-list-map-keys") or []

    @cached_property
    def properties(self) -> dict[str, Node]:
        node = self._definitions.node
        return {name: node(self.schema["properties"][name]) for name in sorted(self.schema.get("properties") or ())}

    @cached_property
    def additional(self) -> Node | None:
        """The schema of properties without one of their own; None where there is none or any value will do."""
        schema = self.schema.get("additionalProperties")
        return self._definitions.node(schema) if isinstance(schema, dict) else None

    @cached_property
    def allows_additional(self) -> bool:
        """Whether ``additionalProperties`` is given at all, as a schema or as true."""
        return self.schema.get("additionalProperties") not in (None, False)

    @cached_property
    def items(self) -> Node | None:
        schema = self.schema.get("items")
        return self._definitions.node(schema) if isinstance(schema, dict) else None

    @cached_property
    def all_of(self) -> list[Node]:
        return self._members("allOf")

    @cached_property
    def any_of(self) -> list[Node]:
        return self._members("anyOf")

    @cached_property
    def one_of(self) -> list[Node]:
        return self._members("oneOf")

    @cached_property
    def not_(self) -> Node | None:
        schema = self.schema.get("not")
        return Node(schema, self._definitions) if isinstance(schema, dict) else None

    def _members(self, keyword: str) -> list[Node]:
        return [Node(schema, self._definitions) for schema in self.schema.get(keyword) or ()]

    def child(self, name: str) -> Node | None:
        """The schema of one property, declared or additional."""
        return self.properties.get(name) or self.additional

    def uses(self, keyword: str) -> bool:
        """Whether the keyword appears in this schema or in any schema inside it."""
        seen: set[int] = set()
        waiting: list[Node | None] = [self]
        while waiting:
            node = waiting.pop()
            if node is None or id(node) in seen:
                continue
            if node.schema.get(keyword):
                return True
            seen.add(id(node))  # recursive types have one node each, and nodes live as long as their parents
            waiting += [*node.properties.values(), node.additional, node.items, node.not_]
            waiting += [*node.all_of, *node.any_of, *node.one_of]
        return False


def _types(declared: Any) -> tuple[str, ...]:
    if not declared:
        return ()
    return (declared,) if isinstance(declared, str) else tuple(declared)
