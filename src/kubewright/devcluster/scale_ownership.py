"""Who owns an object's replicas, as its Scale tells it and as the object does.

A Scale has no managedFields of its own: those of the object are translated for each write, the path of the replicas to
``.spec.replicas`` and back. On the way the time of an entry is lost, and whoever wrote the replicas together with other
fields by an update has an entry of their own for them afterwards.

See "Interaction with subresources" in https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from kubewright.devcluster.builtin.definitions import PREFIX, merged_definitions
from kubewright.patch.fields import FieldSet
from kubewright.patch.managed import Books, Entry, decode, encode, managed_fields, without_managed_fields
from kubewright.patch.shape import Shape

if TYPE_CHECKING:
    from kubewright.devcluster.objects import Object

__all__ = ["SCALE_VERSION", "owned_by_object", "owned_by_scale", "scale_shape"]

SCALE_VERSION = "autoscaling/v1"
_REPLICAS = FieldSet.of_names("spec.replicas")


@cache
def scale_shape() -> Shape:
    return Shape({"$ref": f"{PREFIX}io.k8s.api.autoscaling.v1.Scale"}, merged_definitions())


def owned_by_scale(scale: Object, obj: Object, paths: Mapping[str, str]) -> Object:
    """The Scale with the entries of those who own the object's replicas.

    ``paths`` has the path of the replicas (``.spec.replicas``) by the object's apiVersions.
    """
    books: Books = {}
    for key, entry in decode(managed_fields(obj)).items():
        path = paths.get(entry.api_version)
        if path is not None and _owns(entry, path):
            books[key] = Entry(SCALE_VERSION, entry.time, _REPLICAS)
    return encode(scale, books)


def owned_by_object(obj: Object, scale: Object, paths: Mapping[str, str], *, api_version: str) -> Object:
    """The object with its own entries and those of the Scale; ``api_version`` is the one it is written in."""
    of_scale = {key: entry for key, entry in decode(managed_fields(scale)).items() if _owns(entry, ".spec.replicas")}
    kept: Books = {}
    for key, entry in decode(managed_fields(obj)).items():
        path = paths.get(entry.api_version)
        if path is None or not _owns(entry, path) or key in of_scale:
            kept[key] = entry
        elif not (rest := entry.fields.difference(FieldSet.of_names(path.strip(".")))).is_empty():
            kept[key] = entry._replace(fields=rest)
    own = FieldSet.of_names(paths[api_version].strip("."))
    added = {key: Entry(api_version, None, own) for key in of_scale if key not in kept}
    return encode(without_managed_fields(obj), {**kept, **added})


def _owns(entry: Entry, path: str) -> bool:
    return [f"f:{name}" for name in path.strip(".").split(".")] in entry.fields
