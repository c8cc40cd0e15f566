"""`Resource` and the `resource` decorator: a kind of the Kubernetes API as a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Struct

from kubewright.api.arguments import Declared, known_arguments
from kubewright.api.meta import ObjectMeta
from kubewright.api.model import Model, field
from kubewright.api.names import check_dns_label, check_dns_subdomain, pluralize

__all__ = ["Column", "GroupVersionKind", "Resource", "ResourceInfo", "Scale", "describe", "resource", "resource_info"]

R = TypeVar("R", bound="Resource")


class GroupVersionKind(Struct, frozen=True, order=True):
    """The full name of a kind; the core group is the empty string."""

    group: str
    version: str
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def __str__(self) -> str:
        return f"{self.kind}.{self.version}.{self.group}" if self.group else f"{self.kind}.{self.version}"


class Column(Struct, frozen=True, metaclass=Declared):
    """A column that ``kubectl get`` prints; one with a ``priority`` above 0 only with ``-o wide``."""

    name: str
    path: str
    type: Literal["string", "integer", "number", "boolean", "date"] = "string"
    description: str | None = None
    format: str | None = None
    priority: int = 0


class Scale(Struct, frozen=True, kw_only=True, metaclass=Declared):
    """The scale subresource: JSON paths of the wanted and the observed replicas, and of the serialised pod selector."""

    spec: str
    status: str
    selector: str | None = None


class ResourceInfo(Struct, frozen=True, kw_only=True):
    """How a kind is addressed and what its definition offers."""

    group: str
    version: str
    kind: str
    plural: str
    singular: str
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    scale: Scale | None = None
    has_status: bool = False

    @property
    def gvk(self) -> GroupVersionKind:
        return GroupVersionKind(self.group, self.version, self.kind)

    @property
    def api_version(self) -> str:
        return self.gvk.api_version

    @property
    def namespaced(self) -> bool:
        return self.scope == "Namespaced"

    @property
    def custom(self) -> bool:
        """Whether a CustomResourceDefinition defines it, rather than the API server itself."""
        return "." in self.group and not self.group.endswith(".k8s.io")

    @property
    def qualified_plural(self) -> str:
        """``databases.apps.example.com``: the name of its CRD, and how messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


class Resource(Model):
    """An object of the Kubernetes API. Subclasses are declared with `resource` and add ``spec``, ``status`` and more.

    ``apiVersion`` and ``kind`` belong to the class: `kubewright.api.encode` writes them, and decoding does not need
    them, so items of built-in lists (which lack them) are whole objects too.
    """

    __resource__: ClassVar[ResourceInfo]
    metadata: ObjectMeta = field(default_factory=ObjectMeta)

    @property
    def name(self) -> str:
        """``metadata.name``; raises ValueError while the object has none."""
        if not self.metadata.name:
            raise ValueError(f"this {type(self).__name__} has no metadata.name yet")
        return self.metadata.name

    @property
    def namespace(self) -> str | None:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """``metadata.uid``; raises ValueError for an object that the server has not seen."""
        if not self.metadata.uid:
            raise ValueError(f"{describe(self)} has no metadata.uid: it was not read from a server")
        return self.metadata.uid


def describe(obj: Resource) -> str:
    """``Database default/my-postgres``, for messages."""
    kind = resource_info(type(obj)).kind
    path = "/".join(part for part in (obj.metadata.namespace, obj.metadata.name or obj.metadata.generate_name) if part)
    return f"{kind} {path}" if path else kind


@known_arguments
def resource(
    api_version: str,
    *,
    kind: str | None = None,
    plural: str | None = None,
    singular: str | None = None,
    scope: Literal["Namespaced", "Cluster"] = "Namespaced",
    short_names: Sequence[str] = (),
    categories: Sequence[str] = (),
    columns: Sequence[Column] = (),
    scale: Scale | None = None,
) -> Callable[[type[R]], type[R]]:
    """Declares a class as a kind of the API: ``@resource("apps.example.com/v1alpha1", short_names=["db"])``.

    The kind is the class name unless given; the plural follows English rules unless given. A class with a ``status``
    field has the status subresource. Raises ValueError where a name would be refused by the API server, and TypeError
    for a decorator without its arguments, and for one name where there may be several.
    """
    if not isinstance(api_version, str):
        what = getattr(api_version, "__name__", repr(api_version))
        raise TypeError(f'@resource of {what} lacks its arguments: write @resource("group.example.com/v1")')
    for argument, names in (("short_names", short_names), ("categories", categories)):
        if isinstance(names, str):
            raise TypeError(f'{argument} is {names!r}: give a list, such as ["{names}"]')
    group, _, version = api_version.rpartition("/")

    def declare(cls: type[R]) -> type[R]:
        name = kind or cls.__name__
        if group:
            check_dns_subdomain(group, what=f"the group of {name}")
        check_dns_label(version, what=f"the version of {name}")
        one = singular or name.lower()
        fields: tuple[str, ...] = getattr(cls, "__struct_fields__", ())
        cls.__resource__ = ResourceInfo(
            group=group,
            version=version,
            kind=name,
            plural=plural or pluralize(one),
            singular=one,
            scope=scope,
            short_names=tuple(short_names),
            categories=tuple(categories),
            columns=tuple(columns),
            scale=scale,
            has_status="status" in fields,
        )
        return cls

    return declare


def resource_info(kind: type[Any]) -> ResourceInfo:
    """What `resource` declared of a class; raises TypeError for a class that is no declared kind."""
    info = kind.__dict__.get("__resource__") if isinstance(kind, type) else None
    if not isinstance(info, ResourceInfo):
        name = kind.__qualname__ if isinstance(kind, type) else repr(kind)
        raise TypeError(
            f'{name} is no resource: decorate it with @resource("group/version"), or, for a kind that has no '
            "class, use what unstructured() gives"
        )
    return info
