"""What can be wrong with volumes, claims and storage classes, when created and when updated."""

from __future__ import annotations

from kubewright.api.quantities import quantity
from kubewright.devcluster.builtin.checks import Errors, Json, immutable, named, one_of, qualified, selector
from kubewright.devcluster.builtin.volume_validation import host_path, nfs
from kubewright.devcluster.naming import dns_subdomain_errors
from kubewright.schema.errors import FieldError, forbidden, invalid, not_supported, required
from kubewright.schema.go_text import quoted

__all__ = ["persistent_volume", "persistent_volume_claim", "storage_class"]

_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_LISTED_MODES = _MODES[:3]
_VOLUME_MODES = ("Block", "Filesystem")
_SOURCES = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
)


def _access_modes(spec: Json) -> Errors:
    for mode in spec.get("accessModes") or ():
        if mode not in _MODES:
            yield not_supported("spec.accessModes", mode, _LISTED_MODES)


def persistent_volume_claim(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield required("spec.accessModes", "at least 1 access mode is required")
    yield from selector(spec.get("selector"), "spec.selector")
    yield from _access_modes(spec)
    amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if amount is None:
        yield required("spec.resources[storage]")
    elif quantity(amount) <= 0:
        yield invalid("spec.resources[storage]", str(amount), "must be greater than zero")
    if name := spec.get("storageClassName"):
        yield from named(name, "spec.storageClassName", dns_subdomain_errors)
    yield from one_of(spec, "volumeMode", "spec", _VOLUME_MODES)
    if old is not None:
        yield from _claim_update(spec, old)


def _claim_update(spec: Json, old: Json) -> Errors:
    before = old.get("spec") or {}
    bound = (old.get("status") or {}).get("phase") == "Bound"
    after = dict(spec)
    if not before.get("volumeName"):
        after.pop("volumeName", None)  # binding sets it, once
        if "storageClassName" not in before:
            after.pop("storageClassName", None)  # the default class is filled in later (KEP-3333)
    if bound:
        kept = (before.get("resources") or {}).get("requests") or {}
        asked = (after.get("resources") or {}).get("requests") or {}
        if "storage" in kept:
            after["resources"] = {**after.get("resources", {}), "requests": {**asked, "storage": kept["storage"]}}
    if after != before:
        yield forbidden("spec", "spec is immutable after creation except resources.requests for bound claims")
    sizes = [((each.get("resources") or {}).get("requests") or {}).get("storage", "0") for each in (spec, before)]
    if quantity(sizes[0]) < quantity(sizes[1]):
        yield forbidden("spec.resources.requests.storage", "field can not be less than previous value")
    yield from immutable(spec.get("volumeMode"), before.get("volumeMode"), "volumeMode")


def persistent_volume(obj: Json, old: Json | None) -> Errors:
    spec = obj.get("spec") or {}
    if not spec.get("accessModes"):
        yield required("spec.accessModes")
    yield from _access_modes(spec)
    yield from _capacity(spec.get("capacity") or {})
    chosen = [kind for kind in _SOURCES if kind in spec]
    for extra in chosen[1:]:
        yield forbidden(f"spec.{extra}", "may not specify more than 1 volume type")
    if not chosen:
        yield required("spec", "must specify a volume type")
    elif chosen[0] == "hostPath":
        yield from host_path(spec["hostPath"], "spec.hostPath")
    elif chosen[0] == "nfs":
        yield from nfs(spec["nfs"], "spec.nfs")
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle" and (spec.get("hostPath") or {}).get("path") == "/":
        message = "may not be 'recycle' for a hostPath mount of '/'"
        yield forbidden("spec.persistentVolumeReclaimPolicy", message)
    yield from one_of(spec, "volumeMode", "spec", _VOLUME_MODES)
    if old is not None:
        before = old.get("spec") or {}
        if any(spec.get(kind) != before.get(kind) for kind in _SOURCES):
            where = "spec.persistentvolumesource"
            yield forbidden(where, "spec.persistentvolumesource is immutable after creation")
        yield from immutable(spec.get("volumeMode"), before.get("volumeMode"), "volumeMode")


def _capacity(capacity: Json) -> Errors:
    if not capacity:
        yield required("spec.capacity")
    if capacity.keys() != {"storage"}:
        shown = (
            "core.ResourceList{" + ", ".join(map(quoted, sorted(capacity))) + "}"
            if capacity
            else "core.ResourceList(nil)"
        )
        supported = 'supported values: "storage"'
        yield FieldError("FieldValueNotSupported", "spec.capacity", f"Unsupported value: {shown}: {supported}")
    for name, amount in sorted(capacity.items()):
        if quantity(amount) <= 0:
            yield invalid(f"spec.capacity[{name}]", str(amount), "must be greater than zero")


def storage_class(obj: Json, old: Json | None) -> Errors:
    provisioner = obj.get("provisioner", "")
    if old is None:
        if not provisioner:
            yield required("provisioner")
        else:
            yield from (
                qualified(provisioner.lower(), "provisioner")
                if provisioner == provisioner.lower()
                else _mixed(provisioner)
            )
        yield from one_of(obj, "reclaimPolicy", "", ("Delete", "Retain"))
        yield from one_of(obj, "volumeBindingMode", "", ("Immediate", "WaitForFirstConsumer"))
        return
    for name in ("parameters", "provisioner", "reclaimPolicy"):
        if obj.get(name) != old.get(name):
            yield forbidden(name, f"updates to {name} are forbidden.")
    yield from immutable(obj.get("volumeBindingMode"), old.get("volumeBindingMode"), "volumeBindingMode")


def _mixed(provisioner: str) -> Errors:
    """The check ignores case, the message quotes what was written."""
    for error in qualified(provisioner.lower(), "provisioner"):
        yield FieldError(error.reason, error.field, error.detail.replace(provisioner.lower(), provisioner, 1))
