"""All built-in kinds, for schemes and tests; it loads every module, which takes a moment."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from kubewright.api import Resource

__all__ = ["builtin_kinds"]


def builtin_kinds() -> Iterator[type[Resource]]:
    """Every kind that is served under a path of its own, by module and name."""
    package = importlib.import_module("kubewright.kinds")
    for name in package.__all__:
        if name != "builtin_kinds":
            yield from importlib.import_module(f"kubewright.kinds.{name}").KINDS
