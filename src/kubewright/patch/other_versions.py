"""Books that name other versions of a kind than the one being written.

A server looks at each owner's fields in the owner's version. It can't where that version is gone, or where the object has
fields that its schema lacks: then an apply is refused, and any other write loses the books.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from kubewright.patch.checking import check
from kubewright.patch.errors import PatchError
from kubewright.patch.managed import Books
from kubewright.patch.shape import Shape
from kubewright.patch.values import Object

__all__ = ["Versions", "check_known", "check_prunable", "check_visible"]

Versions: TypeAlias = Mapping[str, Shape]
"""The shapes of all versions of a kind, by apiVersion; empty where they differ in nothing that matters."""


def check_known(books: Books, versions: Versions) -> None:
    """Raises `PatchError` where an owner's version is gone."""
    for version in sorted({entry.api_version for entry in books.values()}):
        if versions and version not in versions:
            raise PatchError(f"request to convert CR to an invalid group/version: {version}", code=500)


def check_visible(old: Object, new: Object, books: Books, api_version: str, versions: Versions) -> None:
    """Raises `PatchError` where an owner's version can't show the object before or after the write."""
    for version in _others(books, api_version, versions):
        for name, obj in (("old", old), ("new", new)):
            if why := _misfit(obj, versions[version]):
                raise PatchError(f"failed to convert {name} object: {why}", code=500)


def check_prunable(merged: Object, books: Books, last: str, api_version: str, versions: Versions) -> None:
    """Raises `PatchError` where what a manager applies no more can't be found; ``last``: the version it applied then."""
    if last != api_version and versions and (why := _misfit(merged, versions[last])):
        raise PatchError(
            f"failed to prune fields: failed to convert merged object to last applied version: {why}", code=500
        )
    for version in _others(books, api_version, versions):
        if why := _misfit(merged, versions[version]):
            text = f"failed to convert merged object at version {version}: {why}"
            raise PatchError(f"failed to prune fields: failed add back owned items: {text}", code=500)


def _others(books: Books, api_version: str, versions: Versions) -> Iterable[str]:
    return sorted({entry.api_version for entry in books.values()} - {api_version}) if versions else ()


def _misfit(obj: Object, shape: Shape) -> str:
    problems = check(obj, shape.as_resource())
    return problems[0] if len(problems) == 1 else "\n  ".join(["errors:", *problems]) if problems else ""
