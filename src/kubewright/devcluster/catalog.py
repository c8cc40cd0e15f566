"""`Catalog`: which kinds a server serves, built-in ones and those of CustomResourceDefinitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kubewright.api import ResourceInfo
from kubewright.devcluster.store import GroupResource

if TYPE_CHECKING:
    from kubewright.devcluster.objects import Object
    from kubewright.devcluster.strategy import Strategy
    from kubewright.patch.shape import Shape

__all__ = ["ApiGroup", "Catalog", "ServedResource", "Subresource", "version_priority"]


@dataclass(frozen=True)
class Subresource:
    """A subresource and the kind of its body: ``scale`` of ``autoscaling/v1``, or the object's own."""

    name: str
    verbs: tuple[str, ...]
    kind: str
    group: str
    version: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, kw_only=True, eq=False)
class ServedResource:
    """One resource of one group and version. Shared between servers, so nothing in it changes.

    ``info.columns`` are what Table answers show; ``info.scale`` holds the paths of the scale subresource.
    """

    info: ResourceInfo
    verbs: tuple[str, ...]
    schema: Object
    """OpenAPI v3 of the whole object; ``$ref`` points into `Catalog.definitions`."""
    shape: Shape
    """The same schema as merges see it."""
    strategy: Strategy
    subresources: tuple[Subresource, ...] = ()
    listed_kind: str = ""
    """The kind of its lists; ``<Kind>List`` unless given."""
    selectable_fields: tuple[str, ...] = ()
    """Paths that a field selector may name besides metadata.name and metadata.namespace: ``status.phase``."""
    storage_version: bool = True
    """Whether objects are kept in this version; the other versions are converted by their apiVersion alone."""
    stored_as: GroupResource | None = None
    """Where objects are kept if under another group: Events of events.k8s.io are kept as those of the core."""
    definition_name: str = ""
    """Its name in `Catalog.definitions`; empty for custom resources."""
    deprecation: str = ""
    """The warning that every answer carries, for a deprecated version."""
    storage_api_version: str = ""
    """The apiVersion objects are kept with, where it is not this one."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Stored name → name in this version, for top-level fields that differ (Events)."""
    returns_deleted: bool = False
    """Whether a delete answers with the object rather than with a Status (Pods, Services, and a few more)."""
    unconditional_update: bool = True
    """Whether a PUT may leave out the resource version; not so for custom resources and a few built-in kinds."""
    create_on_update: bool = False
    """Whether a PUT of what does not exist creates it (Leases, Endpoints, Events, RBAC)."""
    kept_as: Mapping[str, Strategy] = field(default_factory=dict)
    """The strategy of each apiVersion that objects may be kept in; of custom resources only."""
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    """The shape of each of its apiVersions, the ones not served too; of custom resources only."""
    read_again: bool = False
    """Whether stored objects pass `Strategy.read` and `Strategy.default` when read: the schema changed since."""
    custom: bool = field(init=False)
    """Whether a CustomResourceDefinition brought it."""
    storage: GroupResource = field(init=False)
    """Where its objects are kept."""
    api_version: str = field(init=False)

    def __post_init__(self) -> None:
        """Works out once what every request asks for."""
        info = self.info
        if not self.listed_kind:
            object.__setattr__(self, "listed_kind", f"{info.kind}List")
        object.__setattr__(self, "custom", not self.definition_name)
        object.__setattr__(self, "storage", self.stored_as or GroupResource(info.group, info.plural))
        object.__setattr__(self, "api_version", info.api_version)

    def subresource(self, name: str) -> Subresource | None:
        for each in self.subresources:
            if each.name == name:
                return each
        return None


@dataclass(frozen=True)
class ApiGroup:
    """A group and its versions, the preferred one first."""

    name: str
    versions: tuple[str, ...]


_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


def version_priority(version: str) -> tuple[Any, ...]:
    """Sorts versions the way Kubernetes prefers them: v2, v1, v1beta2, v1alpha1, then anything else by name."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (1, version)
    major, stage, minor = match.groups()
    return (0, {None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0))


class Catalog:
    """The resources that are served now.

    Made of a base shared by all servers of the process and of this server's own additions; `generation` counts the
    changes, so discovery and OpenAPI documents can be kept until it moves.
    """

    def __init__(
        self, resources: Iterable[ServedResource] = (), *, definitions: Mapping[str, Object] | None = None
    ) -> None:
        self._resources: dict[tuple[str, str, str], ServedResource] = {}
        self._definitions = definitions if definitions is not None else {}
        self.generation = 0
        for resource in resources:
            self._resources[_address(resource)] = resource

    @property
    def definitions(self) -> Mapping[str, Object]:
        """The built-in kinds' OpenAPI schemas by definition name (``io.k8s.api.core.v1.Pod``)."""
        return self._definitions

    def find(self, group: str, version: str, plural: str) -> ServedResource | None:
        return self._resources.get((group, version, plural))

    def find_kind(self, group: str, version: str, kind: str) -> ServedResource | None:
        """By kind, as owner references and bodies name it."""
        return next((each for each in self.in_version(group, version) if each.info.kind == kind), None)

    def in_version(self, group: str, version: str) -> list[ServedResource]:
        """What one group version serves, in order of registration."""
        return [each for each in self if (each.info.group, each.info.version) == (group, version)]

    def __iter__(self) -> Iterator[ServedResource]:
        return iter(tuple(self._resources.values()))

    def __len__(self) -> int:
        return len(self._resources)

    def groups(self) -> list[ApiGroup]:
        """All groups, the core group ("") first, then in order of registration."""
        versions: dict[str, set[str]] = {"": set()}
        for group, version, _ in self._resources:
            versions.setdefault(group, set()).add(version)
        return [ApiGroup(name, tuple(sorted(found, key=version_priority))) for name, found in versions.items() if found]

    def add(self, *resources: ServedResource) -> None:
        """Serves more resources, or replaces those at the same address."""
        for resource in resources:
            self._resources[_address(resource)] = resource
        self.generation += 1

    def remove(self, group: str, plural: str) -> None:
        """Stops serving a resource, in all its versions."""
        for address in [each for each in self._resources if (each[0], each[2]) == (group, plural)]:
            del self._resources[address]
        self.generation += 1


def _address(resource: ServedResource) -> tuple[str, str, str]:
    return resource.info.group, resource.info.version, resource.info.plural
