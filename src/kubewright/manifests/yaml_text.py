"""YAML as Kubernetes' own tools write it: lists not indented under their key, long strings not folded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

__all__ = ["to_yaml"]


class _Dumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - repeated values are written out
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    """Go's YAML readers take a bare y or n, which PyYAML leaves unquoted, for a boolean."""
    style = "'" if text in {"y", "Y", "n", "N"} else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def to_yaml(documents: Iterable[dict[str, Any]]) -> str:
    """One text with a ``---`` line before each document."""
    return "".join(
        "---\n" + yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000)
        for document in documents
    )
