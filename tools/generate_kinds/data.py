"""The input: OpenAPI definitions and what discovery lists, kept one entry a line so that a new version is a short diff."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["BUILTIN", "Data", "compact"]

BUILTIN = Path("src/kubewright/devcluster/builtin")
_PREFIX = "#/definitions/"

Schema = dict[str, Any]


class Data:
    """Definitions by name, and served resources by group version."""

    def __init__(
        self, definitions: dict[str, Schema], resources: dict[str, list[dict[str, Any]]], version: str
    ) -> None:
        self.definitions = definitions
        self.resources = resources
        self.version = version
        self._by_gvk = {
            (gvk["group"], gvk["version"], gvk["kind"]): name
            for name, schema in definitions.items()
            for gvk in schema.get("x-kubernetes-group-version-kind", ())
        }

    @classmethod
    def load(cls, folder: Path) -> Data:
        definitions = json.loads((folder / "definitions.json").read_bytes())
        resources = json.loads((folder / "resources.json").read_bytes())
        return cls(definitions["definitions"], resources["resources"], definitions["version"])

    def definition_of(self, group: str, version: str, kind: str) -> str | None:
        return self._by_gvk.get((group, version, kind))

    def kinds(self) -> dict[str, tuple[str, dict[str, Any] | None]]:
        """Definition → its group version and its collection's entry in discovery, None for a subresource's body."""
        found: dict[str, tuple[str, dict[str, Any] | None]] = {}
        for group_version, entries in self.resources.items():
            for entry in entries:
                home = f"{entry['group']}/{entry['version']}" if "version" in entry else group_version
                group, _, version = home.rpartition("/")
                name = self.definition_of(group, version, entry["kind"])
                if name is None:
                    continue  # PodExecOptions and its like are query parameters
                if "/" not in entry["name"]:
                    found[name] = (home, entry)
                else:
                    found.setdefault(name, (home, None))
        return found

    def reachable(self) -> set[str]:
        """The definitions that served kinds are made of."""
        seen: set[str] = set()
        waiting = list(self.kinds())
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting.extend(references(self.definitions[name]))
        return seen

    def statuses(self) -> set[str]:
        """The definitions that are some kind's status."""
        properties = (self.definitions[name].get("properties", {}) for name in self.kinds())
        return {name for nested in properties for name in references(nested.get("status", {}))}

    def subresources_of(self, group_version: str, plural: str) -> set[str]:
        heads = (entry["name"].partition("/") for entry in self.resources[group_version])
        return {rest for head, _, rest in heads if head == plural and rest}


def references(schema: Schema) -> Iterator[str]:
    """The definitions that a schema names."""
    if "$ref" in schema:
        yield schema["$ref"].removeprefix(_PREFIX)
    for nested in schema.get("properties", {}).values():
        yield from references(nested)
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from references(schema[keyword])


def compact(source: Path, target: Path) -> None:
    """Copies ``definitions.json`` and ``resources.json``, sorted, one definition or resource a line."""
    document = json.loads((source / "definitions.json").read_bytes())
    lines = [f"{_dump(name)}:{_dump(document['definitions'][name])}" for name in sorted(document["definitions"])]
    _write(target / "definitions.json", document["version"], "definitions", lines)
    document = json.loads((source / "resources.json").read_bytes())
    groups = [
        f"{_dump(group_version)}:[\n" + ",\n".join(_dump(entry) for entry in entries) + "\n]"
        for group_version, entries in sorted(document["resources"].items())
    ]
    _write(target / "resources.json", document["version"], "resources", groups)


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _write(path: Path, version: str, key: str, lines: list[str]) -> None:
    path.write_text(f'{{"version":{_dump(version)},{_dump(key)}:{{\n' + ",\n".join(lines) + "\n}}\n")
