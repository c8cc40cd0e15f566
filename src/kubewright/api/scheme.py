"""`Scheme`: which class stands for which kind. An instance, never a global."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubewright.api.resource import GroupVersionKind, Resource, resource_info

__all__ = ["Scheme"]


class Scheme:
    """Kind ↔ class, for those who read YAML or follow owner references."""

    def __init__(self, kinds: Iterable[type[Resource]] = ()) -> None:
        self._by_gvk: dict[GroupVersionKind, type[Resource]] = {}
        for kind in kinds:
            self.add(kind)

    def add(self, kind: type[Resource]) -> None:
        """Raises ValueError when another class already stands for the same group, version and kind."""
        gvk = resource_info(kind).gvk
        known = self._by_gvk.setdefault(gvk, kind)
        if known is not kind:
            raise ValueError(f"{gvk} is declared twice: by {_where(known)} and by {_where(kind)}")

    def type_for(self, api_version: str, kind: str) -> type[Resource] | None:
        group, _, version = api_version.rpartition("/")
        return self._by_gvk.get(GroupVersionKind(group, version, kind))

    def __iter__(self) -> Iterator[type[Resource]]:
        return iter(self._by_gvk.values())


def _where(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
