"""`Unstructured`: an object of a kind that has no class, as the JSON it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, TypeAlias

from kubewright.api.model import field
from kubewright.api.names import check_dns_label, check_dns_subdomain
from kubewright.api.resource import Resource, ResourceInfo, describe

__all__ = ["MissingField", "Step", "Unstructured", "unstructured"]

Step: TypeAlias = str | int
"""One step into JSON: a field's name, or an item's place in a list."""

_OF_THE_CLASS = {
    "apiVersion": "it belongs to the class",
    "kind": "it belongs to the class",
    "metadata": "give and read it as .metadata, an ObjectMeta",
}


class MissingField(KeyError):
    """An object has no such field; the message says which object and what it has instead."""

    def __str__(self) -> str:
        return str(self.args[0])


class Unstructured(Resource):
    """An object of a kind that has no class. Its kinds are subclasses: see `unstructured` and `Client.unstructured`.

    ``metadata`` is typed, as with every `Resource`; everything else is ``content``, which is kept whole and read by its
    path: ``obj["spec", "ports", 0, "name"]``. Assigning makes the maps that are missing on the way. Make one from a
    manifest with ``convert(manifest, kind)``.

    Errors: `MissingField` for what is not there, TypeError for a path through something that has no fields.
    """

    content: dict[str, Any] = field(default_factory=dict)
    """Everything but apiVersion, kind and metadata; any JSON, null included."""

    def __post_init__(self) -> None:
        for name, remedy in _OF_THE_CLASS.items():
            if name in self.content:
                raise ValueError(f"{name} is not part of an Unstructured's content: {remedy}")

    @staticmethod
    def of(info: ResourceInfo) -> type[Unstructured]:
        """The kind that ``info`` describes, as a class: the same one whenever name, place, scope and status are the same."""
        return _class(
            ResourceInfo(
                group=info.group,
                version=info.version,
                kind=info.kind,
                plural=info.plural,
                singular=info.singular,
                scope=info.scope,
                has_status=info.has_status,
            )
        )

    def __getitem__(self, path: Step | tuple[Step, ...]) -> Any:
        steps = _steps(path)
        value: Any = self.content
        for depth, step in enumerate(steps):
            value = self._inside(value, steps, depth, step)
        return value

    def __setitem__(self, path: Step | tuple[Step, ...], value: Any) -> None:
        *way, last = _steps(path)
        steps = (*way, last)
        parent: Any = self.content
        for depth, step in enumerate(way):
            if isinstance(parent, dict) and isinstance(step, str) and parent.get(step) is None:
                parent[step] = {}
            parent = self._inside(parent, steps, depth, step)
        if not (isinstance(parent, dict) and isinstance(last, str)):
            self._inside(parent, steps, len(way), last)  # only what is there can be replaced in a list
        elif not way and last in _OF_THE_CLASS:
            raise TypeError(f"{last} of {describe(self)} can't be set by its path: {_OF_THE_CLASS[last]}")
        parent[last] = value

    def __delitem__(self, path: Step | tuple[Step, ...]) -> None:
        steps = _steps(path)
        parent: Any = self.content
        for depth, step in enumerate(steps[:-1]):
            parent = self._inside(parent, steps, depth, step)
        self._inside(parent, steps, len(steps) - 1, steps[-1])
        del parent[steps[-1]]

    def __contains__(self, path: Step | tuple[Step, ...]) -> bool:
        try:
            self[path]
        except (MissingField, TypeError):
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def get(self, *path: Step, default: Any = None) -> Any:
        """What is at ``path``, or ``default`` where the path leads nowhere."""
        try:
            return self[path]
        except MissingField:
            return default

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{type(self).__name__} has no attribute {name!r}: it is a kind without a class, whose fields are read by "
            f"their path, such as obj[{name!r}]"
        )

    def _inside(self, value: Any, steps: tuple[Step, ...], depth: int, step: Step) -> Any:
        here = _text(steps[:depth])
        where = f"{describe(self)}: {here}" if here else describe(self)
        if isinstance(value, dict) and isinstance(step, str):
            if step in value:
                return value[step]
            if not here and step in _OF_THE_CLASS:
                raise MissingField(f"{where}: {step} is not part of the content: {_OF_THE_CLASS[step]}")
            raise MissingField(f"{where} has no {step}; it has: {', '.join(map(str, value)) or 'nothing'}")
        if isinstance(value, list) and isinstance(step, int):
            if -len(value) <= step < len(value):
                return value[step]
            raise MissingField(f"{where} has no item {step}; it has {len(value)}")
        wanted = "a list" if isinstance(step, int) else "a map"
        raise TypeError(f"{where} is not {wanted} but {value!r:.60}: there is no [{step!r}] in it")


def unstructured(
    api_version: str,
    kind: str,
    *,
    plural: str,
    scope: Literal["Namespaced", "Cluster"] = "Namespaced",
    has_status: bool = True,
) -> type[Unstructured]:
    """A kind that has no class, as one: ``unstructured("example.com/v1", "Widget", plural="widgets")``.

    It goes wherever a declared class goes: client, informers, watches. `Client.unstructured` asks the server for what has
    to be given here. ``has_status``: the kind has a status subresource. Raises ValueError where a name would be refused
    by the API server.
    """
    group, _, version = api_version.rpartition("/")
    if group:
        check_dns_subdomain(group, what=f"the group of {kind}")
    check_dns_label(version, what=f"the version of {kind}")
    check_dns_label(plural, what=f"the plural of {kind}")
    return _class(
        ResourceInfo(
            group=group,
            version=version,
            kind=kind,
            plural=plural,
            singular=kind.lower(),
            scope=scope,
            has_status=has_status,
        )
    )


@cache
def _class(info: ResourceInfo) -> type[Unstructured]:
    class Kind(Unstructured):
        pass

    Kind.__name__ = Kind.__qualname__ = info.kind
    Kind.__resource__ = info
    return Kind


def _steps(path: Step | tuple[Step, ...]) -> tuple[Step, ...]:
    steps = path if isinstance(path, tuple) else (path,)
    if not steps:
        raise TypeError("an empty path names no field")
    return steps


def _text(steps: tuple[Step, ...]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")
