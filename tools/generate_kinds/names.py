"""Names: definition → module and class, JSON property → Python attribute."""

from __future__ import annotations

import keyword
import re

__all__ = ["FROM_API", "attribute", "class_name", "module_name"]

FROM_API = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    **{
        f"io.k8s.apimachinery.pkg.apis.meta.v1.{name}": name
        for name in (
            "Condition",
            "LabelSelector",
            "LabelSelectorRequirement",
            "ListMeta",
            "ManagedFieldsEntry",
            "MicroTime",
            "ObjectMeta",
            "OwnerReference",
            "Status",
            "StatusCause",
            "StatusDetails",
            "Time",
        )
    },
}
"""Definitions that `kubewright.api` has by hand."""

_WORDS = re.compile(r"[A-Z]+s(?![a-z])|[A-Z]+\d*(?![a-z])|[A-Z]?[a-z]+\d*|\d+")
_IRREGULAR = {"openAPIV3Schema": "open_api_v3_schema"}

# A class body is the first place where the names in its annotations are looked up.
_TAKEN = frozenset({"bool", "dict", "field", "float", "int", "list", "str"})


def module_name(definition: str) -> str:
    """``io.k8s.api.core.v1.Pod`` → ``core_v1``."""
    group, version, _ = definition.rsplit(".", 3)[1:]
    return f"{group}_{version}"


def class_name(definition: str) -> str:
    return definition.rpartition(".")[2]


def attribute(wire: str) -> str:
    """The Python attribute for a JSON property: ``clusterIPs`` → ``cluster_ips``, ``from`` → ``from_``."""
    name = _IRREGULAR.get(wire) or "_".join(_WORDS.findall(wire)).lower()
    return f"{name}_" if keyword.iskeyword(name) or name in _TAKEN else name
