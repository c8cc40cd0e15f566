"""`Model`, the base of everything that travels as JSON, and the rule for what reaches the wire.

One rule: ``None`` means *not there*, every other value is written, also 0, False, "" and [].
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, cast, dataclass_transform

from msgspec import NODEFAULT, Struct, StructMeta, field

__all__ = ["Model", "field", "schema_default", "wire_name"]

_FieldType = type(field(default=1))


def wire_name(name: str) -> str:
    """The JSON name of a Python attribute: ``storage_class_name`` → ``storageClassName``; a trailing ``_`` is dropped."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


class _Always:
    """A default factory that ``omit_defaults`` does not recognise, so the value is always encoded."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


def _annotations(namespace: dict[str, Any]) -> dict[str, Any]:
    if "__annotations__" in namespace:
        return cast("dict[str, Any]", namespace["__annotations__"])
    if sys.version_info >= (3, 14):
        import annotationlib  # noqa: PLC0415 - exists from 3.14 on, where class annotations are evaluated lazily (PEP 649)

        annotate = annotationlib.get_annotate_from_class_namespace(namespace)
        if annotate is not None:
            return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF)
    return {}


def _always_written(value: Any) -> Any:
    """The field definition for a default ``value`` that survives ``omit_defaults``; None stays omitted."""
    if isinstance(value, _FieldType):
        spec = cast("Any", value)
        default, factory, name = spec.default, spec.default_factory, spec.name
    else:
        default, factory, name = value, NODEFAULT, None
    if default is None or (default is NODEFAULT and factory is NODEFAULT):
        return value
    if factory is NODEFAULT:
        factory = type(default) if isinstance(default, list | dict | set) and not default else _Constant(default)
    return field(default_factory=_Always(factory), name=name)


class _Constant:
    """Returns the same immutable default each time; the CRD generator reads ``value`` from it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self) -> Any:
        return self.value


def _container(annotation: Any) -> type | None:
    """List or dict where a field must hold one, None where it may be absent or is something else."""
    text = str(annotation).replace(" ", "")
    text = text.removeprefix("typing.")
    if text.endswith("|None") or text.startswith(("None|", "Optional[")):
        return None
    if text.startswith("Annotated["):
        text = text.removeprefix("Annotated[").removeprefix("typing.")
    return {"list": list, "dict": dict}.get(text.split("[", 1)[0])


def _null_filler(containers: dict[str, type], inherited: Callable[[Any], None] | None) -> Callable[[Any], None]:
    """A ``__post_init__`` that puts an empty list or map where the wire said null."""

    def fill(self: Any) -> None:
        for name, make in containers.items():
            if getattr(self, name) is None:
                setattr(self, name, make())
        if inherited is not None:
            inherited(self)

    return fill


class _ModelMeta(StructMeta):
    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        options.setdefault("kw_only", True)  # msgspec does not inherit it
        options.setdefault("rename", wire_name)
        options.setdefault("omit_defaults", True)
        containers = {}
        for key, annotation in _annotations(namespace).items():
            if "ClassVar" in str(annotation):
                continue
            if key in namespace:
                namespace[key] = _always_written(namespace[key])
            container = _container(annotation)
            if container is not None:
                containers[key] = container
        if containers:
            # msgspec looks for the hook once, when it makes the class
            inherited = namespace.get("__post_init__") or next(
                (hook for base in bases if (hook := getattr(base, "__post_init__", None))), None
            )
            namespace["__post_init__"] = _null_filler(containers, inherited)
        return super().__new__(mcls, name, bases, namespace, **options)


@dataclass_transform(kw_only_default=True, field_specifiers=(field,))
class Model(Struct, metaclass=_ModelMeta):
    """A JSON object with typed, keyword-only fields; camelCase on the wire.

    Encode and decode with `kubewright.api.encode` and `kubewright.api.decode`. Decoding is tolerant: constraint markers
    and the members of a ``Literal`` describe the schema, they never make an object that the server holds undecodable.
    """


def schema_default(factory: Any) -> Any:
    """The constant that a field's default factory stands for, or `msgspec.NODEFAULT` where it makes a new value."""
    make = factory.make if isinstance(factory, _Always) else factory
    return make.value if isinstance(make, _Constant) else NODEFAULT
