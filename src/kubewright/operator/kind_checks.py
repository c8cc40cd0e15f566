"""Whether the class of a kind can be worked with, asked when it is registered and not when its first object comes."""

from __future__ import annotations

import importlib

from kubewright.api import Resource, ResourceInfo, Unstructured, check_decodable, resource_info
from kubewright.crd import definition

__all__ = ["check_kind"]

_OURS = "kubewright.kinds"


def check_kind(kind: type[Resource], *, defines: bool) -> None:
    """Raises TypeError for a class whose annotations can't be used, ValueError for one of a kind that can't be.

    Of a custom kind that the operator ``defines`` they are held to what its definition may say, too.
    """
    if kind.__module__.startswith(f"{_OURS}.") or issubclass(kind, Unstructured):
        return
    info = resource_info(kind)
    if "." not in info.group and not _is_built_in(info):
        has = f"the group {info.group!r}, which has no dot" if info.group else "no group"
        raise ValueError(
            f"{kind.__qualname__} has {has}, and Kubernetes brings no {info.kind} there: custom resources need a group "
            'with a dot, such as @resource("apps.example.com/v1")'
        )
    if defines and info.custom:
        definition(kind)
    check_decodable(kind)


def _is_built_in(info: ResourceInfo) -> bool:
    """Whether a group without a dot has the kind, in some version."""
    prefix = f"{info.group or 'core'}_v"
    modules = [name for name in importlib.import_module(_OURS).__all__ if name.startswith(prefix)]
    return any(
        resource_info(kind).kind == info.kind
        for name in modules
        for kind in importlib.import_module(f"{_OURS}.{name}").KINDS
    )
