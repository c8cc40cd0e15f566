"""What can be wrong with a pod's volumes; the sources that most pods use are looked into."""

from __future__ import annotations

from kubewright.devcluster.builtin.checks import Errors, Json, config_key, named, one_of
from kubewright.devcluster.builtin.container_validation import relative_path
from kubewright.devcluster.naming import dns_label_errors
from kubewright.schema.errors import duplicate, forbidden, invalid, required

__all__ = ["HOST_PATH_TYPES", "host_path", "nfs", "volumes"]

HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
_SOURCES = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "persistentVolumeClaim",
    "rbd",
    "flexVolume",
    "cephfs",
    "flocker",
    "configMap",
    "downwardAPI",
    "fc",
    "azureFile",
    "azureDisk",
    "cinder",
    "vsphereVolume",
    "quobyte",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
    "projected",
    "csi",
    "ephemeral",
    "image",
)
_MODE = "must be a number between 0 and 0777 (octal), both inclusive"


def volumes(found: list[Json], at: str, names: set[str]) -> Errors:
    """Adds the volumes' names to ``names``."""
    for index, volume in enumerate(found):
        where = f"{at}[{index}]"
        yield from _source(volume, where)
        name = volume.get("name", "")
        wrong = list(named(name, f"{where}.name", dns_label_errors))
        yield from wrong
        if not wrong:
            if name in names:
                yield duplicate(f"{where}.name", name)
            names.add(name)


def _source(volume: Json, at: str) -> Errors:
    chosen = [kind for kind in _SOURCES if kind in volume]
    for extra in chosen[1:]:
        yield forbidden(f"{at}.{extra}", "may not specify more than 1 volume type")
    if not chosen:
        yield required(at, "must specify a volume type")
        return
    source, where = volume[chosen[0]], f"{at}.{chosen[0]}"
    match chosen[0]:
        case "secret":
            if not source.get("secretName"):
                yield required(f"{where}.secretName")
            yield from _files(source, where)
        case "configMap":
            if not source.get("name"):
                yield required(f"{where}.name")
            yield from _files(source, where)
        case "persistentVolumeClaim":
            if not source.get("claimName"):
                yield required(f"{where}.claimName")
        case "hostPath":
            yield from host_path(source, where)
        case "nfs":
            yield from nfs(source, where)


def _files(source: Json, at: str) -> Errors:
    mode = source.get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        yield invalid(f"{at}.defaultMode", mode, _MODE)
    for index, item in enumerate(source.get("items") or ()):
        where = f"{at}.items[{index}]"
        key, path = item.get("key", ""), item.get("path", "")
        if not key:
            yield required(f"{where}.key")
        else:
            yield from config_key(key, f"{where}.key")
        if not path:
            yield required(f"{where}.path")
        else:
            yield from relative_path(path, f"{where}.path")
        if (own := item.get("mode")) is not None and not 0 <= own <= 0o777:
            yield invalid(f"{where}.mode", own, _MODE)


def host_path(source: Json, at: str) -> Errors:
    path = source.get("path", "")
    if not path:
        yield required(f"{at}.path")
    elif ".." in path.split("/"):
        yield invalid(f"{at}.path", path, "must not contain '..'")
    yield from one_of(source, "type", at, HOST_PATH_TYPES)


def nfs(source: Json, at: str) -> Errors:
    if not source.get("server"):
        yield required(f"{at}.server")
    path = source.get("path", "")
    if not path:
        yield required(f"{at}.path")
    elif not path.startswith("/"):
        yield invalid(f"{at}.path", path, "must be an absolute path")
