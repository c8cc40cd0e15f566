"""Applying YAML files for the user, as ``kubectl apply --server-side`` would."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

from kubewright.api import ApiError, ResourceInfo, Scheme, resource_info
from kubewright.cli.failure import Failure
from kubewright.client import Client
from kubewright.devcluster.yaml_parsing import parse_documents
from kubewright.kinds import builtin_kinds

__all__ = ["Manifest", "apply_manifests", "read_manifests"]

_MANAGER = "kubewright-dev"


class Manifest(Struct, frozen=True):
    """One object of a file; ``where`` names file and object, for messages."""

    where: str
    info: ResourceInfo
    body: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str | None:
        namespace = self.body["metadata"].get("namespace")
        return None if namespace is None else str(namespace)


def read_manifests(files: Sequence[Path], scheme: Scheme) -> list[Manifest]:
    """Every object of the files, in their order. Raises `Failure` for what is no object of a known kind."""
    return [manifest for file in files for manifest in _read(file, scheme)]


def _read(file: Path, scheme: Scheme) -> Iterator[Manifest]:
    try:
        documents = parse_documents(file.read_text())
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}", exit_code=2) from error
    except (yaml.YAMLError, ValueError) as error:
        raise Failure(f"{file} is not YAML: {' '.join(str(error).split())}") from error
    for number, document in enumerate(documents, start=1):
        where = f"{file}, document {number}"
        items = [document]
        if isinstance(document, dict) and document.get("kind") == "List" and isinstance(document.get("items"), list):
            items = document["items"]
        for item in items:
            if item is not None:
                yield _manifest(where, item, scheme)


def _manifest(where: str, document: Any, scheme: Scheme) -> Manifest:
    if not isinstance(document, dict):
        raise Failure(f"{where}: expected an object with apiVersion and kind, found a {type(document).__name__}")
    for key in ("apiVersion", "kind"):
        if not isinstance(document.get(key), str):
            raise Failure(f"{where}: {key} is missing")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise Failure(f"{where}: metadata.name is missing")
    if not isinstance(metadata.get("namespace", ""), str):
        raise Failure(f"{where}: metadata.namespace is {metadata['namespace']!r}: it should be a name")
    info = _find(document["apiVersion"], document["kind"], scheme)
    if info is None:
        raise Failure(f"{where}: {document['apiVersion']} {document['kind']} is neither built in nor the operator's")
    if info.namespaced:
        document = {**document, "metadata": {"namespace": "default", **metadata}}
    return Manifest(f"{where} ({info.kind} {metadata['name']})", info, document)


def _find(api_version: str, kind: str, scheme: Scheme) -> ResourceInfo | None:
    found = scheme.type_for(api_version, kind) or Scheme(builtin_kinds()).type_for(api_version, kind)
    return None if found is None else resource_info(found)


async def apply_manifests(client: Client, manifests: Sequence[Manifest]) -> None:
    """Raises `Failure` with the server's words for the first object that is refused."""
    for manifest in manifests:
        try:
            await client.apply_raw(manifest.info, manifest.body, field_manager=_MANAGER, force=True)
        except ApiError as error:
            raise Failure(f"{manifest.where} was refused: {error}") from error
