"""The columns of volumes, claims and what provides them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kubewright.devcluster.builtin.printing import ColumnDefinition, Columns, age_of, at, listed, name_of

__all__ = [
    "CSI_DRIVER",
    "CSI_NODE",
    "PERSISTENT_VOLUME",
    "PERSISTENT_VOLUME_CLAIM",
    "STORAGE_CLASS",
    "VOLUME_ATTACHMENT",
]

Json = dict[str, Any]

_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _modes(modes: Any) -> str:
    return ",".join(short for mode, short in _MODES.items() if mode in (modes or ()))


def _phase(obj: Json) -> str:
    return "Terminating" if at(obj, "metadata", "deletionTimestamp") else at(obj, "status", "phase") or ""


def _class(obj: Json) -> str:
    return at(obj, "metadata", "annotations", _CLASS) or at(obj, "spec", "storageClassName") or ""


def _volume_mode(obj: Json) -> str:
    return at(obj, "spec", "volumeMode") or "<unset>"


def _claim(obj: Json, now: datetime) -> list[Any]:
    volume = at(obj, "spec", "volumeName") or ""
    capacity = modes = ""
    if volume:
        capacity = at(obj, "status", "capacity", "storage") or "0"
        modes = _modes(at(obj, "status", "accessModes"))
    return [_phase(obj), volume, capacity, modes, _class(obj), age_of(obj, now), _volume_mode(obj)]


def _volume(obj: Json, now: datetime) -> list[Any]:
    claim = at(obj, "spec", "claimRef")
    return [
        at(obj, "spec", "capacity", "storage") or "0",
        _modes(at(obj, "spec", "accessModes")),
        at(obj, "spec", "persistentVolumeReclaimPolicy") or "",
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class(obj),
        at(obj, "status", "reason") or "",
        age_of(obj, now),
        _volume_mode(obj),
    ]


def _storage_class(obj: Json, now: datetime) -> list[Any]:
    return [
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", "Delete"),
        obj.get("volumeBindingMode", "Immediate"),
        bool(obj.get("allowVolumeExpansion")),
        age_of(obj, now),
    ]


def _class_name(obj: Json) -> str:
    annotations = at(obj, "metadata", "annotations") or {}
    default = any(annotations.get(each) == "true" for each in _DEFAULT_CLASS)
    return f"{name_of(obj)} (default)" if default else name_of(obj)


def _csi_driver(obj: Json, now: datetime) -> list[Any]:
    spec = obj.get("spec") or {}
    modes = ",".join(spec.get("volumeLifecycleModes") or ()) or "<unset>"
    return [bool(spec.get("attachRequired", True)), bool(spec.get("podInfoOnMount")), modes, age_of(obj, now)]


def _attachment(obj: Json, now: datetime) -> list[Any]:
    return [
        name_of(obj),
        at(obj, "spec", "attacher") or "",
        at(obj, "spec", "source", "persistentVolumeName") or "",
        at(obj, "spec", "nodeName") or "",
        bool(at(obj, "status", "attached")),
        age_of(obj, now),
    ]


PERSISTENT_VOLUME_CLAIM = listed(
    "Status", "Volume", "Capacity", "Access Modes", "StorageClass", "Age", wide=("VolumeMode",), cells=_claim
)
PERSISTENT_VOLUME = listed(
    "Capacity",
    "Access Modes",
    "Reclaim Policy",
    "Status",
    "Claim",
    "StorageClass",
    "Reason",
    "Age",
    wide=("VolumeMode",),
    cells=_volume,
)
STORAGE_CLASS = listed(
    "Provisioner",
    "ReclaimPolicy",
    "VolumeBindingMode",
    "AllowVolumeExpansion",
    "Age",
    cells=_storage_class,
    name=_class_name,
)
CSI_DRIVER = listed("AttachRequired:boolean", "PodInfoOnMount:boolean", "Modes", "Age", cells=_csi_driver)
CSI_NODE = listed(
    "Drivers:integer", "Age", cells=lambda obj, now: [len(at(obj, "spec", "drivers") or ()), age_of(obj, now)]
)
VOLUME_ATTACHMENT = Columns(
    (
        ColumnDefinition("Name", format="name"),
        ColumnDefinition("Attacher", format="name"),
        ColumnDefinition("PV"),
        ColumnDefinition("Node"),
        ColumnDefinition("Attached", type="boolean"),
        ColumnDefinition("Age"),
    ),
    _attachment,
)
